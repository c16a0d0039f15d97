//! Row groups are copied only where they are the same values by the stored Arrow schema of the new file.

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, DurationMillisecondArray, DurationSecondArray, Int64Array, LargeStringArray,
    RecordBatch, StringArray,
};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::{ArrowWriter, check_copied};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use std::sync::Arc;

fn batch(column: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("x", column)]).unwrap()
}

fn properties(stores_schema: bool) -> Option<WriterProperties> {
    Some(WriterProperties::builder().set_arrow_schema(stores_schema).build())
}

/// A file of one row group.
fn file(column: ArrayRef, stores_schema: bool) -> (Arc<dyn Source>, ParquetMetaData) {
    let batch = batch(column);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), properties(stores_schema)).unwrap();
    writer.write(&batch).unwrap();
    let (bytes, metadata) = writer.into_parts().unwrap();
    (Arc::new(Bytes::from(bytes)), metadata)
}

/// A file of the rows of `own`, and of the row group of `other`, if that can be copied.
fn copied(own: &ArrayRef, stores_schema: bool, other: &(Arc<dyn Source>, ParquetMetaData)) -> Result<Bytes> {
    let batch = batch(own.clone());
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), properties(stores_schema))?;
    writer.write(&batch)?;
    let appended = writer.append_copied(&other.0, &other.1, 0);
    // Nothing of it is written, and the file goes on.
    writer.write(&batch)?;
    let (bytes, metadata) = writer.into_parts()?;
    let rows = 2 * batch.num_rows() + if appended.is_ok() { other.1.num_rows() as usize } else { 0 };
    assert_eq!(metadata.num_rows(), rows as u64);
    appended.map(|()| bytes.into())
}

#[test]
fn values_that_would_be_others_are_not_copied() {
    let seconds: ArrayRef = Arc::new(DurationSecondArray::from(vec![5, 6]));
    let millis: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![7]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![8]));
    for (own, stores, other) in [
        (&seconds, true, file(millis.clone(), true)),
        (&seconds, true, file(numbers.clone(), true)),
        (&seconds, true, file(seconds.clone(), false)),
        (&seconds, false, file(seconds.clone(), true)),
    ] {
        let error = copied(own, stores, &other).unwrap_err();
        assert_eq!(error.place().column.as_deref(), Some("x"), "{error}");
        assert!(error.message().contains("read as other values"), "{error}");
        assert!(error.message().contains("read its rows and write them"), "{error}");
    }
    for stores in [true, false] {
        assert!(copied(&seconds, stores, &file(seconds.clone(), stores)).is_ok());
    }
}

#[test]
fn the_same_values_are_copied() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let large: ArrayRef = Arc::new(LargeStringArray::from(vec!["c"]));
    let bytes = copied(&text, true, &file(large, true)).unwrap();
    let rows = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
    let rows: Vec<_> = rows.map(|batch| batch.unwrap()).collect();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 5);
    assert_eq!(rows[0].schema(), batch(text.clone()).schema());

    // Not all readers take pages of no dictionary under a schema that has one.
    let keys: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::from_iter(["a", "b"]));
    let error = copied(&keys, true, &file(text.clone(), true)).unwrap_err();
    assert!(error.message().contains("dictionaries"), "{error}");
    assert!(copied(&keys, false, &file(text, true)).is_ok());
}

/// For who copies into a file by what knows no Arrow types.
#[test]
fn footers_are_compared() {
    let (_, seconds) = file(Arc::new(DurationSecondArray::from(vec![5])), true);
    let (_, millis) = file(Arc::new(DurationMillisecondArray::from(vec![5])), true);
    assert!(check_copied(&seconds, &seconds).is_ok());
    let error = check_copied(&seconds, &millis).unwrap_err();
    assert_eq!(error.place().column.as_deref(), Some("x"), "{error}");
}
