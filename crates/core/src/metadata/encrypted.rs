//! The encrypted parts of a footer, and how they are decrypted.

use super::opened_chunks::OpenedChunks;
use super::{ColumnChunk, ParquetMetaData, RowGroup};
use crate::encryption::{ChunkDecryptor, FileDecryptor, FileEncryption, encrypted_footer_error, no_key};
use crate::schema::Leaf;
use bytes::Bytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_crypto::{CTR_OVERHEAD, FileDecryptionProperties, GCM_OVERHEAD};
use marquetry_format as format;
use marquetry_format::FooterTail;
use std::sync::Arc;

impl ParquetMetaData {
    /// Parses the bytes before the length and the magic that end a file. With keys it decrypts the footer, or verifies
    /// its signature.
    ///
    /// Fails if the footer is encrypted and keys are missing or wrong. Fails if keys were given and nothing is
    /// encrypted, unless the properties allow that.
    pub(crate) fn open(
        tail: FooterTail,
        bytes: Bytes,
        limits: &Limits,
        decryption: Option<&Arc<FileDecryptionProperties>>,
    ) -> Result<Self> {
        match (tail, decryption) {
            (FooterTail::Plain { .. }, None) => ParquetMetaData::parse(bytes, limits),
            (FooterTail::Plain { .. }, Some(keys)) => ParquetMetaData::open_signed(bytes, limits, keys),
            (FooterTail::Encrypted { .. }, None) => Err(encrypted_footer_error(&bytes, limits)),
            (FooterTail::Encrypted { .. }, Some(keys)) => {
                ParquetMetaData::open_encrypted(&bytes, limits, keys)
            }
        }
    }

    fn open_signed(footer: Bytes, limits: &Limits, keys: &Arc<FileDecryptionProperties>) -> Result<Self> {
        let metadata = ParquetMetaData::parse(footer.clone(), limits)?;
        let head = metadata.head();
        let Some(algorithm) = head.encryption_algorithm.clone() else {
            return match keys.reads_plaintext_files() {
                true => Ok(metadata),
                false => Err(Error::encrypted("keys were given, and the file is not encrypted")),
            };
        };
        let key_metadata = head.footer_signing_key_metadata.clone();
        let decryptor = FileDecryptor::new(keys.clone(), algorithm, key_metadata, false)?;
        decryptor.check_signature(&footer)?;
        Ok(metadata.with_decryptor(decryptor))
    }

    /// Decrypts and parses a footer that stands behind its `FileCryptoMetaData`.
    fn open_encrypted(bytes: &[u8], limits: &Limits, keys: &Arc<FileDecryptionProperties>) -> Result<Self> {
        let mut reader = format::Reader::with_limits(bytes, limits);
        let crypto = format::FileCryptoMetaData::read(&mut reader)?;
        let module = &bytes[reader.position()..];
        let decryptor =
            FileDecryptor::new(keys.clone(), crypto.encryption_algorithm, crypto.key_metadata, true)?;
        let footer = decryptor.open_footer(module, limits)?;
        // Offsets inside the decrypted footer are not offsets in the file.
        let metadata = ParquetMetaData::parse(footer, limits).map_err(Error::without_offset)?;
        Ok(metadata.with_decryptor(decryptor))
    }

    /// Returns the decryptor of the encrypted parts, if keys were given.
    pub(crate) fn decryptor(&self) -> Option<&FileDecryptor> {
        self.decryptor.as_deref()
    }

    /// Returns the whole footer, with the metadata of encrypted columns decrypted.
    ///
    /// Fails if a column chunk cannot be read, or there is no key for its metadata.
    pub(crate) fn to_open_thrift(&self) -> Result<format::FileMetaData> {
        let mut thrift = self.to_thrift()?;
        for (group, stored) in self.row_groups().zip(&mut thrift.row_groups) {
            for (place, (leaf, stored)) in self.schema.columns().iter().zip(&mut stored.columns).enumerate() {
                if stored.encrypted_column_metadata.is_some() {
                    *stored = group
                        .opened(place, leaf)
                        .map_err(|error| error.in_column(leaf.dotted().clone()).in_row_group(group.index))?;
                }
            }
        }
        Ok(thrift)
    }

    /// Sets the decryptor of the encrypted parts.
    fn with_decryptor(self, decryptor: FileDecryptor) -> Self {
        let opened = OpenedChunks::new(self.outline.row_groups.iter().map(|group| group.num_columns()));
        ParquetMetaData { decryptor: Some(Arc::new(decryptor)), opened, ..self }
    }

    /// Returns how the file is encrypted; `None` if it is not.
    pub fn encryption(&self) -> Option<FileEncryption<'_>> {
        match &self.decryptor {
            Some(decryptor) => Some(FileEncryption {
                algorithm: decryptor.algorithm(),
                footer_key_metadata: decryptor.footer_key_metadata(),
                has_encrypted_footer: decryptor.has_encrypted_footer(),
            }),
            None => Some(FileEncryption {
                algorithm: self.head().encryption_algorithm.as_ref()?,
                footer_key_metadata: self.head().footer_signing_key_metadata.as_deref(),
                has_encrypted_footer: false,
            }),
        }
    }
}

impl<'a> RowGroup<'a> {
    /// Returns how the chunk at place `number` of the row group is encrypted; `None` if the footer does not state it.
    pub fn crypto_metadata_at(self, number: usize) -> Option<format::ColumnCryptoMetaData> {
        let chunk = (number < self.num_columns()).then(|| self.chunk(number).ok())??;
        chunk.to_chunk().ok()?.crypto_metadata
    }

