//! Datasets with INT96 timestamps: what a table says of them is found once, of all columns and files.

use crate::tables::rows;
use bytes::Bytes;
use datafusion::prelude::SessionContext;
use marquetry_arrow::dataset::Dataset;
use marquetry_base::Limits;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::{Schema, column, group};
use marquetry_core::source::Source;
use marquetry_core::write::{ColumnWriter, FileSettings, FileWriter, Workspace, WriterProperties};
use marquetry_datafusion::DatasetTable;
use marquetry_encoding::{FixedLenBytes, PhysicalType, Values};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file of two columns of INT96: midnight of these Julian days.
fn file(near: i32, far: i32) -> Bytes {
    let elements =
        vec![group("root", 2), column("near", PhysicalType::Int96), column("far", PhysicalType::Int96)];
    let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    let mut workspace = Workspace::new();
    let chunk = |(index, day): (usize, i32)| {
        let settings = WriterProperties::default().column_settings(schema.column(index)).unwrap();
        let mut writer = ColumnWriter::new(schema.column(index), &settings).unwrap();
        let mut times = FixedLenBytes::new(12);
        times.push(&[&0u64.to_le_bytes()[..], &day.to_le_bytes()].concat());
        let values = ColumnValues::Values(Values::Fixed(times));
        writer.write(&ShreddedColumn::flat(1, DefinitionLevels::Max, values), &mut workspace).unwrap();
        writer.close(&mut workspace).unwrap().0
    };
    let chunks = [near, far].into_iter().enumerate().map(chunk).collect();
    let mut file = FileWriter::new(Vec::new(), elements, FileSettings::default()).unwrap();
    file.write_row_group(1, chunks, None).unwrap();
    Bytes::from(file.finish().unwrap().0)
}

/// Day 2440588 is 1970-01-01. Nanoseconds of 64 bits end in 2262; 3500000 is in 4870.
#[tokio::test]
async fn each_column_has_the_unit_that_the_table_says() {
    let (near, far) = (file(2_440_588, 2_440_589), file(2_440_590, 3_500_000));
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = opened.clone();
    let open = move |path: &std::path::Path| {
        counted.fetch_add(1, Ordering::Relaxed);
        let bytes = if path.ends_with("199") { &far } else { &near };
        Ok(Arc::new(bytes.clone()) as Arc<dyn Source>)
    };
    // More files than are kept open.
    let names = (0..200).map(|file| file.to_string());
    let table = DatasetTable::try_new(Dataset::from_files(names, open).unwrap()).unwrap();
    let ctx = SessionContext::new();
    ctx.register_table("t", Arc::new(table)).unwrap();
    let all = opened.load(Ordering::Relaxed);

    let sql = "select max(near), arrow_typeof(max(near)) from t";
    assert_eq!(rows(&ctx, sql).await, ["1970-01-03T00:00:00 | Timestamp(ns)"]);
    let read = opened.load(Ordering::Relaxed);
    assert!(read - all <= 200, "{} files were opened by a query of 200", read - all);
    let sql = "select extract(year from max(far)), arrow_typeof(max(far)) from t";
    assert_eq!(rows(&ctx, sql).await, ["4870 | Timestamp(µs)"]);

    // Planning opens no file.
    let read = opened.load(Ordering::Relaxed);
    let query = ctx.sql("select near from t where far is not null").await.unwrap();
    query.create_physical_plan().await.unwrap();
    assert_eq!(opened.load(Ordering::Relaxed), read);
}
