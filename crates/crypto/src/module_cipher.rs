//! A key that is ready for use: opens modules, and says whether a footer's signature is right.

use crate::aes_modes::block_modes;
use crate::block_modes::{BlockModes, Nonce, Tag};
use crate::scrub::scrubbed;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// Bytes of the length before a module.
pub const LENGTH_BYTES: usize = 4;
/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;
/// Bytes that a GCM module has beside its content.
pub const GCM_OVERHEAD: usize = LENGTH_BYTES + NONCE_BYTES + TAG_BYTES;
/// Bytes that a CTR module has beside its content.
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

    /// How many bytes the module has that begins with `bytes`, its length included; `None` if there are fewer than 4 bytes.
    /// Whether they make sense is not looked at.
    pub fn framed_len(bytes: &[u8]) -> Option<u64> {
        Some(u64::from(u32::from_le_bytes(*bytes.first_chunk()?)) + LENGTH_BYTES as u64)
    }

    /// Decrypts a GCM module, length included, into `content`, whose memory is used again. Returns whether its tag is right;
    /// if not, nothing was decrypted.
    ///
    /// Fails if the length is not that of `module`, or too short for one.
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

    /// Decrypts a CTR module, length included, into `content`, whose memory is used again. Nothing tells whether it is right.
    ///
    /// Fails if the length is not that of `module`, or too short for one.
    pub fn open_ctr(&self, module: &[u8], content: &mut Vec<u8>) -> Result<()> {
        let (nonce, ciphertext) = split(module)?;
        content.resize(ciphertext.len(), 0);
        self.ctr(nonce, 1, ciphertext, content);
        Ok(())
    }

    /// What a GCM module with a wrong tag would be: to find out whether the key or the additional data is wrong. Not to be
    /// believed, nor shown.
    pub fn unauthenticated(&self, module: &[u8]) -> Result<Vec<u8>> {
        let (nonce, rest) = split(module)?;
        let ciphertext = &rest[..rest.len().saturating_sub(TAG_BYTES)];
        let mut content = vec![0; ciphertext.len()];
        // SPEC: NIST SP 800-38D: block 1 is for the tag.
        self.ctr(nonce, 2, ciphertext, &mut content);
        Ok(content)
    }

    /// Whether `signature`, a nonce and a tag, is that of `content`.
    pub fn is_signed(&self, content: &[u8], signature: &[u8], aad: &[u8]) -> Result<bool> {
        let Some((nonce, tag)) = signature.split_first_chunk::<NONCE_BYTES>() else { return Ok(false) };
        let Ok(tag) = <&Tag>::try_from(tag) else { return Ok(false) };
        let mut encrypted = content.to_vec();
        self.gcm_encrypt(nonce, aad, &mut encrypted)?;
        // Comparing is left to who decrypts, who does it in constant time.
        let mut decrypted = vec![0; encrypted.len()];
        Ok(self.gcm_decrypt(nonce, aad, &encrypted, &mut decrypted, tag))
    }
}

/// The nonce, and what is behind it.
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
