//! The result of comparing the rows of two files.

/// In what the rows of two files differ. Rows are numbered from 0, in the order of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowsDiff {
    /// Rows of the left file, and of the right one.
    pub rows: (u64, u64),
    /// The columns that were compared.
    pub columns: Vec<String>,
    /// Columns that only one of both has, or whose types cannot be compared.
    pub not_compared: Vec<String>,
    /// Rows that only the left file has.
    pub removed: u64,
    /// Rows that only the right file has.
    pub added: u64,
    /// Rows that both have, with other values: by their key, or, without one, by their place.
    pub changed: u64,
    /// Whether rows that both have stand in another order.
    pub is_reordered: bool,
    /// The first row at which the order is another one.
    pub first_moved: Option<u64>,
    /// The first rows that were removed: numbers in the left file.
    pub removed_rows: Vec<u64>,
    /// The first rows that were added: numbers in the right file.
    pub added_rows: Vec<u64>,
    /// The first rows that were changed: numbers in both files.
    pub changed_rows: Vec<(u64, u64)>,
    /// How many of the changed rows differ in each column; columns without differences are left out.
    pub changed_columns: Vec<(String, u64)>,
    /// How many of the changed rows were looked at for that: 10,000 at most.
    pub changed_looked_at: u64,
}

impl RowsDiff {
    /// Whether the compared columns have the same rows in the same order.
    pub fn is_same(&self) -> bool {
        self.removed == 0 && self.added == 0 && self.changed == 0 && !self.is_reordered
    }
}
