//! `Int96Unit::Auto`: each column has a unit of its own.

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray, TimestampMicrosecondArray,
    TimestampNanosecondArray,
};
use arrow_schema::{DataType, Field, TimeUnit};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, Int96Unit, ParquetRecordBatchReaderBuilder};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::write::{StoredForms, WriterProperties};
use std::sync::Arc;

const NEAR: i64 = 1_704_067_200_000_000;
/// The year 5138.
const FAR: i64 = 100_000_000_000_000_000;

fn micros(value: i64) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(vec![value]))
}

fn nanos(value: i64) -> ArrayRef {
    Arc::new(TimestampNanosecondArray::from(vec![value]))
}

/// A file with the columns `a` and `b`, and the same in a struct.
fn written(a: ArrayRef, b: ArrayRef) -> Vec<u8> {
    let field = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let within = StructArray::from(vec![(field("a", &a), a.clone()), (field("b", &b), b.clone())]);
    let columns: [(&str, ArrayRef); 3] = [("a", a), ("b", b), ("s", Arc::new(within))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_stored_forms(StoredForms::default().with_int96_timestamps(true))
        .set_arrow_schema(false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn columns(batch: &RecordBatch) -> Vec<ArrayRef> {
    let within = batch.column(2).as_any().downcast_ref::<StructArray>().unwrap();
    batch.columns()[..2].iter().chain(within.columns()).cloned().collect()
}

#[test]
fn a_far_timestamp_takes_no_nanoseconds_from_other_columns() {
    let file = Bytes::from(written(nanos(1), micros(FAR)));
    let options = ArrowReaderOptions::new().with_int96(Int96Unit::Auto);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let units = builder.fitting_int96().unwrap();
    let found: Vec<_> = builder.parquet_schema().columns().iter().map(|leaf| units.unit_of(leaf)).collect();
    let micro = Some(TimeUnit::Microsecond);
    assert_eq!(found, [None, micro, None, micro]);
    let mut reader = builder.build().unwrap();
    assert_eq!(reader.schema().field(0).data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, None));
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(columns(&batch), [nanos(1), micros(FAR), nanos(1), micros(FAR)]);
}

#[test]
fn files_of_a_table_have_the_same_unit_of_each_column() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["1.parquet", "2.parquet"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], written(nanos(1), micros(NEAR))).unwrap();
    std::fs::write(&paths[1], written(nanos(2), micros(FAR))).unwrap();
    for paths in [paths.clone(), [paths[1].clone(), paths[0].clone()]] {
        for union in [false, true] {
            let table = Dataset::open(paths.clone()).unwrap().union_by_name(union);
            let mut reader = table.batches().unwrap();
            let mut found = Vec::new();
            while let Some(batch) = reader.next_batch() {
                found.push(columns(&batch.unwrap()));
            }
            let near = vec![nanos(1), micros(NEAR), nanos(1), micros(NEAR)];
            let far = vec![nanos(2), micros(FAR), nanos(2), micros(FAR)];
            assert!(found == [near.clone(), far.clone()] || found == [far, near], "{found:?}");
        }
    }
}
