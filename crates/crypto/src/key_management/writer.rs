//! Creates new data keys and has them wrapped.

use super::client::KmsClient;
use super::external::ExternalKeyMaterial;
use super::key_cache::KeyCache;
use super::material::{KeyMaterial, decode, encode, wrap};
use super::retriever::KmsKeyRetriever;
use crate::encryption_properties::{EncryptionPropertiesBuilder, FileEncryptionProperties};
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Creates the keys of files whose master keys are in a KMS. The key metadata are compatible with those of parquet-java and pyarrow.
///
/// Key encryption keys are cached for 600 seconds, and used for all files written in that time.
///
/// ```
/// use marquetry_crypto::{KeyManagement, KmsClient};
/// # use marquetry_base::Result;
/// # use std::sync::Arc;
/// # struct Vault;
/// # impl KmsClient for Vault {
/// #     fn wrap_key(&self, _: &[u8], _: &str) -> Result<String> { Ok(String::new()) }
/// #     fn unwrap_key(&self, _: &str, _: &str) -> Result<Vec<u8>> { Ok(Vec::new()) }
/// # }
/// let keys = KeyManagement::new(Arc::new(Vault));
/// // New keys for each file.
/// let encryption = keys.encryption("footer-master", &[("salary-master", "salary")])?.build()?;
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub struct KeyManagement {
    kms: Arc<dyn KmsClient>,
    has_double_wrapping: bool,
    data_key_bytes: usize,
    encryption_key_bytes: usize,
    instance: (String, String),
    /// The cached key encryption key of each master key.
    encryption_keys: KeyCache<String, EncryptionKeyOfMaster>,
}

/// A key encryption key: its id in base64, the key, and the key wrapped by the KMS.
type EncryptionKeyOfMaster = (String, SecretKey, String);

impl KeyManagement {
    /// Creates a key management with double wrapping and keys of 128 bits.
    pub fn new(kms: Arc<dyn KmsClient>) -> Self {
        KeyManagement {
            kms,
            has_double_wrapping: true,
            data_key_bytes: 16,
            encryption_key_bytes: 16,
            instance: ("DEFAULT".to_owned(), "DEFAULT".to_owned()),
            encryption_keys: KeyCache::new(),
        }
    }

    /// Sets whether data keys are wrapped with a key encryption key, which the KMS has wrapped. Default true. Without
    /// it, the KMS is called for each key of each file.
    #[must_use]
    pub fn with_double_wrapping(mut self, double_wrapping: bool) -> Self {
        self.has_double_wrapping = double_wrapping;
        self
    }

    /// Sets the length of data keys in bits: 128, 192 or 256. Default 128. Fails for any other length.
    pub fn with_data_key_bits(mut self, bits: usize) -> Result<Self> {
        self.data_key_bytes = key_bytes(bits)?;
        Ok(self)
    }

    /// Sets the length of key encryption keys in bits: 128, 192 or 256. Default 128. Fails for any other length.
    pub fn with_encryption_key_bits(mut self, bits: usize) -> Result<Self> {
        self.encryption_key_bytes = key_bytes(bits)?;
        Ok(self)
    }

    /// Sets how long a key encryption key is used before a new one is created. Default 600 seconds. A build without the
    /// feature `threads` has no clock and uses keys forever.
    #[must_use]
    pub fn with_cache_lifetime(mut self, lifetime: Duration) -> Self {
        self.encryption_keys.set_lifetime(lifetime);
        self
    }

    /// Sets the id and the URL of the KMS, which the footer's key metadata pass on to readers. Default `DEFAULT`, `DEFAULT`.
    #[must_use]
    pub fn with_kms_instance(mut self, id: &str, url: &str) -> Self {
        self.instance = (id.to_owned(), url.to_owned());
        self
    }

    /// Creates new keys for one file: for the footer, under this master key, and for `columns`, pairs of a master key and a column. Without
    /// columns, everything is encrypted with the footer key. The key material is stored in the file. Fails if the KMS does.
    pub fn encryption(
        &self,
        footer_master_key: &str,
        columns: &[(&str, &str)],
    ) -> Result<EncryptionPropertiesBuilder> {
        self.keys(footer_master_key, columns, |_, material| material.to_metadata())
    }

    /// Like [`encryption`](Self::encryption), with the key material outside of the file. The returned material must be
    /// stored beside the file before the file is written.
    pub fn encryption_with_external_material(
        &self,
        footer_master_key: &str,
        columns: &[(&str, &str)],
    ) -> Result<(EncryptionPropertiesBuilder, ExternalKeyMaterial)> {
        let mut outside = ExternalKeyMaterial::default();
        let builder = self.keys(footer_master_key, columns, |name, material| {
            outside.insert(name, material);
            KeyMaterial::reference(name)
        })?;
        Ok((builder, outside))
    }

