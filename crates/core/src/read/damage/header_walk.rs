//! Walks over the page headers of a chunk, or over the pages of its offset index.

use crate::metadata::ColumnChunk;
use crate::page::{LocatedHeader, PageReader};
use crate::read::page_decoder::TrailingBytes;
use marquetry_base::{Error, Result};
use marquetry_format::{Encoding, OffsetIndex};
use std::ops::Range;

/// A page that a walk found, with the result of decoding it.
pub(super) struct WalkedPage {
    pub(super) index: usize,
    pub(super) bytes: Range<u64>,
    pub(super) role: PageRole,
    /// Number of rows that begin in the page, if known.
    pub(super) rows: Option<u64>,
    /// Number of rows that begin in the page by its header or the offset index.
    pub(super) claimed: Option<u64>,
    /// Number of entries by the page's header: values, nulls and absent lists.
    pub(super) entries: u64,
    /// The encoding of the page's values.
    pub(super) encoding: Option<Encoding>,
    /// Whether bytes follow the page's entries.
    pub(super) trailing: TrailingBytes,
    /// Why the page is lost; `None` if it is readable.
    pub(super) reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageRole {
    Dictionary,
    Data,
    /// An index page, or a page of an unknown kind.
    Other,
}

/// The pages of a chunk, by their headers.
#[derive(Default)]
pub(super) struct HeaderWalk {
    pages: Vec<WalkedPage>,
    /// Number of rows of all data pages, if all headers state it.
    pub(super) rows: Option<u64>,
    pub(super) has_v1: bool,
    /// Offset at which the walk ended.
    pub(super) end: u64,
    /// The error that ended the walk, if one did.
    pub(super) error: Option<Error>,
    /// Whether the walk ended at the end of the chunk by the footer.
    is_at_end: bool,
    /// Whether the walk found as many values as the footer states.
    pub(super) has_all_values: bool,
}

impl HeaderWalk {
    /// Walks from header to header.
    pub(super) fn new(pages: &mut PageReader, chunk: ColumnChunk<'_>, rows: u64) -> Result<HeaderWalk> {
        let is_flat = chunk.leaf().max_rep() == 0;
        let mut walk = HeaderWalk { rows: Some(0), ..HeaderWalk::default() };
        let end = chunk.byte_range().map_or(0, |bytes| bytes.end);
        // A damaged page header may state an unknown kind for a data page: the chain then continues into the next
        // chunk.
        while end == 0 || pages.position() < end {
            // A header that claims too many values must not hide the last pages.
            let is_off = walk.rows.is_some_and(|seen| seen != rows)
                || i64::try_from(pages.values_seen()) != Ok(chunk.num_values());
            let start = match pages.next_header() {
                Ok(None) if is_off => pages.next_uncounted_header(),
                start => start,
            };
            let start = match start {
                Ok(Some(start)) => start,
                Ok(None) => break,
                Err(error) if error.is_damage() => {
                    walk.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            };
            let page_rows = if start.is_data() { rows_of(&start, is_flat) } else { Some(0) };
            walk.has_v1 |= start.is_data() && start.header.data_page_header_v2.is_none();
            walk.rows = walk.rows.zip(page_rows).map(|(sum, rows)| sum.saturating_add(rows));
            walk.pages.push(WalkedPage::new(&start, page_rows));
        }
        walk.end = pages.position();
        walk.is_at_end = end == walk.end;
        walk.has_all_values = i64::try_from(pages.values_seen()) == Ok(chunk.num_values());
        Ok(walk)
    }

    /// Locates the pages by an offset index.
    pub(super) fn by_index(
        pages: &mut PageReader,
        index: &OffsetIndex,
        bytes: &Range<u64>,
        rows: u64,
        is_nested: bool,
    ) -> Result<HeaderWalk> {
        let locations = &index.page_locations;
        let mut found = Vec::with_capacity(locations.len() + 1);
        let first = locations.first().map_or(bytes.start, |first| first.offset as u64);
        if bytes.start < first {
            let page = WalkedPage::at(pages, 0, bytes.start..first, PageRole::Dictionary)?;
            found.push(page.0);
        }
        for (i, location) in locations.iter().enumerate() {
            let begin = location.offset as u64;
            let range = begin..begin.saturating_add(location.compressed_page_size as u64);
            let expected = rows_by_index(index, i, rows);
            let number = found.len();
            let (mut page, start) = WalkedPage::at(pages, number, range, PageRole::Data)?;
            let counted = start.as_ref().filter(|_| !is_nested).and_then(|start| rows_of(start, true));
            // QUIRK: the last page may have more rows than the row group has left.
            let is_last = i + 1 == locations.len();
            if let Some(counted) = counted.filter(|&n| n != expected && !(is_last && n > expected)) {
                page.reason =
                    Some(format!("the page header says {counted} rows, the offset index {expected}"));
            }
            page.rows = Some(expected);
            found.push(page);
        }
        Ok(HeaderWalk { pages: found, rows: Some(rows), ..HeaderWalk::default() })
    }

    /// Whether the headers agree with the footer and with the row group's number of rows.
    pub(super) fn adds_up(&self, rows: u64) -> bool {
        self.error.is_none()
            && self.is_at_end
            && self.has_all_values
            && self.rows.is_none_or(|sum| sum == rows)
    }

    /// Returns the pages. If an error stopped the walk, the bytes from there on are one more page, which is lost.
    pub(super) fn into_pages(self, bytes: &Range<u64>) -> Vec<WalkedPage> {
        let mut pages = self.pages;
        if let Some(error) = self.error {
            let bytes = self.end..bytes.end.max(self.end);
            pages.push(WalkedPage::lost(pages.len(), bytes, error.message().to_owned()));
        }
        pages
    }
}

impl WalkedPage {
    fn new(start: &LocatedHeader, rows: Option<u64>) -> WalkedPage {
        let role = match () {
            () if start.is_dictionary() => PageRole::Dictionary,
            () if start.is_data() => PageRole::Data,
            () => PageRole::Other,
        };
        WalkedPage {
            index: start.index,
            bytes: start.range(),
            role,
            rows,
            claimed: None,
            entries: start.num_values().map_or(0, |entries| entries as u64),
            encoding: start.encoding(),
            trailing: TrailingBytes::default(),
            reason: None,
        }
    }

