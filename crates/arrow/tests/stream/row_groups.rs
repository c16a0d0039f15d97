//! Row groups that are handed out give what the stream does; a stream lets others have a turn, stops when it is cancelled, and
//! counts what it does.

use super::store::{Faults, Store};
use super::{builder, collect, file, one, read, rows};
use arrow_array::{RecordBatch, RecordBatchReader};
use futures::executor::block_on;
use futures::{StreamExt, future::poll_immediate};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, OnCorrupt, RowSelector};
use marquetry_arrow::async_reader::{
    CoalesceOptions, ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder,
};
use marquetry_base::{CancelToken, ErrorKind, Limits, Result};
use marquetry_core::fetch::index_ranges;
use marquetry_core::predicate::Predicate;
use proptest::prelude::*;
use std::ops::Range;

/// The batches of row groups that other threads decode.
fn by_row_group<T>(mut stream: ParquetRecordBatchStream<T>) -> Result<Vec<RecordBatch>> {
    let schema = stream.schema().clone();
    let mut threads = Vec::new();
    block_on(async {
        while let Some(mut reader) = stream.next_row_group().await? {
            assert_eq!(reader.schema(), schema);
            threads.push(std::thread::spawn(move || {
                let known = reader.num_rows();
                let batches: Vec<RecordBatch> =
                    std::iter::from_fn(|| reader.next_batch()).collect::<Result<_>>()?;
                let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
                assert!(known.is_none_or(|known| known == rows && rows > 0), "{known:?}, {rows}");
                Ok(batches)
            }));
        }
        assert!(stream.next_row_group().await?.is_none());
        Ok::<(), marquetry_base::Error>(())
    })?;
    let batches: Vec<Vec<RecordBatch>> =
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<_>>()?;
    Ok(batches.concat())
}

/// Pages that indexes lead to are of no use to a reader that goes over all headers.
#[test]
fn row_groups_of_some_rows_are_read_without_page_indexes() {
    let rows = rows(20_000);
    let file = file(&rows, 10_000, 500);
    let options = ArrowReaderOptions::new().with_page_index(false);
    let store = Store::new(file.clone());
    let stream = |text: Option<&str>| {
        let metadata = block_on(ArrowReaderMetadata::load_async(&store, options.clone())).unwrap();
        // Without the end of the file, which was fetched and has much of it.
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options.clone()).unwrap();
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
            .with_request_cost(CoalesceOptions::new(1, 1 << 20));
        let selectors = vec![
            RowSelector::skip(9_000),
            RowSelector::select(10),
            RowSelector::skip(4_000),
            RowSelector::select(1_000),
        ];
        match text {
            Some(text) => stream.with_predicate(Predicate::parse(text).unwrap()).build().unwrap(),
            None => stream.with_row_selection(selectors.into()).build().unwrap(),
        }
    };
    let indexes = index_ranges(builder(&file).metadata(), 0, &[0, 1, 2, 3]);
    for text in [None, Some("price < 7"), Some("id between 15000 and 15100")] {
        let schema = stream(text).schema().clone();
        let given = one(&schema, &collect(stream(text)).unwrap());
        store.take_requests();
        assert_eq!(one(&schema, &by_row_group(stream(text)).unwrap()), given, "{text:?}");
        let is_index = |range: &Range<u64>| indexes.iter().any(|index| index.contains(&range.start));
        // The first request is that of the footer.
        assert!(!store.take_requests().iter().skip(1).any(is_index), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn row_groups_give_what_the_stream_does(
        (count, group, page) in (1i64..3000, 1usize..900, prop_oneof![1usize..4, 1usize..400]),
        (limit, offset) in (prop::option::of(0usize..3000), prop_oneof![Just(0), 0usize..3000]),
        (batch, latency) in (prop_oneof![1usize..4, 1usize..1200], 0usize..3),
        predicate in prop::option::of(prop_oneof![
            Just("id between 300 and 1500"), Just("price < 500"), Just("name is null and id > 100")
        ]),
    ) {
        let file = file(&rows(count), group, page);
        let stream = || {
            let store = Store::with(file.clone(), Faults { latency, ..Faults::default() });
            let mut stream = block_on(ParquetRecordBatchStreamBuilder::new(store)).unwrap()
                .with_batch_size(batch)
                .with_offset(offset);
            if let Some(limit) = limit {
                stream = stream.with_limit(limit);
            }
            if let Some(predicate) = predicate {
                stream = stream.with_predicate(Predicate::parse(predicate).unwrap());
            }
            stream.build().unwrap()
        };
        let schema = stream().schema().clone();
        let expected = collect(stream()).unwrap();
        let found = by_row_group(stream()).unwrap();
        prop_assert_eq!(one(&schema, &found), one(&schema, &expected));
    }
}

/// Where a list ends with its page, the next page is not looked at: nobody fetched it.
#[test]
fn a_row_group_needs_no_page_but_those_of_its_rows() {
    let file = file(&rows(744), 744, 1);
    let store = Store::with(file, Faults::default());
    let stream = block_on(ParquetRecordBatchStreamBuilder::new(store)).unwrap();
    let stream = stream.with_batch_size(1).with_predicate(Predicate::parse("price < 500").unwrap());
    let found = by_row_group(stream.build().unwrap()).unwrap();
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 101);
}

