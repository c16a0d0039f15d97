//! INT96 timestamps beyond what nanoseconds reach have one unit wherever they are.

use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, Int96Unit};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::{StoredForms, WriterProperties};
use marquetry_inspect::{
    ColumnStats, DiffFile, DiffOptions, StatsOptions, diff_rows, table_stats, with_fitting_int96,
};
use std::sync::Arc;

/// 2024-01-01, a day later, the years 1001 and 9999.
const NEAR: [i64; 2] = [1_704_067_200_000_000, 1_704_153_600_000_000];
const FAR: [i64; 2] = [-30_578_688_000_000_000, 253_402_225_200_000_000];

/// A file of INT96, in row groups of so many rows.
fn written(columns: &[(&str, ArrayRef)], rows_per_group: usize, has_dictionaries: bool) -> Bytes {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let properties = WriterProperties::builder()
        .set_stored_forms(StoredForms::default().with_int96_timestamps(true))
        .set_max_row_group_row_count(Some(rows_per_group))
        .set_dictionary_enabled(has_dictionaries)
        // As Spark writes them, without any unit.
        .set_arrow_schema(false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

fn micros(values: &[i64]) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(values.to_vec()))
}

fn nanos(values: &[i64]) -> ArrayRef {
    Arc::new(TimestampNanosecondArray::from(values.to_vec()))
}

fn auto() -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_int96(Int96Unit::Auto)
}

fn stats_of(files: &[&Bytes]) -> Vec<ColumnStats> {
    let files = files.iter().map(|file| ("a file", Arc::new((*file).clone()) as Arc<dyn Source>));
    table_stats(files, auto(), &StatsOptions::default()).unwrap()
}

fn diff_file(file: &Bytes, name: &str) -> DiffFile {
    DiffFile::open(Arc::new(file.clone()), auto()).unwrap().with_name(name)
}

#[test]
fn statistics_have_one_unit_for_all_row_groups_and_files() {
    let all = [NEAR, FAR].concat();
    for has_dictionaries in [false, true] {
        let of = |values: &[i64]| written(&[("t", micros(values))], 2, has_dictionaries);
        let (near, far) = (of(&NEAR), of(&FAR));
        for files in [&[&of(&all)][..], &[&near, &far], &[&far, &near]] {
            let stats = &stats_of(files)[0];
            assert_eq!(stats.field.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, None));
            assert_eq!(stats.bounds.as_ref().unwrap(), &micros(&FAR), "{has_dictionaries}");
            assert_eq!(&stats.quartiles.as_ref().unwrap().values, &micros(&[FAR[0], NEAR[0], NEAR[1]]));
            assert_eq!((stats.values, stats.distinct.unwrap().count), (Some(4), 4));
        }
        let unit = stats_of(&[&near])[0].field.data_type().clone();
        assert_eq!(unit, DataType::Timestamp(TimeUnit::Nanosecond, None));
    }
}

#[test]
fn rows_are_compared_in_a_unit_that_holds_the_columns_of_both_files() {
    let all = [NEAR, FAR].concat();
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 2, 3]));
    let file = |times: &[i64], fine: &[i64], rows_per_group, has_dictionaries| {
        let ids = ids.slice(0, times.len());
        let columns = [("id", ids), ("t", micros(times)), ("fine", nanos(fine))];
        written(&columns, rows_per_group, has_dictionaries)
    };
    let left = diff_file(&file(&all, &[1, 2, 3, 4], 2, false), "left");
    let same = diff_file(&file(&all, &[1, 2, 3, 4], 3, true), "right");
    for options in [DiffOptions::default(), DiffOptions::default().with_key(["id"])] {
        let diff = diff_rows(&left, &same, &options).unwrap();
        assert!(diff.is_same() && diff.rows == (4, 4), "{diff:?}");
        // The year 9999 in `t` takes no nanoseconds from the other column.
        let finer = diff_file(&file(&all, &[1, 2, 3, 5], 4, false), "right");
        let diff = diff_rows(&left, &finer, &options).unwrap();
        assert_eq!((diff.changed, &diff.changed_columns[..]), (1, &[("fine".to_owned(), 1)][..]));
        // A file that fits in nanoseconds, against one that does not.
        let near = diff_file(&file(&NEAR, &[1, 2], 4, false), "right");
        let diff = diff_rows(&left, &near, &options).unwrap();
        assert_eq!((diff.removed, diff.added, diff.changed), (2, 0, 0), "{diff:?}");
        let shown = with_fitting_int96(&left, &near, &options).unwrap();
        for file in [&shown.0, &shown.1] {
            let rows = file.rows_at(&[0], &["t".to_owned(), "fine".to_owned()]).unwrap();
            assert_eq!(rows.column(0), &micros(&NEAR[..1]));
            assert_eq!(rows.column(1), &nanos(&[1]));
        }
    }
}

/// Without their nanoseconds, rows that differ would be the same.
#[test]
fn what_no_unit_holds_is_an_error_that_names_the_file() {
    let far = diff_file(&written(&[("t", micros(&FAR))], 9, false), "far.parquet");
    let fine = diff_file(&written(&[("t", nanos(&[1, 2]))], 9, false), "fine.parquet");
    for (left, right) in [(&far, &fine), (&fine, &far)] {
        let error = diff_rows(left, right, &DiffOptions::default()).unwrap_err();
        assert_eq!(error.place().file.as_deref(), Some("fine.parquet"));
        assert!(error.message().contains("column t has INT96 timestamps beyond"), "{error}");
    }
    // With a requested unit, a value that does not fit is an error of its file.
    let options = ArrowReaderOptions::new().with_int96(Int96Unit::Nanoseconds);
    let open = |file: &Bytes, name: &str| {
        DiffFile::open(Arc::new(file.clone()), options.clone()).unwrap().with_name(name)
    };
    let (near, far) = (written(&[("t", micros(&NEAR))], 9, false), written(&[("t", micros(&FAR))], 9, false));
    let error = diff_rows(&open(&near, "near.parquet"), &open(&far, "far.parquet"), &DiffOptions::default())
        .unwrap_err();
    assert_eq!(error.place().file.as_deref(), Some("far.parquet"), "{error}");
}

#[test]
fn statistics_of_a_column_keep_nanoseconds_beside_a_far_one() {
    let columns =
        |fine: &[i64], times: &[i64]| written(&[("fine", nanos(fine)), ("t", micros(times))], 2, false);
    let (near, far) = (columns(&[1, 2], &NEAR), columns(&[3, 4], &FAR));
    for files in [[&near, &far], [&far, &near]] {
        let stats = stats_of(&files);
        assert_eq!(stats[0].bounds.as_ref().unwrap(), &nanos(&[1, 4]));
        assert_eq!(stats[1].bounds.as_ref().unwrap(), &micros(&FAR));
    }
}
