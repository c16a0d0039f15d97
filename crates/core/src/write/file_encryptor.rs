//! Encrypts the parts of a file: each module with the key of its column, for its place in the file.
//!
//! Chunks arrive as they would be stored in a file without encryption, wherever they were made or copied from. They are
//! encrypted only when their place is known, page by page: so nonces and ordinals are always new.

use super::chunk_encryptor::{ChunkEncryptor, PageFrame};
use super::derived_values::{check_variants, hide_boxes};
use super::encoded_chunk::EncodedChunk;
use crate::encryption::no_key;
use crate::metadata::ParquetMetaData;
use crate::schema::{Leaf, Schema};
use marquetry_base::{Error, Result};
use marquetry_crypto::{
    ColumnEncryption, EncryptionDialect, EncryptionKey, FileAad, FileEncryptionProperties, MAX_ORDINAL,
    ModuleType, ParquetCipher, SecretKey,
};
use marquetry_format as format;
use marquetry_format::{ColumnCryptoMetaData, EncryptionAlgorithm, EncryptionWithColumnKey, PageType};
use std::sync::Arc;

/// The encryptor of the modules of one file.
#[derive(Debug)]
pub(super) struct FileEncryptor {
    pub(super) footer_key: Arc<EncryptionKey>,
    pub(super) footer_key_metadata: Option<Vec<u8>>,
    /// How each column of the schema is encrypted.
    pub(super) columns: Vec<ColumnKey>,
    pub(super) has_plain_footer: bool,
    pub(super) algorithm: EncryptionAlgorithm,
    pub(super) dialect: EncryptionDialect,
    aad: FileAad,
}

/// How a column is encrypted.
#[derive(Debug, PartialEq)]
pub(super) enum ColumnKey {
    Plain,
    Footer,
    Own(Arc<EncryptionKey>, Option<Vec<u8>>),
}

impl FileEncryptor {
    /// Creates the encryptor for a new file with this schema.
    ///
    /// Fails if there are more columns than ordinals, if a key is for a column that does not exist, if a part of a
    /// VARIANT would be protected less than its values, or if the system provides no random bytes.
    pub(super) fn new(properties: &FileEncryptionProperties, schema: &Schema) -> Result<Self> {
        check_columns(schema)?;
        properties.check_columns(schema.columns().iter().map(|leaf| &**leaf.dotted()))?;
        check_variants(properties, schema)?;
        let unique = properties.new_file_unique()?;
        let (aad, unique) = match properties.dialect() {
            EncryptionDialect::DuckDb => (FileAad::none(), None),
            _ => (FileAad::new(properties.aad_prefix().unwrap_or_default(), &unique), Some(unique.to_vec())),
        };
        let key = |leaf: &Leaf| match properties.column(leaf.dotted()) {
            ColumnEncryption::Plain => ColumnKey::Plain,
            ColumnEncryption::FooterKey => ColumnKey::Footer,
            ColumnEncryption::ColumnKey(key, metadata) => {
                ColumnKey::Own(key.clone(), metadata.map(<[u8]>::to_vec))
            }
        };
        Ok(FileEncryptor {
            footer_key: properties.footer_key().clone(),
            footer_key_metadata: properties.footer_key_metadata().map(<[u8]>::to_vec),
            columns: schema.columns().iter().map(key).collect(),
            has_plain_footer: properties.has_plaintext_footer(),
            algorithm: algorithm(properties, unique),
            dialect: properties.dialect(),
            aad,
        })
    }

