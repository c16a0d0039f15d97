//! The damage of a column chunk: which pages can be read, and which rows are lost.

use marquetry_base::{Error, Result};
use std::ops::Range;

/// The readable and the lost parts of a column chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkDamage {
    pub(in crate::read) pages: Vec<ReadablePage>,
    /// Offset of the dictionary page, if it can be read.
    pub(in crate::read) dictionary: Option<u64>,
    pub(super) lost: Vec<LostPage>,
}

/// A part of a column chunk that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPage {
    /// Index of the page in its chunk, where a dictionary page counts; `None` for the whole chunk.
    pub page: Option<usize>,
    /// The rows of the row group that are lost with it. Empty for a dictionary page, whose data pages are lost pages as
    /// well.
    pub rows: Range<u64>,
    /// Its bytes in the file, as far as they are known.
    pub bytes: Range<u64>,
    /// Why it cannot be read.
    pub reason: String,
}

/// A data page that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct ReadablePage {
    /// Offset of the page's header in the file.
    pub(in crate::read) offset: u64,
    pub(in crate::read) index: usize,
    /// The rows that begin in the page.
    rows: Range<u64>,
    /// Number of rows that begin in the readable pages before this one.
    before: u64,
    /// Whether the page before this one is lost, so that entries before its first row belong to a lost row.
    pub(in crate::read) is_after_gap: bool,
}

impl ChunkDamage {
    /// Returns the number of rows that begin in readable page `page`.
    pub(in crate::read) fn rows_in(&self, page: usize) -> usize {
        self.pages.get(page).map_or(0, |page| (page.rows.end - page.rows.start) as usize)
    }

    /// Returns the number of readable rows.
    pub fn rows(&self) -> u64 {
        self.pages.last().map_or(0, |page| page.before + (page.rows.end - page.rows.start))
    }

    /// Returns the lost parts in file order. Several have the same rows if it is unknown which page has which.
    pub fn lost(&self) -> &[LostPage] {
        &self.lost
    }

    /// Returns the number of readable rows before `row` of the row group.
    pub fn position(&self, row: u64) -> u64 {
        let after = self.pages.partition_point(|page| page.rows.end <= row);
        match self.pages.get(after) {
            Some(page) => page.before + row.saturating_sub(page.rows.start),
            None => self.rows(),
        }
    }

    /// Creates the damage of a chunk that `error` makes unreadable. Returns the error if it is not damage.
    pub(super) fn total(rows: u64, bytes: Range<u64>, error: Error) -> Result<ChunkDamage> {
        if !error.is_damage() {
            return Err(error);
        }
        let reason = error.message().to_owned();
        let lost = vec![LostPage { page: None, rows: 0..rows, bytes, reason }];
        Ok(ChunkDamage { lost, ..ChunkDamage::default() })
    }

    pub(super) fn push(&mut self, index: usize, offset: u64, rows: Range<u64>, is_after_gap: bool) {
        let before = self.rows();
        self.pages.push(ReadablePage { offset, index, rows, before, is_after_gap });
    }
}
