//! A stream gives what a reader gives, however it is cut and however slow the store is.

use super::store::{Faults, Store};
use super::{builder, collect, file, one, read, rows};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use bytes::Bytes;
use futures::executor::block_on;
use marquetry_arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    ProjectionMask, RowFilter,
};
use marquetry_arrow::async_reader::{CoalesceOptions, ParquetRecordBatchStreamBuilder};
use marquetry_arrow::evolution::Evolution;
use marquetry_base::Limits;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn as_a_reader(
        (count, group, page) in (1i64..3000, 1usize..900, 1usize..400),
        mask in prop::collection::vec(any::<bool>(), 4),
        row_groups in prop::option::of(prop::collection::vec(any::<prop::sample::Index>(), 0..6)),
        (limit, offset) in (prop::option::of(0usize..3000), prop_oneof![Just(0), 0usize..3000]),
        (batch, latency) in (1usize..1200, 0usize..3),
        prefetch in prop_oneof![Just(0u64), Just(20_000), Just(1 << 30)],
        (hole_size_limit, range_size_limit) in (0u64..5000, 1u64..100_000),
    ) {
        let file = file(&rows(count), group, page);
        let mut reader = builder(&file).with_offset(offset).with_batch_size(batch);
        let names = ["id", "name", "price", "list"].into_iter().zip(&mask).filter(|(_, is_in)| **is_in);
        let mask = ProjectionMask::columns(reader.parquet_schema(), names.map(|(name, _)| name));
        let groups = reader.metadata().num_row_groups();
        let row_groups: Option<Vec<_>> =
            row_groups.map(|picked| picked.iter().map(|index| index.index(groups)).collect());
        let store = Store::with(file, Faults { latency, ..Faults::default() });
        let mut stream = block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap()
            .with_batch_size(batch)
            .with_offset(offset)
            .with_projection(mask.clone())
            .with_prefetch(prefetch)
            .with_request_cost(CoalesceOptions::new(hole_size_limit, range_size_limit));
        reader = reader.with_projection(mask);
        if let Some(limit) = limit {
            reader = reader.with_limit(limit);
            stream = stream.with_limit(limit);
        }
        if let Some(row_groups) = row_groups {
            reader = reader.with_row_groups(row_groups.clone());
            stream = stream.with_row_groups(row_groups);
        }
        let stream = stream.build().unwrap();
        let schema = stream.schema().clone();
        let given = collect(stream).unwrap();
        prop_assert!(given.iter().all(|given| (1..=batch).contains(&given.num_rows())));
        let expected = read(reader.build().unwrap()).unwrap();
        prop_assert!(expected.iter().all(|expected| expected.schema() == schema));
        prop_assert_eq!(one(&schema, &given), one(&schema, &expected));
        prop_assert_eq!(store.running(), 0);
    }
}

/// Columns in another order, and another schema: the same as a reader gives.
#[test]
fn as_another_schema() {
    let file = file(&rows(2000), 700, 100);
    let predicate = || Predicate::parse("id between 600 and 1500 and price < 2000").unwrap();
    let stream = || {
        let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
        block_on(ParquetRecordBatchStreamBuilder::new(store)).unwrap()
    };
    let is_same = |stream: ParquetRecordBatchStreamBuilder<Store>,
                   reader: ParquetRecordBatchReaderBuilder<Bytes>| {
        let stream = stream.with_predicate(predicate()).build().unwrap();
        let schema = stream.schema().clone();
        let expected = read(reader.with_predicate(predicate()).build().unwrap()).unwrap();
        assert!(expected.iter().all(|expected| expected.schema() == schema));
        let given = collect(stream).unwrap();
        assert!(given.iter().all(|given| given.schema() == schema));
        assert_eq!(one(&schema, &given), one(&schema, &expected));
    };
    let names = ["list", "id"];
    is_same(stream().with_columns(names).unwrap(), builder(&file).with_columns(names).unwrap());
    assert!(stream().with_columns(["naem"]).err().unwrap().message().contains("name"));
    let field = |name, data_type| Field::new(name, data_type, true);
    let wanted = ArrowSchema::new(vec![
        field("more", DataType::Float32),
        field("name", DataType::LargeUtf8),
        field("id", DataType::Decimal128(38, 2)),
    ]);
    let evolution = Evolution::to(Arc::new(wanted));
    is_same(stream().with_evolution(evolution.clone()), builder(&file).with_evolution(evolution));
    let narrow = Evolution::to(Arc::new(ArrowSchema::new(vec![field("price", DataType::Int8)])));
    assert!(stream().with_evolution(narrow).build().is_err());
}

