//! Keys: bytes that never appear in text, and are wiped when they are dropped.

use marquetry_base::{Error, Result};
use std::fmt;
use zeroize::Zeroizing;

/// An AES key of 16, 24 or 32 bytes. The bytes are wiped from memory when the key is dropped, and never appear in text.
///
/// ```
/// use marquetry_crypto::SecretKey;
/// let key = SecretKey::new(b"0123456789012345".to_vec())?;
/// assert_eq!(format!("{key:?}"), "SecretKey(128 bits)");
/// assert_eq!(
///     SecretKey::new(b"short".to_vec()).unwrap_err().to_string(),
///     "argument: a key of 5 bytes: AES has keys of 16, 24 and 32"
/// );
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Clone)]
pub struct SecretKey(Zeroizing<Vec<u8>>);

impl SecretKey {
    /// Creates a key. Fails unless `bytes` has a length of 16, 24 or 32.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let bytes = Zeroizing::new(bytes.into());
        match bytes.len() {
            16 | 24 | 32 => Ok(SecretKey(bytes)),
            len => Err(Error::argument(format!("a key of {len} bytes: AES has keys of 16, 24 and 32"))),
        }
    }

    /// Returns the bytes. They must not be shown or kept.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether the key consists of zeros only, like memory that was never set.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().fold(0, |all, byte| all | byte) == 0
    }
}

/// Compares in a time that does not depend on where the keys differ.
impl PartialEq for SecretKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && std::hint::black_box(self.0.iter().zip(other.0.iter()).fold(0, |all, (a, b)| all | (a ^ b)))
                == 0
    }
}

impl Eq for SecretKey {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({} bits)", 8 * self.0.len())
    }
}
