//! The settings of a writer of an encrypted file: which columns are encrypted, and with which keys.

use crate::decryption_properties::{EncryptionDialect, FileDecryptionProperties, is_at_or_below};
use crate::encryption_key::EncryptionKey;
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The cipher of the modules of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParquetCipher {
    /// AES_GCM_V1: AES-GCM for all modules.
    #[default]
    AesGcmV1,
    /// AES_GCM_CTR_V1: AES-CTR for pages, which does not detect changes; AES-GCM for all other modules.
    AesGcmCtrV1,
}

/// The settings by which a file is encrypted. Keys are prepared, and the modules that they encrypt are counted, over
/// all files that are written with clones of the same properties.
///
/// Without column keys, all columns are encrypted with the footer key. With column keys, only the columns that have one
/// are encrypted, unless [complete columns](EncryptionPropertiesBuilder::with_complete_columns) are set.
///
/// ```
/// use marquetry_crypto::FileEncryptionProperties;
/// # #[cfg(feature = "encryption")] {
/// let encryption = FileEncryptionProperties::builder(b"0123456789012345".to_vec())
///     .with_footer_key_metadata(b"kf".to_vec())
///     .with_column_key_and_metadata("salary", b"1234567890123450".to_vec(), b"kc1".to_vec())
///     .with_plaintext_footer(true)
///     .build()?;
/// assert!(encryption.has_plaintext_footer());
/// # }
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FileEncryptionProperties {
    footer_key: Arc<EncryptionKey>,
    footer_key_metadata: Option<Vec<u8>>,
    columns: Vec<ColumnKey>,
    open_columns: Vec<String>,
    has_complete_columns: bool,
    has_plaintext_footer: bool,
    aad_prefix: Option<Vec<u8>>,
    stores_aad_prefix: bool,
    cipher: ParquetCipher,
    dialect: EncryptionDialect,
}

#[derive(Debug, Clone, PartialEq)]
struct ColumnKey {
    name: String,
    key: Arc<EncryptionKey>,
    metadata: Option<Vec<u8>>,
}

/// The encryption of a column.
#[derive(Debug, Clone, Copy)]
pub enum ColumnEncryption<'a> {
    /// Not encrypted.
    Plain,
    /// Encrypted with the footer key.
    FooterKey,
    /// Encrypted with a key of its own, whose metadata the file stores.
    ColumnKey(&'a Arc<EncryptionKey>, Option<&'a [u8]>),
}

impl FileEncryptionProperties {
    /// Creates a builder of properties with this footer key.
    pub fn builder(footer_key: Vec<u8>) -> EncryptionPropertiesBuilder {
        EncryptionPropertiesBuilder {
            footer_key: Zeroizing::new(footer_key),
            footer_key_metadata: None,
            columns: Vec::new(),
            open_columns: Vec::new(),
            has_complete_columns: false,
            has_plaintext_footer: false,
            aad_prefix: None,
            stores_aad_prefix: true,
            cipher: ParquetCipher::default(),
            dialect: EncryptionDialect::Parquet,
        }
    }

    /// The footer key.
    pub fn footer_key(&self) -> &Arc<EncryptionKey> {
        &self.footer_key
    }

    /// The metadata of the footer key.
    pub fn footer_key_metadata(&self) -> Option<&[u8]> {
        self.footer_key_metadata.as_deref()
    }

