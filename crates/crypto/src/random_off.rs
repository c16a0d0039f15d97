//! No random bytes: the feature `encryption` is off.

use marquetry_base::{Error, Result};

/// Fails, because this build has no encryption.
pub(crate) fn fill(_: &mut [u8]) -> Result<()> {
    Err(Error::unsupported("this build has no encryption: its feature `encryption` is off"))
}
