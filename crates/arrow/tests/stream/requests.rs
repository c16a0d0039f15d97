//! How many requests are made, and for how many bytes.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]

use super::store::{Faults, Store};
use super::{builder, collect, file, one, read, rows, written};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use bytes::Bytes;
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, ProjectionMask};
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_core::predicate::Predicate;
use marquetry_core::write::{EnabledStatistics, WriterProperties};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

fn open(store: &Store) -> ParquetRecordBatchStreamBuilder<Store> {
    block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap()
}

fn bytes(requests: &[Range<u64>]) -> u64 {
    requests.iter().map(|request| request.end - request.start).sum()
}

#[test]
fn a_small_file_is_one_request() {
    let file = file(&rows(1000), 400, 100);
    assert!(file.len() < 64 << 10);
    let store = Store::new(file.clone());
    collect(open(&store).build().unwrap()).unwrap();
    assert_eq!(store.take_requests(), [0..file.len() as u64]);
}

#[test]
fn columns_that_are_not_read_are_not_fetched() {
    let file = file(&rows(200_000), 200_000, 20_000);
    let store = Store::new(file.clone());
    let builder = open(&store);
    let tail = store.take_requests();
    assert_eq!(tail, [file.len() as u64 - (64 << 10)..file.len() as u64]);
    let price = builder.metadata().row_group(0).column(2).unwrap().byte_range().unwrap();
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["price"]);
    collect(builder.with_projection(mask).build().unwrap()).unwrap();
    let requests = store.take_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].start, price.start);
    assert!(bytes(&requests) < price.end - price.start + 200);
}

/// A footer of 10,000 columns is longer than what is read first: one request more, and then one for each row group.
#[test]
fn one_column_of_ten_thousand() {
    let column = |i: i32| Arc::new(Int32Array::from_iter_values((0..100).map(|row| row * i))) as ArrayRef;
    let batch = RecordBatch::try_from_iter((0..10_000).map(|i| (format!("column {i}"), column(i)))).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(50))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    let file = written(&batch, properties.build());
    let store = Store::new(file.clone());
    let start = Instant::now();
    let builder = open(&store);
    let opened = start.elapsed();
    let footer = store.take_requests();
    assert_eq!(footer.len(), 2);
    let data_end = builder.metadata().data_end().unwrap();
    assert!(bytes(&footer) < file.len() as u64 - data_end + (64 << 10));
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["column 4711"]);
    let stream = builder.with_projection(mask).build().unwrap();
    let schema = stream.schema().clone();
    let read = super::one(&schema, &collect(stream).unwrap());
    let elapsed = start.elapsed();
    assert_eq!(read.column(0), &column(4711));
    assert_eq!(read.num_columns(), 1);
    let requests = store.take_requests();
    eprintln!(
        "10,000 columns: 2 requests of {} bytes and {opened:?} for the footer; {} of {} bytes and {elapsed:?} with one column",
        bytes(&footer),
        requests.len(),
        bytes(&requests),
    );
    assert_eq!(requests.len(), 2);
    assert!(bytes(&requests) < 1000, "{requests:?}");
}

#[test]
fn a_longer_first_read_spares_the_second() {
    let column = |i: i32| Arc::new(Int32Array::from(vec![i])) as ArrayRef;
    let batch = RecordBatch::try_from_iter((0..3000).map(|i| (format!("column {i}"), column(i)))).unwrap();
    let store = Store::new(written(&batch, WriterProperties::default()));
    open(&store);
    assert_eq!(store.take_requests().len(), 2);
    let options = ArrowReaderOptions::new().with_footer_size_hint(4 << 20);
    block_on(ParquetRecordBatchStreamBuilder::new_with_options(store.clone(), options)).unwrap();
    assert_eq!(store.take_requests().len(), 1);
}

/// What was fetched when the first batch is there, with a limit of so many bytes.
fn fetched_with_the_first_batch(file: &Bytes, prefetch: u64) -> usize {
    let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
    let mut stream = open(&store).with_prefetch(prefetch).build().unwrap();
    store.take_requests();
    block_on(stream.next()).unwrap().unwrap();
    store.take_requests().len()
}

