//! The result of pruning a row group: none, some or all of its rows.

use std::ops::Range;

/// The rows of a row group that may match. The enum is exhaustive: no variant will be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowGroupMatch {
    /// No row matches.
    None,
    /// Every row certainly matches: the predicate need not be evaluated.
    All,
    /// Only rows in these ranges may match. The ranges are sorted, do not overlap, and are not adjacent.
    Some(Vec<Range<u64>>),
}
