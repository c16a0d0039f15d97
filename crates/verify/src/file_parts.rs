//! Where the parts of a file are that its footer names.

use std::ops::Range;

/// Where the parts are that the footer names.
#[derive(Debug, Default)]
pub(crate) struct FileParts {
    /// Where each begins, sorted.
    pub(crate) starts: Vec<u64>,
    /// What lies between the opening magic and the footer, and belongs to none.
    pub(crate) gaps: Vec<Range<u64>>,
}