    /// Creates the encryptor for appending to a file with footer `metadata`, which encrypts as the file was encrypted
    /// so far; `None` if nothing in it is. The file keeps its identifier: added parts have other ordinals.
    ///
    /// Fails if a key is missing, if row groups are encrypted in different ways, or if there are none, because then
    /// nothing states which columns are encrypted.
    pub(super) fn of_file(metadata: &ParquetMetaData) -> Result<Option<Self>> {
        let Some(decryptor) = metadata.decryptor() else {
            let groups = metadata.row_groups();
            let mut chunks =
                groups.flat_map(|group| (0..group.num_columns()).map(move |at| group.crypto_metadata_at(at)));
            return match metadata.encryption().is_some() || chunks.any(|crypto| crypto.is_some()) {
                true => {
                    Err(no_key("the file", metadata.encryption().and_then(|file| file.footer_key_metadata)))
                }
                false => Ok(None),
            };
        };
        let schema = metadata.schema();
        check_columns(schema)?;
        let (properties, key_metadata) = (decryptor.properties(), decryptor.footer_key_metadata());
        let footer_secret =
            properties.footer_key(key_metadata)?.ok_or_else(|| no_key("the footer", key_metadata))?;
        let mut keys = vec![Arc::new(EncryptionKey::new(footer_secret)?)];
        let dialect = properties.dialect();
        let mut columns = Vec::new();
        for (place, leaf) in schema.columns().iter().enumerate() {
            columns.push(match crypto_of(metadata, place, leaf)? {
                None if dialect == EncryptionDialect::DuckDb => ColumnKey::Footer,
                None => ColumnKey::Plain,
                Some(ColumnCryptoMetaData::ColumnKey(own)) => {
                    let key = properties.column_key(leaf.dotted(), own.key_metadata.as_deref())?;
                    let key = key.ok_or_else(|| {
                        no_key("the column", own.key_metadata.as_deref()).in_column(leaf.dotted().clone())
                    })?;
                    ColumnKey::Own(shared(&mut keys, key)?, own.key_metadata)
                }
                Some(_) => ColumnKey::Footer,
            });
        }
        let encryptor = FileEncryptor {
            footer_key: keys[0].clone(),
            footer_key_metadata: key_metadata.map(<[u8]>::to_vec),
            columns,
            has_plain_footer: !decryptor.has_encrypted_footer(),
            algorithm: decryptor.algorithm().clone(),
            dialect,
            aad: decryptor.aad().clone(),
        };
        encryptor.count_earlier(metadata)?;
        Ok(Some(encryptor))
    }

    /// Adds the number of modules that the file's keys encrypted in it, as far as its footer shows.
    fn count_earlier(&self, metadata: &ParquetMetaData) -> Result<()> {
        for column in 0..metadata.schema().num_columns() {
            let Some(key) = self.key_of(column) else { continue };
            for group in metadata.row_groups() {
                let stats = group.column(column)?.encoding_stats().into_iter().flatten();
                let pages = stats.fold(0u64, |all, stats| all.saturating_add(stats.count.max(0) as u64));
                key.count_earlier(pages.saturating_mul(2).saturating_add(MODULES_BESIDE_PAGES));
            }
        }
        self.footer_key.count_earlier(1);
        Ok(())
    }

    /// Returns the magic bytes of the file.
    pub(super) fn magic(&self) -> [u8; 4] {
        if self.has_plain_footer { format::PAR1 } else { format::PARE }
    }

    /// Fails if the number of the row group, or of a page in it, exceeds the ordinals of encryption.
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

    /// Whether the file may have bloom filters.
    ///
    /// QUIRK: DuckDB (2.0) reads the encrypted header of a filter as a plaintext one, and fails.
    pub(super) fn has_filters(&self) -> bool {
        self.dialect != EncryptionDialect::DuckDb
    }

    /// Removes data derived from values from the file's key-value metadata: for columns with a key of their own, and
    /// with a plaintext footer for all encrypted ones.
    pub(super) fn hide_derived(&self, pairs: &mut [format::KeyValue], schema: &Schema) {
        hide_boxes(pairs, schema, |column| match self.columns.get(column) {
            Some(ColumnKey::Own(..)) => true,
            Some(ColumnKey::Footer) => self.has_plain_footer,
            Some(ColumnKey::Plain) | None => false,
        });
    }

