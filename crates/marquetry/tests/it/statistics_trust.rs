//! Statistics as Arrow arrays: what cannot be trusted is null, and what contradicts itself is an error.

use crate::statistics_arrays::{one_column, open};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::*;
use bytes::Bytes;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, InvalidUtf8};
use marquetry::errors::{ErrorKind, Limits};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::page_index::PageIndex;
use marquetry::file::read_metadata;
use marquetry::internals::format::{ColumnOrder, FileMetaData, Statistics};
use std::sync::Arc;

/// The footer of a file of one column, after `edit`.
fn edited(file: &Bytes, edit: impl Fn(&mut FileMetaData, &mut Statistics)) -> ParquetMetaData {
    let mut thrift = read_metadata(file, &Limits::default()).unwrap().metadata.to_thrift().unwrap();
    let mut statistics =
        thrift.row_groups[0].columns[0].meta_data.as_mut().unwrap().statistics.take().unwrap_or_default();
    edit(&mut thrift, &mut statistics);
    thrift.row_groups[0].columns[0].meta_data.as_mut().unwrap().statistics = Some(statistics);
    ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap()
}

#[test]
fn trust_is_that_of_pruning() {
    let bounds = |metadata: ParquetMetaData| {
        let opened = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new()).unwrap();
        let converter = opened.statistics("c").unwrap();
        let groups = || opened.metadata().row_groups();
        let is_exact = converter.row_group_is_max_value_exact(groups()).unwrap();
        let shown = |array: ArrayRef| {
            let text = || arrow_cast::display::array_value_to_string(&array, 0).unwrap();
            array.is_valid(0).then(text)
        };
        let (min, max) =
            (converter.row_group_mins(groups()).unwrap(), converter.row_group_maxes(groups()).unwrap());
        (shown(min), shown(max), is_exact.is_valid(0).then(|| is_exact.value(0)))
    };
    let some = |text: &str| Some(text.to_owned());
    let words = one_column(Arc::new(StringArray::from(vec!["oak", "elm"])));
    assert_eq!(bounds(edited(&words, |_, _| {})), (some("elm"), some("oak"), Some(true)));
    let old = edited(&words, |footer, _| footer.created_by = Some("parquet-mr version 1.8.0".into()));
    assert_eq!(bounds(old), (None, None, None));
    let unordered = edited(&words, |footer, _| footer.column_orders = None);
    assert_eq!(bounds(unordered), (None, None, None));
    let unknown = edited(&words, |footer, _| footer.column_orders = Some(vec![ColumnOrder::Unknown(99)]));
    assert_eq!(bounds(unknown), (None, None, None));
    let swapped = edited(&words, |_, it| std::mem::swap(&mut it.min_value, &mut it.max_value));
    assert_eq!(bounds(swapped), (None, None, None));
    // Truncated inside of a character: its beginning still serves as a lower bound.
    let cut = edited(&words, |_, it| {
        it.min_value = Some(b"el\xc3".to_vec());
        it.max_value = Some(b"oa\xc3".to_vec());
        it.is_max_value_exact = Some(false);
    });
    assert_eq!(bounds(cut), (some("el"), None, None));
    let silent = edited(&words, |_, it| it.is_max_value_exact = None);
    assert_eq!(bounds(silent), (some("elm"), some("oak"), None));

    // The deprecated fields, of signed numbers only.
    let numbers = one_column(Arc::new(Int64Array::from(vec![3, -4])));
    let deprecated = |it: &mut Statistics| (it.min_value, it.max_value) = (None, None);
    assert_eq!(bounds(edited(&numbers, |_, it| deprecated(it))), (some("-4"), some("3"), None));
    let of_words = edited(&words, |_, it| {
        (it.min, it.max) = (it.min_value.take(), it.max_value.take());
    });
    assert_eq!(bounds(of_words), (None, None, None));
    let short = edited(&numbers, |_, it| it.max_value = Some(vec![3]));
    assert_eq!(bounds(short), (None, None, None));

    let floats = one_column(Arc::new(Float64Array::from(vec![0.0, 1.0])));
    let nan = edited(&floats, |footer, it| {
        footer.column_orders = Some(vec![ColumnOrder::TypeOrder]);
        it.max_value = Some(f64::NAN.to_le_bytes().to_vec());
    });
    assert_eq!(bounds(nan), (None, None, None));
    let zero = edited(&floats, |footer, it| {
        footer.column_orders = Some(vec![ColumnOrder::TypeOrder]);
        it.max_value = Some(0f64.to_le_bytes().to_vec());
        it.is_max_value_exact = Some(true);
    });
    assert_eq!(bounds(zero), (some("-0.0"), some("0.0"), Some(false)));
}

#[test]
fn values_that_are_repaired_have_no_statistics() {
    let file = one_column(Arc::new(StringArray::from(vec!["oak", "elm"])));
    let options = ArrowReaderOptions::new().with_invalid_utf8(InvalidUtf8::Replace);
    let opened = ArrowReaderMetadata::load(file.clone(), options).unwrap();
    let converter = opened.statistics("c").unwrap();
    let groups = || opened.metadata().row_groups();
    assert_eq!(converter.row_group_mins(groups()).unwrap().null_count(), 1);
    assert_eq!(converter.row_group_null_counts(groups()).unwrap().null_count(), 1);
    let index = opened.read_page_index(file, &ProjectionMask::all()).unwrap();
    assert_eq!(converter.data_page_row_counts(&index, groups()).unwrap().values(), &[2]);
}

#[test]
fn widths_that_a_schema_claims_take_no_memory() {
    let fixed = FixedSizeBinaryArray::try_from_iter(vec![vec![1u8; 9], vec![2; 9]].into_iter()).unwrap();
    let metadata = edited(&one_column(Arc::new(fixed)), |footer, _| {
        footer.schema[1].type_length = Some(i32::MAX);
        footer.key_value_metadata = None;
    });
    let opened = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new()).unwrap();
    let error = opened.statistics("c").unwrap().row_group_mins(opened.metadata().row_groups()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn indexes_that_contradict_each_other_are_errors() {
    let file = one_column(Arc::new(Int64Array::from_iter_values(0..10)));
    let opened = open(&file);
    let index = opened.read_page_index(file.clone(), &ProjectionMask::all()).unwrap();
    assert!(index.memory_size() > 100 && index.memory_size() < 10_000, "{}", index.memory_size());
    let converter = opened.statistics("c").unwrap();
    let mins = converter.data_page_mins(&index, opened.metadata().row_groups()).unwrap();
    assert_eq!(mins.as_primitive::<Int64Type>().values(), &[0, 2, 4, 6, 8]);
    // The same index, of a file whose row group has fewer rows.
    let short = edited(&file, |footer, _| footer.row_groups[0].num_rows = 3);
    let error = converter.data_page_mins(&index, short.row_groups()).unwrap_err();
    assert!(error.to_string().contains("offset index"), "{error}");
    // Without any index a row group is one page.
    let none = PageIndex::default();
    assert_eq!(
        converter.data_page_row_counts(&none, opened.metadata().row_groups()).unwrap().values(),
        &[10]
    );
    assert_eq!(converter.data_page_mins(&none, opened.metadata().row_groups()).unwrap().null_count(), 1);
}
