//! What we encrypt is read again, and nothing of it is left in the open.

use crate::files::{open, table};
use crate::sample::{FOOTER, NAME, SALARY, VERSIONS, batch, keys, properties, ways, write};
use bytes::Bytes;
use marquetry::arrow::arrow_writer::ArrowWriter;
use marquetry::basic::{Compression, ZstdLevel};
use marquetry::errors::{ErrorKind, Limits};
use marquetry::file::Source;
use marquetry::file::encryption::{EncryptionDialect, FileDecryptionProperties, FileEncryptionProperties};
use marquetry::file::page_index::{read_bloom_filter, read_column_index, read_offset_index};
use marquetry::file::properties::WriterProperties;
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_verify::{Level, VerifyOptions, verify};
use std::sync::Arc;

#[test]
fn all_ways_are_read_again() {
    let batch = batch(400);
    let expected = table(marquetry::open_bytes(write(&batch, properties().build())).unwrap()).unwrap();
    for (number, (way, encryption)) in ways().into_iter().enumerate() {
        let codec = [Compression::UNCOMPRESSED, Compression::ZSTD(ZstdLevel::default())][number % 2];
        let properties = properties()
            .set_compression(codec)
            .set_writer_version(VERSIONS[number / 2 % 2])
            .with_file_encryption_properties(encryption.build().unwrap());
        let file = write(&batch, properties.build());
        let opened = open(file.clone(), keys(&way)).unwrap_or_else(|error| panic!("{way}: {error}"));
        assert!(table(opened.clone()).unwrap() == expected, "{way}");
        assert!(table(opened.clone().threads(2)).unwrap() == expected, "{way}");
        let metadata = opened.metadata();
        assert_eq!((metadata.num_row_groups(), metadata.num_rows()), (3, 400), "{way}");
        for chunk in metadata.row_groups().flat_map(|group| group.columns()) {
            let chunk = chunk.unwrap();
            assert!(chunk.statistics().is_some(), "{way}");
            assert!(read_offset_index(&file, chunk, &Limits::default()).unwrap().is_some());
            assert!(read_column_index(&file, chunk, &Limits::default()).unwrap().is_some());
            assert!(read_bloom_filter(&file, chunk, &Limits::default()).unwrap().is_some());
        }
        let decryption = Some(keys(&way).build().unwrap());
        let options =
            VerifyOptions::default().with_level(Level::Deep).with_decryption(decryption).with_threads(1);
        let report = verify(Arc::new(file), &options).unwrap();
        assert!(report.findings.is_empty(), "{way}: {:#?}", report.findings);
    }
}

