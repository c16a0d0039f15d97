//! A key that is ready for use: decrypts modules and verifies the signature of a footer.

use crate::aes_modes::block_modes;
use crate::block_modes::{BlockModes, Nonce, Tag};
use crate::scrub::scrubbed;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// Length of the length field before a module, in bytes.
pub const LENGTH_BYTES: usize = 4;
/// Length of a nonce in bytes.
pub const NONCE_BYTES: usize = 12;
/// Length of a tag in bytes.
pub const TAG_BYTES: usize = 16;
/// Number of bytes that a GCM module has in addition to its content.
pub const GCM_OVERHEAD: usize = LENGTH_BYTES + NONCE_BYTES + TAG_BYTES;
/// Number of bytes that a CTR module has in addition to its content.
pub const CTR_OVERHEAD: usize = LENGTH_BYTES + NONCE_BYTES;

/// A key that is ready for use. Clones share it.
#[derive(Clone)]
pub struct ModuleCipher {
    modes: Arc<dyn BlockModes>,
}

impl ModuleCipher {
    /// Prepares a key. Fails if this build has no encryption.
    pub fn new(key: &SecretKey) -> Result<Self> {
        Ok(ModuleCipher { modes: scrubbed(|| block_modes(key))? })
    }

    pub(crate) fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], data: &mut [u8]) -> Result<Tag> {
        scrubbed(|| self.modes.gcm_encrypt(nonce, aad, data))
    }

    pub(crate) fn gcm_decrypt(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &Tag,
    ) -> bool {
        scrubbed(|| self.modes.gcm_decrypt(nonce, aad, input, output, tag))
    }

    pub(crate) fn ctr(&self, nonce: &Nonce, first_block: u32, input: &[u8], output: &mut [u8]) {
        scrubbed(|| self.modes.ctr(nonce, first_block, input, output));
    }

    /// Returns the total length of the module at the start of `bytes`, including its length field; `None` if there are
    /// fewer than 4 bytes. The length is not checked.
    pub fn framed_len(bytes: &[u8]) -> Option<u64> {
        Some(u64::from(u32::from_le_bytes(*bytes.first_chunk()?)) + LENGTH_BYTES as u64)
    }

    /// Decrypts a GCM module, including its length field, into `content`, whose memory is reused. Returns whether the
    /// tag is right; if not, `content` is empty.
    ///
    /// Fails if the length field does not match `module`, or the module is too short.
    pub fn open_gcm(&self, module: &[u8], aad: &[u8], content: &mut Vec<u8>) -> Result<bool> {
        let (nonce, rest) = split(module)?;
        let Some((ciphertext, tag)) = rest.split_last_chunk::<TAG_BYTES>() else {
            return Err(too_short(module.len()));
        };
        content.resize(ciphertext.len(), 0);
        let is_right = self.gcm_decrypt(nonce, aad, ciphertext, content, tag);
        if !is_right {
            content.clear();
        }
        Ok(is_right)
    }

    /// Decrypts a CTR module, including its length field, into `content`, whose memory is reused. Nothing shows whether
    /// the result is right.
    ///
    /// Fails if the length field does not match `module`, or the module is too short.
    pub fn open_ctr(&self, module: &[u8], content: &mut Vec<u8>) -> Result<()> {
        let (nonce, ciphertext) = split(module)?;
        content.resize(ciphertext.len(), 0);
        self.ctr(nonce, 1, ciphertext, content);
        Ok(())
    }

    /// Decrypts a GCM module with a wrong tag, to find out whether the key or the additional data is wrong. The result
    /// must be neither trusted nor shown.
    pub fn unauthenticated(&self, module: &[u8]) -> Result<Vec<u8>> {
        let (nonce, rest) = split(module)?;
        let ciphertext = &rest[..rest.len().saturating_sub(TAG_BYTES)];
        let mut content = vec![0; ciphertext.len()];
        // SPEC: NIST SP 800-38D: block 1 is for the tag.
        self.ctr(nonce, 2, ciphertext, &mut content);
        Ok(content)
    }

    /// Returns whether `signature`, a nonce and a tag, is the signature of `content`.
    pub fn is_signed(&self, content: &[u8], signature: &[u8], aad: &[u8]) -> Result<bool> {
        let Some((nonce, tag)) = signature.split_first_chunk::<NONCE_BYTES>() else { return Ok(false) };
        let Ok(tag) = <&Tag>::try_from(tag) else { return Ok(false) };
        let mut encrypted = content.to_vec();
        self.gcm_encrypt(nonce, aad, &mut encrypted)?;
        // Decryption compares the tags, because it does so in constant time.
        let mut decrypted = vec![0; encrypted.len()];
        Ok(self.gcm_decrypt(nonce, aad, &encrypted, &mut decrypted, tag))
    }
}

/// Splits off the length field and the nonce. Returns the nonce and the bytes after it.
fn split(module: &[u8]) -> Result<(&Nonce, &[u8])> {
    let Some((length, rest)) = module.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(too_short(module.len()));
    };
    let said = u32::from_le_bytes(*length) as usize;
    if said != rest.len() {
        return Err(Error::corrupt(format!(
            "an encrypted module says it has {said} bytes, there are {}",
            rest.len()
        )));
    }
    rest.split_first_chunk().ok_or_else(|| too_short(module.len()))
}

#[cold]
fn too_short(len: usize) -> Error {
    Error::corrupt(format!("an encrypted module of {len} bytes, too few for its nonce and tag"))
}

impl fmt::Debug for ModuleCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModuleCipher")
    }
}
