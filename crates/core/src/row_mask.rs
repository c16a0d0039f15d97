//! Row masks: which rows of a row group are selected, as bitmaps and as runs of equal rows.
//!
//! ```text
//! RowMask     the rows of a row group:   [ 60,000 unselected ][ 0110..1 ][ 20,000 selected ]
//! MaskChunk   a part of it, as bits:     rows 60,000 .. 68,192, 0110..1
//! runs        of ones in bits or masks:  60,001..60,003, ..
//! ```
//!
//! The number of rows comes from metadata and may be wrong, so a run takes the same memory however long it is. Bitmaps exist
//! only for rows that were decoded.

mod bit_runs;
mod chunks;
mod mask;

pub(crate) use bit_runs::next as next_one;
pub use bit_runs::{count_runs, runs};
pub use chunks::{MaskChunk, MaskCursor};
pub(crate) use mask::compacted;
pub use mask::{RowMask, and_then_bits};

#[cfg(test)]
mod tests;
