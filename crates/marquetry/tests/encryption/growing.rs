//! Encrypted files that grow: row groups behind those that are there, and checkpoints between them.

use crate::files::{open, table};
use crate::sample::{FOOTER, NAME, batch, keys, properties, ways, write};
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::arrow::arrow_writer::ArrowWriter;
use marquetry::errors::{ErrorKind, Limits};
use marquetry::file::Source;
use marquetry::file::checkpoint::{Evidence, find_last_checkpoint, find_last_encrypted_checkpoint};
use marquetry::file::encryption::{
    DecryptionPropertiesBuilder, EncryptionDialect, FileDecryptionProperties, FileEncryptionProperties,
};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::page_index::read_offset_index;
use marquetry::file::properties::CheckpointEvery;
use marquetry_core::write::FileWriter;
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_verify::{Level, VerifyOptions, verify};
use std::collections::HashSet;
use std::sync::Arc;

/// `file` with the row groups of `more` behind its own.
fn grown(file: &Bytes, metadata: &ParquetMetaData, more: &Bytes, added: &ParquetMetaData) -> Bytes {
    let source: Arc<dyn Source> = Arc::new(more.clone());
    let mut writer = FileWriter::append_to(Vec::new(), file.len() as u64, metadata).unwrap();
    for group in added.row_groups() {
        let copied = |column| copy_chunk(&source, added, group.index(), column, &CopySettings::default());
        let chunks = (0..4).map(|column| copied(column).unwrap().chunk).collect();
        writer.write_row_group(group.num_rows(), chunks, None).unwrap();
    }
    [&file[..], &writer.finish().unwrap().0].concat().into()
}

/// The nonces of all pages' headers.
fn nonces(file: &Bytes, metadata: &ParquetMetaData) -> Vec<Vec<u8>> {
    let chunks = metadata.row_groups().flat_map(|group| group.columns()).map(Result::unwrap);
    let pages = chunks.filter(|chunk| chunk.is_encrypted()).flat_map(|chunk| {
        read_offset_index(file, chunk, &Limits::default()).unwrap().unwrap().page_locations
    });
    pages.map(|page| file[page.offset as usize + 4..][..12].to_vec()).collect()
}

#[test]
fn row_groups_are_added_as_those_before_are_encrypted() {
    let (first, second) = (batch(400), batch(100));
    let rows = |batch: &arrow_array::RecordBatch| {
        table(marquetry::open_bytes(write(batch, properties().build())).unwrap()).unwrap()
    };
    let expected: Vec<_> =
        rows(&first).into_iter().zip(rows(&second)).map(|(a, b)| [a, b].concat()).collect();
    for (way, encryption) in ways() {
        let encryption = encryption.build().unwrap();
        let properties = || properties().with_file_encryption_properties(encryption.clone()).build();
        let (file, more) = (write(&first, properties()), write(&second, properties()));
        let metadata = |file: &Bytes| open(file.clone(), keys(&way)).unwrap().metadata().clone();
        let all = grown(&file, &metadata(&file), &more, &metadata(&more));
        let opened = open(all.clone(), keys(&way)).unwrap_or_else(|error| panic!("{way}: {error}"));
        assert!(table(opened.clone()).unwrap() == expected, "{way}");
        assert_eq!(
            opened.metadata().encryption(),
            metadata(&file).encryption(),
            "{way}: the file keeps its identifier"
        );
        let nonces = nonces(&all, opened.metadata());
        assert_eq!(nonces.iter().collect::<HashSet<_>>().len(), nonces.len(), "{way}");
        let decryption = Some(keys(&way).build().unwrap());
        let options =
            VerifyOptions::default().with_level(Level::Deep).with_decryption(decryption).with_threads(1);
        let report = verify(Arc::new(all.clone()), &options).unwrap();
        assert!(report.findings.is_empty(), "{way}: {:#?}", report.findings);
        // If the bytes behind the old footer are cut off, the old file is left.
        let old = find_last_encrypted_checkpoint(
            &all.slice(..all.len() - 9),
            &Limits::default(),
            &keys(&way).build().unwrap(),
        );
        let old = old.unwrap().unwrap();
        assert_eq!((old.end, old.evidence), (file.len() as u64, Evidence::Append), "{way}");
    }
}

