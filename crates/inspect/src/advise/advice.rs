//! What is advised of a file.

use super::candidates::Choice;
use super::finding::Finding;

/// What would make a file smaller or faster.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes that it is predicted to have, if columns get the encodings and codecs that are advised.
    pub predicted_bytes: u64,
    /// Each column, the one with most to save first.
    pub columns: Vec<ColumnAdvice>,
    /// What else is to be done, what brings most for the goal first; with the columns, as one of them.
    pub findings: Vec<Finding>,
    /// What could not be measured, and why.
    pub not_measured: Vec<String>,
}

/// What would make a column smaller.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnAdvice {
    /// Its number among the columns of the file.
    pub leaf: usize,
    /// Its dotted path.
    pub column: String,
    /// Bytes of its pages and their indexes in all row groups.
    pub bytes: u64,
    /// The bytes that are predicted of the choice; as many as there are without one.
    pub predicted: u64,
    /// What it should be written with; `None` leaves it as it is.
    pub choice: Option<Choice>,
    /// The share of the column's rows that was measured, from 0 to 1; 0 if no time was left for it.
    pub measured: f64,
    /// By how much the prediction may be off, as a share of it: the spread between what was measured, and 0 where all was.
    pub error: f64,
}
