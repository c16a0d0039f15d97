//! Skips pages by the offset index: jumps to the page of a row, or counts the rows of pages whose headers do not state
//! them.
//!
//! The offset index is verified only where it is used: each page that a jump leads to, and every page after the first jump,
//! must have the indexed row count. Skipped pages cannot be checked, so two errors in skipped pages that cancel out go
//! unnoticed.

use super::chunk_dictionary::ChunkDictionary;
use crate::metadata::ColumnChunk;
use crate::nesting::RepetitionLevels;
use crate::page::{DataPage, LocatedHeader, PageReader};
use crate::page_index::PageLocations;
use crate::row_mask::next_one;
use crate::source::Source;
use marquetry_base::{Error, Limits, Result};
use marquetry_encoding::Bitmap;
use std::ops::Range;
use std::sync::Arc;

/// A reader's position in a column chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChunkPosition {
    /// Number of rows that began so far.
    pub(super) row: u64,
    /// Number of data pages so far, the open one included.
    pub(super) data_pages: usize,
    /// Whether a row has begun. If not, the next entry must begin one.
    pub(super) has_begun: bool,
}

/// The offset index of a chunk, and the state of its use.
#[derive(Default)]
pub(super) struct OffsetIndexCursor {
    locations: Option<Arc<PageLocations>>,
    /// Whether pages are located by the index: true after the first jump.
    is_followed: bool,
    /// Whether the index only serves to count the rows of pages, which are read one after the other.
    counts_only: bool,
    /// The rows that the open page must have by the index, still to be compared with its levels.
    expected: Option<Range<u64>>,
}

impl OffsetIndexCursor {
    pub(super) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// Whether each page is known to begin with a row, as the format demands where there is an offset index.
    pub(super) fn starts_pages_with_rows(&self) -> bool {
        self.locations.is_some() && !self.counts_only
    }

    pub(super) fn counts_only(&self) -> bool {
        self.counts_only
    }

    /// Loads the offset index of `chunk`, which has `rows` rows, if it has a valid one: for jumps, or only for
    /// counting.
    pub(super) fn attach(
        &mut self,
        source: &dyn Source,
        chunk: ColumnChunk<'_>,
        rows: u64,
        limits: &Limits,
        counts_only: bool,
    ) -> Result<()> {
        self.counts_only = counts_only;
        self.locations = PageLocations::read(source, chunk, rows, limits)?.map(Arc::new);
        Ok(())
    }

    /// Returns the number of rows of data page `page`.
    pub(super) fn rows_of(&self, page: usize) -> Option<usize> {
        let locations = self.locations.as_ref().filter(|locations| page < locations.len())?;
        let rows = locations.rows(page);
        usize::try_from(rows.end - rows.start).ok()
    }

    /// Returns the data page in which the row `rows` rows ahead begins, if a jump there skips other pages.
    pub(super) fn page_ahead(&self, position: &ChunkPosition, rows: usize) -> Option<usize> {
        let locations = self.locations.as_ref().filter(|_| !self.counts_only)?;
        let page = locations.page_of(position.row.saturating_add(rows as u64));
        // The page after the open one needs no jump.
        let is_ahead = page > position.data_pages && locations.rows(page).start > position.row;
        is_ahead.then_some(page)
    }

    /// Whether one of the pages of the next `rows` rows has no row whose bit in `keep` is 1.
    pub(super) fn leaves_out_pages(&self, position: &ChunkPosition, keep: &Bitmap, rows: usize) -> bool {
        let Some(locations) = self.locations.as_ref().filter(|_| !self.counts_only) else { return false };
        let (start, end) = (position.row, position.row.saturating_add(rows as u64));
        let in_block = |row: u64| row.clamp(start, end).saturating_sub(start) as usize;
        let pages = (locations.page_of(start)..locations.len()).map(|page| locations.rows(page));
        pages.take_while(|page| page.start < end).any(|page| {
            let (first, last) = (in_block(page.start), in_block(page.end));
            first < last && next_one(keep, first..last, 0).is_none()
        })
    }

