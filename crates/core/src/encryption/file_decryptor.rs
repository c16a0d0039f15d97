//! Decrypts a file: chooses the key of each module, and creates the errors if there is none.

use super::chunk_decryptor::ChunkDecryptor;
use marquetry_base::{Error, Limits, Result};
use marquetry_crypto::{
    EncryptionDialect, FileAad, FileDecryptionProperties, ModuleCipher, ModuleType, NONCE_BYTES,
    ParquetCipher, TAG_BYTES, shown_metadata,
};
use marquetry_format as format;
use marquetry_format::{ColumnCryptoMetaData, EncryptionAlgorithm, FileCryptoMetaData};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The decryptor of a file's modules.
pub(crate) struct FileDecryptor {
    properties: Arc<FileDecryptionProperties>,
    algorithm: EncryptionAlgorithm,
    key_metadata: Option<Vec<u8>>,
    has_encrypted_footer: bool,
    aad: Arc<FileAad>,
    cipher: ParquetCipher,
    footer_key: Option<ModuleCipher>,
    /// The keys of columns that were used, by path and key metadata, because a retriever may be slow. `None` if there
    /// is no key.
    column_keys: Mutex<HashMap<ColumnKeyName, Option<ModuleCipher>>>,
}

type ColumnKeyName = (String, Option<Vec<u8>>);

/// Length in bytes of the signature behind a plaintext footer.
const SIGNATURE_BYTES: usize = NONCE_BYTES + TAG_BYTES;

impl FileDecryptor {
    /// Creates the decryptor of a file with this encryption.
    ///
    /// Fails if the algorithm is unknown, if the AAD prefix is missing or differs from the stored one, or if retrieving
    /// the footer key fails.
    pub(crate) fn new(
        properties: Arc<FileDecryptionProperties>,
        algorithm: EncryptionAlgorithm,
        key_metadata: Option<Vec<u8>>,
        has_encrypted_footer: bool,
    ) -> Result<Self> {
        let (parameters, cipher) = match &algorithm {
            EncryptionAlgorithm::AesGcmV1(parameters) => (parameters, ParquetCipher::AesGcmV1),
            EncryptionAlgorithm::AesGcmCtrV1(parameters) => (parameters, ParquetCipher::AesGcmCtrV1),
            EncryptionAlgorithm::Unknown(id) => {
                return Err(Error::unsupported(format!("encryption algorithm {id} is not known")));
            }
        };
        let aad = match properties.dialect() {
            EncryptionDialect::DuckDb => FileAad::none(),
            _ => {
                let unique = parameters.aad_file_unique.as_deref().ok_or_else(|| {
                    Error::corrupt("the file has no identifier (aad_file_unique)")
                        .with_help("DuckDB writes such files: read it in the dialect of DuckDB")
                })?;
                FileAad::new(aad_prefix(&properties, parameters)?, unique)
            }
        };
        let footer_key = properties.footer_key(key_metadata.as_deref())?;
        Ok(FileDecryptor {
            footer_key: footer_key.as_ref().map(ModuleCipher::new).transpose()?,
            properties,
            algorithm,
            key_metadata,
            has_encrypted_footer,
            aad: Arc::new(aad),
            cipher,
            column_keys: Mutex::default(),
        })
    }

    pub(crate) fn algorithm(&self) -> &EncryptionAlgorithm {
        &self.algorithm
    }

    pub(crate) fn footer_key_metadata(&self) -> Option<&[u8]> {
        self.key_metadata.as_deref()
    }

    /// Returns the properties with the keys.
    pub(crate) fn properties(&self) -> &FileDecryptionProperties {
        &self.properties
    }

    /// Returns the beginning of the additional data of all modules.
    pub(crate) fn aad(&self) -> &FileAad {
        &self.aad
    }

    pub(crate) fn has_encrypted_footer(&self) -> bool {
        self.has_encrypted_footer
    }

    /// Whether all chunks are encrypted, whatever the footer states.
    pub(crate) fn encrypts_all_chunks(&self) -> bool {
        self.properties.dialect() == EncryptionDialect::DuckDb
    }

