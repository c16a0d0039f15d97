//! A key that encrypts: nonces that do not repeat, counted.

use crate::block_modes::Nonce;
use crate::module_cipher::{CTR_OVERHEAD, GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher, NONCE_BYTES, TAG_BYTES};
use crate::random;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many modules one key encrypts at most. SPEC: NIST SP 800-38D, 8.3: with random nonces no more than 2^32.
pub const MAX_INVOCATIONS: u64 = 1 << 32;

/// A key that encrypts modules. Each gets a random nonce, and all are counted, in whatever file they are: after
/// [`MAX_INVOCATIONS`] of them the key encrypts nothing more.
pub struct EncryptionKey {
    secret: SecretKey,
    cipher: ModuleCipher,
    used: AtomicU64,
}

impl EncryptionKey {
    /// Prepares a key. Fails if this build has no encryption, or if the key is nothing but zeros.
    pub fn new(secret: SecretKey) -> Result<Self> {
        if secret.is_zero() {
            return Err(Error::argument("a key of nothing but zeros, as memory is that nobody has set"));
        }
        Ok(EncryptionKey { cipher: ModuleCipher::new(&secret)?, secret, used: AtomicU64::new(0) })
    }

    /// Whether it is this key.
    pub(crate) fn is(&self, secret: &SecretKey) -> bool {
        self.secret == *secret
    }

    /// The key itself.
    pub fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// The key, for decryption.
    pub fn cipher(&self) -> &ModuleCipher {
        &self.cipher
    }

    /// How many modules it has encrypted.
    pub fn invocations(&self) -> u64 {
        self.used.load(Ordering::Relaxed).min(MAX_INVOCATIONS)
    }

    /// Counts modules that it has encrypted before, in a file that others have begun.
    pub fn count_earlier(&self, modules: u64) {
        self.used.fetch_add(modules.min(MAX_INVOCATIONS), Ordering::Relaxed);
    }

    /// Appends the GCM module of `content`, length included, to `out`.
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

    /// Appends the CTR module of `content`, length included, to `out`. Fails as [`seal_gcm`](Self::seal_gcm) does.
    pub fn seal_ctr(&self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let nonce = self.begin(content.len(), CTR_OVERHEAD, out)?;
        let start = out.len();
        out.resize(start + content.len(), 0);
        self.cipher.ctr(&nonce, 1, content, &mut out[start..]);
        Ok(())
    }

    /// The signature of `content`: a nonce and a tag. Fails as [`seal_gcm`](Self::seal_gcm) does.
    pub fn sign(&self, content: &[u8], aad: &[u8]) -> Result<[u8; NONCE_BYTES + TAG_BYTES]> {
        let nonce = self.next_nonce()?;
        let tag = self.cipher.gcm_encrypt(&nonce, aad, &mut content.to_vec())?;
        let mut signature = [0; NONCE_BYTES + TAG_BYTES];
        signature[..NONCE_BYTES].copy_from_slice(&nonce);
        signature[NONCE_BYTES..].copy_from_slice(&tag);
        Ok(signature)
    }

    /// Appends length and nonce of a module.
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

/// Those of the same bytes are equal, however often they were used.
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