    /// Returns the encryption of the column with this dotted path.
    pub fn column(&self, path: &str) -> ColumnEncryption<'_> {
        match self.columns.iter().find(|column| is_at_or_below(path, &column.name)) {
            Some(column) => ColumnEncryption::ColumnKey(&column.key, column.metadata.as_deref()),
            None if self.open_columns.iter().any(|open| is_at_or_below(path, open)) => {
                ColumnEncryption::Plain
            }
            None if self.columns.is_empty() || self.has_complete_columns => ColumnEncryption::FooterKey,
            None => ColumnEncryption::Plain,
        }
    }

    /// Returns whether the properties mention the column with this dotted path or a group around it: with a key, or as not encrypted.
    pub fn names(&self, path: &str) -> bool {
        let mut keys = self.columns.iter().map(|column| &column.name);
        keys.any(|name| is_at_or_below(path, name))
            || self.open_columns.iter().any(|open| is_at_or_below(path, open))
    }

    /// Returns the properties for a file with an additional column `name`, which is derived from the values of
    /// `source`. If `source` has a key of its own, the new column is encrypted with it, unless the properties already
    /// mention the new column, a group around it or a column in it.
    ///
    /// ```
    /// use marquetry_crypto::{ColumnEncryption, FileEncryptionProperties};
    /// # #[cfg(feature = "encryption")] {
    /// let encryption = FileEncryptionProperties::builder(b"0123456789012345".to_vec())
    ///     .with_column_key("geometry", b"1234567890123450".to_vec())
    ///     .build()?
    ///     .with_derived_column("bbox", "geometry");
    /// assert!(matches!(encryption.column("bbox.xmin"), ColumnEncryption::ColumnKey(..)));
    /// # }
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    #[must_use]
    pub fn with_derived_column(&self, name: &str, source: &str) -> Self {
        let mut all = self.clone();
        let mut said = self.columns.iter().map(|column| &column.name).chain(&self.open_columns);
        let is_said = said.any(|said| is_at_or_below(said, name) || is_at_or_below(name, said));
        if let (ColumnEncryption::ColumnKey(key, metadata), false) = (self.column(source), is_said) {
            let (key, metadata) = (key.clone(), metadata.map(<[u8]>::to_vec));
            all.columns.push(ColumnKey { name: name.to_owned(), key, metadata });
        }
        all
    }

    /// Fails if a column with a key, or one that is set to stay unencrypted, is not among these dotted paths.
    pub fn check_columns<'a>(&self, paths: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let is_missing = |name: &str| !paths.clone().any(|path| is_at_or_below(path, name));
        if let Some(column) = self.columns.iter().find(|column| is_missing(&column.name)) {
            return Err(Error::argument(format!("a key for column {}, which there is not", column.name)));
        }
        match self.open_columns.iter().find(|name| is_missing(name)) {
            Some(name) => Err(Error::argument(format!("column {name} in the open, which there is not"))),
            None => Ok(()),
        }
    }

    /// Returns the properties for reading the files that are written with these.
    ///
    /// ```
    /// use marquetry_crypto::FileEncryptionProperties;
    /// # #[cfg(feature = "encryption")] {
    /// let encryption = FileEncryptionProperties::builder(b"0123456789012345".to_vec()).build()?;
    /// assert!(encryption.decryption()?.footer_key(None)?.is_some());
    /// # }
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    ///
    /// An error is not expected: keys that can encrypt have a valid length for decryption.
    pub fn decryption(&self) -> Result<Arc<FileDecryptionProperties>> {
        let builder = FileDecryptionProperties::builder(self.footer_key.secret().expose().to_vec());
        let builder = self.columns.iter().fold(builder, |builder, column| {
            builder.with_column_key(&column.name, column.key.secret().expose().to_vec())
        });
        match &self.aad_prefix {
            Some(prefix) => builder.with_aad_prefix(prefix.clone()),
            None => builder,
        }
        .with_dialect(self.dialect)
        .build()
    }

    /// Whether the footer is signed instead of encrypted.
    pub fn has_plaintext_footer(&self) -> bool {
        self.has_plaintext_footer
    }

    /// The AAD prefix.
    pub fn aad_prefix(&self) -> Option<&[u8]> {
        self.aad_prefix.as_deref()
    }

    /// Whether the AAD prefix is stored in the file.
    pub fn stores_aad_prefix(&self) -> bool {
        self.stores_aad_prefix
    }

    /// The cipher of the modules.
    pub fn cipher(&self) -> ParquetCipher {
        self.cipher
    }

    /// The rules by which the file is encrypted.
    pub fn dialect(&self) -> EncryptionDialect {
        self.dialect
    }

    /// Creates an identifier for a new file. Fails if the system has no random bytes.
    pub fn new_file_unique(&self) -> Result<[u8; 8]> {
        let mut unique = [0; 8];
        random::fill(&mut unique).map(|()| unique)
    }
}

/// The path of a column, its key, and the key metadata.
type NamedKey = (String, Zeroizing<Vec<u8>>, Option<Vec<u8>>);

/// Collects the settings by which a file is encrypted.
pub struct EncryptionPropertiesBuilder {
    footer_key: Zeroizing<Vec<u8>>,
    footer_key_metadata: Option<Vec<u8>>,
    columns: Vec<NamedKey>,
    open_columns: Vec<String>,
    has_complete_columns: bool,
    has_plaintext_footer: bool,
    aad_prefix: Option<Vec<u8>>,
    stores_aad_prefix: bool,
    cipher: ParquetCipher,
    dialect: EncryptionDialect,
}

impl EncryptionPropertiesBuilder {
    /// Sets whether the footer is only signed, so that readers without keys can read the columns that are not encrypted. Default false.
    #[must_use]
    pub fn with_plaintext_footer(mut self, plaintext_footer: bool) -> Self {
        self.has_plaintext_footer = plaintext_footer;
        self
    }

    /// Sets the key metadata of the footer key, by which readers find the key.
    #[must_use]
    pub fn with_footer_key_metadata(mut self, metadata: Vec<u8>) -> Self {
        self.footer_key_metadata = Some(metadata);
        self
    }

    /// Sets the key of a column by its dotted path. The key of a group is that of all columns in it.
    ///
    /// A VARIANT is such a group: a writer rejects a key for its `value` alone if values are also in columns below its
    /// `typed_value`. For geometries with a key of their own, a writer leaves the bounding box out of the GeoParquet metadata.
    #[must_use]
    pub fn with_column_key(mut self, column: &str, key: Vec<u8>) -> Self {
        self.columns.push((column.to_owned(), Zeroizing::new(key), None));
        self
    }

    /// Like [`with_column_key`](Self::with_column_key), and sets the key metadata.
    #[must_use]
    pub fn with_column_key_and_metadata(mut self, column: &str, key: Vec<u8>, metadata: Vec<u8>) -> Self {
        self.columns.push((column.to_owned(), Zeroizing::new(key), Some(metadata)));
        self
    }

