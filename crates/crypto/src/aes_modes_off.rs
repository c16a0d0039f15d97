//! No ciphers: the feature `encryption` is off.

use crate::block_modes::BlockModes;
use crate::secret_key::SecretKey;
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Fails, because this build has no encryption.
pub(crate) fn block_modes(_: &SecretKey) -> Result<Arc<dyn BlockModes>> {
    Err(Error::unsupported("this build has no encryption: its feature `encryption` is off"))
}
