//! Passing over pages that nothing is wanted of, where an offset index says where the others are: by jumps, or page by page
//! where all that the index says is how many rows a page has.
//!
//! An offset index is believed as far as it goes unused. Of what it is used for, what can be seen is checked: the page that
//! is jumped to, and every page after the first jump, must have the rows that the index gives it. Its neighbours were not
//! looked at, so of two errors that make up for each other, both in pages that are passed over, nothing can be known.

use super::chunk::ColumnChunkReader;
use super::open_page::row_starts;
use crate::metadata::ColumnChunk;
use crate::page::{DataPage, PageStart};
use crate::page_index::PageLocations;
use crate::source::Source;
use marquetry_base::{Error, Limits, Result};
use std::ops::Range;
use std::sync::Arc;

/// What is known of the offset index of a chunk.
#[derive(Default)]
pub(super) struct Mapped {
    map: Option<Arc<PageLocations>>,
    /// Whether pages are taken from the map: since the first jump.
    is_followed: bool,
    /// Whether the map only tells how many rows pages have: they are found one after the other.
    only_counts: bool,
    /// The rows that the open page must have, where its levels tell.
    expected: Option<Range<u64>>,
}

impl Mapped {
    pub(super) fn is_followed(&self) -> bool {
        self.is_followed
    }

    pub(super) fn only_counts(&self) -> bool {
        self.only_counts
    }

    /// How many rows data page `page` has.
    pub(super) fn rows_of(&self, page: usize) -> Option<usize> {
        let map = self.map.as_ref().filter(|map| page < map.len())?;
        let rows = map.rows(page);
        usize::try_from(rows.end - rows.start).ok()
    }

    /// Fails if a page whose levels are to tell has other rows than the map says.
    pub(super) fn hold_levels(&mut self, start: &PageStart, page: &DataPage) -> Result<()> {
        let Some(expected) = self.expected.take() else { return Ok(()) };
        let (mut rep, mut left, mut rows) = (page.rep.clone(), page.num_values, 0);
        let mut levels = Vec::new();
        while left > 0 {
            let block = left.min(LEVELS);
            levels.clear();
            rep.decode(block, &mut levels).map_err(|error| start.place(error))?;
            rows += row_starts(&levels) as u64;
            left -= block;
        }
        agree(start, rows, &expected)
    }
}

impl ColumnChunkReader {
    /// Lets the reader use the offset index of `chunk`, its own, if there is a good one: to jump, or only to count.
    pub(super) fn use_map(
        &mut self,
        source: &dyn Source,
        chunk: ColumnChunk<'_>,
        rows: u64,
        limits: &Limits,
        only_counts: bool,
    ) -> Result<()> {
        self.mapped.only_counts = only_counts;
        self.mapped.map = PageLocations::read(source, chunk, rows, limits)?.map(Arc::new);
        Ok(())
    }

    /// Jumps to the page in which the row `rows` rows from here begins, if that is not the open page and the one that
    /// follows. Returns how many rows were passed, none if there was no jump.
    pub(super) fn jump(&mut self, rows: usize) -> Result<usize> {
        let Some(map) = self.mapped.map.clone().filter(|_| !self.mapped.only_counts) else { return Ok(0) };
        let page = map.page_of(self.row.saturating_add(rows as u64));
        let first = map.rows(page).start;
        // The next page is where it is without a jump.
        if page <= self.data_pages || first <= self.row {
            return Ok(0);
        }
        self.close();
        if self.data_pages == 0 && self.dictionary.is_none() && self.pages.position() < map.bytes(0).start {
            let start = self.pages.start_within(self.pages.position()..map.bytes(0).start, 0)?;
            if start.is_dictionary() {
                self.find_dictionary(&start)?;
            }
        }
        let passed = first - self.row;
        self.mapped.is_followed = true;
        // A page of an index begins with a row.
        self.begun = false;
        (self.row, self.data_pages) = (first, page);
        // INVARIANT: no more than `rows`.
        Ok(passed as usize)
    }

    /// The header of the next page of the map.
    pub(super) fn next_mapped_start(&mut self) -> Result<Option<PageStart>> {
        let Some(map) = &self.mapped.map else { return Ok(None) };
        if self.data_pages >= map.len() {
            return Ok(None);
        }
        let bytes = map.bytes(self.data_pages);
        let index = self.data_pages + usize::from(self.dictionary.is_some());
        let start = match self.pages.position() == bytes.start {
            true => self.pages.start_at(bytes.start, index)?,
            false => self.pages.start_within(bytes, index)?,
        };
        self.data_pages += 1;
        Ok(Some(start))
    }

    /// Fails if the data page that begins is not what the map says: the index is wrong, or the page is.
    pub(super) fn hold_against_map(&mut self, start: &PageStart) -> Result<()> {
        let Some(map) = &self.mapped.map else { return Ok(()) };
        if self.data_pages == 0 || self.data_pages > map.len() {
            return Err(
                start.place(Error::corrupt(format!("more pages than the {} of the offset index", map.len())))
            );
        }
        let expected = map.rows(self.data_pages - 1);
        if !start.is_data() {
            return Err(start.place(Error::corrupt("the offset index has a page there that is none of data")));
        }
        if expected.start != self.row {
            let message = format!(
                "row {} of the row group begins the page, the offset index says {}",
                self.row, expected.start
            );
            return Err(start.place(of_index(message)));
        }
        let rows = match self.target.max_rep {
            0 => Some(start.num_values()?),
            _ => start.num_rows(),
        };
        // QUIRK: last pages with more rows than the row group exist. Where they begin must be known for sure then.
        let may_exceed = self.data_pages == map.len() && !self.mapped.is_followed;
        match rows {
            Some(rows) if may_exceed && rows as u64 >= expected.end - expected.start => {}
            Some(rows) => agree(start, rows as u64, &expected)?,
            None => {}
        }
        // What was passed over was so by what the index says, and a header may be as wrong.
        let is_trusted = self.mapped.is_followed || self.mapped.only_counts;
        self.mapped.expected = (is_trusted && self.target.max_rep > 0).then_some(expected);
        Ok(())
    }
}

fn agree(start: &PageStart, rows: u64, expected: &Range<u64>) -> Result<()> {
    let said = expected.end - expected.start;
    match rows == said {
        true => Ok(()),
        false => {
            Err(start.place(of_index(format!("the page has {rows} rows, the offset index says {said}"))))
        }
    }
}

fn of_index(message: String) -> Error {
    Error::corrupt(message + "; read without page indexes to do without it")
}

/// Levels that are counted at a time.
const LEVELS: usize = 2048;
