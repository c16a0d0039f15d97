//! Finds keys by their key material: the KMS unwraps them.

use super::client::KmsClient;
use super::external::ExternalKeyMaterial;
use super::key_cache::KeyCache;
use super::material::{Found, KeyMaterial, decode, unwrap};
use crate::key_retriever::KeyRetriever;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Finds the keys of files whose key metadata are material of type PKMT1, as [`KeyManagement`](super::KeyManagement),
/// parquet-java and pyarrow write it.
///
/// Key encryption keys are cached for 600 seconds. Until then, a reader who has lost the right to a key can still read
/// with it. Clones share the cache.
#[derive(Clone)]
pub struct KmsKeyRetriever {
    kms: Arc<dyn KmsClient>,
    outside: ExternalKeyMaterial,
    /// The cached key encryption keys, by master key and id.
    encryption_keys: Arc<KeyCache<(String, String), SecretKey>>,
}

impl KmsKeyRetriever {
    /// Creates a retriever for files that contain their key material.
    pub fn new(kms: Arc<dyn KmsClient>) -> Self {
        let outside = ExternalKeyMaterial::default();
        KmsKeyRetriever { kms, outside, encryption_keys: Arc::new(KeyCache::new()) }
    }

    /// Sets the external key material of the file: the content of `_KEY_MATERIAL_FOR_<name>.json`. Fails unless it is a
    /// JSON object whose members are strings.
    pub fn with_external_material(mut self, json: &[u8]) -> Result<Self> {
        self.outside = ExternalKeyMaterial::parse(json)?;
        Ok(self)
    }

    /// Sets how long a key encryption key is cached before the KMS is called again. From here on, the cache is not shared with
    /// earlier clones. Default 600 seconds. A build without the feature `threads` has no clock and caches keys forever.
    #[must_use]
    pub fn with_cache_lifetime(mut self, lifetime: Duration) -> Self {
        let mut encryption_keys = KeyCache::new();
        encryption_keys.set_lifetime(lifetime);
        self.encryption_keys = Arc::new(encryption_keys);
        self
    }

    /// Returns the data key of this material.
    pub(super) fn data_key(&self, material: &KeyMaterial) -> Result<Zeroizing<Vec<u8>>> {
        let master = &material.master_key_id;
        let Some((id, wrapped)) = &material.encryption_key else {
            return self.kms.unwrap_key(&material.wrapped_key, master).map(Zeroizing::new);
        };
        let unwrapped = || SecretKey::new(self.kms.unwrap_key(wrapped, master)?);
        let key = self.encryption_keys.get((master.clone(), id.clone()), unwrapped)?;
        unwrap(&material.wrapped_key, &key, &decode(id)?)
    }
}

impl KeyRetriever for KmsKeyRetriever {
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>> {
        let material = match KeyMaterial::find(key_metadata)? {
            Found::Here(material) => material,
            Found::Outside(name) => match self.outside.get(&name) {
                Some(material) => KeyMaterial::parse(material)?,
                None => {
                    return Err(Error::encrypted(format!(
                        "the key material {name} is outside of the file, and was not given"
                    )));
                }
            },
        };
        let key = self.data_key(&material)?.to_vec();
        // An empty key would mean that there is no key, but the file says that there is one.
        match key.is_empty() {
            true => Err(Error::encrypted("the KMS has answered with a key of no bytes")),
            false => Ok(key),
        }
    }
}
