//! What was counted in a data page, or in all data pages of a chunk, to hold against what a file says of them.

use crate::statistics::level_histogram::LevelHistogram;
use crate::statistics::min_max::MinMaxStats;
use std::ops::RangeInclusive;

/// Counts and bounds of a data page, or of all of a chunk. `None` is unknown.
#[derive(Debug, Clone, Default)]
pub struct ObservedPage {
    /// How many rows begin in it.
    pub rows: Option<u64>,
    /// Known if levels were read.
    pub levels: Option<LevelHistogram>,
    /// The number of nulls among them, without empty and null lists.
    pub nulls_in_slots: u64,
    /// Known if values were read.
    pub bounds: Option<MinMaxStats>,
    /// Known if values were read and are byte strings.
    pub byte_array_bytes: Option<u64>,
}

impl ObservedPage {
    /// The null counts that are right. QUIRK: in lists, some writers count all entries without a value, others only nulls.
    pub fn nulls(&self) -> Option<RangeInclusive<i64>> {
        let levels = self.levels.as_ref()?;
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Some(count(self.nulls_in_slots)..=count(levels.nulls()))
    }

    /// Adds one more page to those of a chunk.
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