    /// Wraps the same data keys anew, with the newest versions of the master keys and with new key encryption keys. The Parquet
    /// file stays as it is. Fails if the KMS does, or if it wraps locally, because such master keys have no versions.
    pub fn rotate(&self, material: &ExternalKeyMaterial) -> Result<ExternalKeyMaterial> {
        let instance = material.kms_instance()?.unwrap_or_else(|| self.instance.clone());
        self.rewrapped(material, &KmsKeyRetriever::new(self.kms.clone()), instance)
    }

    /// Like [`rotate`](Self::rotate), but another KMS, or another client of it, unwraps the keys: `unwrapping`. The new
    /// material names the [instance](Self::with_kms_instance) that wraps them.
    pub fn rotate_from(
        &self,
        material: &ExternalKeyMaterial,
        unwrapping: &KmsKeyRetriever,
    ) -> Result<ExternalKeyMaterial> {
        self.rewrapped(material, unwrapping, self.instance.clone())
    }

    fn rewrapped(
        &self,
        material: &ExternalKeyMaterial,
        known: &KmsKeyRetriever,
        instance: (String, String),
    ) -> Result<ExternalKeyMaterial> {
        if self.kms.wraps_locally() {
            return Err(Error::unsupported(
                "master keys that wrap locally have no versions: there is nothing to rotate to",
            ));
        }
        // Key encryption keys that were wrapped before the master key was rotated must not be used again.
        let fresh = KeyManagement {
            kms: self.kms.clone(),
            instance: instance.clone(),
            encryption_keys: KeyCache::new(),
            ..*self
        };
        let mut rotated = ExternalKeyMaterial::default();
        for (name, text) in material.materials() {
            let in_key = |error: Error| error.with_context(name);
            let old = KeyMaterial::parse(text).map_err(in_key)?;
            let key = known.data_key(&old).map_err(in_key)?;
            let new = fresh.wrapped(&key, &old.master_key_id).map_err(in_key)?;
            let of_footer = old.instance.map(|_| instance.clone());
            rotated.insert(name, &KeyMaterial { instance: of_footer, ..new });
        }
        Ok(rotated)
    }

    fn keys(
        &self,
        footer_master_key: &str,
        columns: &[(&str, &str)],
        mut metadata: impl FnMut(&str, &KeyMaterial) -> Vec<u8>,
    ) -> Result<EncryptionPropertiesBuilder> {
        let (key, material) = self.new_key(footer_master_key)?;
        let material = KeyMaterial { instance: Some(self.instance.clone()), ..material };
        let builder = FileEncryptionProperties::builder(key.to_vec())
            .with_footer_key_metadata(metadata(FOOTER_KEY, &material));
        columns.iter().zip(0..).try_fold(builder, |builder, ((master, column), number)| {
            let (key, material) = self.new_key(master)?;
            let metadata = metadata(&format!("{COLUMN_KEY}{number}"), &material);
            Ok(builder.with_column_key_and_metadata(column, key.to_vec(), metadata))
        })
    }

    fn new_key(&self, master: &str) -> Result<(Zeroizing<Vec<u8>>, KeyMaterial)> {
        let key = random_key(self.data_key_bytes)?;
        let material = self.wrapped(&key, master)?;
        Ok((key, material))
    }

    fn wrapped(&self, key: &[u8], master: &str) -> Result<KeyMaterial> {
        let (wrapped_key, encryption_key) = match self.has_double_wrapping {
            false => (self.kms.wrap_key(key, master)?, None),
            true => {
                let (id, with, wrapped) =
                    self.encryption_keys.get(master.to_owned(), || self.new_encryption_key(master))?;
                (wrap(key, &with, &decode(&id)?)?, Some((id, wrapped)))
            }
        };
        Ok(KeyMaterial { master_key_id: master.to_owned(), wrapped_key, encryption_key, instance: None })
    }

    fn new_encryption_key(&self, master: &str) -> Result<EncryptionKeyOfMaster> {
        let mut id = [0; 16];
        random::fill(&mut id)?;
        let key = random_key(self.encryption_key_bytes)?;
        let wrapped = self.kms.wrap_key(&key, master)?;
        Ok((encode(&id), SecretKey::new(key.to_vec())?, wrapped))
    }
}

fn key_bytes(bits: usize) -> Result<usize> {
    match bits {
        128 | 192 | 256 => Ok(bits / 8),
        _ => Err(Error::argument(format!("keys of {bits} bits: AES has keys of 128, 192 and 256"))),
    }
}

fn random_key(len: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut key = Zeroizing::new(vec![0; len]);
    random::fill(&mut key)?;
    Ok(key)
}

/// The name of the footer key's material outside of the file.
const FOOTER_KEY: &str = "footerKey";
/// The name of a column key's material outside of the file, followed by a number.
const COLUMN_KEY: &str = "columnKey";
