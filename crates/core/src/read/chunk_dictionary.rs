//! The dictionary of a column chunk. It is decompressed when a data page first refers to it. If few rows are read, it
//! is decompressed only as far as the indices of their pages reach.

use super::target::{ReadTarget, ValueRepair};
use super::utf8::not_utf8;
use crate::page::{DictionaryPage, LocatedHeader, PageReader};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_encoding::Values;
use marquetry_encoding::dictionary::{Dictionary, IndexDecoder};
use std::sync::Arc;

/// The dictionary of a chunk, as far as it was decoded.
pub(super) struct ChunkDictionary {
    /// Whether byte strings must be UTF-8.
    is_text: bool,
    repair: ValueRepair,
    /// The entries that were decoded.
    entries: Option<Arc<Dictionary>>,
    /// The dictionary page, until all of it was decoded.
    page: Option<DictionaryPage>,
}

impl ChunkDictionary {
    /// Creates a dictionary without a page.
    pub(super) fn new(target: &ReadTarget) -> Self {
        ChunkDictionary { is_text: target.is_text, repair: target.repair, entries: None, page: None }
    }

    /// Whether a dictionary page was found.
    pub(super) fn is_found(&self) -> bool {
        self.entries.is_some() || self.page.is_some()
    }

    /// Returns the entries that were decoded.
    pub(super) fn entries(&self) -> Option<&Arc<Dictionary>> {
        self.entries.as_ref()
    }

    /// Keeps a dictionary page, without decompressing it.
    pub(super) fn find(&mut self, pages: &mut PageReader, header: &LocatedHeader) -> Result<()> {
        if self.is_found() {
            return Err(header.place(Error::corrupt("a second dictionary page in a column chunk")));
        }
        self.page = Some(pages.dictionary_page(header)?);
        Ok(())
    }

    /// Keeps a dictionary page and decodes all of it. After an error there is no dictionary.
    pub(super) fn find_and_read(&mut self, pages: &mut PageReader, header: &LocatedHeader) -> Result<()> {
        self.find(pages, header)?;
        let read = self.read(pages, usize::MAX);
        if read.is_err() {
            (self.entries, self.page) = (None, None);
        }
        read
    }

    /// Decodes the entries that a data page of `n` entries with these indices needs, and those that `rows` rows of
    /// similar pages will probably need.
    pub(super) fn read_for_page(
        &mut self,
        pages: &mut PageReader,
        indices: &PaddedBytes,
        n: usize,
        rows: usize,
    ) -> Result<()> {
        // Errors in the indices are reported when these are decoded.
        let needed = IndexDecoder::new(indices).and_then(|indices| indices.entries_needed(n));
        let needed = needed.unwrap_or(usize::MAX);
        match &self.entries {
            Some(entries) if entries.values().len() >= needed => Ok(()),
            // PERF: no entry is decompressed more than twice.
            Some(_) => self.read(pages, usize::MAX),
            None => self.read(pages, needed.saturating_mul(rows.div_ceil(n.max(1)))),
        }
    }

    /// Decodes at least the first `needed` entries of the dictionary, if there is one.
    pub(super) fn read(&mut self, pages: &mut PageReader, needed: usize) -> Result<()> {
        let Some(page) = &self.page else { return Ok(()) };
        // If more than half are needed, all are decoded.
        let wanted = Some(needed.max(1)).filter(|wanted| *wanted <= page.num_values() / 2);
        let mut entries = pages.dictionary(page, wanted.unwrap_or(usize::MAX))?;
        if self.is_text
            && let Values::Bytes(views) = entries.values()
            && let Some(at) = views.first_not_utf8(0..views.len())
        {
            if self.repair != ValueRepair::ReplaceInvalidUtf8 {
                return Err(page.start().place(not_utf8(views.get(at))));
            }
            let mut views = views.clone();
            views.replace_invalid_utf8(at..views.len())?;
            entries = Dictionary::new(Values::Bytes(views));
        }
        if entries.values().len() >= page.num_values() {
            self.page = None;
        }
        self.entries = Some(Arc::new(entries));
        Ok(())
    }
}
