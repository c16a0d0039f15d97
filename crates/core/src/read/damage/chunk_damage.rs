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
    /// The page in its chunk, a dictionary page counts; `None` if it is the whole chunk.
    pub page: Option<usize>,
    /// The rows of the row group that are lost with it; none for a dictionary page, whose data pages are lost pages, too.
    pub rows: Range<u64>,
    /// Its bytes in the file, as far as known.
    pub bytes: Range<u64>,
    /// Why it cannot be read.
    pub reason: String,
}

/// A data page that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct ReadablePage {
    /// Offset of its header.
    pub(in crate::read) offset: u64,
    pub(in crate::read) index: usize,
    /// The rows that begin in it.
    rows: Range<u64>,
    /// Number of rows that begin in the readable pages before it.
    before: u64,
    /// Whether the page before it is lost: entries before its first row belong to nothing.
    pub(in crate::read) is_after_gap: bool,
}

impl ChunkDamage {
    /// Number of rows that begin in readable page `page`.
    pub(in crate::read) fn rows_in(&self, page: usize) -> usize {
        self.pages.get(page).map_or(0, |page| (page.rows.end - page.rows.start) as usize)
    }

    /// Number of rows that can be read.
    pub fn rows(&self) -> u64 {
        self.pages.last().map_or(0, |page| page.before + (page.rows.end - page.rows.start))
    }

    /// The lost parts in file order. Several have the same rows if it is not known which page has which.
    pub fn lost(&self) -> &[LostPage] {
        &self.lost
    }

    /// Number of rows that can be read before `row` of the row group.
    pub fn position(&self, row: u64) -> u64 {
        let after = self.pages.partition_point(|page| page.rows.end <= row);
        match self.pages.get(after) {
            Some(page) => page.before + row.saturating_sub(page.rows.start),
            None => self.rows(),
        }
    }

    /// Nothing can be read because of `error`. Returns the error if it is no damage.
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
