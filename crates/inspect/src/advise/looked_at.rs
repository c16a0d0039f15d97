//! The findings on some columns, and columns for which there was no time.

use super::finding::Finding;
use super::measure::column_bytes;
use marquetry_core::metadata::ParquetMetaData;

/// The result of examining columns.
#[derive(Debug, Default)]
pub(super) struct LookedAt {
    pub(super) findings: Vec<Finding>,
    /// Columns of the file that may be worthwhile, and were not examined.
    pub(super) left: Vec<usize>,
}

impl From<Option<Finding>> for LookedAt {
    fn from(finding: Option<Finding>) -> Self {
        LookedAt { findings: Vec::from_iter(finding), left: Vec::new() }
    }
}

/// Returns a message about columns that were not examined.
pub(super) fn told(what: &str, left: &[usize], metadata: &ParquetMetaData) -> String {
    let bytes = |leaf: usize| column_bytes(metadata, leaf).unwrap_or(0);
    let sum = |leaves: &mut dyn Iterator<Item = usize>| leaves.map(bytes).fold(0, u64::saturating_add);
    let columns = metadata.schema().num_columns();
    let share = sum(&mut left.iter().copied()) as f64 / sum(&mut (0..columns)).max(1) as f64;
    format!(
        "{what}: {} of {columns} columns with {:.1} % of the bytes: more time would do it",
        left.len(),
        share * 100.0
    )
}
