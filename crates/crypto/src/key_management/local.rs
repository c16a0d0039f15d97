//! Wrapping in this process, with master keys that a server gives away.

use super::client::KmsClient;
use super::key_cache::KeyCache;
use super::material::{unwrap, wrap};
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use serde_json::{Value, json};
use std::time::Duration;

/// A server that gives master keys away.
///
/// It may be called by several threads at a time. Errors must not have key bytes in them.
pub trait MasterKeys: Send + Sync {
    /// The master key of this name: 16, 24 or 32 bytes.
    fn master_key(&self, master_key_id: &str) -> Result<Vec<u8>>;
}

/// A [`KmsClient`] that wraps in this process, as parquet-java and pyarrow do it for servers that do not wrap: by AES-GCM, with the
/// name of the master key as additional data. The wrapped key is JSON, `{"masterKeyVersion": "NO_VERSION", "encryptedKey": ".."}`.
///
/// ```
/// use marquetry_crypto::{KeyManagement, LocalKms, MasterKeys};
/// use std::sync::Arc;
///
/// struct Vault;
/// impl MasterKeys for Vault {
///     fn master_key(&self, _: &str) -> marquetry_base::Result<Vec<u8>> { Ok(b"0123456789012345".to_vec()) }
/// }
/// let encryption = KeyManagement::new(Arc::new(LocalKms::new(Vault))).encryption("kf", &[])?;
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub struct LocalKms<M> {
    server: M,
    keys: KeyCache<String, SecretKey>,
}

impl<M: MasterKeys> LocalKms<M> {
    /// With master keys of this server, each of which is kept for 600 seconds.
    pub fn new(server: M) -> Self {
        LocalKms { server, keys: KeyCache::new() }
    }

    /// How long a master key is kept before it is asked for again. Default 600 seconds. A build without the feature `threads` has no
    /// clock, and keeps them.
    #[must_use]
    pub fn with_cache_lifetime(mut self, lifetime: Duration) -> Self {
        self.keys.set_lifetime(lifetime);
        self
    }

    fn master_key(&self, id: &str) -> Result<SecretKey> {
        self.keys.get(id.to_owned(), || SecretKey::new(self.server.master_key(id)?))
    }
}

impl<M: MasterKeys> KmsClient for LocalKms<M> {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let encrypted = wrap(key, &self.master_key(master_key_id)?, master_key_id.as_bytes())?;
        Ok(json!({ "masterKeyVersion": NO_VERSION, "encryptedKey": encrypted }).to_string())
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let Ok(wrapped) = serde_json::from_str::<Value>(wrapped_key) else {
            return Err(Error::encrypted("a key that was not wrapped locally: not JSON"));
        };
        let member = |name: &str| wrapped.get(name).and_then(Value::as_str);
        match (member("masterKeyVersion"), member("encryptedKey")) {
            (Some(NO_VERSION), Some(encrypted)) => {
                let key = unwrap(encrypted, &self.master_key(master_key_id)?, master_key_id.as_bytes())?;
                Ok(key.to_vec())
            }
            (Some(version), Some(_)) => Err(Error::unsupported(format!(
                "a key that was wrapped with version {version:?} of a master key"
            ))),
            _ => Err(Error::encrypted("a key that was not wrapped locally: without version or key")),
        }
    }

    fn wraps_locally(&self) -> bool {
        true
    }
}

const NO_VERSION: &str = "NO_VERSION";
