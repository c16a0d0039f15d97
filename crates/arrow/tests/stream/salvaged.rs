//! Streams of damaged files: what is whole, and the same report that a reader gives.

use super::store::{Faults, Store};
use super::{file, rows};
use arrow_array::RecordBatch;
use bytes::Bytes;
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, LossReport, OnCorrupt, ParquetRecordBatchReaderBuilder,
    ProjectionMask,
};
use marquetry_arrow::async_reader::{CoalesceOptions, ParquetRecordBatchStreamBuilder};
use marquetry_base::Result;
use marquetry_core::predicate::Predicate;
use proptest::prelude::*;

const MODES: [OnCorrupt; 3] = [OnCorrupt::SkipPage, OnCorrupt::NullPage, OnCorrupt::SkipRowGroup];

/// What is read of a damaged file.
#[derive(Debug, Clone)]
struct Choice {
    on_corrupt: OnCorrupt,
    mask: Vec<bool>,
    row_groups: Option<Vec<prop::sample::Index>>,
    limit: Option<usize>,
    offset: usize,
    batch: usize,
}

fn choice() -> impl Strategy<Value = Choice> {
    let modes = prop::sample::select(&MODES[..]);
    let mask = prop::collection::vec(any::<bool>(), 4);
    let row_groups = prop::option::of(prop::collection::vec(any::<prop::sample::Index>(), 0..6));
    let offset = prop_oneof![Just(0), 0usize..3000];
    (modes, mask, row_groups, prop::option::of(0usize..3000), offset, 1usize..1200).prop_map(
        |(on_corrupt, mask, row_groups, limit, offset, batch)| Choice {
            on_corrupt,
            mask,
            row_groups,
            limit,
            offset,
            batch,
        },
    )
}

impl Choice {
    fn options(&self) -> ArrowReaderOptions {
        ArrowReaderOptions::new().with_on_corrupt(self.on_corrupt)
    }

    fn mask(&self, schema: &marquetry_core::schema::Schema) -> ProjectionMask {
        let names = ["id", "name", "price", "list"].into_iter().zip(&self.mask).filter(|(_, is_in)| **is_in);
        ProjectionMask::columns(schema, names.map(|(name, _)| name))
    }

    fn row_groups(&self, of: usize) -> Vec<usize> {
        let picked = self.row_groups.as_ref();
        picked
            .map_or_else(|| (0..of).collect(), |picked| picked.iter().map(|index| index.index(of)).collect())
    }
}

/// Batches until the first error, that, and what was lost.
type Given = (Vec<RecordBatch>, Option<String>, LossReport);