#[test]
fn metadata_that_was_kept_spares_the_footer() {
    let file = file(&rows(2000), 500, 100);
    let store = Store::new(file.clone());
    let all = ProjectionMask::all();
    let metadata = block_on(async {
        let metadata = ArrowReaderMetadata::load_async(&store, ArrowReaderOptions::new()).await?;
        metadata.with_page_index(&store, &all).await
    });
    let metadata = metadata.unwrap();
    assert_eq!(metadata.file_version().unwrap().len, file.len() as u64);
    store.take_requests();
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata.clone());
    assert_eq!(collect(stream.build().unwrap()).unwrap().len(), 4);
    // The tail of a file as small as this has everything.
    assert_eq!(store.take_requests(), []);
    // Metadata that came from elsewhere: which version there is has to be asked.
    let metadata =
        ArrowReaderMetadata::try_new(metadata.metadata().clone(), ArrowReaderOptions::new()).unwrap();
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata);
    assert_eq!(collect(stream.build().unwrap()).unwrap().len(), 4);
    assert!(store.calls() > 1);
}

/// The footer of a file, and the same that says that chunks are shorter than they are, as those of old fastparquet do, which do not count
/// dictionaries.
fn right_and_wrong(file: &Bytes) -> (Arc<ParquetMetaData>, ParquetMetaData) {
    let metadata = builder(file).metadata().clone();
    let mut thrift = metadata.to_thrift().unwrap();
    thrift.created_by = Some("fastparquet-python version 1.0.0 (build 111)".into());
    let mut shorter = 0;
    for column in thrift.row_groups.iter_mut().flat_map(|row_group| &mut row_group.columns) {
        let chunk = column.meta_data.as_mut().unwrap();
        if let Some(dictionary) = chunk.dictionary_page_offset {
            chunk.total_compressed_size -= chunk.data_page_offset - dictionary;
            shorter += 1;
        }
    }
    assert!(shorter > 0);
    let wrong = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
    let wrong = wrong.with_data_end(metadata.data_end().unwrap());
    (metadata, wrong)
}

/// What lies behind is found when it is missed.
#[test]
fn what_no_plan_foresees_is_fetched_when_it_is_missed() {
    let batch = rows(5000);
    let file = file(&batch, 2500, 300);
    let (metadata, wrong) = right_and_wrong(&file);
    let calls = |metadata: &ParquetMetaData, latency| {
        let store = Store::with(file.clone(), Faults { latency, ..Faults::default() });
        let metadata =
            ArrowReaderMetadata::try_new(Arc::new(metadata.clone()), ArrowReaderOptions::new()).unwrap();
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store.clone(), metadata)
            .with_request_cost(CoalesceOptions::new(0, 1 << 20))
            .with_batch_size(700)
            .build()
            .unwrap();
        let schema = stream.schema().clone();
        let given = collect(stream).unwrap();
        assert_eq!(one(&schema, &given), batch);
        store.calls()
    };
    for latency in [0, 2] {
        let (planned, missed) = (calls(&metadata, latency), calls(&wrong, latency));
        assert!(missed > planned, "{missed} calls, {planned} where all is foreseen");
    }
}

/// A filter may remember what it saw: it is asked about each row once, also where bytes were missed meanwhile.
#[test]
fn filters_are_asked_once_about_each_row() {
    let batch = rows(5000);
    let file = file(&batch, 2500, 300);
    let (right, wrong) = right_and_wrong(&file);
    // The first row of each name, of those that a filter before leaves.
    let firsts = |schema: &Schema| {
        let odd = |batch: RecordBatch| {
            let id = batch.column(0).as_primitive::<Int64Type>();
            Ok(BooleanArray::from_unary(id, |id| id % 30 == 1))
        };
        let mut seen = HashSet::new();
        let is_first = move |batch: RecordBatch| {
            let names = batch.column(0).as_string::<i32>();
            Ok(names.iter().map(|name| Some(seen.insert(name.map(str::to_owned)))).collect::<BooleanArray>())
        };
        RowFilter::new(vec![
            Box::new(ArrowPredicateFn::new(ProjectionMask::columns(schema, ["id"]), odd)),
            Box::new(ArrowPredicateFn::new(ProjectionMask::columns(schema, ["name"]), is_first)),
        ])
    };
    let reader = builder(&file);
    let schema = reader.parquet_schema().clone();
    let expected = read(reader.with_row_filter(firsts(&schema)).build().unwrap()).unwrap();
    for metadata in [(*right).clone(), wrong] {
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new()).unwrap();
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(Store::new(file.clone()), metadata)
            .with_request_cost(CoalesceOptions::new(0, 1 << 20))
            .with_row_filter(firsts(&schema))
            .build()
            .unwrap();
        let schema = stream.schema().clone();
        assert_eq!(one(&schema, &collect(stream).unwrap()), one(&schema, &expected));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let store = Store::new(file(&rows(100), 50, 10));
    let stream = || block_on(ParquetRecordBatchStreamBuilder::new(store.clone())).unwrap();
    assert!(stream().with_row_groups(vec![2]).build().unwrap_err().message().contains("no row group 2"));
    assert!(stream().with_batch_size(0).build().unwrap_err().message().contains("0 rows"));
    let options = ArrowReaderOptions::new().with_checkpoint_recovery(true);
    assert!(block_on(ArrowReaderMetadata::load_async(&store, options)).is_err());
    let error = block_on(ParquetRecordBatchStreamBuilder::new(Store::new("id,name\n1,oak\n"))).err().unwrap();
    assert!(error.message().contains("not a Parquet file"), "{error}");
}