    /// Decrypts the footer.
    pub(crate) fn open_footer(&self, module: &[u8], limits: &Limits) -> Result<Vec<u8>> {
        let Some(key) = &self.footer_key else {
            return Err(no_key("the footer", self.footer_key_metadata()));
        };
        let mut footer = Vec::new();
        match key.open_gcm(module, &self.aad.footer(), &mut footer)? {
            true => Ok(footer),
            false => Err(self
                .refused("the footer", key, module, |bytes| format::parse_metadata(bytes, limits).is_ok())),
        }
    }

    /// Fails if the signature at the end of a plaintext footer does not match the bytes before it.
    pub(crate) fn check_signature(&self, footer: &[u8]) -> Result<()> {
        if !self.properties.verifies_footer_signature() {
            return Ok(());
        }
        let Some(key) = &self.footer_key else {
            return Err(no_key("the signature of the footer", self.footer_key_metadata())
                .with_help("turn its verification off to do without it"));
        };
        let signed = footer.len().checked_sub(SIGNATURE_BYTES).map(|len| footer.split_at(len));
        let Some((content, signature)) = signed else {
            return Err(Error::corrupt("a footer that should be signed, of too few bytes for a signature"));
        };
        match key.is_signed(content, signature, &self.aad.footer())? {
            true => Ok(()),
            false => Err(Error::encrypted(
                "the signature of the footer does not fit: the footer was changed, or the footer key or the AAD prefix is a \
                 wrong one",
            )),
        }
    }

    /// Decrypts the metadata of a column chunk; `None` if there is no key for them.
    pub(crate) fn open_column_metadata(
        &self,
        crypto: Option<&ColumnCryptoMetaData>,
        module: &[u8],
        row_group: usize,
        column: usize,
        limits: &Limits,
    ) -> Result<Option<Vec<u8>>> {
        let Some(key) = self.key_of(crypto)? else { return Ok(None) };
        let aad = self.aad.column(ModuleType::ColumnMetaData, row_group, column)?;
        let mut metadata = Vec::new();
        match key.open_gcm(module, &aad, &mut metadata)? {
            true => Ok(Some(metadata)),
            false => Err(self.refused("the column", &key, module, |bytes| {
                format::ColumnMetaData::read(&mut format::Reader::with_limits(bytes, limits)).is_ok()
            })),
        }
    }

    /// Returns the decryptor of the pages and indexes of a chunk, at its place in the row group. Fails if there is no
    /// key for it.
    pub(crate) fn chunk(
        &self,
        crypto: Option<&ColumnCryptoMetaData>,
        row_group: usize,
        column: usize,
    ) -> Result<ChunkDecryptor> {
        match self.key_of(crypto)? {
            Some(key) => {
                let (aad, dialect) = (self.aad.clone(), self.properties.dialect());
                Ok(ChunkDecryptor::new(key, aad, self.cipher, dialect, (row_group, column)))
            }
            None => Err(no_key("the column", key_metadata_of(crypto).or(self.footer_key_metadata()))),
        }
    }

    fn key_of(&self, crypto: Option<&ColumnCryptoMetaData>) -> Result<Option<ModuleCipher>> {
        let own = match crypto {
            None | Some(ColumnCryptoMetaData::FooterKey) => return Ok(self.footer_key.clone()),
            Some(ColumnCryptoMetaData::ColumnKey(own)) => own,
            Some(ColumnCryptoMetaData::Unknown(id)) => {
                return Err(Error::unsupported(format!(
                    "the column is encrypted in a way that is not known, {id}"
                )));
            }
        };
        let path = own.path_in_schema.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".");
        let name = (path, own.key_metadata.clone());
        // A panic of a retriever leaves the map consistent.
        let known = |keys: &HashMap<_, Option<ModuleCipher>>| keys.get(&name).cloned();
        if let Some(key) = known(&self.column_keys.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(key);
        }
        let key = self.properties.column_key(&name.0, name.1.as_deref())?;
        let key = key.as_ref().map(ModuleCipher::new).transpose()?;
        self.column_keys.lock().unwrap_or_else(PoisonError::into_inner).insert(name, key.clone());
        Ok(key)
    }

    /// Returns the error for a module with a wrong tag. The additional data do not influence the decrypted bytes: if
    /// these are valid, the key is right.
    fn refused(
        &self,
        what: &str,
        key: &ModuleCipher,
        module: &[u8],
        makes_sense: impl FnOnce(&[u8]) -> bool,
    ) -> Error {
        let is_key_right = key.unauthenticated(module).is_ok_and(|bytes| makes_sense(&bytes));
        match is_key_right {
            true => Error::encrypted(format!(
                "the key of {what} is right, but not the AAD: another AAD prefix was given, or {what} was moved or changed"
            )),
            false => Error::encrypted(format!("a wrong key was given for {what}, or it was changed")),
        }
    }
}

