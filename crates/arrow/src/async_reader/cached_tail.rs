//! The bytes of a remote file that are kept with its footer.

use super::source::FileVersion;
use marquetry_core::fetch::RangeCache;

/// The version of a remote file, and bytes of it that are kept besides the footer.
#[derive(Debug)]
pub(crate) struct CachedTail {
    pub(super) version: FileVersion,
    pub(super) bytes: RangeCache,
}

impl CachedTail {
    /// Returns how many bytes of the file are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.bytes()
    }
}