    /// Returns the encryptor of a chunk at its place; `None` if its column is not encrypted.
    pub(super) fn chunk(&self, row_group: usize, column: usize) -> Option<ChunkEncryptor<'_>> {
        let key = self.key_of(column)?;
        let frame = PageFrame {
            is_ctr: matches!(self.algorithm, EncryptionAlgorithm::AesGcmCtrV1(_)),
            uncounted_bytes: self.dialect.uncounted_page_bytes(),
        };
        Some(ChunkEncryptor::new(key, &self.aad, frame, (row_group, column)))
    }

    fn key_of(&self, column: usize) -> Option<&EncryptionKey> {
        match self.columns.get(column)? {
            ColumnKey::Plain => None,
            ColumnKey::Footer => Some(&self.footer_key),
            ColumnKey::Own(key, _) => Some(key),
        }
    }

    /// Returns the bytes before the length and the magic at the end of the file: the signed footer, or
    /// `FileCryptoMetaData` and the encrypted footer.
    pub(super) fn footer(&self, mut thrift: format::FileMetaData, schema: &Schema) -> Result<Vec<u8>> {
        for (row_group, group) in thrift.row_groups.iter_mut().enumerate() {
            for (column, (chunk, leaf)) in group.columns.iter_mut().zip(schema.columns()).enumerate() {
                self.hide(chunk, leaf, row_group, column)?;
            }
        }
        let key_metadata = self.footer_key_metadata.clone();
        if self.has_plain_footer {
            thrift.encryption_algorithm = Some(self.algorithm.clone());
            thrift.footer_signing_key_metadata = key_metadata;
            let mut footer = bytes_of(|w| thrift.write(w));
            let signature = self.footer_key.sign(&footer, &self.aad.footer())?;
            footer.extend_from_slice(&signature);
            return Ok(footer);
        }
        let crypto =
            format::FileCryptoMetaData { encryption_algorithm: self.algorithm.clone(), key_metadata };
        let mut out = bytes_of(|w| crypto.write(w));
        self.footer_key.seal_gcm(&bytes_of(|w| thrift.write(w)), &self.aad.footer(), &mut out)?;
        Ok(out)
    }

    /// Records how a chunk is encrypted, and encrypts its metadata if the encryption of the footer does not protect it.
    fn hide(
        &self,
        chunk: &mut format::ColumnChunk,
        leaf: &Leaf,
        row_group: usize,
        column: usize,
    ) -> Result<()> {
        let (key, crypto, is_own) = match self.columns.get(column) {
            None | Some(ColumnKey::Plain) => return Ok(()),
            Some(ColumnKey::Footer) => (&self.footer_key, ColumnCryptoMetaData::FooterKey, false),
            Some(ColumnKey::Own(key, key_metadata)) => {
                let (path_in_schema, key_metadata) = (leaf.path_in_schema(), key_metadata.clone());
                let own = EncryptionWithColumnKey { path_in_schema, key_metadata };
                (key, ColumnCryptoMetaData::ColumnKey(own), true)
            }
        };
        // QUIRK: in DuckDB's dialect the footer does not state that a column is encrypted.
        if self.dialect == EncryptionDialect::Parquet {
            chunk.crypto_metadata = Some(crypto);
        }
        if !is_own && !self.has_plain_footer {
            return Ok(());
        }
        let Some(meta) = chunk.meta_data.take() else { return Ok(()) };
        let mut module = Vec::new();
        let aad = self.aad.column(ModuleType::ColumnMetaData, row_group, column)?;
        key.seal_gcm(&bytes_of(|w| meta.write(w)), &aad, &mut module)?;
        chunk.encrypted_column_metadata = Some(module);
        chunk.meta_data = self.has_plain_footer.then(|| meta.without_contents());
        Ok(())
    }
}

fn algorithm(properties: &FileEncryptionProperties, file_unique: Option<Vec<u8>>) -> EncryptionAlgorithm {
    let (stored, prefix) = (properties.stores_aad_prefix(), properties.aad_prefix());
    let parameters = format::AesGcm {
        aad_prefix: prefix.filter(|_| stored).map(<[u8]>::to_vec),
        aad_file_unique: file_unique,
        supply_aad_prefix: (prefix.is_some() && !stored).then_some(true),
    };
    match properties.cipher() {
        ParquetCipher::AesGcmV1 => EncryptionAlgorithm::AesGcmV1(parameters),
        ParquetCipher::AesGcmCtrV1 => EncryptionAlgorithm::AesGcmCtrV1(parameters),
    }
}

fn check_columns(schema: &Schema) -> Result<()> {
    match schema.num_columns() > MAX_ORDINAL + 1 {
        true => Err(too_many("columns", schema.num_columns())),
        false => Ok(()),
    }
}

/// Returns how a column of a file is encrypted. Fails if row groups differ.
fn crypto_of(metadata: &ParquetMetaData, place: usize, leaf: &Leaf) -> Result<Option<ColumnCryptoMetaData>> {
    let mut groups = metadata.row_groups().map(|group| group.crypto_metadata_at(place));
    let Some(first) = groups.next() else {
        return Err(Error::unsupported(
            "an encrypted file without row groups does not say how its columns are encrypted: write a new one",
        ));
    };
    match groups.all(|other| other == first) {
        true => Ok(first),
        false => Err(Error::unsupported("the row groups of the column are encrypted in different ways")
            .in_column(leaf.dotted().clone())),
    }
}

/// Returns the key among `keys` with this secret, or adds it. So the modules that one key encrypts are counted in one
/// place.
fn shared(keys: &mut Vec<Arc<EncryptionKey>>, secret: SecretKey) -> Result<Arc<EncryptionKey>> {
    let key = Arc::new(EncryptionKey::new(secret)?);
    if let Some(known) = keys.iter().find(|known| **known == key) {
        return Ok(known.clone());
    }
    keys.push(key.clone());
    Ok(key)
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

/// Number of modules of a chunk besides pages: column metadata, two indexes, and the two parts of a bloom filter.
const MODULES_BESIDE_PAGES: u64 = 5;
