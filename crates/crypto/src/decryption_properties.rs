//! The settings of a reader of an encrypted file: keys, or a retriever that finds them, and the AAD prefix.

use crate::key_retriever::KeyRetriever;
use crate::module_cipher::GCM_OVERHEAD;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The rules by which a file is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EncryptionDialect {
    /// The rules of the format.
    #[default]
    Parquet,
    /// The rules of DuckDB: everything is encrypted with the footer key, and modules have no additional data, so that
    /// swapping them is not detected. The length in a page header is that of the page before it was encrypted.
    DuckDb,
}

impl EncryptionDialect {
    /// The number of bytes of a page in the file that `compressed_page_size` in its header does not count: those that
    /// encryption adds, or 0.
    pub fn uncounted_page_bytes(self) -> usize {
        match self {
            EncryptionDialect::Parquet => 0,
            EncryptionDialect::DuckDb => GCM_OVERHEAD,
        }
    }
}

/// The keys of an encrypted file, and what else its reader must know.
///
/// Columns whose keys are missing cannot be read; all others can.
///
/// ```
/// use marquetry_crypto::FileDecryptionProperties;
/// let keys = FileDecryptionProperties::builder(b"0123456789012345".to_vec())
///     .with_column_key("double_field", b"1234567890123450".to_vec())
///     .with_aad_prefix(b"tester".to_vec())
///     .build()?;
/// assert!(!format!("{keys:?}").contains("0123456789012345"));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Clone)]
pub struct FileDecryptionProperties {
    footer_key: Option<SecretKey>,
    column_keys: BTreeMap<String, SecretKey>,
    retriever: Option<Arc<dyn KeyRetriever>>,
    aad_prefix: Option<Vec<u8>>,
    verifies_signature: bool,
    reads_plaintext: bool,
    dialect: EncryptionDialect,
}

impl FileDecryptionProperties {
    /// Creates a builder with this footer key. Columns without a key of their own are encrypted with it, too.
    pub fn builder(footer_key: Vec<u8>) -> DecryptionPropertiesBuilder {
        DecryptionPropertiesBuilder::new(Some(footer_key), None)
    }

    /// Creates a builder whose keys are found by the key metadata in the file.
    pub fn with_key_retriever(retriever: Arc<dyn KeyRetriever>) -> DecryptionPropertiesBuilder {
        DecryptionPropertiesBuilder::new(None, Some(retriever))
    }

    /// Returns the footer key with this key metadata; `None` if there is none. Fails if the retriever fails or finds a
    /// key of a wrong length.
    pub fn footer_key(&self, key_metadata: Option<&[u8]>) -> Result<Option<SecretKey>> {
        match &self.footer_key {
            Some(key) => Ok(Some(key.clone())),
            None => self.retrieved(key_metadata),
        }
    }

    /// Returns the key of the column with this dotted path and this key metadata; `None` if there is none. Fails in the
    /// same cases as [`footer_key`](Self::footer_key).
    pub fn column_key(&self, column: &str, key_metadata: Option<&[u8]>) -> Result<Option<SecretKey>> {
        // In this order, the name of a column comes after those of the groups around it.
        let mut named = self.column_keys.iter().rev().filter(|(name, _)| is_at_or_below(column, name));
        match named.next() {
            Some((_, key)) => Ok(Some(key.clone())),
            None => self.retrieved(key_metadata),
        }
    }

    fn retrieved(&self, key_metadata: Option<&[u8]>) -> Result<Option<SecretKey>> {
        let (Some(retriever), Some(metadata)) = (&self.retriever, key_metadata) else { return Ok(None) };
        let key = retriever.retrieve_key(metadata)?;
        // An empty key means that the retriever knows none.
        if key.is_empty() { Ok(None) } else { SecretKey::new(key).map(Some) }
    }

    /// The AAD prefix that was given.
    pub fn aad_prefix(&self) -> Option<&[u8]> {
        self.aad_prefix.as_deref()
    }

    /// Whether the signature of plaintext footers is verified.
    pub fn verifies_footer_signature(&self) -> bool {
        self.verifies_signature
    }

    /// Whether files that are not encrypted are read, too.
    pub fn reads_plaintext_files(&self) -> bool {
        self.reads_plaintext
    }

    /// The rules by which the file is encrypted.
    pub fn dialect(&self) -> EncryptionDialect {
        self.dialect
    }
}

