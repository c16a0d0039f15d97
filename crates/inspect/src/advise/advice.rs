//! The advice for a file.

use super::candidates::Choice;
use super::finding::Finding;

/// The changes that would make a file smaller or faster.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// Size of the file in bytes.
    pub file_bytes: u64,
    /// Predicted size of the file in bytes, if columns get the recommended encodings and codecs.
    pub predicted_bytes: u64,
    /// All columns, the one with the most to save first.
    pub columns: Vec<ColumnAdvice>,
    /// All other recommendations, the most useful for the goal first. The columns together are one of them.
    pub findings: Vec<Finding>,
    /// What could not be measured, and why.
    pub not_measured: Vec<String>,
}

/// The changes that would make a column smaller.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnAdvice {
    /// Index of the column in the file.
    pub leaf: usize,
    /// Dotted path of the column.
    pub column: String,
    /// Bytes of its pages and their indexes in all row groups.
    pub bytes: u64,
    /// Predicted bytes with the choice; equal to `bytes` without one.
    pub predicted: u64,
    /// The recommended encoding and codec. `None` leaves the column as it is.
    pub choice: Option<Choice>,
    /// The share of the column's rows that was measured, from 0 to 1. It is 0 if no time was left for the column.
    pub measured: f64,
    /// Error of the prediction, as a share of it: the spread of the measurements, and 0 if everything was measured.
    pub error: f64,
}
