//! Buffered rows, which were written but not encoded yet.

use arrow_array::RecordBatch;
use std::ops::Range;

/// Rows that no column has taken yet. PERF: keeps whole batches with ranges of rows, because slicing an array counts its nulls.
#[derive(Default)]
pub(super) struct PendingBatches {
    pub(super) batches: Vec<(RecordBatch, Range<usize>)>,
    pub(super) rows: usize,
    pub(super) bytes: usize,
}
