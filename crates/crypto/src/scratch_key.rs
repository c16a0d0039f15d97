//! A key for temporary data: random, only in memory, and gone with its owner.

use crate::block_modes::{Nonce, Tag};
use crate::module_cipher::{ModuleCipher, NONCE_BYTES};
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// A random key for temporary files. Nobody else has it, so the data that it encrypted is lost with it.
///
/// Encryption does not change the number of bytes. The [`Seal`], which proves that nobody changed them, is returned
/// separately and must stay in memory.
///
/// ```
/// # if cfg!(feature = "encryption") {
/// use marquetry_crypto::ScratchKey;
/// let key = ScratchKey::random()?;
/// let mut bytes = *b"rows";
/// let seal = key.seal(&mut bytes)?;
/// assert_ne!(&bytes, b"rows");
/// let mut opened = [0; 4];
/// assert!(key.open(&seal, &bytes, &mut opened));
/// assert_eq!(&opened, b"rows");
/// bytes[0] ^= 1;
/// assert!(!key.open(&seal, &bytes, &mut opened));
/// # }
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub struct ScratchKey {
    cipher: ModuleCipher,
    /// The number of nonces used. Each nonce is the number of those before it, which is unique because the key is never used again.
    used: AtomicU64,
}

/// The nonce and the tag of one piece of encrypted data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    number: u64,
    tag: Tag,
}

impl ScratchKey {
    /// Creates a random key. Fails if this build has no encryption, or the system has no random bytes.
    pub fn random() -> Result<Self> {
        let mut bytes = Zeroizing::new(vec![0; KEY_BYTES]);
        random::fill(&mut bytes)?;
        let key = SecretKey::new(std::mem::take(&mut *bytes))?;
        Ok(ScratchKey { cipher: ModuleCipher::new(&key)?, used: AtomicU64::new(0) })
    }

    /// Encrypts `bytes` in place. Fails if they are more than AES-GCM can encrypt at once.
    pub fn seal(&self, bytes: &mut [u8]) -> Result<Seal> {
        let number = self.used.fetch_add(1, Ordering::Relaxed);
        if number == u64::MAX {
            return Err(Error::argument("the key of a temporary file was used too often"));
        }
        let tag = self.cipher.gcm_encrypt(&nonce(number), &[], bytes)?;
        Ok(Seal { number, tag })
    }

    /// Decrypts `sealed` into `out`, which must have the same length. Returns whether the bytes are those that the seal
    /// was created for; if not, `out` contains nothing decrypted.
    pub fn open(&self, seal: &Seal, sealed: &[u8], out: &mut [u8]) -> bool {
        sealed.len() == out.len() && self.cipher.gcm_decrypt(&nonce(seal.number), &[], sealed, out, &seal.tag)
    }
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; NONCE_BYTES];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce
}

impl fmt::Debug for ScratchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScratchKey")
    }
}

const KEY_BYTES: usize = 32;

#[cfg(all(test, feature = "encryption"))]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_never_encrypted_alike() {
        let key = ScratchKey::random().unwrap();
        let mut seen = std::collections::HashSet::new();
        for other in [ScratchKey::random().unwrap(), ScratchKey::random().unwrap(), key] {
            for _ in 0..3 {
                let mut bytes = [7; 40];
                let seal = other.seal(&mut bytes).unwrap();
                assert!(seen.insert(bytes) && bytes != [7; 40]);
                let mut opened = [0; 40];
                assert!(other.open(&seal, &bytes, &mut opened) && opened == [7; 40]);
                assert!(!other.open(&seal, &bytes[1..], &mut opened[1..]), "one byte is missing");
                assert!(!ScratchKey::random().unwrap().open(&seal, &bytes, &mut opened), "another key");
            }
        }
        assert_eq!(format!("{:?}", ScratchKey::random().unwrap()), "ScratchKey");
    }
}
