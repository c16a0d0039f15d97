//! Finds keys by their material.

use super::client::KmsClient;
use super::material::{Found, KeyMaterial, decode, unwrap};
use crate::key_retriever::KeyRetriever;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Finds the keys of files whose key metadata are material of type PKMT1, as [`KeyManagement`](super::KeyManagement), parquet-java and
/// pyarrow write it.
///
/// Key encryption keys are kept as long as this is: make a new one for other rights.
pub struct KmsKeyRetriever {
    kms: Arc<dyn KmsClient>,
    /// Material outside of the file, by its name.
    outside: HashMap<String, String>,
    /// Key encryption keys, by master key and id.
    encryption_keys: Mutex<HashMap<(String, String), SecretKey>>,
}

impl KmsKeyRetriever {
    /// Of files that have their key material in them.
    pub fn new(kms: Arc<dyn KmsClient>) -> Self {
        KmsKeyRetriever { kms, outside: HashMap::new(), encryption_keys: Mutex::default() }
    }

    /// Of a file whose key material is in another one, `_KEY_MATERIAL_FOR_<name>.json`, which is given. Fails if it is no JSON object
    /// of texts.
    pub fn with_external_material(mut self, json: &[u8]) -> Result<Self> {
        let Ok(Value::Object(members)) = serde_json::from_slice(json) else {
            return Err(Error::corrupt("external key material is no JSON object"));
        };
        for (name, material) in members {
            let Value::String(material) = material else {
                return Err(Error::corrupt(format!("external key material: {name} is no text")));
            };
            self.outside.insert(name, material);
        }
        Ok(self)
    }

    fn encryption_key(&self, master: &str, id: &str, wrapped: &str) -> Result<SecretKey> {
        let name = (master.to_owned(), id.to_owned());
        let known = |keys: &HashMap<_, SecretKey>| keys.get(&name).cloned();
        if let Some(key) = known(&self.encryption_keys.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(key);
        }
        let key = SecretKey::new(self.kms.unwrap_key(wrapped, master)?)?;
        self.encryption_keys.lock().unwrap_or_else(PoisonError::into_inner).insert(name, key.clone());
        Ok(key)
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
        match &material.encryption_key {
            None => self.kms.unwrap_key(&material.wrapped_key, &material.master_key_id),
            Some((id, wrapped)) => {
                let key = self.encryption_key(&material.master_key_id, id, wrapped)?;
                Ok(unwrap(&material.wrapped_key, &key, &decode(id)?)?.to_vec())
            }
        }
    }
}
