//! Counts the pages of a chunk by kind and encoding, as the footer states them and as page headers do.

use marquetry_format::{Encoding, PageEncodingStats, PageHeader, PageType};
use std::collections::BTreeMap;
use std::fmt;

/// The number of pages of each kind and encoding.
///
/// ```
/// use marquetry_core::page::PageKinds;
/// use marquetry_format::{DictionaryPageHeader, Encoding, PageEncodingStats, PageHeader, PageType};
/// let dictionary = PageHeader {
///     type_: PageType::DICTIONARY_PAGE,
///     dictionary_page_header: Some(DictionaryPageHeader {
///         num_values: 3,
///         encoding: Encoding::PLAIN_DICTIONARY,
///         is_sorted: None,
///     }),
///     ..PageHeader::default()
/// };
/// let mut counted = PageKinds::default();
/// counted.add(&dictionary);
/// let said = PageEncodingStats { page_type: PageType::DICTIONARY_PAGE, encoding: Encoding::PLAIN, count: 1 };
/// assert_eq!(PageKinds::said([said]), counted);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageKinds(BTreeMap<(i32, i32), i64>);

impl PageKinds {
    /// Takes the counts that a footer states.
    pub fn said(stats: impl IntoIterator<Item = PageEncodingStats>) -> Self {
        let mut kinds: BTreeMap<(i32, i32), i64> = BTreeMap::new();
        for stat in stats {
            let encoding = canonical_encoding(stat.page_type, stat.encoding);
            let count = kinds.entry((kind(stat.page_type), encoding.0)).or_default();
            *count = count.saturating_add(i64::from(stat.count));
        }
        kinds.retain(|_, count| *count != 0);
        PageKinds(kinds)
    }

    /// Counts the page with this header. A page that is neither a data page nor a dictionary page is not counted.
    pub fn add(&mut self, header: &PageHeader) {
        if let Some(encoding) = value_encoding(header) {
            *self.0.entry((kind(header.type_), encoding.0)).or_default() += 1;
        }
    }
}

impl fmt::Display for PageKinds {
    /// Writes the first few counts, or "none".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "none");
        }
        for (i, ((type_, encoding), count)) in self.0.iter().take(MOST_SHOWN).enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{count} {} in {}", PageType(*type_), Encoding(*encoding))?;
        }
        Ok(())
    }
}

/// Returns the canonical encoding of a page's values; `None` if it has none.
pub fn value_encoding(header: &PageHeader) -> Option<Encoding> {
    let encoding = match header.type_ {
        PageType::DATA_PAGE => header.data_page_header.as_ref()?.encoding,
        PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref()?.encoding,
        PageType::DICTIONARY_PAGE => header.dictionary_page_header.as_ref()?.encoding,
        _ => return None,
    };
    Some(canonical_encoding(header.type_, encoding))
}

/// Returns one name for each encoding: PLAIN_DICTIONARY becomes PLAIN in dictionary pages and RLE_DICTIONARY in data
/// pages.
pub fn canonical_encoding(type_: PageType, encoding: Encoding) -> Encoding {
    match (type_, encoding) {
        (PageType::DICTIONARY_PAGE, Encoding::PLAIN_DICTIONARY) => Encoding::PLAIN,
        (PageType::DATA_PAGE | PageType::DATA_PAGE_V2, Encoding::PLAIN_DICTIONARY) => {
            Encoding::RLE_DICTIONARY
        }
        _ => encoding,
    }
}

/// Returns the code of a page's kind in `encoding_stats`. QUIRK: parquet-cpp counts V2 pages as DATA_PAGE; the format
/// says "data/dic" only.
fn kind(type_: PageType) -> i32 {
    match type_ {
        PageType::DATA_PAGE_V2 => PageType::DATA_PAGE.0,
        other => other.0,
    }
}

const MOST_SHOWN: usize = 8;
