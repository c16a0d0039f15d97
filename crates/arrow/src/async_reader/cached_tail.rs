//! The bytes of a remote file that are kept with its footer.

use super::source::FileVersion;
use marquetry_core::fetch::RangeCache;

/// What is known of a file that came late: which version it is, and bytes of it beside the footer.
#[derive(Debug)]
pub(crate) struct CachedTail {
    pub(super) version: FileVersion,
    pub(super) bytes: RangeCache,
}

impl CachedTail {
    /// How many bytes of the file are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.bytes()
    }
}
