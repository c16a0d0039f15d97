//! A page that was found by its header, and the evidence for it.

use marquetry_format::{Encoding, PageHeader, PageType};

/// A page that was found by its header. Positions are bytes of the source.
#[derive(Debug, Clone)]
pub(crate) struct FoundPage {
    pub(crate) offset: u64,
    pub(crate) body: u64,
    pub(crate) end: u64,
    pub(crate) header: PageHeader,
    pub(crate) evidence: PageEvidence,
}

/// How certain it is that bytes are a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageEvidence {
    /// Its checksum is right.
    Proven,
    /// It has no checksum.
    Unproven,
    /// Its checksum is wrong, but a page must be there.
    Damaged,
}

impl FoundPage {
    pub(crate) fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DICTIONARY_PAGE
    }

    /// Returns the number of entries of a data page, nulls included; 0 for a dictionary page.
    pub(crate) fn values(&self) -> u64 {
        let v1 = self.header.data_page_header.as_ref().map(|header| header.num_values);
        let v2 = self.header.data_page_header_v2.as_ref().map(|header| header.num_values);
        let values = if self.is_dictionary() { None } else { v1.or(v2) };
        values.and_then(|values| u64::try_from(values).ok()).unwrap_or(0)
    }

    /// Returns the encoding of a data page's values, or of the dictionary.
    pub(crate) fn encoding(&self) -> Encoding {
        let header = &self.header;
        let v1 = header.data_page_header.as_ref().map(|header| header.encoding);
        let v2 = header.data_page_header_v2.as_ref().map(|header| header.encoding);
        v1.or(v2).unwrap_or(Encoding::PLAIN)
    }

    /// Whether values are indices into a dictionary.
    pub(crate) fn is_keys(&self) -> bool {
        !self.is_dictionary()
            && matches!(self.encoding(), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
    }

    /// Returns the bytes of the header, and of the body before compression.
    pub(crate) fn uncompressed(&self) -> u64 {
        self.body - self.offset + u64::from(self.header.uncompressed_page_size.unsigned_abs())
    }
}
