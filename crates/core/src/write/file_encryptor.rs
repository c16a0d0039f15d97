//! Encrypts what goes into a file: each module with the key of its column, and for its place in the file.
//!
//! Chunks come as they would go into a file that is not encrypted, wherever they were made or copied from. Only when their place
//! is known are they encrypted, page by page: so nonces and ordinals are always new ones.

use super::chunk_encryptor::ChunkEncryptor;
use super::encoded_chunk::EncodedChunk;
use crate::schema::{Leaf, Schema};
use marquetry_base::{Error, Result};
use marquetry_crypto::{
    ColumnEncryption, EncryptionDialect, EncryptionKey, FileAad, FileEncryptionProperties, MAX_ORDINAL,
    ModuleType, ParquetCipher,
};
use marquetry_format as format;
use marquetry_format::{ColumnCryptoMetaData, EncryptionAlgorithm, EncryptionWithColumnKey, PageType};
use std::sync::Arc;

/// Encrypts the modules of one file.
#[derive(Debug)]
pub(super) struct FileEncryptor {
    properties: Arc<FileEncryptionProperties>,
    unique: [u8; 8],
    aad: FileAad,
}

impl FileEncryptor {
    /// Begins a file of this schema.
    ///
    /// Fails if there are more columns than ordinals, if a key is for a column that there is not, and if the system has no random
    /// bytes.
    pub(super) fn new(properties: Arc<FileEncryptionProperties>, schema: &Schema) -> Result<Self> {
        if schema.num_columns() > MAX_ORDINAL + 1 {
            return Err(too_many("columns", schema.num_columns()));
        }
        properties.check_columns(schema.columns().iter().map(|leaf| &**leaf.dotted()))?;
        let unique = properties.new_file_unique()?;
        let aad = match properties.dialect() {
            EncryptionDialect::DuckDb => FileAad::none(),
            _ => FileAad::new(properties.aad_prefix().unwrap_or_default(), &unique),
        };
        Ok(FileEncryptor { properties, unique, aad })
    }

    /// What the file begins and ends with.
    pub(super) fn magic(&self) -> [u8; 4] {
        if self.properties.has_plaintext_footer() { format::PAR1 } else { format::PARE }
    }

    /// Fails if the row group or a page in it would have a number that encryption has no room for.
    pub(super) fn check_ordinals(&self, row_group: usize, chunks: &[EncodedChunk]) -> Result<()> {
        if row_group > MAX_ORDINAL {
            return Err(too_many("row groups", row_group + 1));
        }
        for chunk in chunks {
            let indexed = chunk.offset_index.as_ref().map_or(0, |index| index.page_locations.len());
            let stats = chunk.metadata.encoding_stats.iter().flatten();
            let data = stats.filter(|stats| stats.page_type != PageType::DICTIONARY_PAGE);
            let counted = data.fold(0usize, |all, stats| all.saturating_add(stats.count.max(0) as usize));
            let pages = indexed.max(counted);
            if pages > MAX_ORDINAL + 1 {
                return Err(too_many("pages", pages));
            }
        }
        Ok(())
    }

