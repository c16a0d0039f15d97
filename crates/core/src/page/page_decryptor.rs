//! Decrypts the pages of an encrypted chunk, and their headers.
//!
//! The additional data (AAD) of a header contain the kind of its page, and for a data page its number. So a header that
//! was moved is detected.

use super::located_header::LocatedHeader;
use crate::encryption::{ChunkDecryptor, wrong_tag};
use crate::metadata::ColumnChunk;
use marquetry_base::{Error, PADDING, PaddedBytes, Result};
use marquetry_crypto::{GCM_OVERHEAD, LENGTH_BYTES, ModuleCipher};
use marquetry_format::PageType;

/// The decryptor of the pages and headers of a column chunk.
pub(super) struct PageDecryptor {
    chunk: ChunkDecryptor,
    /// Offset of the first page in the file.
    start: u64,
    /// Whether the first page is a dictionary page: by the footer at first, by the page itself once its header was
    /// decrypted.
    has_dictionary: bool,
    /// The header that was decrypted last; its offset is `header_offset`.
    header: Vec<u8>,
    header_offset: u64,
}

impl PageDecryptor {
    /// Creates the decryptor of `chunk`, whose first page is at `start`; `None` if it is not encrypted. Fails if there
    /// is no key.
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

    /// Returns the length of the header module that begins with `bytes`; `None` if there are fewer than 4 bytes. Fails
    /// if the module is too short, or longer than a header of `limit` bytes may be.
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

    /// Returns how many bytes of a stored page the size in its header does not count.
    pub(super) fn uncounted_page_bytes(&self) -> usize {
        self.chunk.uncounted_page_bytes()
    }

    /// Decrypts the header at `offset`, of page `index` of the chunk, where a dictionary page counts.
    pub(super) fn open_header(&mut self, module: &[u8], offset: u64, index: usize) -> Result<&[u8]> {
        self.header_offset = u64::MAX;
        let is_first = offset == self.start;
        // QUIRK: not all writers state that there is a dictionary page, and some state one that does not exist.
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

    /// Returns the header at `offset`, if it was the last one to be decrypted.
    pub(super) fn last_header(&self, offset: u64) -> Option<&[u8]> {
        (self.header_offset == offset).then_some(&self.header)
    }

    /// Decrypts the page at `start`. Reuses `memory`.
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

/// Returns the number of bytes of levels before the module. QUIRK: parquet-java leaves the levels of V2 pages in
/// plaintext, and encrypts the values only; other writers encrypt the whole page. The module's length shows which it
/// is.
fn plain_levels(page: &[u8], start: &LocatedHeader) -> usize {
    let is_module = |bytes: &[u8]| ModuleCipher::framed_len(bytes) == Some(bytes.len() as u64);
    let header =
        start.header.data_page_header_v2.as_ref().filter(|_| start.header.type_ == PageType::DATA_PAGE_V2);
    let Some(header) = header.filter(|_| !is_module(page)) else { return 0 };
    let levels = [header.repetition_levels_byte_length, header.definition_levels_byte_length];
    let levels = levels.into_iter().try_fold(0usize, |all, len| all.checked_add(usize::try_from(len).ok()?));
    levels.filter(|levels| page.get(*levels..).is_some_and(is_module)).unwrap_or(0)
}

/// Returns the number of page `index` among the data pages; `None` for the dictionary page.
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
        // If the length fits neither case, decrypting the page fails.
        assert_eq!(plain_levels(&with_levels, &header([2, 4])), 0);
        assert_eq!(plain_levels(&with_levels, &header([-1, 6])), 0);
        assert_eq!(plain_levels(&with_levels, &header([i32::MAX, i32::MAX])), 0);
        let mut v1 = header([2, 3]);
        v1.header.type_ = PageType::DATA_PAGE;
        assert_eq!(plain_levels(&with_levels, &v1), 0);
    }
}
