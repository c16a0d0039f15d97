//! Upper bound of the distinct values of a column chunk, without decoding it.

use crate::metadata::ColumnChunk;
use crate::page::{LocatedHeader, PageBuffers, PageOptions, PageReader};
use crate::source::Source;
use marquetry_base::Result;
use marquetry_format::{Encoding, PageType};
use std::sync::Arc;

/// Returns the maximum number of distinct values in a chunk: the number of its dictionary's entries, or else of its
/// values. Reads the first page's header, unless there are only a few values.
pub fn most_distinct_values(
    source: &Arc<dyn Source>,
    chunk: ColumnChunk<'_>,
    options: PageOptions,
) -> Result<u64> {
    let places = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
    if places <= FEW || !has_values_in_dictionary(chunk) {
        return Ok(places);
    }
    let mut pages = PageReader::new(source.clone(), chunk, options, PageBuffers::default())?;
    // SPEC: a dictionary page is the first of its chunk.
    match pages.next_header()?.filter(LocatedHeader::is_dictionary) {
        Some(first) => Ok(places.min(pages.dictionary_page(&first)?.num_values() as u64)),
        None => Ok(places),
    }
}

/// Whether all data pages of the chunk refer to its dictionary, as far as the footer shows.
fn has_values_in_dictionary(chunk: ColumnChunk<'_>) -> bool {
    let is_of_data = |page| matches!(page, PageType::DATA_PAGE | PageType::DATA_PAGE_V2);
    let is_of_keys = |encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    match chunk.encoding_stats() {
        Some(stats) => stats.iter().all(|stats| !is_of_data(stats.page_type) || is_of_keys(stats.encoding)),
        // Older writers do not count pages. If a dictionary of theirs got too large, its entries alone exceed what
        // narrow keys can count.
        None => true,
    }
}

const FEW: u64 = 16;
