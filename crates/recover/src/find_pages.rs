//! Finds pages without a footer, by their headers.
//!
//! ```text
//! in step   behind a page: the next bytes are a page if they can be one
//! lost      search for the bytes 15 tt 15, the first two fields of a page header; the page must prove itself
//!           by its checksum, or by decompressing to the size in its header
//! ```
//!
//! Bloom filters, indexes and footers are Thrift structs too, but begin with other bytes.

use crate::found_page::{FoundPage, PageEvidence};
use crate::open_page::fitting_codecs;
use crate::search_budget::SearchBudget;
use crate::window::Window;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_codec::Decompressor;
use marquetry_encoding::registry;
use marquetry_format::{Encoding, PageHeader, PageType, Reader};
use std::ops::Range;

/// Finds the pages in a range of the source, in order.
pub(crate) fn find_pages(
    window: &mut Window,
    range: Range<u64>,
    is_trusted: bool,
    budget: &mut SearchBudget,
) -> Result<Vec<FoundPage>> {
    let mut scan = Scan { window, end: range.end, is_trusted, decompressor: Decompressor::new() };
    let (mut at, mut in_step, mut pages) = (range.start, true, Vec::new());
    while at < range.end && !budget.is_exhausted() {
        match scan.page(at, in_step, budget)? {
            Some(page) => {
                at = page.end;
                in_step = true;
                pages.push(page);
            }
            None => {
                in_step = false;
                at = scan.candidate(at + 1)?;
            }
        }
    }
    Ok(pages)
}

struct Scan<'a> {
    window: &'a mut Window,
    end: u64,
    is_trusted: bool,
    decompressor: Decompressor,
}

impl Scan<'_> {
    fn page(&mut self, at: u64, in_step: bool, budget: &mut SearchBudget) -> Result<Option<FoundPage>> {
        let Some(mut page) = self.header(at, in_step)? else { return Ok(None) };
        let cost =
            64 + (page.end - page.body) + u64::from(page.header.uncompressed_page_size.unsigned_abs()) / 16;
        if !in_step && !budget.spend(cost) {
            return Ok(None);
        }
        let stored = self.window.at(page.body, (page.end - page.body) as usize)?;
        page.evidence = match page.header.crc.map(|crc| crc as u32) {
            Some(crc) if crc == crc32fast::hash(&stored) => PageEvidence::Proven,
            // QUIRK: HAWQ stores 0 in every page instead of a checksum.
            Some(crc) if crc != 0 && self.is_trusted => PageEvidence::Damaged,
            _ => PageEvidence::Unproven,
        };
        let is_one = match page.evidence {
            PageEvidence::Proven => true,
            PageEvidence::Damaged => {
                in_step && (page.end == self.end || self.header(page.end, true)?.is_some())
            }
            PageEvidence::Unproven => {
                in_step && self.header(page.end, true)?.is_some()
                    || !fitting_codecs(self.window, &page, None, &mut self.decompressor)?.is_empty()
            }
        };
        Ok(is_one.then_some(page))
    }

    /// Reads the header at a position, if it is plausible and the page ends within the range.
    fn header(&mut self, at: u64, in_step: bool) -> Result<Option<FoundPage>> {
        let most = if in_step { self.window.limits.page_header_bytes } else { MAX_LOST_HEADER };
        for len in [256, 16 << 10, most] {
            let bytes = self.window.at(at, len.min(most))?;
            if bytes.first() != Some(&0x15) {
                return Ok(None);
            }
            let mut reader = Reader::with_limits(&bytes, &self.window.limits);
            match PageHeader::read_without_statistics(&mut reader) {
                Ok(header) => {
                    let body = at + reader.position() as u64;
                    let can_be = is_plausible(&header, &self.window.limits);
                    let end = body + u64::from(header.compressed_page_size.unsigned_abs());
                    let page = FoundPage { offset: at, body, end, header, evidence: PageEvidence::Unproven };
                    return Ok(Some(page).filter(|page| can_be && page.end <= self.end));
                }
                Err(error) if error.kind() == ErrorKind::Truncated && bytes.len() == len && len < most => {}
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the first position from `at` on at which a header can begin, or the end.
    ///
    /// QUIRK: headers whose fields are in another order are not found; no writer is known for them.
    fn candidate(&mut self, mut at: u64) -> Result<u64> {
        while at + 3 <= self.end {
            let bytes = self.window.at(at, SEARCH_BYTES)?;
            // PERF: these three bytes hardly ever follow each other by chance, so nothing else is checked before them.
            let begins = |bytes: &[u8]| bytes[0] == 0x15 && bytes[2] == 0x15 && matches!(bytes[1], 0 | 4 | 6);
            match bytes.windows(3).position(begins) {
                Some(found) => return Ok(at + found as u64),
                None => at += bytes.len().saturating_sub(2).max(1) as u64,
            }
        }
        Ok(self.end)
    }
}

/// Whether sizes, counts and encodings in a header are possible, and the struct that its type needs is present.
fn is_plausible(header: &PageHeader, limits: &Limits) -> bool {
    let size = |n: i32| usize::try_from(n).ok();
    let (Some(stored), Some(plain)) =
        (size(header.compressed_page_size), size(header.uncompressed_page_size))
    else {
        return false;
    };
    let is_encoding = |encoding: Encoding| registry::find(encoding.0).is_some();
    let is_of_levels = |encoding: Encoding| matches!(encoding, Encoding::RLE | Encoding::BIT_PACKED);
    let fits = match header.type_ {
        PageType::DATA_PAGE => header.data_page_header.as_ref().is_some_and(|v1| {
            // QUIRK: some writers store any encoding for levels that a column does not have.
            v1.num_values >= 0
                && is_encoding(v1.encoding)
                && (is_of_levels(v1.definition_level_encoding) || is_encoding(v1.definition_level_encoding))
        }),
        PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref().is_some_and(|v2| {
            let levels = size(v2.repetition_levels_byte_length).zip(size(v2.definition_levels_byte_length));
            (0..=v2.num_values).contains(&v2.num_nulls)
                && (0..=v2.num_values).contains(&v2.num_rows)
                && is_encoding(v2.encoding)
                && levels.is_some_and(|(rep, def)| rep + def <= stored.min(plain))
        }),
        PageType::DICTIONARY_PAGE => header.dictionary_page_header.as_ref().is_some_and(|dictionary| {
            dictionary.num_values >= 0
                && matches!(dictionary.encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY)
        }),
        _ => false,
    };
    fits && limits.check_page(plain, stored).is_ok()
}

/// Maximum bytes of a header that is found out of step, not directly behind another page.
const MAX_LOST_HEADER: usize = 64 << 10;
/// Number of bytes that are searched at a time.
const SEARCH_BYTES: usize = 1 << 20;
