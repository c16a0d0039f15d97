//! Several threads read what one does, and fail where and as it does.

use crate::corpus;
use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The batches up to the first error, and that.
fn read(file: &Bytes, threads: usize) -> (Vec<RecordBatch>, Option<String>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone())
        .and_then(|builder| builder.with_batch_size(100).with_threads(threads).build());
    let mut reader = match reader {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch() {
        match batch {
            Ok(batch) => batches.push(batch),
            Err(error) => return (batches, Some(error.to_string())),
        }
    }
    (batches, None)
}

/// The columns without the schema, whose metadata has no order. Floats are compared by their bits.
fn columns(batches: &[RecordBatch]) -> Vec<Vec<ArrayData>> {
    batches.iter().map(|batch| batch.columns().iter().map(|column| column.to_data()).collect()).collect()
}

#[test]
fn threads_change_nothing() {
    let Some(root) = corpus::root() else { return };
    let folders = ["parquet-testing/data", "parquet-testing/bad_data", "parquet-testing/shredded_variant"];
    let (mut whole, mut bad) = (0, 0);
    for path in folders.iter().flat_map(|folder| corpus::files(&root, folder)) {
        let file = corpus::bytes(&root, &path);
        if !path.ends_with(".parquet") || file.len() > 1 << 20 {
            continue;
        }
        let (batches, error) = read(&file, 1);
        let (by_three, same_error) = read(&file, 3);
        // How much memory there is depends on other processes.
        let lacks_memory =
            |error: &Option<String>| error.as_ref().is_some_and(|text| text.starts_with("memory:"));
        if lacks_memory(&error) || lacks_memory(&same_error) {
            continue;
        }
        assert_eq!(error, same_error, "{path}");
        assert!(columns(&batches) == columns(&by_three), "{path}");
        (whole, bad) = (whole + usize::from(error.is_none()), bad + usize::from(error.is_some()));
    }
    assert!(whole > 50 && bad > 3, "{whole} whole and {bad} bad files");
}

#[test]
fn a_reader_may_be_left_in_the_middle() {
    let Some(root) = corpus::root() else { return };
    let file = corpus::bytes(&root, "parquet-testing/data/alltypes_tiny_pages.parquet");
    for rows in [0, 1, 5] {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
        let reader = builder.with_batch_size(10).with_threads(4).build().unwrap();
        assert_eq!(reader.take(rows).filter(|batch| batch.as_ref().is_ok()).count(), rows);
    }
}
