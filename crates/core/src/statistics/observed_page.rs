//! Counts and bounds of a data page, or of all data pages of a chunk, to compare with the statistics in a file.

use crate::statistics::level_histogram::LevelHistogram;
use crate::statistics::min_max::MinMaxStats;
use std::ops::RangeInclusive;

/// Counts and bounds of a data page, or of all data pages of a chunk. `None` is unknown.
#[derive(Debug, Clone, Default)]
pub struct ObservedPage {
    /// Number of rows that begin in the page.
    pub rows: Option<u64>,
    /// Histograms of the levels. Known if levels were read.
    pub levels: Option<LevelHistogram>,
    /// Number of nulls without empty and null lists.
    pub nulls_in_slots: u64,
    /// Bounds of the values. Known if values were read.
    pub bounds: Option<MinMaxStats>,
    /// Bytes of byte strings. Known if values were read and are byte strings.
    pub byte_array_bytes: Option<u64>,
}

impl ObservedPage {
    /// Returns the range of correct null counts. QUIRK: in lists, some writers count all entries without a value,
    /// others only nulls.
    pub fn nulls(&self) -> Option<RangeInclusive<i64>> {
        let levels = self.levels.as_ref()?;
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Some(count(self.nulls_in_slots)..=count(levels.nulls()))
    }

    /// Adds one more page of the chunk.
    pub fn add(&mut self, page: ObservedPage) {
        self.rows = self.rows.zip(page.rows).and_then(|(a, b)| a.checked_add(b));
        self.nulls_in_slots += page.nulls_in_slots;
        match (&mut self.levels, page.levels) {
            (Some(levels), Some(more)) => levels.merge(&more),
            _ => self.levels = None,
        }
        match (&mut self.bounds, page.bounds) {
            (Some(bounds), Some(more)) => bounds.merge(&more),
            _ => self.bounds = None,
        }
        self.byte_array_bytes = self.byte_array_bytes.zip(page.byte_array_bytes).map(|(a, b)| a + b);
    }
}
