//! Where the parts of a file are that its footer names.

use std::ops::Range;

/// Where the parts are that the footer names.
#[derive(Debug, Default)]
pub(super) struct FileParts {
    /// Where each begins, sorted.
    pub(super) starts: Vec<u64>,
    /// What lies between the opening magic and the footer, and belongs to none.
    pub(super) gaps: Vec<Range<u64>>,
}
