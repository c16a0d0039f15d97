//! Encrypted files that break a rule.

use crate::file_rules::Case;
use crate::make::Make;
use bytes::Bytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_core::io::{read_encrypted_metadata, read_metadata};
use marquetry_core::source::Source;
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_crypto::{
    EncryptionKey, EncryptionPropertiesBuilder, FileAad, FileDecryptionProperties, FileEncryptionProperties,
    KeyRetriever, SecretKey,
};
use marquetry_format::{EncryptionAlgorithm, FileMetaData, FooterTail, Statistics, Writer, parse_metadata};
use marquetry_verify::{Level, VerifyOptions, verify};
use std::sync::Arc;

const KEY: &[u8] = b"0123456789012345";
const COLUMN_KEY: &[u8] = b"1234567890123450";
/// The column of [`Make::ints`].
const COLUMN: &str = "x";
/// By this the tests recognize that a file has the key metadata.
pub(crate) const KEY_METADATA: &[u8] = b"the key of the tests";

pub(crate) fn keys() -> Arc<FileDecryptionProperties> {
    FileDecryptionProperties::builder(KEY.to_vec())
        .with_column_key(COLUMN, COLUMN_KEY.to_vec())
        .build()
        .unwrap()
}

/// The file of [`Make::ints`], encrypted.
fn encrypted(has_plain_footer: bool) -> Bytes {
    encrypted_with(has_plain_footer, |builder| builder)
}

/// The same file, with a key of its own for the column.
fn with_column_key() -> Bytes {
    encrypted_with(true, |builder| builder.with_column_key(COLUMN, COLUMN_KEY.to_vec()))
}

fn encrypted_with(
    has_plain_footer: bool,
    keys: impl FnOnce(EncryptionPropertiesBuilder) -> EncryptionPropertiesBuilder,
) -> Bytes {
    // A checksum would fail before the tag does.
    let mut make = Make::ints();
    make.layout.checksums = false;
    let plain = make.good().finish();
    let metadata = read_metadata(&plain, &Limits::default()).unwrap().metadata;
    let source: Arc<dyn Source> = Arc::new(plain);
    let encryption = FileEncryptionProperties::builder(KEY.to_vec())
        .with_footer_key_metadata(KEY_METADATA.to_vec())
        .with_plaintext_footer(has_plain_footer);
    let encryption = keys(encryption).build().unwrap();
    let settings = FileSettings::default()
        .with_column_orders(metadata.column_orders().map(<[_]>::to_vec))
        .with_encryption(Some(encryption));
    let mut writer = FileWriter::new(Vec::new(), metadata.head().schema.clone(), settings).unwrap();
    let chunk = copy_chunk(&source, &metadata, 0, 0, &CopySettings::default()).unwrap().chunk;
    writer.write_row_group(metadata.num_rows(), vec![chunk], None).unwrap();
    writer.finish().unwrap().0.into()
}

fn changed(file: &Bytes, byte: usize) -> Bytes {
    let mut out = file.to_vec();
    out[byte] ^= 1;
    out.into()
}

/// A footer that has statistics of the column.
fn with_plain_statistics(file: &Bytes) -> Bytes {
    resigned(file, |metadata| {
        let statistics = Statistics { null_count: Some(0), ..Statistics::default() };
        metadata.row_groups[0].columns[0].meta_data.as_mut().unwrap().statistics = Some(statistics);
    })
}

/// Replaces the footer by another one, with a right signature.
fn resigned(file: &Bytes, change: impl FnOnce(&mut FileMetaData)) -> Bytes {
    let FooterTail::Plain { metadata_len } = FooterTail::parse(file.last_chunk().unwrap()).unwrap() else {
        panic!()
    };
    let start = file.len() - 8 - metadata_len as usize;
    let mut metadata = parse_metadata(&file[start..], &Limits::default()).unwrap();
    let Some(EncryptionAlgorithm::AesGcmV1(parameters)) = &metadata.encryption_algorithm else { panic!() };
    let aad = FileAad::new(b"", parameters.aad_file_unique.as_deref().unwrap());
    change(&mut metadata);
    let mut writer = Writer::new();
    metadata.write(&mut writer);
    let footer = writer.finish();
    let key = EncryptionKey::new(SecretKey::new(KEY).unwrap()).unwrap();
    let signature = key.sign(&footer, &aad.footer()).unwrap();
    let tail = FooterTail::Plain { metadata_len: (footer.len() + signature.len()) as u32 }.to_bytes();
    [&file[..start], &footer, &signature, &tail].concat().into()
}

