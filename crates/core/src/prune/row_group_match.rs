//! The result of pruning a row group: none, some or all of its rows.

use std::ops::Range;

/// What may match of a row group. There is nothing else that could: no variant will be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowGroupMatch {
    /// No row.
    None,
    /// Every row does for sure: the predicate need not be evaluated.
    All,
    /// Rows in these ranges may: sorted, without overlap, and not touching. The others do not.
    Some(Vec<Range<u64>>),
}
