//! Opens the pages of an encrypted chunk, and their headers.
//!
//! A header is opened as what it should be: a data page's has its number, and a dictionary page's has another type. So one that was
//! moved is noticed.

use super::located_header::LocatedHeader;
use crate::encryption::{ChunkDecryptor, wrong_tag};
use crate::metadata::ColumnChunk;
use marquetry_base::{Error, PADDING, PaddedBytes, Result};
use marquetry_crypto::{GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher};
use marquetry_format::PageType;

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
        let (levels, module) = module.split_at(plain_levels(module, start));
        self.chunk.open_page(page, module, &mut memory)?;
        if !levels.is_empty() {
            memory.splice(0..0, levels.iter().copied());
        }
        Ok(PaddedBytes::from(memory))
    }
}

/// How many bytes of levels stand before the module. QUIRK: parquet-java leaves the levels of V2 pages in the open, and encrypts the
/// values alone; others encrypt all of the page. The module's length tells which it is.
fn plain_levels(page: &[u8], start: &LocatedHeader) -> usize {
    let is_module = |bytes: &[u8]| ModuleCipher::framed_len(bytes) == Some(bytes.len() as u64);
    let header =
        start.header.data_page_header_v2.as_ref().filter(|_| start.header.type_ == PageType::DATA_PAGE_V2);
    let Some(header) = header.filter(|_| !is_module(page)) else { return 0 };
    let levels = [header.repetition_levels_byte_length, header.definition_levels_byte_length];
    let levels = levels.into_iter().try_fold(0usize, |all, len| all.checked_add(usize::try_from(len).ok()?));
    levels.filter(|levels| page.get(*levels..).is_some_and(is_module)).unwrap_or(0)
}

/// The number among the data pages of page `index`; `None` of the dictionary page.
fn number(index: usize, has_dictionary: bool, is_first: bool) -> Option<usize> {
    match (has_dictionary, is_first) {
        (true, true) => None,
        (_, true) => Some(0),
        (has_dictionary, false) => Some(index.saturating_sub(usize::from(has_dictionary))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_format::{DataPageHeaderV2, PageHeader};

    fn header(levels: [i32; 2]) -> LocatedHeader {
        let v2 = DataPageHeaderV2 {
            repetition_levels_byte_length: levels[0],
            definition_levels_byte_length: levels[1],
            ..DataPageHeaderV2::default()
        };
        let header = PageHeader {
            type_: PageType::DATA_PAGE_V2,
            data_page_header_v2: Some(v2),
            ..PageHeader::default()
        };
        LocatedHeader { header, index: 0, offset: 0, body: 0 }
    }

    #[test]
    fn levels_in_the_open_are_told_by_the_length_of_the_module() {
        let module = [&40u32.to_le_bytes()[..], &[7; 40]].concat();
        let with_levels = [&[9; 5][..], &module].concat();
        assert_eq!(plain_levels(&with_levels, &header([2, 3])), 5);
        assert_eq!(plain_levels(&module, &header([2, 3])), 0);
        // What makes sense neither way is left to who opens it.
        assert_eq!(plain_levels(&with_levels, &header([2, 4])), 0);
        assert_eq!(plain_levels(&with_levels, &header([-1, 6])), 0);
        assert_eq!(plain_levels(&with_levels, &header([i32::MAX, i32::MAX])), 0);
        let mut v1 = header([2, 3]);
        v1.header.type_ = PageType::DATA_PAGE;
        assert_eq!(plain_levels(&with_levels, &v1), 0);
    }
}