/// The metadata of the column was encrypted for another place.
fn with_changed_column() -> Bytes {
    resigned(&with_column_key(), |metadata| {
        let module = metadata.row_groups[0].columns[0].encrypted_column_metadata.as_mut().unwrap();
        *module.last_mut().unwrap() ^= 1;
    })
}

pub(crate) fn encryption() -> Vec<Case> {
    let file = encrypted(false);
    let metadata = read_encrypted_metadata(&file, &Limits::default(), &keys()).unwrap().metadata;
    let pages = metadata.row_group(0).column(0).unwrap().byte_range().unwrap();
    vec![
        ("encryption-footer", changed(&file, file.len() - 20)),
        ("chunk-metadata", with_changed_column()),
        ("encryption-page-tag", changed(&file, pages.end as usize - 1)),
        ("encryption-plain-statistics", with_plain_statistics(&encrypted(true))),
    ]
}

#[test]
fn encrypted_files_that_are_good_break_nothing() {
    for has_plain_footer in [false, true] {
        let file = encrypted(has_plain_footer);
        for level in [crate::Level::Quick, crate::Level::Default, crate::Level::Deep] {
            assert_eq!(crate::report(&file, level).findings, [], "plain footer {has_plain_footer}");
        }
    }
}

/// Knows no key.
struct NoKeys;

impl KeyRetriever for NoKeys {
    fn retrieve_key(&self, _: &[u8]) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// A key management service that does not answer.
struct Silent;

impl KeyRetriever for Silent {
    fn retrieve_key(&self, _: &[u8]) -> Result<Vec<u8>> {
        Err(Error::encrypted("no answer"))
    }
}

/// The rules that are broken, with these keys.
fn broken_with(file: &Bytes, keys: Option<Arc<FileDecryptionProperties>>) -> Vec<&'static str> {
    let options = VerifyOptions::default().with_level(Level::Deep).with_decryption(keys);
    let report = verify(Arc::new(file.clone()), &options).unwrap();
    let mut ids: Vec<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
    ids.dedup();
    ids
}

#[test]
fn a_key_that_is_missing_is_told_from_one_that_is_wrong() {
    let keys = |footer: Option<&[u8]>, column: Option<&[u8]>| {
        let none = FileDecryptionProperties::with_key_retriever(Arc::new(NoKeys));
        let builder = footer.map_or(none, |key| FileDecryptionProperties::builder(key.to_vec()));
        let builder = match column {
            Some(key) => builder.with_column_key(COLUMN, key.to_vec()),
            None => builder,
        };
        Some(builder.build().unwrap())
    };
    let signed = with_column_key();
    let sealed = encrypted_with(false, |builder| builder.with_column_key(COLUMN, COLUMN_KEY.to_vec()));
    assert_eq!(broken_with(&sealed, None), ["unchecked"]);
    for file in [&signed, &sealed] {
        assert_eq!(broken_with(file, keys(Some(KEY), Some(COLUMN_KEY))), [""; 0]);
        assert_eq!(broken_with(file, keys(Some(KEY), Some(KEY))), ["chunk-metadata"]);
        assert_eq!(broken_with(file, keys(Some(KEY), None)), ["unchecked"]);
        assert_eq!(broken_with(file, keys(Some(COLUMN_KEY), Some(COLUMN_KEY))), ["encryption-footer"]);
        assert_eq!(broken_with(file, keys(None, Some(COLUMN_KEY))), ["unchecked"]);
        let silent = FileDecryptionProperties::with_key_retriever(Arc::new(Silent)).build().unwrap();
        assert_eq!(broken_with(file, Some(silent)), ["encryption-footer"]);
    }
}
