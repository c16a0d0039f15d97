//! Random bytes.

use marquetry_base::{Error, ErrorKind, Result};

/// Fills `bytes` with random bytes of the system, suitable for nonces and keys.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Error::new(ErrorKind::Io, format!("the system has no random bytes: {error}")))
}
