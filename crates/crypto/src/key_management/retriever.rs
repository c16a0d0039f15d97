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

/// Finds the keys of files whose key metadata are material of type PKMT1, as [`KeyManagement`](super::KeyManagement), parquet-java and
/// pyarrow write it.
///
/// Key encryption keys are kept for 600 seconds: until then who has lost a right still reads with them. Clones share them.
#[derive(Clone)]
pub struct KmsKeyRetriever {
    kms: Arc<dyn KmsClient>,
    outside: ExternalKeyMaterial,
    /// Key encryption keys, by master key and id.
    encryption_keys: Arc<KeyCache<(String, String), SecretKey>>,
}

impl KmsKeyRetriever {
    /// Of files that have their key material in them.
    pub fn new(kms: Arc<dyn KmsClient>) -> Self {
        let outside = ExternalKeyMaterial::default();
        KmsKeyRetriever { kms, outside, encryption_keys: Arc::new(KeyCache::new()) }
    }

    /// Of a file whose key material is in another one, `_KEY_MATERIAL_FOR_<name>.json`, which is given. Fails if it is no JSON object
    /// of texts.
    pub fn with_external_material(mut self, json: &[u8]) -> Result<Self> {
        self.outside = ExternalKeyMaterial::parse(json)?;
        Ok(self)
    }

    /// How long a key encryption key is kept before the KMS is asked for it again, from here on by itself. Default 600 seconds. A build
    /// without the feature `threads` has no clock, and keeps them.
    #[must_use]
    pub fn with_cache_lifetime(mut self, lifetime: Duration) -> Self {
        let mut encryption_keys = KeyCache::new();
        encryption_keys.set_lifetime(lifetime);
        self.encryption_keys = Arc::new(encryption_keys);
        self
    }

    /// The data key of this material.
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
        // That would mean that there is none: the file says that there is.
        match key.is_empty() {
            true => Err(Error::encrypted("the KMS has answered with a key of no bytes")),
            false => Ok(key),
        }
    }
}