/// Returns the AAD prefix, which is stored, given, or both.
fn aad_prefix<'a>(
    properties: &'a FileDecryptionProperties,
    parameters: &'a format::AesGcm,
) -> Result<&'a [u8]> {
    let stored = parameters.aad_prefix.as_deref().filter(|prefix| !prefix.is_empty());
    match (stored, properties.aad_prefix()) {
        (Some(stored), Some(given)) if stored != given => Err(Error::encrypted(format!(
            "the AAD prefix of the file is {}, another one was given",
            shown_metadata(stored)
        ))),
        (Some(stored), _) => Ok(stored),
        (None, Some(given)) if parameters.supply_aad_prefix == Some(true) => Ok(given),
        (None, Some(_)) => Err(Error::encrypted("an AAD prefix was given, and the file has none")),
        (None, None) if parameters.supply_aad_prefix == Some(true) => Err(Error::encrypted(
            "the file was written with an AAD prefix that is not stored in it: it must be given",
        )),
        (None, None) => Ok(&[]),
    }
}

fn key_metadata_of(crypto: Option<&ColumnCryptoMetaData>) -> Option<&[u8]> {
    match crypto {
        Some(ColumnCryptoMetaData::ColumnKey(own)) => own.key_metadata.as_deref(),
        _ => None,
    }
}

/// Returns the error for a missing key.
#[cold]
pub(crate) fn no_key(what: &str, key_metadata: Option<&[u8]>) -> Error {
    Error::encrypted(match key_metadata {
        Some(metadata) => {
            format!("{what} is encrypted with the key {}, and no key was given", shown_metadata(metadata))
        }
        None => format!("{what} is encrypted, and no key was given"),
    })
}

/// Returns the error for an encrypted footer without any keys. `bytes` are those before the closing magic.
#[cold]
pub(crate) fn encrypted_footer_error(bytes: &[u8], limits: &Limits) -> Error {
    let crypto = FileCryptoMetaData::read(&mut format::Reader::with_limits(bytes, limits)).ok();
    let key = crypto.and_then(|crypto| crypto.key_metadata).map(|metadata| shown_metadata(&metadata));
    let key = key.map(|key| format!(" with the key {key}")).unwrap_or_default();
    Error::encrypted(format!("the footer is encrypted (PARE){key}, and no key was given"))
}

impl fmt::Debug for FileDecryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileDecryptor").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::ErrorKind;

    #[test]
    fn prefixes_are_stored_or_given() {
        let parameters = |stored: Option<&[u8]>, supply| format::AesGcm {
            aad_prefix: stored.map(<[u8]>::to_vec),
            aad_file_unique: Some(vec![1; 8]),
            supply_aad_prefix: supply,
        };
        let given = |prefix: Option<&[u8]>| {
            let builder = FileDecryptionProperties::builder(vec![1; 16]);
            match prefix {
                Some(prefix) => builder.with_aad_prefix(prefix.to_vec()).build().unwrap(),
                None => builder.build().unwrap(),
            }
        };
        let prefix = |stored, supply, keys: Option<&[u8]>| {
            aad_prefix(&given(keys), &parameters(stored, supply))
                .map(<[u8]>::to_vec)
                .map_err(|error| error.kind())
        };
        assert_eq!(prefix(None, None, None), Ok(vec![]));
        assert_eq!(prefix(Some(b"a"), None, None), Ok(b"a".to_vec()));
        assert_eq!(prefix(Some(b"a"), None, Some(b"a")), Ok(b"a".to_vec()));
        assert_eq!(prefix(Some(b"a"), None, Some(b"b")), Err(ErrorKind::Key));
        assert_eq!(prefix(None, Some(true), Some(b"b")), Ok(b"b".to_vec()));
        assert_eq!(prefix(None, Some(true), None), Err(ErrorKind::Key));
        assert_eq!(prefix(None, Some(false), Some(b"b")), Err(ErrorKind::Key));
    }
}
