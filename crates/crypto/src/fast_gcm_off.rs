//! No other AES-GCM: the feature `encryption-ring` is off.

use crate::block_modes::BlockModes;
use crate::secret_key::SecretKey;
use std::sync::Arc;

/// Returns `modes` unchanged.
pub(crate) fn faster(_: &SecretKey, modes: Arc<dyn BlockModes>) -> Arc<dyn BlockModes> {
    modes
}
