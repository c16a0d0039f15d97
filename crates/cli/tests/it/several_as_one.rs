//! Files that become one: dictionaries whose keys count the values of all, and the pairs of their footers.

use crate::command::{Folder, success};
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch};
use arrow_schema::DataType;
use marquetry::file::properties::WriterProperties;
use marquetry::file::{LocalFile, read_metadata};
use marquetry_core::write::KeyValue;
use std::fs::File;
use std::sync::Arc;

/// Writes 100 rows of a dictionary with keys of a byte: no other file has a value of them.
fn write(path: &str, first: usize) {
    let words: Vec<String> = (first..first + 100).map(|i| format!("word {i}")).collect();
    let words: DictionaryArray<Int8Type> = words.iter().map(String::as_str).collect();
    let numbers = Int32Array::from_iter_values((0..100).rev());
    let batch = RecordBatch::try_from_iter([("w", Arc::new(words) as ArrayRef), ("n", Arc::new(numbers))])
        .expect("columns");
    let file = File::create(path).expect("a file");
    let pairs = vec![KeyValue::new("origin".to_owned(), "a test".to_owned())];
    let properties = WriterProperties::builder().set_key_value_metadata(Some(pairs)).build();
    let mut writer =
        marquetry::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
}

/// The type of the words, and how many rows there are.
fn words(path: &str) -> (DataType, usize) {
    let file = File::open(path).expect("a file");
    let builder =
        marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).expect("a footer");
    let data_type = builder.schema().field(0).data_type().clone();
    let reader = builder.with_batch_size(1_000).build().expect("a reader");
    (data_type, reader.map(|batch| batch.expect("rows").column(0).len()).sum())
}

fn dictionary(keys: DataType) -> DataType {
    DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8))
}

/// SPEC of Arrow's columnar format: keys are of the type that the schema has, and readers of Parquet take that of the stored one.
#[test]
fn keys_count_the_values_of_all_files() {
    let folder = Folder::new("narrow-keys");
    let files = ["a.parquet", "b.parquet", "c.parquet"].map(|name| folder.path(name));
    files.iter().enumerate().for_each(|(i, file)| write(file, 100 * i));
    let [a, b, c] = [&files[0], &files[1], &files[2]].map(String::as_str);
    let (all, one, sorted) =
        (folder.path("all.parquet"), folder.path("one.parquet"), folder.path("sorted.parquet"));
    success(&["convert", a, b, c, &all]);
    assert_eq!(words(&all), (dictionary(DataType::Int32), 300));
    success(&["convert", a, b, c, &sorted, "--sort-by", "n"]);
    assert_eq!(words(&sorted), (dictionary(DataType::Int32), 300));
    let lines = success(&["cat", "--format", "json", &sorted]);
    assert_eq!(lines.lines().next().map(|line| line.ends_with("\"n\":0}")), Some(true), "{lines}");
    success(&["convert", a, &one]);
    assert_eq!(words(&one), (dictionary(DataType::Int8), 100));
    // The row groups of one file, of which each has its own dictionary, and then one row group.
    let (merged, whole) = (folder.path("merged.parquet"), folder.path("whole.parquet"));
    success(&["merge", a, b, c, &merged]);
    success(&["rewrite", &merged, &whole, "--row-group-rows", "1000"]);
    assert_eq!(words(&whole), (dictionary(DataType::Int32), 300));
}

#[test]
fn pairs_of_the_first_file_stay() {
    let folder = Folder::new("pairs-of-several");
    let (a, b, out) = (folder.path("a.parquet"), folder.path("b.parquet"), folder.path("out.parquet"));
    let (arrow, back) = (folder.path("a.arrow"), folder.path("back.parquet"));
    write(&a, 0);
    write(&b, 100);
    success(&["convert", &a, &b, &out, "--no-arrow-schema"]);
    success(&["convert", &a, &arrow]);
    success(&["convert", &arrow, &back]);
    for file in [&a, &out, &back] {
        let source = LocalFile::open(file).expect("a file");
        let metadata = read_metadata(&source, &Default::default()).expect("a footer").metadata;
        assert_eq!(metadata.value_of("origin").as_deref(), Some("a test"), "{file}");
    }
}