    /// Sets the keys of several columns. Fails if the numbers of keys and columns differ.
    pub fn with_column_keys(self, columns: Vec<&str>, keys: Vec<Vec<u8>>) -> Result<Self> {
        if columns.len() != keys.len() {
            return Err(Error::argument(format!("{} keys for {} columns", keys.len(), columns.len())));
        }
        Ok(columns.into_iter().zip(keys).fold(self, |this, (column, key)| this.with_column_key(column, key)))
    }

    /// Sets whether columns without a key of their own are encrypted with the footer key although other columns have keys. Default false.
    #[must_use]
    pub fn with_complete_columns(mut self, complete: bool) -> Self {
        self.has_complete_columns = complete;
        self
    }

    /// Sets a column, by its dotted path, that stays unencrypted whatever applies to the others. For a group, these are
    /// all columns in it. Default none.
    #[must_use]
    pub fn with_open_column(mut self, column: &str) -> Self {
        self.open_columns.push(column.to_owned());
        self
    }

    /// Sets the AAD prefix, which distinguishes this file from others with the same keys: its name and version, for example. Default none.
    #[must_use]
    pub fn with_aad_prefix(mut self, aad_prefix: Vec<u8>) -> Self {
        self.aad_prefix = Some(aad_prefix);
        self
    }

    /// Sets whether the AAD prefix is stored in the file. If not, readers must know it. Default true.
    #[must_use]
    pub fn with_aad_prefix_storage(mut self, stored: bool) -> Self {
        self.stores_aad_prefix = stored;
        self
    }

    /// Sets the cipher of the modules. Default: AES-GCM for all.
    #[must_use]
    pub fn with_cipher(mut self, cipher: ParquetCipher) -> Self {
        self.cipher = cipher;
        self
    }

    /// Sets the rules by which the file is encrypted. Default: those of the format.
    #[must_use]
    pub fn with_dialect(mut self, dialect: EncryptionDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Builds the properties. Fails if a key has a wrong length or consists of zeros only, if a column has two keys, if the AAD prefix is
    /// empty, if the dialect does not allow the settings, and if this build has no encryption. Errors contain nothing of the keys.
    pub fn build(self) -> Result<Arc<FileEncryptionProperties>> {
        self.check()?;
        let named = |name: String| move |error: Error| error.with_context(&name);
        let footer_secret =
            SecretKey::new(self.footer_key.as_slice()).map_err(named("footer key".to_owned()))?;
        let footer_key = Arc::new(EncryptionKey::new(footer_secret).map_err(named("footer key".to_owned()))?);
        let mut columns: Vec<ColumnKey> = Vec::new();
        for (name, bytes, metadata) in self.columns {
            let context = named(format!("key of column {name}"));
            let secret = SecretKey::new(bytes.as_slice()).map_err(&context)?;
            // The modules that a key encrypts must be counted in one place.
            let known = columns.iter().map(|column| &column.key).chain([&footer_key]);
            let key = match known.into_iter().find(|key| key.is(&secret)) {
                Some(key) => key.clone(),
                None => Arc::new(EncryptionKey::new(secret).map_err(&context)?),
            };
            columns.push(ColumnKey { name, key, metadata });
        }
        Ok(Arc::new(FileEncryptionProperties {
            footer_key,
            footer_key_metadata: self.footer_key_metadata,
            columns,
            open_columns: self.open_columns,
            has_complete_columns: self.has_complete_columns,
            has_plaintext_footer: self.has_plaintext_footer,
            aad_prefix: self.aad_prefix,
            stores_aad_prefix: self.stores_aad_prefix,
            cipher: self.cipher,
            dialect: self.dialect,
        }))
    }

    fn check(&self) -> Result<()> {
        for (number, (name, ..)) in self.columns.iter().enumerate() {
            let mut others = self.columns.iter().enumerate().filter(|(other, _)| *other != number);
            if others.any(|(_, (other, ..))| is_at_or_below(name, other)) {
                return Err(Error::argument(format!("two keys for column {name}")));
            }
        }
        for name in &self.open_columns {
            let is_within = |key: &&NamedKey| is_at_or_below(name, &key.0) || is_at_or_below(&key.0, name);
            if let Some((column, ..)) = self.columns.iter().find(is_within) {
                return Err(Error::argument(format!("a key for column {column}, and {name} in the open")));
            }
        }
        if self.aad_prefix.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::argument("an empty AAD prefix"));
        }
        let are_some = !self.columns.is_empty() || !self.open_columns.is_empty();
        let is_plain = are_some || self.has_plaintext_footer || self.aad_prefix.is_some();
        if self.dialect == EncryptionDialect::DuckDb && (is_plain || self.cipher != ParquetCipher::AesGcmV1) {
            return Err(Error::unsupported(
                "DuckDB reads encrypted files of AES_GCM_V1 with an encrypted footer, everything under the footer key, and no AAD \
                 prefix",
            ));
        }
        Ok(())
    }
}
