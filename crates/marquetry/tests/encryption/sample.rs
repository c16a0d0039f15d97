//! A small table, written in all ways.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::arrow_writer::ArrowWriter;
use marquetry::file::encryption::{
    EncryptionPropertiesBuilder, FileDecryptionProperties, FileEncryptionProperties, ParquetCipher,
};
use marquetry::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use std::sync::Arc;

pub(crate) const FOOTER: &[u8] = b"0123456789012345";
pub(crate) const NAME: &[u8] = b"1234567890123450ABCDEFGH";
pub(crate) const SALARY: &[u8] = b"1234567890123451ABCDEFGHIJKLMNOP";

/// `id`, `name` (repeated values: a dictionary), `salary`, `tags` (lists).
pub(crate) fn batch(rows: usize) -> RecordBatch {
    let id = Int64Array::from_iter_values((0..rows as i64).map(|i| i * 1_000_003));
    let name: StringArray =
        (0..rows).map(|i| (i % 7 != 3).then(|| format!("person number {}", i % 11))).collect();
    let salary = Float64Array::from_iter_values((0..rows).map(|i| i as f64 * 12.25));
    let tags = (0..rows).map(|i| (i % 5 > 0).then(|| (0..i as i32 % 4).map(Some)));
    let tags = ListArray::from_iter_primitive::<Int32Type, _, _>(tags);
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(id)),
        ("name", Arc::new(name)),
        ("salary", Arc::new(salary)),
        ("tags", Arc::new(tags)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

/// Several pages and row groups, bloom filters and indexes.
pub(crate) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_data_page_row_count_limit(40)
        .set_write_batch_size(40)
        .set_max_row_group_row_count(Some(150))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_bloom_filter_enabled(true)
}

pub(crate) fn write(batch: &RecordBatch, properties: WriterProperties) -> Bytes {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// Each way to encrypt the sample, with a name.
pub(crate) fn ways() -> Vec<(String, EncryptionPropertiesBuilder)> {
    let mut ways = Vec::new();
    for cipher in [ParquetCipher::AesGcmV1, ParquetCipher::AesGcmCtrV1] {
        for is_plain in [false, true] {
            for columns in ["uniform", "some", "complete"] {
                for prefix in ["none", "stored", "supplied"] {
                    let mut builder = FileEncryptionProperties::builder(FOOTER.to_vec())
                        .with_footer_key_metadata(b"kf".to_vec())
                        .with_cipher(cipher)
                        .with_plaintext_footer(is_plain);
                    if columns != "uniform" {
                        builder = builder
                            .with_column_key_and_metadata("name", NAME.to_vec(), b"kn".to_vec())
                            .with_column_key("salary", SALARY.to_vec())
                            .with_complete_columns(columns == "complete");
                    }
                    if prefix != "none" {
                        builder = builder
                            .with_aad_prefix(b"table 7".to_vec())
                            .with_aad_prefix_storage(prefix == "stored");
                    }
                    ways.push((
                        format!("{cipher:?} plain footer {is_plain} {columns} prefix {prefix}"),
                        builder,
                    ));
                }
            }
        }
    }
    ways
}

/// All keys, and the prefix where it is not stored.
pub(crate) fn keys(way: &str) -> marquetry::file::encryption::DecryptionPropertiesBuilder {
    let keys = FileDecryptionProperties::builder(FOOTER.to_vec())
        .with_column_key("name", NAME.to_vec())
        .with_column_key("salary", SALARY.to_vec());
    if way.ends_with("supplied") { keys.with_aad_prefix(b"table 7".to_vec()) } else { keys }
}

pub(crate) const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
