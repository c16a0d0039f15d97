//! The trait that a cipher library implements for us: AES-GCM and AES-CTR.

use marquetry_base::Result;

pub(crate) type Nonce = [u8; 12];
pub(crate) type Tag = [u8; 16];

/// AES with one key, in the two modes that Parquet uses.
pub(crate) trait BlockModes: Send + Sync {
    /// Encrypts `data` in place with GCM and returns the tag.
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], data: &mut [u8]) -> Result<Tag>;

    /// Decrypts `input` with GCM into `output`, which must have the same length. Returns whether the tag is right; if
    /// not, `output` contains nothing decrypted. Tags are compared in constant time.
    fn gcm_decrypt(&self, nonce: &Nonce, aad: &[u8], input: &[u8], output: &mut [u8], tag: &Tag) -> bool;

    /// Encrypts or decrypts `input` with CTR into `output`, which must have the same length. Blocks are counted from `first_block` on.
    fn ctr(&self, nonce: &Nonce, first_block: u32, input: &[u8], output: &mut [u8]);
}
