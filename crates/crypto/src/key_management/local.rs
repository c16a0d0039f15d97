//! Wraps keys in this process, with master keys that a server gives away.

use super::client::KmsClient;
use super::key_cache::KeyCache;
use super::material::{unwrap, wrap};
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use serde_json::{Value, json};
use std::time::Duration;

/// A server that gives away its master keys.
///
/// Several threads may call it at the same time. Errors must not contain key bytes.
pub trait MasterKeys: Send + Sync {
    /// Returns the master key of this name: 16, 24 or 32 bytes.
    fn master_key(&self, master_key_id: &str) -> Result<Vec<u8>>;
}

/// A [`KmsClient`] that wraps keys in this process, as parquet-java and pyarrow do for servers that do not wrap: with AES-GCM and the name
/// of the master key as additional data. A wrapped key is JSON, `{"masterKeyVersion": "NO_VERSION", "encryptedKey": ".."}`.
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
    /// Creates a client with the master keys of this server, each of which is cached for 600 seconds.
    pub fn new(server: M) -> Self {
        LocalKms { server, keys: KeyCache::new() }
    }

    /// Sets how long a master key is cached before the server is called again. Default 600 seconds. A build without the
    /// feature `threads` has no clock and caches keys forever.
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