#[test]
fn row_groups_are_fetched_ahead_up_to_the_limit() {
    let file = file(&rows(400_000), 50_000, 10_000);
    let group = {
        let metadata = super::builder(&file).metadata().clone();
        let group = metadata.row_group(1);
        let (first, last) = (group.column(0).unwrap(), group.column(3).unwrap());
        last.byte_range().unwrap().end - first.byte_range().unwrap().start
    };
    assert_eq!(fetched_with_the_first_batch(&file, 0), 1);
    assert_eq!(fetched_with_the_first_batch(&file, group / 2), 1);
    assert_eq!(fetched_with_the_first_batch(&file, group * 2 + group / 2), 3);
    assert_eq!(fetched_with_the_first_batch(&file, u64::MAX), 8);
}

/// Row groups that are passed over are not fetched.
#[test]
fn offset_and_limit_spare_row_groups() {
    let file = file(&rows(400_000), 50_000, 10_000);
    let store = Store::new(file);
    let builder = open(&store);
    let place = builder.metadata().row_group(3).column(0).unwrap().byte_range().unwrap().start;
    store.take_requests();
    let stream = builder.with_offset(150_000).with_limit(50_000).build().unwrap();
    let rows: usize = collect(stream).unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 50_000);
    let requests = store.take_requests();
    assert_eq!((requests.len(), requests[0].start), (1, place));
}

/// 400,000 rows: `flag` is 50 in a hundredth of the rows before `last_wanted`, and never after them, with bounds that rule nothing out; `value`
/// is more than a round trip is worth.
fn flagged(last_wanted: i64) -> RecordBatch {
    let random = |i: i64| (i.wrapping_mul(0x5851_f42d_4c95_7f2d) as u64 >> 33) as i64;
    let flag = (0..400_000).map(|i| match random(i) % 100 {
        50 if i >= last_wanted => 51,
        flag => flag,
    });
    let columns: [(&str, ArrayRef); 2] = [
        ("flag", Arc::new(Int64Array::from_iter_values(flag))),
        ("value", Arc::new(Int64Array::from_iter_values((0..400_000).map(|i| random(i) * random(i + 1))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The bytes of `value` that were fetched for the rows with a flag of 50, which are the ones that a reader gives, with a limit as well.
fn fetched_of_value(last_wanted: i64) -> f64 {
    let file = file(&flagged(last_wanted), 400_000, 10_000);
    let predicate = || Predicate::parse("flag = 50").unwrap();
    let expected = read(builder(&file).with_predicate(predicate()).build().unwrap()).unwrap();
    let schema = expected[0].schema();
    let expected = one(&schema, &expected);
    assert!(expected.num_rows() > 100);
    for limit in [1, 77, 5000] {
        let limited = open(&Store::new(file.clone())).with_predicate(predicate()).with_limit(limit).build();
        let limited = one(&schema, &collect(limited.unwrap()).unwrap());
        assert_eq!(limited, expected.slice(0, limit.min(expected.num_rows())));
    }
    let store = Store::new(file);
    let stream = open(&store).with_predicate(predicate());
    let chunk = stream.metadata().row_group(0).column(1).unwrap().byte_range().unwrap();
    let found = collect(stream.build().unwrap()).unwrap();
    assert_eq!(one(&schema, &found), expected);
    let of_value =
        |request: &Range<u64>| request.end.min(chunk.end).saturating_sub(request.start.max(chunk.start));
    let fetched: u64 = store.take_requests().iter().map(of_value).sum();
    assert!(chunk.end - chunk.start > 2 << 20);
    fetched as f64 / (chunk.end - chunk.start) as f64
}

#[test]
fn rows_in_all_pages_need_all_pages_and_rows_in_few_pages_need_these() {
    assert_eq!(fetched_of_value(400_000), 1.0);
    // Two of forty pages, and what is between requests that are made as one.
    assert!(fetched_of_value(15_000) < 0.15);
}