/// The same where rows that are not wanted stand between.
#[test]
fn a_row_group_needs_no_page_between_those_of_its_rows() {
    let file = file(&rows(2_000), 2_000, 5);
    let read = |text: Option<&str>| {
        let store = Store::new(file.clone());
        let stream = block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
        let selectors =
            (0..4).flat_map(|_| [RowSelector::skip(400), RowSelector::select(10)]).collect::<Vec<_>>();
        let stream =
            stream.with_request_cost(CoalesceOptions::new(1, 1 << 20)).with_row_selection(selectors.into());
        let stream = match text {
            Some(text) => stream.with_predicate(Predicate::parse(text).unwrap()),
            None => stream,
        };
        let stream = stream.build().unwrap();
        let schema = stream.schema().clone();
        store.take_requests();
        (one(&schema, &by_row_group(stream).unwrap()), store.take_requests().len())
    };
    let (rows, requests) = read(None);
    assert_eq!(rows.num_rows(), 40);
    assert_eq!(read(Some("cardinality(list) >= 0 or list is null")), (rows, requests));
}

/// Where much of a block is wanted all of it may be decoded, but for pages that have none of it: they were not fetched.
#[test]
fn pages_that_are_left_out_are_not_missed() {
    let rows = rows(20_000);
    let file = file(&rows, 20_000, 100);
    let store = Store::new(file.clone());
    let selectors: Vec<RowSelector> =
        (0..40).flat_map(|_| [RowSelector::skip(200), RowSelector::select(300)]).collect();
    let stream = || {
        let metadata = block_on(ArrowReaderMetadata::load_async(&store, ArrowReaderOptions::new())).unwrap();
        // Without the end of the file, which was fetched and has much of it.
        let metadata =
            ArrowReaderMetadata::try_new(metadata.metadata().clone(), ArrowReaderOptions::new()).unwrap();
        ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
            .with_request_cost(CoalesceOptions::new(1, 1 << 20))
            .with_batch_size(1000)
            .with_row_selection(selectors.clone().into())
            .build()
            .unwrap()
    };
    let all = builder(&file).with_row_selection(selectors.clone().into()).build().unwrap();
    let schema = stream().schema().clone();
    let all = one(&schema, &read(all).unwrap());
    store.take_requests();
    assert_eq!(one(&schema, &by_row_group(stream()).unwrap()), all);
    let by_row_group = store.take_requests().len();
    assert_eq!(one(&schema, &collect(stream()).unwrap()), all);
    assert_eq!(store.take_requests().len(), by_row_group);
}

/// Batches of the stream, and row groups for others, in turn.
#[test]
fn a_stream_goes_on_after_a_row_group() {
    let file = file(&rows(2000), 500, 100);
    block_on(async {
        let mut stream = ParquetRecordBatchStreamBuilder::new(file.clone()).await?.build()?;
        let first = stream.next().await.unwrap()?;
        let second = stream.next_row_group().await?.unwrap();
        assert_eq!((second.row_group(), second.num_rows()), (1, Some(500)));
        let third = stream.next().await.unwrap()?;
        let [all] = [read(builder(&file).build()?)?];
        let all = one(&all[0].schema(), &all);
        assert_eq!((first, third), (all.slice(0, 500), all.slice(1000, 500)));
        let second: Vec<RecordBatch> = second.map(|batch| batch.unwrap()).collect();
        assert_eq!(one(&all.schema(), &second), all.slice(500, 500));
        Ok::<(), marquetry_base::Error>(())
    })
    .unwrap();
}