    /// What encrypts a chunk at its place; `None` if its column is not encrypted.
    pub(super) fn chunk(&self, leaf: &Leaf, row_group: usize, column: usize) -> Option<ChunkEncryptor<'_>> {
        let key = self.key_of(leaf)?;
        let is_ctr = self.properties.cipher() == ParquetCipher::AesGcmCtrV1;
        Some(ChunkEncryptor::new(key, &self.aad, is_ctr, row_group, column))
    }

    fn key_of(&self, leaf: &Leaf) -> Option<&EncryptionKey> {
        match self.properties.column(leaf.dotted()) {
            ColumnEncryption::Plain => None,
            ColumnEncryption::FooterKey => Some(self.properties.footer_key()),
            ColumnEncryption::ColumnKey(key, _) => Some(key),
        }
    }

    /// What goes before the length and the magic at the end of the file: the footer, signed, or encrypted behind what says how.
    pub(super) fn footer(&self, mut thrift: format::FileMetaData, schema: &Schema) -> Result<Vec<u8>> {
        for (row_group, group) in thrift.row_groups.iter_mut().enumerate() {
            for (column, (chunk, leaf)) in group.columns.iter_mut().zip(schema.columns()).enumerate() {
                self.hide(chunk, leaf, row_group, column)?;
            }
        }
        let (properties, footer_key) = (&self.properties, self.properties.footer_key());
        let key_metadata = properties.footer_key_metadata().map(<[u8]>::to_vec);
        if properties.has_plaintext_footer() {
            thrift.encryption_algorithm = Some(self.algorithm());
            thrift.footer_signing_key_metadata = key_metadata;
            let mut footer = bytes_of(|w| thrift.write(w));
            let signature = footer_key.sign(&footer, &self.aad.footer())?;
            footer.extend_from_slice(&signature);
            return Ok(footer);
        }
        let crypto = format::FileCryptoMetaData { encryption_algorithm: self.algorithm(), key_metadata };
        let mut out = bytes_of(|w| crypto.write(w));
        footer_key.seal_gcm(&bytes_of(|w| thrift.write(w)), &self.aad.footer(), &mut out)?;
        Ok(out)
    }

    /// Says how a chunk is encrypted, and encrypts what the footer says of it where the footer itself does not hide it.
    fn hide(
        &self,
        chunk: &mut format::ColumnChunk,
        leaf: &Leaf,
        row_group: usize,
        column: usize,
    ) -> Result<()> {
        let (key, crypto, is_own) = match self.properties.column(leaf.dotted()) {
            ColumnEncryption::Plain => return Ok(()),
            ColumnEncryption::FooterKey => {
                (self.properties.footer_key(), ColumnCryptoMetaData::FooterKey, false)
            }
            ColumnEncryption::ColumnKey(key, metadata) => {
                let (path_in_schema, key_metadata) = (leaf.path_in_schema(), metadata.map(<[u8]>::to_vec));
                let own = EncryptionWithColumnKey { path_in_schema, key_metadata };
                (key, ColumnCryptoMetaData::ColumnKey(own), true)
            }
        };
        // QUIRK: in DuckDB's dialect nothing says that a column is encrypted.
        if self.properties.dialect() == EncryptionDialect::Parquet {
            chunk.crypto_metadata = Some(crypto);
        }
        let has_plain_footer = self.properties.has_plaintext_footer();
        if !is_own && !has_plain_footer {
            return Ok(());
        }
        let Some(meta) = chunk.meta_data.take() else { return Ok(()) };
        let mut module = Vec::new();
        let aad = self.aad.column(ModuleType::ColumnMetaData, row_group, column)?;
        key.seal_gcm(&bytes_of(|w| meta.write(w)), &aad, &mut module)?;
        chunk.encrypted_column_metadata = Some(module);
        chunk.meta_data = has_plain_footer.then(|| without_contents(meta));
        Ok(())
    }

    fn algorithm(&self) -> EncryptionAlgorithm {
        let (stored, prefix) = (self.properties.stores_aad_prefix(), self.properties.aad_prefix());
        let is_duckdb = self.properties.dialect() == EncryptionDialect::DuckDb;
        let parameters = format::AesGcm {
            aad_prefix: prefix.filter(|_| stored).map(<[u8]>::to_vec),
            aad_file_unique: (!is_duckdb).then(|| self.unique.to_vec()),
            supply_aad_prefix: (prefix.is_some() && !stored).then_some(true),
        };
        match self.properties.cipher() {
            ParquetCipher::AesGcmV1 => EncryptionAlgorithm::AesGcmV1(parameters),
            ParquetCipher::AesGcmCtrV1 => EncryptionAlgorithm::AesGcmCtrV1(parameters),
        }
    }
}

/// What a reader without the key needs to pass over the chunk, and nothing that tells of its values.
fn without_contents(meta: format::ColumnMetaData) -> format::ColumnMetaData {
    format::ColumnMetaData {
        key_value_metadata: None,
        statistics: None,
        encoding_stats: None,
        size_statistics: None,
        geospatial_statistics: None,
        ..meta
    }
}

fn bytes_of(write: impl FnOnce(&mut format::Writer)) -> Vec<u8> {
    let mut writer = format::Writer::new();
    write(&mut writer);
    writer.finish()
}

#[cold]
fn too_many(what: &str, count: usize) -> Error {
    Error::argument(format!(
        "{count} {what} in an encrypted file: encryption has room for {}",
        MAX_ORDINAL + 1
    ))
}
