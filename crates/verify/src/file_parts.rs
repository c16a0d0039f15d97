//! Places of the parts of a file that its footer refers to.

use std::ops::Range;

/// Places of the parts that the footer refers to, in bytes.
#[derive(Debug, Default)]
pub(crate) struct FileParts {
    /// The start of each part, sorted.
    pub(crate) starts: Vec<u64>,
    /// Ranges between the opening magic and the footer that belong to no part.
    pub(crate) gaps: Vec<Range<u64>>,
}
