//! What was read of a data page, or of all data pages of a chunk.

use crate::statistics::{LevelHistogram, MinMaxStats};
use std::ops::RangeInclusive;

/// What is known of a data page, or of all of a chunk, after a look at it.
#[derive(Debug, Default)]
pub(super) struct ObservedPage {
    pub(super) rows: Option<u64>,
    /// If levels were read.
    pub(super) levels: Option<LevelHistogram>,
    /// Of these, those that are nulls of a slot: not lists that are empty or null.
    pub(super) nulls_in_slots: u64,
    /// If values were read.
    pub(super) bounds: Option<MinMaxStats>,
    /// If values were read, and are byte strings.
    pub(super) byte_array_bytes: Option<u64>,
}

impl ObservedPage {
    /// The null counts that are right. QUIRK: in lists, some writers count entries of no value, others nulls in slots.
    pub(super) fn nulls(&self) -> Option<RangeInclusive<i64>> {
        let levels = self.levels.as_ref()?;
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Some(count(self.nulls_in_slots)..=count(levels.nulls()))
    }

    /// Takes what was seen of one more page.
    pub(super) fn add(&mut self, page: ObservedPage) {
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
