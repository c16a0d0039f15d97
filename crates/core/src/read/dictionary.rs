//! The dictionary of a chunk: read once a page has indices into it, and where few rows are wanted no further than these
//! reach.

use super::chunk::ColumnChunkReader;
use super::open_page::not_utf8;
use crate::page::{DictionaryPage, PageStart};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_encoding::Values;
use marquetry_encoding::dictionary::{Dictionary, Indices};
use std::sync::Arc;

/// What is known of a chunk's dictionary.
pub(super) struct ChunkDictionary {
    /// The entries, as far as they were read.
    pub(super) entries: Option<Arc<Dictionary>>,
    /// The page, until all of it was read.
    page: Option<DictionaryPage>,
}

impl ColumnChunkReader {
    /// Takes note of a dictionary page.
    pub(super) fn find_dictionary(&mut self, start: &PageStart) -> Result<()> {
        if self.dictionary.is_some() {
            return Err(start.place(Error::corrupt("a second dictionary page in a column chunk")));
        }
        let page = Some(self.pages.dictionary_page(start)?);
        self.dictionary = Some(ChunkDictionary { entries: None, page });
        Ok(())
    }

    /// Reads all of a dictionary page.
    pub(super) fn read_dictionary(&mut self, start: &PageStart) -> Result<()> {
        self.find_dictionary(start)?;
        let read = self.read_entries(usize::MAX);
        if read.is_err() {
            self.dictionary = None;
        }
        read
    }

    /// Reads the entries that a data page of `n` entries needs, as its indices say, and those that `rows` rows of more pages
    /// like it will.
    pub(super) fn read_entries_of(&mut self, indices: &PaddedBytes, n: usize, rows: usize) -> Result<()> {
        // What is wrong with the indices is found when they are decoded.
        let needed = Indices::new(indices).and_then(|indices| indices.entries_needed(n));
        let needed = needed.unwrap_or(usize::MAX);
        match self.dictionary.as_ref().and_then(|dictionary| dictionary.entries.as_ref()) {
            Some(entries) if entries.values().len() >= needed => Ok(()),
            // PERF: no entry is decompressed more than twice.
            Some(_) => self.read_entries(usize::MAX),
            None => self.read_entries(needed.saturating_mul(rows.div_ceil(n.max(1)))),
        }
    }

    /// Makes sure that the first `needed` entries of the dictionary, if there is one, have been read.
    pub(super) fn read_entries(&mut self, needed: usize) -> Result<()> {
        let Some(dictionary) = &mut self.dictionary else { return Ok(()) };
        let Some(page) = &dictionary.page else { return Ok(()) };
        // Most is all.
        let wanted = Some(needed.max(1)).filter(|wanted| *wanted <= page.num_values() / 2);
        let entries = self.pages.dictionary(page, wanted.unwrap_or(usize::MAX))?;
        if self.target.is_text
            && let Values::Bytes(views) = entries.values()
            && let Some(at) = views.first_not_utf8(0..views.len())
        {
            return Err(page.start().place(not_utf8(views.get(at))));
        }
        if entries.values().len() >= page.num_values() {
            dictionary.page = None;
        }
        dictionary.entries = Some(Arc::new(entries));
        Ok(())
    }
}