/// Files that cannot grow fail before a byte is written.
#[test]
fn what_cannot_grow_is_left_alone() {
    let batch = batch(50);
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec())
        .with_plaintext_footer(true)
        .with_column_key_and_metadata("name", NAME.to_vec(), b"kn".to_vec());
    let encryption = encryption.build().unwrap();
    let with = || properties().with_file_encryption_properties(encryption.clone());
    let file = write(&batch, with().build());
    let refused = |file: &Bytes, keys: Option<DecryptionPropertiesBuilder>| {
        let opened = match keys {
            Some(keys) => open(file.clone(), keys),
            None => marquetry::open_bytes(file.clone()),
        };
        let mut sink = Vec::new();
        let error = FileWriter::append_to(&mut sink, file.len() as u64, opened.unwrap().metadata());
        let error = error.err().unwrap();
        assert!(sink.is_empty());
        error
    };
    assert_eq!(refused(&file, None).kind(), ErrorKind::Key);
    let footer_only = FileDecryptionProperties::builder(FOOTER.to_vec());
    let error = refused(&file, Some(footer_only));
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("\"kn\"") && error.to_string().contains("name"), "{error}");
    let empty = write(&batch.slice(0, 0), with().build());
    assert!(refused(&empty, Some(keys(""))).to_string().contains("without row groups"));
    // Leaving out a row group would renumber those behind it.
    let metadata = open(file.clone(), keys("")).unwrap().metadata().clone();
    let mut writer = FileWriter::append_to(Vec::new(), file.len() as u64, &metadata).unwrap();
    assert_eq!(writer.drop_row_group(0).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn checkpoints_are_found_with_the_keys() {
    let batch = batch(400);
    let dialect = FileEncryptionProperties::builder(FOOTER.to_vec()).with_dialect(EncryptionDialect::DuckDb);
    for (way, encryption) in ways().into_iter().chain([("duckdb".to_owned(), dialect)]) {
        let properties = properties()
            .set_checkpoint_every(Some(CheckpointEvery::RowGroups(1)))
            // DuckDB does not read files that have them.
            .set_bloom_filter_enabled(way != "duckdb")
            .with_file_encryption_properties(encryption.build().unwrap());
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        let file: Bytes = writer.into_inner().unwrap().into();
        let keys = || match way.as_str() {
            "duckdb" => {
                FileDecryptionProperties::builder(FOOTER.to_vec()).with_dialect(EncryptionDialect::DuckDb)
            }
            way => keys(way),
        };
        let all = table(open(file.clone(), keys()).unwrap_or_else(|error| panic!("{way}: {error}"))).unwrap();
        assert_eq!(all[0].len(), 400, "{way}");
        // Behind the last row group comes the end.
        let saved: Vec<_> = all.iter().map(|column| column[..300].to_vec()).collect();
        let cut = file.slice(..file.len() - 1);
        let find = |keys: DecryptionPropertiesBuilder| {
            find_last_encrypted_checkpoint(&cut, &Limits::default(), &keys.build().unwrap())
        };
        let found = find(keys()).unwrap().unwrap();
        assert_eq!((found.evidence, found.metadata.num_rows()), (Evidence::Checkpoint, 300), "{way}");
        // Cut there, it is a file.
        let whole = file.slice(..found.end as usize);
        assert!(table(open(whole, keys()).unwrap()).unwrap() == saved, "{way}");
        let options = ArrowReaderOptions::new()
            .with_file_decryption_properties(keys().build().unwrap())
            .with_checkpoint_recovery(true);
        assert!(table(OpenFile::new(Arc::new(cut.clone()), options).unwrap()).unwrap() == saved, "{way}");
        // Without the key, a footer is found, and not opened.
        let wrong = FileDecryptionProperties::builder(NAME.to_vec());
        if way != "duckdb" && !way.ends_with("supplied") {
            assert_eq!(find(wrong).unwrap_err().kind(), ErrorKind::Key, "{way}");
        }
        if !way.contains("plain footer true") {
            assert_eq!(find_last_checkpoint(&cut, &Limits::default()).unwrap(), None, "{way}");
        }
    }
}
