//! Columns whose stored type has keys or run ends of few bits, in files with more rows than these have numbers for.

use arrow_array::types::{Int8Type, Int16Type};
use arrow_array::{ArrayRef, DictionaryArray, Int16Array, RecordBatch, RunArray, StringArray};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_inspect::{
    AdviseOptions, ColumnSource, DiffFile, DiffOptions, StatsOptions, advise, column_stats, diff_rows,
};
use std::sync::Arc;

fn written(batches: &[ArrayRef], rows_per_group: usize) -> Arc<dyn Source> {
    let batch =
        |array: &ArrayRef| RecordBatch::try_from_iter_with_nullable([("c", array.clone(), true)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_per_group)).build();
    let schema = batch(&batches[0]).schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    batches.iter().for_each(|array| writer.write(&batch(array)).unwrap());
    Arc::new(Bytes::from(writer.into_inner().unwrap()))
}

/// Dictionaries of a hundred texts each, like the categories of pandas: together more than an 8-bit key can number.
fn categories() -> Vec<ArrayRef> {
    let texts = |of: i32| (0..100).map(|i| format!("{of}-{i}")).collect::<Vec<_>>();
    let of = |of: i32| texts(of).iter().map(String::as_str).collect::<DictionaryArray<Int8Type>>();
    (0..3).map(|part| Arc::new(of(part)) as ArrayRef).collect()
}

/// Runs of texts: together more rows than a 16-bit run end can number.
fn runs() -> Vec<ArrayRef> {
    let part = |part: i32| {
        let texts = StringArray::from(vec![Some("a".to_owned()), None, Some(format!("b{part}"))]);
        RunArray::<Int16Type>::try_new(&Int16Array::from(vec![10_000, 20_000, 30_000]), &texts).unwrap()
    };
    (0..3).map(|i| Arc::new(part(i)) as ArrayRef).collect()
}

#[test]
fn all_rows_are_looked_at() {
    for (batches, rows, distinct, nulls) in [(categories(), 300, 300, 0), (runs(), 90_000, 4, 30_000)] {
        let file = written(&batches, 1 << 20);
        for int96 in [Int96Unit::Nanoseconds, Int96Unit::Auto] {
            let options = ArrowReaderOptions::new().with_int96(int96);
            let stats = column_stats(file.clone(), options.clone(), &StatsOptions::default()).unwrap();
            assert_eq!((stats[0].nulls, stats[0].distinct.unwrap().count), (Some(nulls), distinct));

            let open = |file: &Arc<dyn Source>| DiffFile::open(file.clone(), options.clone()).unwrap();
            let (left, right) = (open(&file), open(&written(&batches, 70)));
            let diff = diff_rows(&left, &right, &DiffOptions::default()).unwrap();
            assert!(diff.is_same() && diff.rows == (rows, rows), "{diff:?}");
            // Of several row groups at once.
            let some: Vec<u64> = (0..rows).step_by(rows as usize / 300).collect();
            assert_eq!(right.rows_at(&some, &["c".to_owned()]).unwrap().num_rows(), some.len());
        }
        let metadata = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new()).unwrap();
        let columns = ColumnSource::new(file, metadata.metadata().clone());
        let advice = advise(&columns, &AdviseOptions::default()).unwrap();
        assert_eq!(advice.not_measured, Vec::<String>::new());
    }
}
