//! Encrypted files of the `parquet` crate are read by us, and ours by it.

#![allow(dead_code, reason = "of the bridge both directions are used, and not its schemas")]

#[path = "../src/bridge.rs"]
mod bridge;
#[path = "../src/error.rs"]
mod error;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::arrow::{ArrowWriter, StringLayout};
use marquetry::basic::Compression;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties};
use marquetry::file::properties::{WriterProperties, WriterVersion};
use parquet::arrow::ArrowWriter as PeerWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions as PeerOptions, ParquetRecordBatchReaderBuilder as PeerBuilder,
};
use parquet::basic::{Compression as PeerCompression, ZstdLevel};
use parquet::encryption::decrypt::FileDecryptionProperties as PeerDecryption;
use parquet::encryption::encrypt::FileEncryptionProperties as PeerEncryption;
use parquet::file::properties::{WriterProperties as PeerProperties, WriterVersion as PeerVersion};
use std::sync::Arc;

const ROWS: usize = 700;

fn batch() -> RecordBatch {
    let id = Int64Array::from_iter_values((0..ROWS as i64).map(|i| i * 1_000_003));
    let name: StringArray = (0..ROWS).map(|i| (i % 7 != 3).then(|| format!("name {}", i % 11))).collect();
    let price = Float64Array::from_iter_values((0..ROWS).map(|i| i as f64 * 0.25));
    let tags = (0..ROWS).map(|i| (i % 5 > 0).then(|| (0..i as i32 % 4).map(Some)));
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("id", Arc::new(id), false),
        ("name", Arc::new(name), true),
        ("price", Arc::new(price), false),
        ("tags", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(tags)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// A way to encrypt.
#[derive(Debug, Clone, Copy)]
struct Way {
    key_bytes: usize,
    is_plain: bool,
    has_columns: bool,
    is_v2: bool,
    codec: usize,
    /// Whether an AAD prefix is stored; `None` without one.
    prefix: Option<bool>,
    has_bloom_filters: bool,
}

/// The peer has no keys of 192 bits, and no CTR.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for key_bytes in [16, 32] {
        for is_plain in [false, true] {
            for has_columns in [false, true] {
                for is_v2 in [false, true] {
                    for prefix in [None, Some(true), Some(false)] {
                        let codec = ways.len() % 3;
                        let has_bloom_filters = ways.len() % 2 == 0;
                        ways.push(Way {
                            key_bytes,
                            is_plain,
                            has_columns,
                            is_v2,
                            codec,
                            prefix,
                            has_bloom_filters,
                        });
                    }
                }
            }
        }
    }
    ways
}

fn key(way: Way, first: u8) -> Vec<u8> {
    (0..way.key_bytes as u8).map(|i| b'0' + (first + i) % 10).collect()
}

const PREFIX: &[u8] = b"table 7";
/// Columns with keys. The peer's lists name their elements as Arrow does.
const THEIRS: [(&str, u8); 2] = [("name", 1), ("tags.list.item", 2)];
const OURS: [(&str, u8); 2] = [("name", 1), ("tags.list.element", 2)];

fn theirs(way: Way) -> Bytes {
    let mut encryption = PeerEncryption::builder(key(way, 0)).with_plaintext_footer(way.is_plain);
    if way.has_columns {
        encryption =
            THEIRS.iter().fold(encryption, |it, (name, first)| it.with_column_key(name, key(way, *first)));
    }
    if let Some(stored) = way.prefix {
        encryption = encryption.with_aad_prefix(PREFIX.to_vec()).with_aad_prefix_storage(stored);
    }
    let codecs =
        [PeerCompression::UNCOMPRESSED, PeerCompression::SNAPPY, PeerCompression::ZSTD(ZstdLevel::default())];
    let properties = PeerProperties::builder()
        .set_compression(codecs[way.codec])
        .set_writer_version(if way.is_v2 { PeerVersion::PARQUET_2_0 } else { PeerVersion::PARQUET_1_0 })
        .set_max_row_group_row_count(Some(300))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .set_bloom_filter_enabled(way.has_bloom_filters)
        .with_file_encryption_properties(encryption.build().unwrap())
        .build();
    let batch = bridge::batch_60(&batch(), &batch().schema()).unwrap();
    let mut writer = PeerWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

fn ours(way: Way) -> Bytes {
    let mut encryption = FileEncryptionProperties::builder(key(way, 0)).with_plaintext_footer(way.is_plain);
    if way.has_columns {
        encryption =
            OURS.iter().fold(encryption, |it, (name, first)| it.with_column_key(name, key(way, *first)));
    }
    if let Some(stored) = way.prefix {
        encryption = encryption.with_aad_prefix(PREFIX.to_vec()).with_aad_prefix_storage(stored);
    }
    let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())];
    let properties = WriterProperties::builder()
        .set_compression(codecs[way.codec])
        .set_writer_version(if way.is_v2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 })
        .set_max_row_group_row_count(Some(300))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        // The peer expects the filters of encrypted columns in plaintext.
        .set_bloom_filter_enabled(false)
        .with_file_encryption_properties(encryption.build().unwrap())
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties)).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap().into()
}

fn read_by_us(file: Bytes, way: Way) -> RecordBatch {
    let mut keys = FileDecryptionProperties::builder(key(way, 0));
    if way.has_columns {
        keys = THEIRS.iter().fold(keys, |it, (name, first)| it.with_column_key(name, key(way, *first)));
    }
    if way.prefix == Some(false) {
        keys = keys.with_aad_prefix(PREFIX.to_vec());
    }
    let options = ArrowReaderOptions::new()
        .with_file_decryption_properties(keys.build().unwrap())
        .with_text(StringLayout::Utf8);
    let mut reader = OpenFile::new(Arc::new(file), options).unwrap().batches().unwrap();
    let batches: Vec<_> = std::iter::from_fn(|| reader.next_batch()).map(|batch| batch.unwrap()).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn read_by_them(file: Bytes, way: Way) -> RecordBatch {
    let mut keys = PeerDecryption::builder(key(way, 0));
    if way.has_columns {
        keys = OURS.iter().fold(keys, |it, (name, first)| it.with_column_key(name, key(way, *first)));
    }
    if way.prefix == Some(false) {
        keys = keys.with_aad_prefix(PREFIX.to_vec());
    }
    let options = PeerOptions::new().with_file_decryption_properties(keys.build().unwrap());
    let reader =
        PeerBuilder::try_new_with_options(file, options).unwrap().with_batch_size(4096).build().unwrap();
    let batches: Vec<_> = reader.map(|batch| bridge::batch_59(&batch.unwrap()).unwrap()).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// Types may differ in the names of list elements.
fn assert_same(read: &RecordBatch, way: Way) {
    for (read, written) in read.columns().iter().zip(batch().columns()) {
        assert_eq!(&arrow_cast::cast(read, written.data_type()).unwrap(), written, "{way:?}");
    }
}

#[test]
fn theirs_are_read_by_us() {
    for way in ways() {
        assert_same(&read_by_us(theirs(way), way), way);
    }
}

#[test]
fn ours_are_read_by_them() {
    for way in ways() {
        assert_same(&read_by_them(ours(way), way), way);
    }
}
