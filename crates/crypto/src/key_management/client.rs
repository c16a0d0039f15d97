//! The trait of a client of a key management service.

use marquetry_base::Result;

/// A key management service (KMS): it keeps master keys, wraps other keys with them, and gives none away.
///
/// Several threads may call it at the same time. Errors must not contain key bytes.
pub trait KmsClient: Send + Sync {
    /// Wraps the key with the master key of this name, and returns it as text.
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String>;

    /// Unwraps a key that [`wrap_key`](Self::wrap_key) returned as text.
    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>>;

    /// Whether keys are wrapped in this process, with master keys that have no versions and therefore cannot be
    /// [rotated](super::KeyManagement::rotate). Default false.
    fn wraps_locally(&self) -> bool {
        false
    }
}
