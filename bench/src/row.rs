//! One row of the results: what was measured of one file.

use crate::timing::Times;

/// Rows in a batch, for both sides.
pub(crate) const BATCH_SIZE: usize = 8_192;

/// What was measured of one file.
pub(crate) struct Row {
    pub(crate) name: String,
    /// What the row measures, in words.
    pub(crate) title: String,
    /// Rows in the file.
    pub(crate) rows: usize,
    /// None when our side could not read the file.
    pub(crate) ours: Option<Times>,
    /// None when the peer could not read the file.
    pub(crate) peer: Option<Times>,
    /// One copy of as many bytes as the output of reading, or the input of writing. None without a time of ours.
    pub(crate) memcpy: Option<Times>,
    /// Decompressing each page of the file, if measured.
    pub(crate) codec: Option<Times>,
    /// Ours on one thread, if `ours` had more.
    pub(crate) alone: Option<Times>,
    /// Bytes of the file that ours and the peer wrote, if they wrote one.
    pub(crate) sizes: Option<(usize, usize)>,
}

impl Row {
    /// How many times faster ours is than the peer.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(self.peer?.best / self.ours?.best)
    }

    /// The same of the medians.
    pub(crate) fn median_ratio(&self) -> Option<f64> {
        Some(self.peer?.median / self.ours?.median)
    }

    /// Our speed relative to a memcpy of the output.
    pub(crate) fn memcpy_ratio(&self) -> Option<f64> {
        Some(self.memcpy?.best / self.ours?.best)
    }

    /// Our time relative to the unavoidable: decompressing, and one memcpy of the output.
    pub(crate) fn over(&self) -> Option<f64> {
        Some(self.ours?.best / (self.codec?.best + self.memcpy?.best))
    }

    /// How many times faster ours is with all its threads than with one.
    pub(crate) fn speedup(&self) -> Option<f64> {
        Some(self.alone?.best / self.ours?.best)
    }
}