    /// Returns the chunk at place `number`, whose metadata the footer holds encrypted, with its metadata decrypted.
    fn opened(self, number: usize, leaf: &Leaf) -> Result<format::ColumnChunk> {
        let mut chunk = self.chunk(number)?;
        self.open_chunk(number, leaf, &mut chunk)?;
        match chunk.has_encrypted_metadata() {
            true => Err(no_key("the column", own_key_metadata(chunk.to_chunk()?.crypto_metadata.as_ref()))),
            false => chunk.to_chunk(),
        }
    }

    /// Replaces `chunk`, whose metadata the footer holds encrypted, by one with decrypted metadata, if there is a key.
    pub(super) fn open_chunk(
        self,
        place: usize,
        leaf: &Leaf,
        chunk: &mut format::ChunkView<'a>,
    ) -> Result<()> {
        let Some(decryptor) = &self.metadata.decryptor else { return Ok(()) };
        let opened = self.metadata.opened.get(self.index, place, || {
            let stored = chunk.to_chunk()?;
            if let Some(format::ColumnCryptoMetaData::ColumnKey(own)) = &stored.crypto_metadata
                && own.path_in_schema != leaf.path_in_schema()
            {
                let said = own.path_in_schema.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".");
                return Err(Error::corrupt(format!(
                    "the footer says that the chunk is encrypted as column {said}"
                )));
            }
            let module = stored.encrypted_column_metadata.as_deref().unwrap_or_default();
            let (crypto, limits) = (stored.crypto_metadata.as_ref(), Limits::default());
            let bytes = decryptor.open_column_metadata(crypto, module, self.index, place, &limits)?;
            let Some(bytes) = bytes else { return Ok(None) };
            let meta = format::ColumnMetaData::read(&mut format::Reader::with_limits(&bytes, &limits))?;
            Ok(Some(format::ColumnChunk { meta_data: Some(meta), encrypted_column_metadata: None, ..stored }))
        })?;
        if let Some(bytes) = opened {
            *chunk = format::ChunkView::empty();
            chunk.read(&mut format::Reader::new(bytes))?;
        }
        Ok(())
    }
}

impl ColumnChunk<'_> {
    /// Whether the pages are encrypted.
    #[inline]
    pub fn is_encrypted(self) -> bool {
        let decryptor = &self.group.metadata.decryptor;
        self.chunk.has_crypto_metadata() || decryptor.as_ref().is_some_and(|all| all.encrypts_all_chunks())
    }

    /// Returns how many bytes encryption adds to each page, not counting its header. 0 if the column is not encrypted,
    /// or the algorithm is unknown.
    pub fn page_overhead(self) -> usize {
        let algorithm =
            self.group.metadata.encryption().filter(|_| self.is_encrypted()).map(|file| file.algorithm);
        match algorithm {
            Some(format::EncryptionAlgorithm::AesGcmV1(_)) => GCM_OVERHEAD,
            Some(format::EncryptionAlgorithm::AesGcmCtrV1(_)) => CTR_OVERHEAD,
            Some(format::EncryptionAlgorithm::Unknown(_)) | None => 0,
        }
    }

    /// Returns how the column is encrypted, as the footer states it; `None` if it states nothing.
    pub fn crypto_metadata(self) -> Option<format::ColumnCryptoMetaData> {
        self.chunk.has_crypto_metadata().then(|| self.chunk.to_chunk().ok()?.crypto_metadata).flatten()
    }

    /// Whether the footer is not encrypted.
    pub fn has_plain_footer(self) -> bool {
        self.group.metadata.encryption().is_none_or(|encryption| !encryption.has_encrypted_footer)
    }

    /// Returns the metadata that the footer holds of this chunk in plain form, outside of the chunk's encrypted
    /// metadata.
    pub fn stored_meta_data(self) -> Option<format::ColumnMetaData> {
        self.group.chunk(self.place).ok()?.to_chunk().ok()?.meta_data
    }

    /// Returns the decryptor of pages and indexes; `None` if they are not encrypted. Fails if there is no key for them.
    pub(crate) fn decryptor(self) -> Result<Option<ChunkDecryptor>> {
        if !self.is_encrypted() {
            return Ok(None);
        }
        match &self.group.metadata.decryptor {
            Some(file) => file.chunk(self.crypto_metadata().as_ref(), self.group.index, self.place).map(Some),
            None => Err(self.no_key()),
        }
    }

    /// Whether the pages are encrypted, and there is no key for them.
    pub fn lacks_key(self) -> bool {
        self.is_encrypted() && self.decryptor().is_err()
    }

    #[cold]
    pub(super) fn no_key(self) -> Error {
        let crypto = self.crypto_metadata();
        let metadata = match &crypto {
            Some(format::ColumnCryptoMetaData::ColumnKey(_)) => own_key_metadata(crypto.as_ref()),
            _ => self.group.metadata.encryption().and_then(|encryption| encryption.footer_key_metadata),
        };
        no_key("the column", metadata)
    }
}

fn own_key_metadata(crypto: Option<&format::ColumnCryptoMetaData>) -> Option<&[u8]> {
    match crypto {
        Some(format::ColumnCryptoMetaData::ColumnKey(own)) => own.key_metadata.as_deref(),
        _ => None,
    }
}