    /// Jumps to data page `page`, which [`page_ahead`](Self::page_ahead) returned; no page may be open. Returns how
    /// many rows were passed.
    pub(super) fn seek_to_page(
        &mut self,
        page: usize,
        pages: &mut PageReader,
        dictionary: &mut ChunkDictionary,
        position: &mut ChunkPosition,
    ) -> Result<usize> {
        let Some(locations) = &self.locations else { return Ok(0) };
        let (first_row, first_page) = (locations.rows(page).start, locations.bytes(0).start);
        if position.data_pages == 0 && !dictionary.is_found() && pages.position() < first_page {
            let header = pages.seek_within(pages.position()..first_page, 0)?;
            if header.is_dictionary() {
                dictionary.find(pages, &header)?;
            }
        }
        let passed = first_row - position.row;
        self.is_followed = true;
        // A page of an offset index begins with a row.
        *position = ChunkPosition { row: first_row, data_pages: page, has_begun: false };
        // INVARIANT: no more than the `rows` of `page_ahead`.
        Ok(passed as usize)
    }

    /// Reads the header of the index's next data page.
    pub(super) fn next_header(
        &self,
        pages: &mut PageReader,
        has_dictionary: bool,
        position: &mut ChunkPosition,
    ) -> Result<Option<LocatedHeader>> {
        let Some(locations) = &self.locations else { return Ok(None) };
        if position.data_pages >= locations.len() {
            return Ok(None);
        }
        let bytes = locations.bytes(position.data_pages);
        let index = position.data_pages + usize::from(has_dictionary);
        let header = match pages.position() == bytes.start {
            true => pages.seek(bytes.start, index)?,
            false => pages.seek_within(bytes, index)?,
        };
        position.data_pages += 1;
        Ok(Some(header))
    }

    /// Fails if the data page at `position` contradicts the index. `rows` is the number of rows by its header.
    pub(super) fn check_page(
        &mut self,
        header: &LocatedHeader,
        rows: Option<usize>,
        is_nested: bool,
        position: &ChunkPosition,
    ) -> Result<()> {
        let Some(locations) = &self.locations else { return Ok(()) };
        let number = position.data_pages;
        if number == 0 || number > locations.len() {
            let message = format!("more pages than the {} of the offset index", locations.len());
            return Err(header.place(Error::corrupt(message)));
        }
        let expected = locations.rows(number - 1);
        if !header.is_data() {
            let message = "the offset index has a page there that is none of data";
            return Err(header.place(Error::corrupt(message)));
        }
        if expected.start != position.row {
            let message = format!(
                "row {} of the row group begins the page, the offset index says {}",
                position.row, expected.start
            );
            return Err(header.place(index_error(message)));
        }
        // QUIRK: some files have more rows in the last page than the row group has. Their first row must be certain
        // then.
        let may_exceed = number == locations.len() && !self.is_followed;
        match rows {
            Some(rows) if may_exceed && rows as u64 >= expected.end - expected.start => {}
            Some(rows) => check_rows(header, rows as u64, &expected)?,
            None => {}
        }
        // Pages were skipped because of the index, so the levels must confirm it: a header may be wrong as well.
        let is_used = self.is_followed || self.counts_only;
        self.expected = (is_used && is_nested).then_some(expected);
        Ok(())
    }

    /// Fails if the levels of the open page contradict the index. Does nothing unless [`check_page`](Self::check_page)
    /// requested it.
    pub(super) fn check_levels(&mut self, header: &LocatedHeader, page: &DataPage) -> Result<()> {
        let Some(expected) = self.expected.take() else { return Ok(()) };
        let (mut rep, mut left, mut rows) = (page.rep.clone(), page.num_values, 0);
        let mut levels = RepetitionLevels::for_max(rep.max());
        while left > 0 {
            let block = left.min(LEVELS_PER_BLOCK);
            levels.clear();
            levels.decode(&mut rep, block).map_err(|error| header.place(error))?;
            rows += levels.as_slice().entries_of_rows(0..block, usize::MAX).1 as u64;
            left -= block;
        }
        check_rows(header, rows, &expected)
    }
}

fn check_rows(header: &LocatedHeader, rows: u64, expected: &Range<u64>) -> Result<()> {
    let indexed = expected.end - expected.start;
    match rows == indexed {
        true => Ok(()),
        false => {
            let message = format!("the page has {rows} rows, the offset index says {indexed}");
            Err(header.place(index_error(message)))
        }
    }
}

fn index_error(message: String) -> Error {
    Error::corrupt(message + "; read without page indexes to do without it")
}

/// Number of levels to decode at a time when counting rows.
const LEVELS_PER_BLOCK: usize = 2048;
