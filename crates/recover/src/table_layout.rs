//! A way to cut pages into the columns and row groups of a table.

use std::fmt;
use std::ops::Range;

/// A way to divide pages into chunks and row groups.
#[derive(Debug, Clone)]
pub(crate) struct TableLayout {
    /// Number of chunks in each row group; the least possible number if the layout is open.
    pub(crate) columns: usize,
    /// The complete row groups. An open layout has the beginning of one here.
    pub(crate) groups: Vec<PageGroup>,
    /// The complete chunks of a last row group that is cut off.
    pub(crate) cut_off: Option<PageGroup>,
    /// Whether all pages are the beginning of a single row group.
    pub(crate) is_open: bool,
}

/// The pages of a row group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageGroup {
    pub(crate) rows: u64,
    pub(crate) chunks: Vec<Range<usize>>,
}

impl TableLayout {
    /// Whether another layout results in the same table. The row groups of a single column make no difference.
    pub(crate) fn is_same_table(&self, other: &TableLayout) -> bool {
        self.columns == other.columns
            && self.is_open == other.is_open
            && (self.columns == 1 || self.groups == other.groups)
    }
}

impl fmt::Display for TableLayout {
    /// Writes the number of columns and row groups, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (columns, groups) = (self.columns, self.groups.len());
        if self.is_open {
            return write!(f, "{columns} columns or more in a row group that is cut off");
        }
        write!(f, "{columns} column{} in {groups} row group{}", plural(columns), plural(groups))?;
        match self.cut_off {
            Some(_) => write!(f, " and the beginning of one"),
            None => Ok(()),
        }
    }
}

impl PageGroup {
    /// Returns the page behind it.
    pub(crate) fn end(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.end)
    }
}
