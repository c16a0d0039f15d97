//! A key that encrypts, with counted nonces that do not repeat.

use crate::block_modes::Nonce;
use crate::module_cipher::{CTR_OVERHEAD, GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher, NONCE_BYTES, TAG_BYTES};
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of modules that one key encrypts. SPEC: NIST SP 800-38D, 8.3: with random nonces no more than 2^32.
pub const MAX_INVOCATIONS: u64 = 1 << 32;

/// A key that encrypts modules. Each module gets a random nonce, and all modules are counted, whatever file they are
/// in. After [`MAX_INVOCATIONS`] of them, the key encrypts nothing more.
pub struct EncryptionKey {
    secret: SecretKey,
    cipher: ModuleCipher,
    used: AtomicU64,
}

impl EncryptionKey {
    /// Prepares a key. Fails if this build has no encryption, or if the key consists of zeros only.
    pub fn new(secret: SecretKey) -> Result<Self> {
        if secret.is_zero() {
            return Err(Error::argument("a key of nothing but zeros, as memory is that nobody has set"));
        }
        Ok(EncryptionKey { cipher: ModuleCipher::new(&secret)?, secret, used: AtomicU64::new(0) })
    }

    /// Whether `secret` is this key.
    pub(crate) fn is(&self, secret: &SecretKey) -> bool {
        self.secret == *secret
    }

    /// The key itself.
    pub fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// The cipher with this key, for decryption.
    pub fn cipher(&self) -> &ModuleCipher {
        &self.cipher
    }

    /// The number of modules that the key has encrypted.
    pub fn invocations(&self) -> u64 {
        self.used.load(Ordering::Relaxed).min(MAX_INVOCATIONS)
    }

    /// Counts modules that the key has encrypted before, in a file that is continued.
    pub fn count_earlier(&self, modules: u64) {
        self.used.fetch_add(modules.min(MAX_INVOCATIONS), Ordering::Relaxed);
    }

    /// Appends the GCM module of `content`, including its length field, to `out`.
    ///
    /// Fails if the content is too long, if the key was used too often, or if the system has no random bytes.
    pub fn seal_gcm(&self, content: &[u8], aad: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let nonce = self.begin(content.len(), GCM_OVERHEAD, out)?;
        let start = out.len();
        out.extend_from_slice(content);
        let tag = self.cipher.gcm_encrypt(&nonce, aad, &mut out[start..])?;
        out.extend_from_slice(&tag);
        Ok(())
    }

    /// Appends the CTR module of `content`, including its length field, to `out`. Fails in the same cases as [`seal_gcm`](Self::seal_gcm).
    pub fn seal_ctr(&self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let nonce = self.begin(content.len(), CTR_OVERHEAD, out)?;
        let start = out.len();
        out.resize(start + content.len(), 0);
        self.cipher.ctr(&nonce, 1, content, &mut out[start..]);
        Ok(())
    }

    /// Returns the signature of `content`: a nonce and a tag. Fails in the same cases as [`seal_gcm`](Self::seal_gcm).
    pub fn sign(&self, content: &[u8], aad: &[u8]) -> Result<[u8; NONCE_BYTES + TAG_BYTES]> {
        let nonce = self.next_nonce()?;
        let tag = self.cipher.gcm_encrypt(&nonce, aad, &mut content.to_vec())?;
        let mut signature = [0; NONCE_BYTES + TAG_BYTES];
        signature[..NONCE_BYTES].copy_from_slice(&nonce);
        signature[NONCE_BYTES..].copy_from_slice(&tag);
        Ok(signature)
    }

    /// Appends the length and the nonce of a module.
    fn begin(&self, len: usize, overhead: usize, out: &mut Vec<u8>) -> Result<Nonce> {
        let framed = len.saturating_add(overhead - LENGTH_BYTES);
        let Some(length) =
            i32::try_from(framed).ok().filter(|length| *length < i32::MAX - LENGTH_BYTES as i32)
        else {
            return Err(Error::argument(format!("a module of {len} bytes: encryption has room for 2 GiB")));
        };
        let nonce = self.next_nonce()?;
        out.reserve(len + overhead);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&nonce);
        Ok(nonce)
    }

    fn next_nonce(&self) -> Result<Nonce> {
        if self.used.fetch_add(1, Ordering::Relaxed) >= MAX_INVOCATIONS {
            self.used.store(MAX_INVOCATIONS, Ordering::Relaxed);
            return Err(Error::argument(
                "the key has encrypted 2^32 modules, after which nonces may repeat: take another one",
            ));
        }
        let mut nonce = [0; NONCE_BYTES];
        random::fill(&mut nonce)?;
        Ok(nonce)
    }
}

/// Keys are equal if their bytes are, however often they were used.
impl PartialEq for EncryptionKey {
    fn eq(&self, other: &Self) -> bool {
        self.secret == other.secret
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncryptionKey({:?}, {} modules)", self.secret, self.invocations())
    }
}
