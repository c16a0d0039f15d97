//! The trait that a library of ciphers implements for us: AES-GCM and AES-CTR.

use marquetry_base::Result;

pub(crate) type Nonce = [u8; 12];
pub(crate) type Tag = [u8; 16];

/// AES with one key, in the two modes that Parquet uses.
pub(crate) trait BlockModes: Send + Sync {
    /// Encrypts `data` in place by GCM, and gives the tag.
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], data: &mut [u8]) -> Result<Tag>;

    /// Decrypts `input` by GCM into `output`, of the same length, if the tag is right; else nothing is written. Tags are compared
    /// in constant time.
    fn gcm_decrypt(&self, nonce: &Nonce, aad: &[u8], input: &[u8], output: &mut [u8], tag: &Tag) -> bool;

    /// Encrypts or decrypts `input` by CTR into `output`, of the same length; blocks are counted from `first_block` on.
    fn ctr(&self, nonce: &Nonce, first_block: u32, input: &[u8], output: &mut [u8]);
}