fn by_reader(file: &Bytes, choice: &Choice) -> Result<Given> {
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), choice.options())?;
    let (mask, groups) = (choice.mask(builder.parquet_schema()), builder.metadata().num_row_groups());
    let mut reader = builder
        .with_projection(mask)
        .with_row_groups(choice.row_groups(groups))
        .with_limit(choice.limit.unwrap_or(usize::MAX))
        .with_offset(choice.offset)
        .with_batch_size(choice.batch)
        .build()?;
    let (mut batches, mut failed) = (Vec::new(), None);
    while let Some(batch) = reader.next_batch() {
        match batch {
            Ok(batch) => batches.push(batch),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    Ok((batches, failed, reader.loss_report()))
}

fn by_stream(store: &Store, choice: &Choice, prefetch: u64, cost: CoalesceOptions) -> Result<Given> {
    // The tail of so small a file has all of it: it is not kept here, so that everything is fetched.
    let metadata = block_on(ArrowReaderMetadata::load_async(store, choice.options()))?;
    let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), choice.options())?;
    let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata);
    let (mask, groups) = (choice.mask(builder.parquet_schema()), builder.metadata().num_row_groups());
    let mut builder = builder
        .with_projection(mask)
        .with_row_groups(choice.row_groups(groups))
        .with_offset(choice.offset)
        .with_batch_size(choice.batch)
        .with_prefetch(prefetch)
        .with_request_cost(cost);
    if let Some(limit) = choice.limit {
        builder = builder.with_limit(limit);
    }
    let mut stream = builder.build()?;
    let (mut batches, mut failed) = (Vec::new(), None);
    while let Some(batch) = block_on(stream.next()) {
        match batch {
            Ok(batch) => {
                assert_eq!(batch.schema(), *stream.schema());
                batches.push(batch);
            }
            Err(error) => failed = Some(error.to_string()),
        }
    }
    assert_eq!(store.running(), 0);
    Ok((batches, failed, stream.loss_report()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn as_a_reader(
        (count, group, page) in (1i64..3000, 1usize..900, 1usize..400),
        bits in prop::collection::vec((any::<prop::sample::Index>(), 0u32..8), 0..6),
        choice in choice(),
        latency in 0usize..3,
        prefetch in prop_oneof![Just(0u64), Just(20_000), Just(1 << 30)],
        (hole_size_limit, range_size_limit) in (0u64..5000, 1u64..100_000),
    ) {
        let mut bytes = file(&rows(count), group, page).to_vec();
        let end = super::builder(&bytes.clone().into()).metadata().data_end().unwrap() as usize;
        for (at, bit) in bits {
            bytes[at.index(end)] ^= 1 << bit;
        }
        let bytes = Bytes::from(bytes);
        let store = Store::with(bytes.clone(), Faults { latency, ..Faults::default() });
        let given = by_stream(&store, &choice, prefetch, CoalesceOptions::new(hole_size_limit, range_size_limit)).unwrap();
        prop_assert_eq!(given, by_reader(&bytes, &choice).unwrap());
    }
}

/// A page is lost in the second of three row groups: the report says so, and the other pages are there.
#[test]
fn the_report_tells_what_is_missing() {
    let bytes = file(&rows(3000), 1000, 100);
    let page = {
        let chunk = super::builder(&bytes).metadata().row_group(1).column(2).unwrap().byte_range().unwrap();
        (chunk.start + chunk.end) / 2
    };
    let mut bytes = bytes.to_vec();
    bytes[page as usize] ^= 0x10;
    let store = Store::new(bytes);
    let read = |on_corrupt| {
        let choice =
            Choice { on_corrupt, mask: vec![true; 4], row_groups: None, limit: None, offset: 0, batch: 5000 };
        let (batches, failed, report) =
            by_stream(&store, &choice, 1 << 20, CoalesceOptions::OBJECT_STORE).unwrap();
        assert_eq!(failed, None);
        assert!(report.losses.iter().all(|loss| loss.row_group == 1 && &*loss.column == "price"), "{report}");
        assert!(!report.is_empty());
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        (rows as u64, report)
    };
    let (rows, report) = read(OnCorrupt::SkipPage);
    assert_eq!(rows + report.rows_left_out, 3000);
    assert!((1..1000).contains(&report.rows_left_out));
    let (rows, report) = read(OnCorrupt::NullPage);
    assert_eq!((rows, report.rows_left_out), (3000, 0));
    assert!((1..1000).contains(&report.values_made_null));
    let (rows, report) = read(OnCorrupt::SkipRowGroup);
    assert_eq!((rows, report.rows_left_out), (2000, 1000));
}

/// Not being able to fetch is not damage.
#[test]
fn a_store_that_fails_is_no_damage() {
    let bytes = file(&rows(20_000), 10_000, 1000);
    for on_corrupt in MODES {
        let choice =
            Choice { on_corrupt, mask: vec![true; 4], row_groups: None, limit: None, offset: 0, batch: 5000 };
        // Footer, version, and the two row groups.
        for call in 2..4 {
            let store = Store::with(bytes.clone(), Faults { fails: Some(call), ..Faults::default() });
            let (batches, failed, report) =
                by_stream(&store, &choice, 0, CoalesceOptions::OBJECT_STORE).unwrap();
            assert_eq!(batches.len(), if call == 2 { 0 } else { 2 });
            assert!(failed.unwrap().contains("out of order"));
            assert!(report.is_empty());
        }
    }
}

#[test]
fn rows_are_not_chosen_where_damage_is_no_error() {
    let store = Store::new(file(&rows(100), 50, 10));
    let options = ArrowReaderOptions::new().with_on_corrupt(OnCorrupt::SkipPage);
    let stream = |options| {
        block_on(ParquetRecordBatchStreamBuilder::new_with_options(store.clone(), options)).unwrap()
    };
    let predicate = || Predicate::parse("id > 3").unwrap();
    let refused = [
        stream(options.clone()).with_predicate(predicate()).build().err(),
        stream(options.clone().with_row_numbers("row")).build().err(),
        block_on(stream(options).with_predicate(predicate()).selected_rows()).err(),
    ];
    for error in refused {
        assert!(error.unwrap().message().contains("where a file is damaged"));
    }
}
