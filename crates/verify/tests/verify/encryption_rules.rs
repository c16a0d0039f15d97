//! Encrypted files that break a rule.

use crate::file_rules::Case;
use crate::make::Make;
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_core::io::{read_encrypted_metadata, read_metadata};
use marquetry_core::source::Source;
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_crypto::{
    EncryptionKey, FileAad, FileDecryptionProperties, FileEncryptionProperties, SecretKey,
};
use marquetry_format::{EncryptionAlgorithm, FooterTail, Statistics, Writer, parse_metadata};
use std::sync::Arc;

const KEY: &[u8] = b"0123456789012345";
/// By this the tests know that a file has the key.
pub(crate) const KEY_METADATA: &[u8] = b"the key of the tests";

pub(crate) fn keys() -> Arc<FileDecryptionProperties> {
    FileDecryptionProperties::builder(KEY.to_vec()).build().unwrap()
}

/// The file of [`Make::ints`], encrypted.
fn encrypted(has_plain_footer: bool) -> Bytes {
    // A checksum would tell before the tag does.
    let mut make = Make::ints();
    make.layout.checksums = false;
    let plain = make.good().finish();
    let metadata = read_metadata(&plain, &Limits::default()).unwrap().metadata;
    let source: Arc<dyn Source> = Arc::new(plain);
    let encryption = FileEncryptionProperties::builder(KEY.to_vec())
        .with_footer_key_metadata(KEY_METADATA.to_vec())
        .with_plaintext_footer(has_plain_footer)
        .build()
        .unwrap();
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

/// A footer that has statistics of the column, and whose signature is right.
fn with_plain_statistics(file: &Bytes) -> Bytes {
    let FooterTail::Plain { metadata_len } = FooterTail::parse(file.last_chunk().unwrap()).unwrap() else {
        panic!()
    };
    let start = file.len() - 8 - metadata_len as usize;
    let mut metadata = parse_metadata(&file[start..], &Limits::default()).unwrap();
    let Some(EncryptionAlgorithm::AesGcmV1(parameters)) = &metadata.encryption_algorithm else { panic!() };
    let aad = FileAad::new(b"", parameters.aad_file_unique.as_deref().unwrap());
    let statistics = Statistics { null_count: Some(0), ..Statistics::default() };
    metadata.row_groups[0].columns[0].meta_data.as_mut().unwrap().statistics = Some(statistics);
    let mut writer = Writer::new();
    metadata.write(&mut writer);
    let footer = writer.finish();
    let key = EncryptionKey::new(SecretKey::new(KEY).unwrap()).unwrap();
    let signature = key.sign(&footer, &aad.footer()).unwrap();
    let tail = FooterTail::Plain { metadata_len: (footer.len() + signature.len()) as u32 }.to_bytes();
    [&file[..start], &footer, &signature, &tail].concat().into()
}

pub(crate) fn encryption() -> Vec<Case> {
    let file = encrypted(false);
    let metadata = read_encrypted_metadata(&file, &Limits::default(), &keys()).unwrap().metadata;
    let pages = metadata.row_group(0).column(0).unwrap().byte_range().unwrap();
    vec![
        ("encryption-footer", changed(&file, file.len() - 20)),
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
