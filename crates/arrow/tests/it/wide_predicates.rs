//! Predicates over very many columns take as long as there are conditions, not as long as each condition looks at each column.

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::{Predicate, col};
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A row of this many columns `c0` to ..
fn wide(columns: usize) -> Bytes {
    let column =
        |i: usize| (format!("c{i}"), Arc::new(Int32Array::from(vec![i as i32, i as i32 + 1])) as ArrayRef);
    let batch = RecordBatch::try_from_iter((0..columns).map(column)).unwrap();
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_bloom_filter_enabled(true).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes.into()
}

/// True of the first row only.
fn all_of(columns: usize) -> Predicate {
    Predicate::And((0..columns).map(|i| col(format!("c{i}")).is_in([i as i32, i as i32 + 2])).collect())
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = work();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(60), "{what}: {took:?}");
    out
}

#[test]
fn conditions_on_all_columns() {
    let columns = 10_000;
    let file = wide(columns);
    let opened = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new()).unwrap();
    let predicate = all_of(columns);
    timed("bind", || predicate.bind(opened.parquet_schema()).unwrap());
    let reader = || ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), opened.clone());
    let rows = timed("read", || {
        let reader =
            reader().with_columns(["c7"]).unwrap().with_predicate(predicate.clone()).build().unwrap();
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>()
    });
    assert_eq!(rows, 1);
    let groups = || opened.metadata().row_groups();
    let max_of = |name: &str| opened.statistics(name).unwrap().row_group_maxes(groups()).unwrap();
    let table = || {
        let file = file.clone();
        let open = move |_: &Path| Ok(Arc::new(file.clone()) as Arc<dyn Source>);
        Dataset::from_files(["a.parquet", "b.parquet"], open)
            .unwrap()
            .columns(["c7"])
            .filter(predicate.clone())
    };
    for union in [false, true] {
        let rows = timed("table", || {
            let batches = table().union_by_name(union).batches().unwrap();
            batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>()
        });
        assert_eq!(rows, 2);
    }
    let maxes: Vec<ArrayRef> =
        timed("statistics", || opened.schema().fields().iter().map(|field| max_of(field.name())).collect());
    assert_eq!(maxes.len(), columns);
}

/// Lists and fields of structs.
#[test]
fn conditions_inside_of_columns() {
    let columns = 4_000;
    let lists: String = (0..columns)
        .map(|i| {
            format!("optional group l{i} (LIST) {{ repeated group list {{ optional int32 element; }} }}")
        })
        .collect();
    let fields: String = (0..columns).map(|i| format!("optional int32 f{i};")).collect();
    let text = format!("message m {{ {lists} optional group s {{ {fields} }} }}");
    let schema = Schema::parse(&text).unwrap();
    let of_lists = (0..columns).flat_map(|i| {
        let list = format!("l{i}");
        [col(&*list).gt(5).any(), col(&*list).is_null(), col(&*list).is_empty()]
    });
    let of_fields = (0..columns).map(|i| col(format!("s.f{i}")).gt(5));
    let predicate = Predicate::And(of_lists.chain(of_fields).collect());
    let bound = timed("bind", || predicate.bind(&schema).unwrap());
    assert_eq!(bound.leaves().len(), 2 * columns);
}
