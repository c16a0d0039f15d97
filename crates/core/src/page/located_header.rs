//! Page headers with their place in the file.

use marquetry_base::{Error, Result};
use marquetry_format::{Encoding, PageHeader, PageType};
use std::ops::Range;

/// A page header and its place in the file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LocatedHeader {
    /// The header, without statistics.
    pub header: PageHeader,
    /// Index of the page in its chunk; a dictionary page counts.
    pub index: usize,
    /// Offset of the header in the file.
    pub offset: u64,
    /// Offset of the page's bytes in the file, behind the header.
    pub body: u64,
}

impl LocatedHeader {
    /// Returns the number of entries of a data page: values, nulls, and empty or absent lists. 0 for other pages.
    pub fn num_values(&self) -> Result<usize> {
        let header = &self.header;
        let count = match header.type_ {
            PageType::DATA_PAGE => header.data_page_header.as_ref().map(|header| header.num_values),
            PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref().map(|header| header.num_values),
            _ => return Ok(0),
        };
        let count = count.ok_or_else(|| Error::corrupt(format!("a {} without its header", header.type_)))?;
        size(count, "num_values")
    }

    /// Returns the encoding of a data page's values; `None` for other pages.
    pub fn encoding(&self) -> Option<Encoding> {
        let header = &self.header;
        match header.type_ {
            PageType::DATA_PAGE => header.data_page_header.as_ref().map(|header| header.encoding),
            PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref().map(|header| header.encoding),
            _ => None,
        }
    }

    /// Returns the number of rows that begin in the page; `None` if the header does not state it.
    pub fn num_rows(&self) -> Option<usize> {
        usize::try_from(self.header.data_page_header_v2.as_ref()?.num_rows).ok()
    }

    /// Returns the byte range of the page in the file, header included.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.body.saturating_add(self.stored_len() as u64)
    }

    /// Whether it is a data page.
    pub fn is_data(&self) -> bool {
        matches!(self.header.type_, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
    }

    /// Whether it is a dictionary page.
    pub fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DICTIONARY_PAGE
    }

    /// Adds the page and its offset to an error.
    pub fn place(&self, error: Error) -> Error {
        error.without_offset().in_page(self.index).at(self.offset)
    }

    pub(super) fn stored_len(&self) -> usize {
        self.header.compressed_page_size as usize
    }

    pub(super) fn uncompressed_len(&self) -> usize {
        self.header.uncompressed_page_size as usize
    }
}

pub(super) fn size(value: i32, name: &str) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::corrupt(format!("{name} is {value}")))
}
