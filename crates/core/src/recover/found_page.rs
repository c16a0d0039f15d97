//! A page that was found without a footer, and what proves that it is one.

use marquetry_format::{Encoding, PageHeader, PageType};

/// A page that was found.
#[derive(Debug, Clone)]
pub(super) struct FoundPage {
    pub(super) offset: u64,
    pub(super) body: u64,
    pub(super) end: u64,
    pub(super) header: PageHeader,
    pub(super) evidence: PageEvidence,
}

/// What speaks for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEvidence {
    /// Its checksum is right.
    Proven,
    /// It has none.
    Unproven,
    /// Its checksum is wrong; it is where a page must be.
    Damaged,
}

impl FoundPage {
    pub(super) fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DICTIONARY_PAGE
    }

    /// How many entries a data page has; 0 for a dictionary.
    pub(super) fn values(&self) -> u64 {
        let v1 = self.header.data_page_header.as_ref().map(|header| header.num_values);
        let v2 = self.header.data_page_header_v2.as_ref().map(|header| header.num_values);
        let values = if self.is_dictionary() { None } else { v1.or(v2) };
        values.and_then(|values| u64::try_from(values).ok()).unwrap_or(0)
    }

    /// The encoding of a data page's values, or of the dictionary.
    pub(super) fn encoding(&self) -> Encoding {
        let header = &self.header;
        let v1 = header.data_page_header.as_ref().map(|header| header.encoding);
        let v2 = header.data_page_header_v2.as_ref().map(|header| header.encoding);
        v1.or(v2).unwrap_or(Encoding::PLAIN)
    }

    /// Whether values are indices into a dictionary.
    pub(super) fn is_keys(&self) -> bool {
        !self.is_dictionary()
            && matches!(self.encoding(), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
    }

    /// Header and body before compression.
    pub(super) fn uncompressed(&self) -> u64 {
        self.body - self.offset + u64::from(self.header.uncompressed_page_size.unsigned_abs())
    }
}