/// Whether the leaf at `path` is the column `name`, or a column in it.
pub(crate) fn is_at_or_below(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl fmt::Debug for FileDecryptionProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileDecryptionProperties")
            .field("footer_key", &self.footer_key)
            .field("column_keys", &self.column_keys)
            .field("retriever", &self.retriever.is_some())
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

/// Collects the settings of a reader of an encrypted file.
pub struct DecryptionPropertiesBuilder {
    footer_key: Option<Zeroizing<Vec<u8>>>,
    column_keys: Vec<(String, Zeroizing<Vec<u8>>)>,
    retriever: Option<Arc<dyn KeyRetriever>>,
    aad_prefix: Option<Vec<u8>>,
    verifies_signature: bool,
    reads_plaintext: bool,
    dialect: EncryptionDialect,
}

impl DecryptionPropertiesBuilder {
    fn new(footer_key: Option<Vec<u8>>, retriever: Option<Arc<dyn KeyRetriever>>) -> Self {
        DecryptionPropertiesBuilder {
            footer_key: footer_key.map(Zeroizing::new),
            column_keys: Vec::new(),
            retriever,
            aad_prefix: None,
            verifies_signature: true,
            reads_plaintext: false,
            dialect: EncryptionDialect::Parquet,
        }
    }

    /// Sets the footer key. It takes precedence over the retriever.
    #[must_use]
    pub fn with_footer_key(mut self, key: Vec<u8>) -> Self {
        self.footer_key = Some(Zeroizing::new(key));
        self
    }

    /// Sets the key of a column by its dotted path. The key of a group is that of all columns in it that have none of
    /// their own. It takes precedence over the retriever.
    #[must_use]
    pub fn with_column_key(mut self, column: &str, key: Vec<u8>) -> Self {
        self.column_keys.push((column.to_owned(), Zeroizing::new(key)));
        self
    }

    /// Sets the keys of several columns. Fails if the numbers of keys and columns differ.
    pub fn with_column_keys(self, columns: Vec<&str>, keys: Vec<Vec<u8>>) -> Result<Self> {
        if columns.len() != keys.len() {
            return Err(Error::argument(format!("{} keys for {} columns", keys.len(), columns.len())));
        }
        Ok(columns.into_iter().zip(keys).fold(self, |this, (column, key)| this.with_column_key(column, key)))
    }

    /// Sets the AAD prefix that the file must have. If the file stores a prefix, it must be the same.
    #[must_use]
    pub fn with_aad_prefix(mut self, aad_prefix: Vec<u8>) -> Self {
        self.aad_prefix = Some(aad_prefix);
        self
    }

    /// Skips the verification of plaintext footers against their signature, which needs the footer key.
    #[must_use]
    pub fn disable_footer_signature_verification(mut self) -> Self {
        self.verifies_signature = false;
        self
    }

    /// Sets whether files that are not encrypted are read, too, for a set of files of which only some are encrypted. Default
    /// false: a reader that expects an encrypted file would not notice that somebody replaced it with another one.
    #[must_use]
    pub fn with_plaintext_files(mut self, are_read: bool) -> Self {
        self.reads_plaintext = are_read;
        self
    }

    /// Sets the rules by which the file is encrypted. Default: those of the format.
    #[must_use]
    pub fn with_dialect(mut self, dialect: EncryptionDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Builds the properties. Fails if a key has a wrong length. The error names the column and contains nothing of the key.
    pub fn build(self) -> Result<Arc<FileDecryptionProperties>> {
        let key = |name: &str, bytes: &Zeroizing<Vec<u8>>| {
            SecretKey::new(bytes.as_slice()).map_err(|error| error.with_context(name))
        };
        let footer_key = self.footer_key.as_ref().map(|bytes| key("footer key", bytes)).transpose()?;
        let named = |(name, bytes): &(String, Zeroizing<Vec<u8>>)| {
            Ok((name.clone(), key(&format!("key of column {name}"), bytes)?))
        };
        Ok(Arc::new(FileDecryptionProperties {
            footer_key,
            column_keys: self.column_keys.iter().map(named).collect::<Result<_>>()?,
            retriever: self.retriever,
            aad_prefix: self.aad_prefix,
            verifies_signature: self.verifies_signature,
            reads_plaintext: self.reads_plaintext,
            dialect: self.dialect,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_groups_are_those_of_their_columns() {
        let key = |byte| vec![byte; 16];
        let keys = FileDecryptionProperties::builder(key(1))
            .with_column_key("a", key(2))
            .with_column_key("a.b", key(3))
            .with_column_key("a.b.c", key(4))
            .build()
            .unwrap();
        for (column, byte) in [("a", 2), ("a.x", 2), ("a.b", 3), ("a.b.x.y", 3), ("a.b.c", 4), ("a.bc", 2)] {
            assert_eq!(keys.column_key(column, None).unwrap().unwrap().expose(), key(byte), "{column}");
        }
        for column in ["", "b", "ab", "b.a"] {
            assert!(keys.column_key(column, None).unwrap().is_none(), "{column}");
        }
    }
}
