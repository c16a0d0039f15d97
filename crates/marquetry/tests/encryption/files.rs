//! The encrypted files of parquet-testing, and their keys.

use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::Result;
use marquetry::file::encryption::{DecryptionPropertiesBuilder, FileDecryptionProperties};
use std::path::Path;
use std::sync::Arc;

/// A file, and whether its keys have 256 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encrypted {
    pub(crate) name: &'static str,
    pub(crate) is_256: bool,
    /// Whether its AAD prefix is not stored in it.
    pub(crate) wants_prefix: bool,
}

const fn file(name: &'static str, is_256: bool) -> Encrypted {
    Encrypted { name, is_256, wants_prefix: false }
}

const fn without_prefix(name: &'static str, is_256: bool) -> Encrypted {
    Encrypted { name, is_256, wants_prefix: true }
}

/// All files with the same 50 rows.
pub(crate) const FILES: [Encrypted; 11] = [
    file("encrypt_columns_and_footer", false),
    file("encrypt_columns_and_footer_aad", false),
    file("encrypt_columns_and_footer_ctr", false),
    without_prefix("encrypt_columns_and_footer_disable_aad_storage", false),
    file("encrypt_columns_plaintext_footer", false),
    file("uniform_encryption", false),
    file("encrypt_columns_and_footer", true),
    file("encrypt_columns_and_footer_ctr", true),
    without_prefix("encrypt_columns_and_footer_disable_aad_storage", true),
    file("encrypt_columns_plaintext_footer", true),
    file("uniform_encryption", true),
];

pub(crate) const BLOOM: Encrypted = file("encrypt_columns_and_footer_bloom_filter", false);

impl Encrypted {
    pub(crate) fn bytes(self, root: &Path) -> Bytes {
        let folder = if self.is_256 { "aes256/" } else { "" };
        crate::corpus::bytes(root, &format!("parquet-testing/data/{folder}{}.parquet.encrypted", self.name))
    }

    /// The digits that all its keys begin with.
    fn key(self, first: u8) -> Vec<u8> {
        (0..if self.is_256 { 32 } else { 16 }).map(|i| b'0' + (first + i) % 10).collect()
    }

    pub(crate) fn footer_key(self) -> Vec<u8> {
        self.key(0)
    }

    /// The key of a column: the last digit tells them apart.
    pub(crate) fn column_key(self, number: u8) -> Vec<u8> {
        let mut key = self.key(1);
        // The key of the first column continues the digits.
        let first = if self.is_256 { b'2' } else { b'0' };
        *key.last_mut().unwrap() = first + number;
        key
    }

    /// The builder of all keys.
    pub(crate) fn keys(self) -> DecryptionPropertiesBuilder {
        let columns: &[&str] = match self.is_256 {
            false => &["double_field", "float_field"],
            true => &[
                "double_field",
                "float_field",
                "boolean_field",
                "int32_field",
                "ba_field",
                "flba_field",
                "int64_field.list.element",
                "int96_field",
            ],
        };
        let builder = FileDecryptionProperties::builder(self.footer_key());
        let builder = if self.wants_prefix { builder.with_aad_prefix(b"tester".to_vec()) } else { builder };
        columns
            .iter()
            .zip(0..)
            .fold(builder, |builder, (column, i)| builder.with_column_key(column, self.column_key(i)))
    }

    pub(crate) fn open(self, root: &Path) -> OpenFile {
        open(self.bytes(root), self.keys()).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

pub(crate) fn open(bytes: Bytes, keys: DecryptionPropertiesBuilder) -> Result<OpenFile> {
    let options = ArrowReaderOptions::new().with_file_decryption_properties(keys.build()?);
    OpenFile::new(Arc::new(bytes), options)
}

/// The cells of all columns.
pub(crate) fn table(file: OpenFile) -> Result<Vec<Vec<String>>> {
    let mut reader = file.batches()?;
    crate::cells::columns(std::iter::from_fn(|| reader.next_batch()))
}