    /// Creates a lost data page for unreadable bytes.
    pub(super) fn lost(index: usize, bytes: Range<u64>, reason: String) -> WalkedPage {
        let (role, reason) = (PageRole::Data, Some(reason));
        let (rows, claimed, entries, encoding, trailing) = (None, None, 0, None, TrailingBytes::default());
        WalkedPage { index, bytes, role, rows, claimed, entries, encoding, trailing, reason }
    }

    /// Treats a page of an unknown kind as a damaged data page.
    pub(super) fn suspect(&mut self) {
        (self.role, self.rows) = (PageRole::Data, None);
        self.reason = Some("a page of an unknown kind, and values are missing".to_owned());
    }

    /// Reads the header of the page that `bytes` should contain.
    fn at(
        pages: &mut PageReader,
        index: usize,
        bytes: Range<u64>,
        role: PageRole,
    ) -> Result<(WalkedPage, Option<LocatedHeader>)> {
        let reason = match pages.seek(bytes.start, index) {
            Ok(start) => {
                let (page, found) = (WalkedPage::new(&start, None), start.range());
                // A damaged header may claim bytes of the next page.
                if page.role == role && (found == bytes || role != PageRole::Data && found.end <= bytes.end) {
                    return Ok((WalkedPage { bytes, ..page }, Some(start)));
                }
                format!("a {} of {} bytes where none should be", start.header.type_, found.end - found.start)
            }
            Err(error) if error.is_damage() => error.message().to_owned(),
            Err(error) => return Err(error),
        };
        Ok((WalkedPage { role, ..WalkedPage::lost(index, bytes, reason) }, None))
    }
}

/// Returns the number of rows of data page `i` by a plausible offset index.
pub(super) fn rows_by_index(index: &OffsetIndex, i: usize, rows: u64) -> u64 {
    let first = |i: usize| index.page_locations.get(i).map_or(rows, |next| next.first_row_index as u64);
    first(i + 1) - first(i)
}

/// Returns the number of rows that begin in a data page, if its header states it.
fn rows_of(start: &LocatedHeader, is_flat: bool) -> Option<u64> {
    match is_flat {
        true => start.num_values().ok().map(|n| n as u64),
        false => start.num_rows().map(|n| n as u64),
    }
}

/// Whether an offset index can belong to a chunk of `rows` rows in `bytes`.
pub(super) fn is_plausible(index: &OffsetIndex, bytes: &Range<u64>, rows: u64) -> bool {
    let (mut offset, mut row) = (bytes.start, 0);
    let is_first = |i: usize, first: u64| i > 0 || first == 0;
    !index.page_locations.is_empty()
        && index.page_locations.iter().enumerate().all(|(i, location)| {
            let (Ok(begin), Ok(size), Ok(first)) = (
                u64::try_from(location.offset),
                u64::try_from(location.compressed_page_size),
                u64::try_from(location.first_row_index),
            ) else {
                return false;
            };
            let is_good = begin >= offset && first >= row && first <= rows && is_first(i, first);
            (offset, row) = (begin.saturating_add(size), first);
            is_good && size > 0
        })
}
