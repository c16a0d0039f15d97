//! The trait of a client of a key management service.

use marquetry_base::Result;

/// A key management service: it keeps master keys, wraps other keys with them, and gives none away.
///
/// It may be called by several threads at a time. Errors must not have key bytes in them.
pub trait KmsClient: Send + Sync {
    /// The key, wrapped with the master key of this name, as text.
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String>;

    /// The key of which [`wrap_key`](Self::wrap_key) made this text.
    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>>;

    /// Whether keys are wrapped in this process, with master keys that have no versions: then they cannot be
    /// [rotated](super::KeyManagement::rotate). Default false.
    fn wraps_locally(&self) -> bool {
        false
    }
}