fn contains(file: &[u8], needle: &[u8]) -> bool {
    file.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn nothing_is_left_in_the_open() {
    let batch = batch(400);
    for (way, encryption) in ways() {
        let encryption = encryption.build().unwrap();
        let properties = properties().set_compression(Compression::UNCOMPRESSED);
        let properties = properties.with_file_encryption_properties(encryption);
        let file = write(&batch, properties.build());
        for key in [FOOTER, NAME, SALARY] {
            assert!(!contains(&file, key), "{way}: a key is in the file");
        }
        assert!(
            !contains(&file, b"person number"),
            "{way}: values, bounds or dictionaries of an encrypted column"
        );
        // Largest salary: its bits would be in statistics and indexes.
        assert!(!contains(&file, &(399.0 * 12.25f64).to_le_bytes()), "{way}");
        let is_plain = way.contains("plain footer true");
        assert_eq!(contains(&file, b"salary"), is_plain, "{way}: names of columns");
    }
}

/// Without keys the columns that are not encrypted are read, and the others tell why not.
#[test]
fn plain_columns_stay_readable() {
    let batch = batch(100);
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec())
        .with_plaintext_footer(true)
        .with_column_key_and_metadata("name", NAME.to_vec(), b"kn".to_vec());
    let properties = properties().with_file_encryption_properties(encryption.build().unwrap());
    let file = marquetry::open_bytes(write(&batch, properties.build())).unwrap();
    let rows = table(file.clone().columns(["id", "salary", "tags"])).unwrap();
    assert_eq!(rows[0].len(), 100);
    let error = table(file.clone().columns(["name"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("is encrypted with the key \"kn\", and no key was given"), "{error}");
    let name = file.metadata().schema().find("name").unwrap();
    let chunk = file.metadata().row_group(0).column(name).unwrap();
    assert!(chunk.statistics().is_none() && chunk.size_statistics().is_none());
    assert_eq!(chunk.num_values(), 100);
}

#[test]
fn what_cannot_be_is_refused_before_a_byte() {
    let batch = batch(10);
    let encryption = || FileEncryptionProperties::builder(FOOTER.to_vec());
    let refused = |properties: WriterProperties| {
        let mut sink = Vec::new();
        let error = ArrowWriter::try_new(&mut sink, batch.schema(), Some(properties)).err().unwrap();
        assert!(sink.is_empty());
        error.to_string()
    };
    let with = |encryption: Arc<FileEncryptionProperties>| {
        WriterProperties::builder().with_file_encryption_properties(encryption)
    };
    let missing = with(encryption().with_column_key("no.such", NAME.to_vec()).build().unwrap());
    assert!(refused(missing.build()).contains("no.such"));
}

/// More pages than ordinals are an error before the row group's first byte.
#[test]
fn pages_over_32_768_are_refused() {
    let batch = batch(32_769);
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(1)
        .set_write_batch_size(1)
        .with_file_encryption_properties(FileEncryptionProperties::builder(FOOTER.to_vec()).build().unwrap());
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    let written = writer.write(&batch).and_then(|()| writer.flush().map(drop));
    let error = written.unwrap_err().to_string();
    assert!(error.contains("32769 pages in an encrypted file"), "{error}");
    assert_eq!(writer.bytes_written(), 4);
}

/// Pages of an encrypted file go into another one, decrypted, and encrypted anew with other keys.
#[test]
fn copies_are_decrypted_and_encrypted_anew() {
    let batch = batch(400);
    let plain = write(&batch, properties().build());
    let expected = table(marquetry::open_bytes(plain).unwrap()).unwrap();
    for (way, encryption) in ways() {
        let encryption = encryption.build().unwrap();
        let file = write(&batch, properties().with_file_encryption_properties(encryption.clone()).build());
        let metadata = open(file.clone(), keys(&way)).unwrap().metadata().clone();
        let source: Arc<dyn Source> = Arc::new(file.clone());
        let copied = |encryption: Option<Arc<FileEncryptionProperties>>| -> Bytes {
            let settings = FileSettings::default().with_encryption(encryption);
            let mut out = FileWriter::new(Vec::new(), metadata.head().schema.clone(), settings).unwrap();
            for group in metadata.row_groups() {
                let chunks = (0..4).map(|column| {
                    let copied =
                        copy_chunk(&source, &metadata, group.index(), column, &CopySettings::default());
                    let copied = copied.unwrap_or_else(|error| panic!("{way}: {error}"));
                    assert!(copied.notes.is_empty(), "{way}: {:?}", copied.notes);
                    copied.chunk
                });
                out.write_row_group(group.num_rows(), chunks.collect(), None).unwrap();
            }
            out.finish().unwrap().0.into()
        };
        assert!(table(marquetry::open_bytes(copied(None)).unwrap()).unwrap() == expected, "{way}");
        let again = copied(Some(encryption));
        assert!(table(open(again.clone(), keys(&way)).unwrap()).unwrap() == expected, "{way}");
        assert_ne!(again, file, "another file identifier, other nonces");
    }
}

#[test]
fn the_dialect_of_duckdb_is_read_again() {
    let batch = batch(400);
    let expected = table(marquetry::open_bytes(write(&batch, properties().build())).unwrap()).unwrap();
    let encryption =
        FileEncryptionProperties::builder(FOOTER.to_vec()).with_dialect(EncryptionDialect::DuckDb);
    let encrypted = properties().with_file_encryption_properties(encryption.build().unwrap());
    let refused =
        ArrowWriter::try_new(Vec::new(), batch.schema(), Some(encrypted.clone().build())).err().unwrap();
    assert!(refused.to_string().contains("bloom filter"), "{refused}");
    let file = write(&batch, encrypted.set_bloom_filter_enabled(false).build());
    let keys = || FileDecryptionProperties::builder(FOOTER.to_vec());
    let opened = open(file.clone(), keys().with_dialect(EncryptionDialect::DuckDb)).unwrap();
    assert!(table(opened).unwrap() == expected);
    let error = open(file, keys()).err().unwrap();
    assert!(error.to_string().contains("read it in the dialect of DuckDB"), "{error}");
}
