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

/// A pruning stage: a kind of information by which rows are ruled out. Stages go from cheap to expensive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Bounds and counts in the footer.
    Statistics,
    /// Bloom filters.
    BloomFilters,
    /// Dictionary pages of chunks that are all dictionary-encoded.
    Dictionaries,
    /// Column and offset indexes.
    PageIndex,
}

impl Stage {
    /// All stages, in the order in which they run.
    pub const ALL: &[Stage] =
        &[Stage::Statistics, Stage::BloomFilters, Stage::Dictionaries, Stage::PageIndex];

    /// Returns `statistics`, `bloom filters`, `dictionaries` or `page index`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Statistics => "statistics",
            Stage::BloomFilters => "bloom filters",
            Stage::Dictionaries => "dictionaries",
            Stage::PageIndex => "page index",
        }
    }
}

/// The work and the results of pruning, for all row groups that were added.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PruneReport {
    /// Number of row groups.
    pub row_groups: usize,
    /// Number of their rows.
    pub rows: u64,
    /// Indexes that exist but could not be used; the first [`MOST_NOTES`](Self::MOST_NOTES).
    pub notes: Vec<PruneNote>,
    stages: [StageReport; 4],
}

/// The work and the results of one stage. Row groups that an earlier stage decided do not reach it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StageReport {
    /// Number of row groups that reached the stage.
    pub row_groups: usize,
    /// Number of row groups after it that may match.
    pub row_groups_left: usize,
    /// Number of row groups that it found to match with every row.
    pub row_groups_matched: usize,
    /// Number of rows in the row groups that reached the stage.
    pub rows: u64,
    /// Number of rows after it that may match.
    pub rows_left: u64,
    /// Number of data pages of the columns whose page index was read.
    pub pages: usize,
    /// Number of those pages with rows that may match.
    pub pages_left: usize,
    /// Number of bytes read.
    pub bytes: u64,
    /// Number of reads.
    pub reads: u64,
    /// Time spent.
    pub time: Duration,
    helped: BTreeMap<usize, BTreeSet<usize>>,
}

/// An index that exists but could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct PruneNote {
    /// The row group.
    pub row_group: usize,
    /// The dotted path of the column.
    pub column: Arc<str>,
    /// The stage that needed the index.
    pub stage: Stage,
    /// The reason.
    pub error: Error,
}

impl PruneReport {
    /// Maximum number of notes that are kept.
    pub const MOST_NOTES: usize = 100;

    /// Returns the report of a stage.
    pub fn of(&self, stage: Stage) -> &StageReport {
        &self.stages[stage as usize]
    }

    /// Adds to `counters` what each stage ruled out.
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
    /// Iterates over the columns that helped the stage, with the number of row groups in which they did.
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

    /// Returns the bytes and reads since the last call.
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
