//! The pruning report: which stages ran, what they read, and what they ruled out.

use super::row_group_match::RowGroupMatch;
use crate::metrics::ReadCounters;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A way to find out which rows may match, from cheap to dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Bounds and counts of the footer.
    Statistics,
    /// Bloom filters.
    BloomFilters,
    /// Dictionary pages of chunks that have nothing but a dictionary.
    Dictionaries,
    /// Column and offset indexes.
    PageIndex,
}

impl Stage {
    /// All of them, in the order in which they are asked.
    pub const ALL: &[Stage] =
        &[Stage::Statistics, Stage::BloomFilters, Stage::Dictionaries, Stage::PageIndex];

    /// `statistics`, `bloom filters`, `dictionaries` or `page index`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Statistics => "statistics",
            Stage::BloomFilters => "bloom filters",
            Stage::Dictionaries => "dictionaries",
            Stage::PageIndex => "page index",
        }
    }
}

/// What was done, for all row groups that were pruned into it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PruneReport {
    /// How many row groups there were.
    pub row_groups: usize,
    /// How many rows they had.
    pub rows: u64,
    /// Indexes that could not be used although they are there; the first [`MOST_NOTES`](Self::MOST_NOTES).
    pub notes: Vec<PruneNote>,
    stages: [StageReport; 4],
}

/// What one stage did. Row groups that an earlier stage had decided do not come to it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StageReport {
    /// Row groups that came to the stage.
    pub row_groups: usize,
    /// Those of them of which something may match after it.
    pub row_groups_left: usize,
    /// Those of them of which each row matches, as it found.
    pub row_groups_matched: usize,
    /// Rows of the row groups that came.
    pub rows: u64,
    /// Rows that may match after it.
    pub rows_left: u64,
    /// Data pages of the columns whose page index was read.
    pub pages: usize,
    /// Those of them that have rows that may match.
    pub pages_left: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// In so many reads.
    pub reads: u64,
    /// How long it took.
    pub time: Duration,
    helped: BTreeMap<usize, BTreeSet<usize>>,
}

/// An index that was there and could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct PruneNote {
    /// Of this row group.
    pub row_group: usize,
    /// Of the column of this dotted path.
    pub column: Arc<str>,
    /// Which one.
    pub stage: Stage,
    /// Why not.
    pub error: Error,
}

impl PruneReport {
    /// How many notes are kept.
    pub const MOST_NOTES: usize = 100;

    /// What a stage did.
    pub fn of(&self, stage: Stage) -> &StageReport {
        &self.stages[stage as usize]
    }

    /// Counts what each stage ruled out.
    pub fn count_in(&self, counters: &ReadCounters) {
        for (number, stage) in self.stages.iter().enumerate() {
            let row_groups = stage.row_groups.saturating_sub(stage.row_groups_left);
            counters.ruled_out(number, row_groups, stage.rows.saturating_sub(stage.rows_left));
        }
    }

    pub(super) fn begin(&mut self, rows: u64) {
        self.row_groups += 1;
        self.rows = self.rows.saturating_add(rows);
    }

    pub(super) fn stage(&mut self, stage: Stage) -> &mut StageReport {
        &mut self.stages[stage as usize]
    }

    pub(super) fn note(&mut self, note: PruneNote) {
        if self.notes.len() < Self::MOST_NOTES {
            self.notes.push(note);
        }
    }
}

impl StageReport {
    /// The columns of which it found out something new, and in how many row groups.
    pub fn columns(&self) -> impl Iterator<Item = (usize, usize)> {
        self.helped.iter().map(|(column, row_groups)| (*column, row_groups.len()))
    }

    pub(super) fn asked(&mut self, rows: u64) {
        self.row_groups += 1;
        self.rows = self.rows.saturating_add(rows);
    }

    pub(super) fn found(&mut self, kept: &RowGroupMatch, rows: u64, bytes: u64, reads: u64, time: Duration) {
        let left = match kept {
            RowGroupMatch::None => 0,
            RowGroupMatch::All => rows,
            RowGroupMatch::Some(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
        };
        self.row_groups_left += usize::from(*kept != RowGroupMatch::None);
        self.row_groups_matched += usize::from(*kept == RowGroupMatch::All);
        self.rows_left = self.rows_left.saturating_add(left);
        self.bytes += bytes;
        self.reads += reads;
        self.time += time;
    }

    pub(super) fn helped(&mut self, column: usize, row_group: usize) {
        self.helped.entry(column).or_default().insert(row_group);
    }

    pub(super) fn counted(&mut self, pages: usize, left: usize) {
        self.pages += pages;
        self.pages_left += left;
    }
}

/// A source that counts what is read from it.
pub(super) struct Counted<'a> {
    source: &'a dyn Source,
    bytes: AtomicU64,
    reads: AtomicU64,
}

impl<'a> Counted<'a> {
    pub(super) fn new(source: &'a dyn Source) -> Self {
        Counted { source, bytes: AtomicU64::new(0), reads: AtomicU64::new(0) }
    }

    /// Bytes and reads since it was last asked.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.bytes.swap(0, Ordering::Relaxed), self.reads.swap(0, Ordering::Relaxed))
    }
}

impl Source for Counted<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let bytes = self.source.read_at(offset, len)?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(bytes)
    }
}