/// Behind an offset it need not be known how many rows a row group has, which was begun by polling.
#[test]
fn a_stream_with_an_offset_goes_on_after_a_batch() {
    let file = file(&rows(2000), 500, 100);
    let price = || Predicate::parse("price < 2000").unwrap();
    let all = builder(&file).with_predicate(price()).with_offset(3).build().unwrap();
    let all = read(all).unwrap();
    block_on(async {
        let stream = ParquetRecordBatchStreamBuilder::new(file.clone()).await?;
        let stream = stream.with_predicate(price()).with_offset(3).with_batch_size(10);
        let mut stream = stream.build()?;
        let mut batches = Vec::new();
        // Up to the middle of the second row group: of the first it had to be known for the offset.
        while batches.len() < 40 {
            batches.push(stream.next().await.unwrap()?);
        }
        while let Some(group) = stream.next_row_group().await? {
            batches.extend(group.map(|batch| batch.unwrap()));
        }
        let schema = batches[0].schema();
        assert_eq!(one(&schema, &batches), one(&schema, &all));
        Ok::<(), marquetry_base::Error>(())
    })
    .unwrap();
}

#[test]
fn a_limit_of_rows_that_may_be_lost_is_the_streams_alone() {
    let file = file(&rows(1000), 500, 100);
    let options = ArrowReaderOptions::new().with_on_corrupt(OnCorrupt::SkipPage);
    let builder = || {
        let metadata = block_on(ArrowReaderMetadata::load_async(&file, options.clone())).unwrap();
        ParquetRecordBatchStreamBuilder::new_with_metadata(file.clone(), metadata)
    };
    let mut limited = builder().with_limit(10).build().unwrap();
    let error = block_on(limited.next_row_group()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let all = by_row_group(builder().build().unwrap()).unwrap();
    assert_eq!(all.iter().map(RecordBatch::num_rows).sum::<usize>(), 1000);
}

/// How often a stream of memory, which never waits for bytes, is pending.
fn turns(yield_rows: usize) -> usize {
    let file = file(&rows(3000), 1000, 100);
    block_on(async {
        let builder = ParquetRecordBatchStreamBuilder::new(file).await.unwrap();
        let mut stream = builder.with_batch_size(100).with_yield_rows(yield_rows).build().unwrap();
        let (mut turns, mut batches) = (0, 0);
        while batches < 30 {
            match poll_immediate(stream.next()).await {
                Some(batch) => batches += batch.map_or(0, |batch| usize::from(batch.is_ok())),
                None => turns += 1,
            }
        }
        turns
    })
}

#[test]
fn others_have_a_turn_after_some_rows() {
    assert_eq!((turns(usize::MAX), turns(0)), (0, 29));
    assert!((5..=6).contains(&turns(499)), "{}", turns(499));
}

#[test]
fn a_cancelled_stream_is_over() {
    let (file, token) = (file(&rows(3000), 500, 100), CancelToken::new());
    let limits = Limits::default().with_cancel(token.clone());
    let options = ArrowReaderOptions::new().with_limits(limits);
    for by_row_group in [false, true] {
        let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
        let metadata = block_on(ArrowReaderMetadata::load_async(&file, options.clone())).unwrap();
        let mut stream =
            ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata).build().unwrap();
        let error = block_on(async {
            if by_row_group {
                return stream.next_row_group().await.map(drop).unwrap_err();
            }
            assert!(stream.next().await.unwrap().is_ok());
            token.cancel();
            let error = stream.next().await.unwrap().unwrap_err();
            assert!(stream.next().await.is_none());
            error
        });
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        drop(stream);
        assert_eq!(store.running(), 0);
    }
}

#[test]
fn a_stream_counts_what_it_fetches_and_leaves_out() {
    // More than is fetched with the footer.
    let file = file(&rows(300_000), 100_000, 10_000);
    let builder = || block_on(ParquetRecordBatchStreamBuilder::new(file.clone())).unwrap();
    let mut stream = builder().build().unwrap();
    block_on(async { while stream.next().await.is_some() {} });
    let metrics = stream.metrics();
    assert_eq!((metrics.rows, metrics.row_groups), (300_000, 3));
    assert!(metrics.requests >= 1 && metrics.bytes_fetched > file.len() as u64 / 2, "{metrics:?}");
    let predicate = Predicate::parse("id >= 150000 and id < 200000 and price < 1000").unwrap();
    let mut stream = builder().with_predicate(predicate).build().unwrap();
    let rows = block_on(async {
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            rows += batch.unwrap().num_rows() as u64;
        }
        rows
    });
    let some = stream.metrics();
    assert_eq!((some.rows, some.statistics.row_groups, some.statistics.rows), (rows, 2, 200_000));
    assert_eq!((some.page_index.rows, some.filtered_rows), (50_000, 50_000 - rows), "{some:?}");
    assert!(some.bytes_fetched < metrics.bytes_fetched, "{some:?}");
}
