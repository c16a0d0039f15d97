//! Opens the pages of an encrypted chunk, and their headers.
//!
//! A header is opened as what it should be: a data page's has its number, and a dictionary page's has another type. So one that was
//! moved is noticed.

use super::located_header::LocatedHeader;
use crate::encryption::{ChunkDecryptor, wrong_tag};
use crate::metadata::ColumnChunk;
use marquetry_base::{Error, PADDING, PaddedBytes, Result};
use marquetry_crypto::{GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher};

/// Opens pages and headers of one chunk.
pub(super) struct PageDecryptor {
    chunk: ChunkDecryptor,
    /// Where the first page is.
    start: u64,
    /// Whether that is a dictionary page: as the footer says, until it was opened.
    has_dictionary: bool,
    /// The header that was opened last, and where it is.
    header: Vec<u8>,
    header_offset: u64,
}

impl PageDecryptor {
    /// Of `chunk`, whose first page is at `start`; `None` if it is not encrypted. Fails if there is no key.
    pub(super) fn of_chunk(chunk: ColumnChunk<'_>, start: u64) -> Result<Option<Self>> {
        let Some(decryptor) = chunk.decryptor()? else { return Ok(None) };
        let dictionary = chunk.dictionary_page_offset().filter(|at| *at > 0);
        Ok(Some(PageDecryptor {
            chunk: decryptor,
            start,
            has_dictionary: dictionary.is_some_and(|at| at < chunk.data_page_offset()),
            header: Vec::new(),
            header_offset: u64::MAX,
        }))
    }

    /// How many bytes the header's module has that begins with `bytes`; `None` if there are fewer than 4. Fails if it is longer than
    /// a header of `limit` bytes may be, or too short.
    pub(super) fn header_len(bytes: &[u8], limit: usize) -> Result<Option<usize>> {
        let Some(len) = ModuleCipher::framed_len(bytes) else { return Ok(None) };
        let range = GCM_OVERHEAD as u64..=(limit + GCM_OVERHEAD) as u64;
        match range.contains(&len) {
            true => Ok(Some(len as usize)),
            false => Err(Error::corrupt(format!(
                "an encrypted header of {} bytes, where there may be {limit}",
                len - LENGTH_BYTES as u64
            ))),
        }
    }

    /// How many bytes of a page in the file its header does not count.
    pub(super) fn uncounted_page_bytes(&self) -> usize {
        self.chunk.uncounted_page_bytes()
    }

    /// Opens the header at `offset`, of page `index` of the chunk, in which a dictionary page counts.
    pub(super) fn open_header(&mut self, module: &[u8], offset: u64, index: usize) -> Result<&[u8]> {
        self.header_offset = u64::MAX;
        let is_first = offset == self.start;
        // QUIRK: not all writers say that there is a dictionary page, and some say so where there is none.
        let candidates = [self.has_dictionary, !self.has_dictionary];
        for has_dictionary in candidates.into_iter().take(if is_first { 2 } else { 1 }) {
            let page = number(index, has_dictionary, is_first);
            if self.chunk.open_header(page, module, &mut self.header)? {
                (self.has_dictionary, self.header_offset) = (has_dictionary, offset);
                return Ok(&self.header);
            }
        }
        Err(wrong_tag("its authentication tag is wrong"))
    }

    /// The header at `offset`, if it was the last one that was opened.
    pub(super) fn last_header(&self, offset: u64) -> Option<&[u8]> {
        (self.header_offset == offset).then_some(&self.header)
    }

    /// Opens the page at `start`, into memory that may be used again.
    pub(super) fn open_page(
        &self,
        module: &[u8],
        start: &LocatedHeader,
        mut memory: Vec<u8>,
    ) -> Result<PaddedBytes> {
        memory.reserve((module.len() + PADDING).saturating_sub(memory.len()));
        let page = number(start.index, self.has_dictionary, start.offset == self.start);
        self.chunk.open_page(page, module, &mut memory)?;
        Ok(PaddedBytes::from(memory))
    }
}

/// The number among the data pages of page `index`; `None` of the dictionary page.
fn number(index: usize, has_dictionary: bool, is_first: bool) -> Option<usize> {
    match (has_dictionary, is_first) {
        (true, true) => None,
        (_, true) => Some(0),
        (has_dictionary, false) => Some(index.saturating_sub(usize::from(has_dictionary))),
    }
}
