//! Counts rows in repetition levels.

/// Number of rows that begin in entries with these repetition levels.
pub(super) fn row_starts(rep: &[u8]) -> usize {
    rep.chunks(COUNTED_LEVELS).map(|block| usize::from(starts_in(block))).sum()
}

/// Number of rows that begin in up to [`COUNTED_LEVELS`] entries. PERF: sums of bytes are added in vectors of bytes.
pub(super) fn starts_in(rep: &[u8]) -> u8 {
    rep.iter().map(|&rep| u8::from(rep == 0)).sum()
}

/// Levels that are counted at a time: their number fits into a byte.
pub(super) const COUNTED_LEVELS: usize = 128;
