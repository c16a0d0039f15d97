//! The result of comparing the rows of two files.

/// The differences between the rows of two files. Rows are numbered from 0, in the order of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowsDiff {
    /// Number of rows of the left file and of the right one.
    pub rows: (u64, u64),
    /// The columns that were compared.
    pub columns: Vec<String>,
    /// Columns that only one file has, or whose types cannot be compared.
    pub not_compared: Vec<String>,
    /// Number of rows that only the left file has.
    pub removed: u64,
    /// Number of rows that only the right file has.
    pub added: u64,
    /// Number of rows that both files have with other values: rows with the same key, or without a key, at the same
    /// place.
    pub changed: u64,
    /// Whether rows that both files have are in another order.
    pub is_reordered: bool,
    /// The first row at which the order differs.
    pub first_moved: Option<u64>,
    /// The first removed rows, by their numbers in the left file.
    pub removed_rows: Vec<u64>,
    /// The first added rows, by their numbers in the right file.
    pub added_rows: Vec<u64>,
    /// The first changed rows, by their numbers in both files.
    pub changed_rows: Vec<(u64, u64)>,
    /// Number of changed rows that differ in each column. Columns without differences are left out.
    pub changed_columns: Vec<(String, u64)>,
    /// Number of changed rows that were examined for that: 10,000 at most.
    pub changed_looked_at: u64,
}

impl RowsDiff {
    /// Whether the compared columns have the same rows in the same order.
    pub fn is_same(&self) -> bool {
        self.removed == 0 && self.added == 0 && self.changed == 0 && !self.is_reordered
    }
}
