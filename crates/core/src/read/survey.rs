//! What of a damaged column chunk can still be read, and which rows are lost.
//!
//! A chunk is a chain: each page's header says where the next one is. The header chain is believed where it adds up: it
//! ends where the footer says, with the rows that the footer says. Where it does not, the offset index says where each
//! page and its first row are. Without one, pages are counted from both ends of the chunk, and what is between the
//! first and the last page of unknown length is lost.
//!
//! ```text
//! chain broken at page 2, no offset index    [0: 100 rows] [1: 100 rows] [2: ?.........]    rows 200.. are lost
//! page 1 damaged, a list in V1 pages         [0: 40 rows] [1: ?] [2: 30 rows], 100 in all   rows 39..70 are lost
//! ```
//!
//! A checksum covers a page's bytes, not its header. So each field of a header that decides on values is held against
//! something else that knows:
//!
//! | field | is held against |
//! |---|---|
//! | kind of page | the header that belongs to it; the footer's number of entries, which is missed if a page is passed over |
//! | sizes | the checksum, the decompressor, the place of the next page and the end of the chunk |
//! | `num_values` | levels and values, which must be used up; the footer's number; rows, in the row group or the offset index |
//! | `num_rows` of V2 | not believed: rows are counted in the levels |
//! | `num_nulls` of V2 | not believed: values are counted in the levels |
//! | lengths of levels in V2 | the levels, which must be used up |
//! | encoding | the footer's list of them; values, which must be used up |
//! | encodings of levels | there are two, of which the levels must be, and be used up |
//! | `is_compressed` of V2 | the decompressor, or that both sizes are the same |
//! | dictionary: `num_values`, encoding | the largest index; two names of one encoding |
//!
//! What is left decides on nothing: the checksum itself if it is taken for absent, `is_sorted`, statistics. One thing is not
//! seen: in an uncompressed chunk of one V2 page, a wrong length of levels after which levels and values fit as well by chance.

use super::open_page::Rest;
use super::{ColumnChunkReader, ReadTarget};
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page::{PageMemory, PageOptions, PageReader, PageStart};
use crate::page_index::read_offset_index;
use crate::source::Source;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_format::{Encoding, OffsetIndex};
use std::ops::Range;
use std::sync::Arc;

/// What can still be read of a column chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    pub(super) pages: Vec<WholePage>,
    /// Where the dictionary page is, if it can be read.
    pub(super) dictionary: Option<u64>,
    lost: Vec<LostPage>,
}

/// A part of a column chunk that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPage {
    /// The page in its chunk, a dictionary page counts; `None` if it is the whole chunk.
    pub page: Option<usize>,
    /// The rows of the row group that are lost with it; none for a dictionary page, whose pages follow.
    pub rows: Range<u64>,
    /// Where it is in the file, as far as known.
    pub bytes: Range<u64>,
    /// Why it cannot be read.
    pub reason: String,
}

/// A data page that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WholePage {
    /// Where its header is.
    pub(super) offset: u64,
    pub(super) index: usize,
    /// The rows that begin in it.
    rows: Range<u64>,
    /// How many rows begin in the whole pages before it.
    before: u64,
    /// Whether the page before it is lost: entries before its first row belong to nothing.
    pub(super) is_after_gap: bool,
}

/// Whether reading on without the page is what [`survey`] is for: the file is at fault, not who reads it.
pub fn is_damage(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Corrupt
            | ErrorKind::Truncated
            | ErrorKind::Unsupported
            | ErrorKind::Limit
            | ErrorKind::Key
    )
}

/// Decodes every page of a chunk, to find those that cannot be. Fails only if the source does.
pub fn survey(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    row_group: usize,
    leaf: usize,
    target: &ReadTarget,
    options: &PageOptions,
) -> Result<Survey> {
    let group = metadata.row_group(row_group);
    let rows = group.num_rows();
    // Values, whatever is wanted: a page whose keys are outside the dictionary is damaged either way.
    let target = Arc::new(ReadTarget { layout: super::ValueLayout::Native, ..target.clone() });
    let chunk = match group.column(leaf) {
        Ok(chunk) => chunk,
        Err(error) => return Survey::nothing(rows, 0..0, error),
    };
    let bytes = chunk.byte_range().unwrap_or(0..0);
    let reader =
        ColumnChunkReader::new(source.clone(), chunk, target.clone(), options.clone(), PageMemory::default());
    let mut reader = match reader {
        Ok(reader) => reader,
        Err(error) => return Survey::nothing(rows, bytes, error),
    };
    let mut walk = Walk::new(reader.pages(), chunk, rows, Some(Vec::new()))?;
    let mut is_counted = walk.adds_up(rows);
    let mut index = None;
    if !is_counted || walk.rows.is_none() {
        index = match read_offset_index(&**source, chunk, &options.limits) {
            Err(error) if is_damage(&error) => None,
            index => index?.filter(|index| is_plausible(index, &bytes, rows)),
        };
    }
    if let Some(index) = index.take_if(|_| !is_counted) {
        walk = Walk::by_index(reader.pages(), &index, &bytes, rows, target.max_rep > 0)?;
        is_counted = true;
    }
    let has_all_entries = walk.has_all_values;
    let is_counted = is_counted && walk.rows.is_some();
    // SPEC: rows begin with V2 pages, and with all pages if there is an offset index.
    let cuts_rows = target.max_rep > 0 && walk.rows.is_none() && walk.has_v1;
    let has_all_values = walk.has_all_values || is_counted;
    // An error has taken them for a page already.
    let rest = if is_counted || walk.error.is_some() { 0..0 } else { walk.end..bytes.end };
    let mut pages = walk.into_pages(&bytes);
    if !has_all_values {
        // One of these may be what is missing.
        pages.iter_mut().filter(|page| page.what == What::Other).for_each(Found::suspect);
    }
    probe_all(&mut reader, &mut pages, rows)?;
    settle(&mut pages, rows, is_counted);
    disbelieve(&mut pages, chunk, is_counted);
    if !rest.is_empty() && pages.iter().any(|page| page.reason.is_some()) {
        // Counts that add up by chance ended the walk too early.
        pages.push(Found::lost(pages.len(), rest, "behind pages that are lost".to_owned()));
    }
    if target.max_rep > 0
        && !has_all_entries
        && pages.iter().all(|page| page.reason.is_none())
        && pages.iter().map(|page| page.entries).sum::<u64>() != chunk.num_values().unsigned_abs()
    {
        // The last row of some page has too few or too many elements.
        let error = Error::corrupt(format!("the pages have other than {} entries", chunk.num_values()));
        return Survey::nothing(rows, bytes, error);
    }
    let is_indexed = index.is_some_and(|index| count_by_index(&mut pages, &index, rows));
    // QUIRK: pages with more rows than the row group exist; that the footer counts them too tells those from damage.
    let may_exceed = has_all_values || is_indexed;
    Ok(Survey::place(pages, rows, bytes, may_exceed, cuts_rows && !is_indexed))
}

/// Gives lost pages the rows that the offset index says, if it agrees with the pages that can be read.
fn count_by_index(pages: &mut [Found], index: &OffsetIndex, rows: u64) -> bool {
    let locations = &index.page_locations;
    let data = || pages.iter().filter(|page| page.what == What::Data);
    let agrees = data().count() == locations.len()
        && data().zip(locations).enumerate().all(|(i, (page, location))| {
            let expected = rows_by_index(index, i, rows);
            let is_last = i + 1 == locations.len();
            page.bytes.start == location.offset as u64
                && page.rows.is_none_or(|rows| rows == expected || is_last && rows > expected)
        });
    if agrees {
        let data = pages.iter_mut().filter(|page| page.what == What::Data);
        data.enumerate().for_each(|(i, page)| page.rows = Some(rows_by_index(index, i, rows)));
    }
    agrees
}

/// The rows of data page `i` of a plausible index.
fn rows_by_index(index: &OffsetIndex, i: usize, rows: u64) -> u64 {
    let first = |i: usize| index.page_locations.get(i).map_or(rows, |next| next.first_row_index as u64);
    first(i + 1) - first(i)
}

/// A page that a walk found, and what decoding it gave.
struct Found {
    index: usize,
    bytes: Range<u64>,
    what: What,
    /// The rows that begin in it, if they are known.
    rows: Option<u64>,
    /// The rows that begin in it, by its header or the offset index.
    claimed: Option<u64>,
    /// Values, nulls and absent lists, by its header.
    entries: u64,
    /// That of its values.
    encoding: Option<Encoding>,
    /// What it has besides its entries.
    rest: Rest,
    /// Why it is lost.
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Dictionary,
    Data,
    /// Nothing that is read.
    Other,
}

/// The headers of a chunk.
#[derive(Default)]
struct Walk {
    /// What was found; `None` if only sums are wanted.
    pages: Option<Vec<Found>>,
    /// Rows of all data pages, if all headers say.
    rows: Option<u64>,
    has_v1: bool,
    /// Where it ended, and why, if that was too early.
    end: u64,
    error: Option<Error>,
    /// Whether it ended where the footer says that the chunk does.
    is_at_end: bool,
    /// Whether it found as many values as the footer says.
    has_all_values: bool,
}

impl Walk {
    fn new(
        pages: &mut PageReader,
        chunk: ColumnChunk<'_>,
        rows: u64,
        found: Option<Vec<Found>>,
    ) -> Result<Walk> {
        let is_flat = chunk.leaf().max_rep() == 0;
        let mut walk = Walk { pages: found, rows: Some(0), ..Walk::default() };
        let end = chunk.byte_range().map_or(0, |bytes| bytes.end);
        // A page of an unknown kind may be a data page: the chain then goes on into the next chunk.
        while end == 0 || pages.position() < end {
            // A header that counts too much must not hide the last pages.
            let is_off = walk.rows.is_some_and(|seen| seen != rows)
                || i64::try_from(pages.values_seen()) != Ok(chunk.num_values());
            let start = match pages.next_start() {
                Ok(None) if is_off => pages.next_uncounted_start(),
                start => start,
            };
            let start = match start {
                Ok(Some(start)) => start,
                Ok(None) => break,
                Err(error) if is_damage(&error) => {
                    walk.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            };
            let page_rows = if start.is_data() { rows_of(&start, is_flat) } else { Some(0) };
            walk.has_v1 |= start.is_data() && start.header.data_page_header_v2.is_none();
            walk.rows = walk.rows.zip(page_rows).map(|(sum, rows)| sum.saturating_add(rows));
            if let Some(pages) = &mut walk.pages {
                pages.push(Found::new(&start, page_rows));
            }
        }
        walk.end = pages.position();
        walk.is_at_end = end == walk.end;
        walk.has_all_values = i64::try_from(pages.values_seen()) == Ok(chunk.num_values());
        Ok(walk)
    }

    /// The pages that an offset index has.
    fn by_index(
        pages: &mut PageReader,
        index: &OffsetIndex,
        bytes: &Range<u64>,
        rows: u64,
        is_nested: bool,
    ) -> Result<Walk> {
        let locations = &index.page_locations;
        let mut found = Vec::with_capacity(locations.len() + 1);
        let first = locations.first().map_or(bytes.start, |first| first.offset as u64);
        if bytes.start < first {
            let page = Found::at(pages, 0, bytes.start..first, What::Dictionary)?;
            found.push(page.0);
        }
        for (i, location) in locations.iter().enumerate() {
            let begin = location.offset as u64;
            let range = begin..begin.saturating_add(location.compressed_page_size as u64);
            let expected = rows_by_index(index, i, rows);
            let number = found.len();
            let (mut page, start) = Found::at(pages, number, range, What::Data)?;
            let counted = start.as_ref().filter(|_| !is_nested).and_then(|start| rows_of(start, true));
            // QUIRK: the last page may have more rows than the row group.
            let is_last = i + 1 == locations.len();
            if let Some(counted) = counted.filter(|&n| n != expected && !(is_last && n > expected)) {
                page.reason =
                    Some(format!("the page header says {counted} rows, the offset index {expected}"));
            }
            page.rows = Some(expected);
            found.push(page);
        }
        Ok(Walk { pages: Some(found), rows: Some(rows), ..Walk::default() })
    }

    fn adds_up(&self, rows: u64) -> bool {
        self.error.is_none()
            && self.is_at_end
            && self.has_all_values
            && self.rows.is_none_or(|sum| sum == rows)
    }

    /// The pages, and what is behind the header that stopped the walk as one more.
    fn into_pages(self, bytes: &Range<u64>) -> Vec<Found> {
        let mut pages = self.pages.unwrap_or_default();
        if let Some(error) = self.error {
            let bytes = self.end..bytes.end.max(self.end);
            pages.push(Found::lost(pages.len(), bytes, error.message().to_owned()));
        }
        pages
    }
}

impl Found {
    fn new(start: &PageStart, rows: Option<u64>) -> Found {
        let what = match () {
            () if start.is_dictionary() => What::Dictionary,
            () if start.is_data() => What::Data,
            () => What::Other,
        };
        Found {
            index: start.index,
            bytes: start.range(),
            what,
            rows,
            claimed: None,
            entries: start.num_values().map_or(0, |entries| entries as u64),
            encoding: start.encoding(),
            rest: Rest::default(),
            reason: None,
        }
    }

    /// What should have been data pages, or one.
    fn lost(index: usize, bytes: Range<u64>, reason: String) -> Found {
        let (what, reason) = (What::Data, Some(reason));
        let (rows, claimed, entries, encoding, rest) = (None, None, 0, None, Rest::default());
        Found { index, bytes, what, rows, claimed, entries, encoding, rest, reason }
    }

    /// Takes a page of an unknown kind for a data page.
    fn suspect(&mut self) {
        (self.what, self.rows) = (What::Data, None);
        self.reason = Some("a page of an unknown kind, and values are missing".to_owned());
    }

    /// The page that should be in `bytes`.
    fn at(
        pages: &mut PageReader,
        index: usize,
        bytes: Range<u64>,
        what: What,
    ) -> Result<(Found, Option<PageStart>)> {
        let reason = match pages.start_at(bytes.start, index) {
            Ok(start) => {
                let (page, found) = (Found::new(&start, None), start.range());
                // A header that is damaged may go on into the next page's.
                if page.what == what && (found == bytes || what != What::Data && found.end <= bytes.end) {
                    return Ok((Found { bytes, ..page }, Some(start)));
                }
                format!("a {} of {} bytes where none should be", start.header.type_, found.end - found.start)
            }
            Err(error) if is_damage(&error) => error.message().to_owned(),
            Err(error) => return Err(error),
        };
        Ok((Found { what, ..Found::lost(index, bytes, reason) }, None))
    }
}

/// Decodes all pages, of which no more than `rows` rows are wanted.
fn probe_all(reader: &mut ColumnChunkReader, pages: &mut [Found], rows: u64) -> Result<()> {
    let mut before = 0u64;
    for page in pages {
        probe(reader, page, rows.saturating_sub(before))?;
        before = before.saturating_add(page.rows.unwrap_or(0));
    }
    Ok(())
}

/// Decodes a page, of which no more than `left` rows are wanted.
fn probe(reader: &mut ColumnChunkReader, page: &mut Found, left: u64) -> Result<()> {
    page.claimed = page.rows;
    if page.reason.is_some() {
        return Ok(());
    }
    let start = reader.pages().start_at(page.bytes.start, page.index);
    let probed = start.and_then(|start| match page.what {
        What::Dictionary => reader.read_dictionary(&start).map(|()| (0, Rest::default())),
        What::Data => reader.probe(start, left),
        What::Other => Ok((0, Rest::default())),
    });
    match probed {
        Ok((rows, rest)) => (page.rows, page.rest) = (Some(rows), rest),
        Err(error) if is_damage(&error) => page.reason = Some(error.message().to_owned()),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Decides between the rows that pages have and those that headers or the index claim for them. `is_counted` says that
/// the claims add up.
fn settle(pages: &mut [Found], rows: u64, is_counted: bool) {
    let sum = pages.iter().fold(0u64, |sum, page| sum.saturating_add(page.rows.unwrap_or(0)));
    // QUIRK: some writers claim nonsense of pages that are whole.
    let is_whole = sum == rows && pages.iter().all(|page| page.reason.is_none());
    let count = pages.len();
    for (i, page) in pages.iter_mut().enumerate() {
        if let (Some(claimed), Some(counted)) = (page.claimed, page.rows)
            && page.reason.is_none()
            && is_counted
            && !is_whole
            // QUIRK: the last page may have more rows than the row group.
            && claimed != counted
            && !(i + 1 == count && counted > claimed)
        {
            page.reason = Some(format!("{counted} rows in a page that should have {claimed}"));
            page.rows = page.claimed;
        }
        if page.reason.is_some() && !is_counted {
            page.rows = None;
        }
    }
}

/// Pages of which something else says that their headers are wrong are lost.
fn disbelieve(pages: &mut [Found], chunk: ColumnChunk<'_>, is_counted: bool) {
    let is_listed =
        |encoding: Encoding| chunk.encodings().iter().any(|listed| same_name(listed) == same_name(encoding));
    let encodings = || pages.iter().filter(|page| page.what == What::Data).filter_map(|page| page.encoding);
    // QUIRK: some writers' lists are wrong; a list that has the encoding of no page at all is not believed.
    let lists = !chunk.encodings().is_empty() && (encodings().any(is_listed) || encodings().count() == 1);
    let mut rests =
        pages.iter().filter(|page| page.what == What::Data && page.reason.is_none()).map(|page| page.rest);
    // QUIRK: some writers leave bytes behind the levels, others behind the values: in each page.
    let first = rests.next().unwrap_or_default();
    let is_habit = !(first.levels && first.values) && rests.all(|rest| rest == first);
    for page in pages.iter_mut().filter(|page| page.what == What::Data && page.reason.is_none()) {
        page.reason = match page.encoding {
            Some(encoding) if lists && !is_listed(encoding) => {
                Some(format!("{encoding} is not among the encodings of the column chunk"))
            }
            _ if page.rest != Rest::default() && !is_habit => {
                Some("it has more bytes than the entries that its header says".to_owned())
            }
            _ => continue,
        };
        page.rows = page.claimed.or(page.rows).filter(|_| is_counted);
    }
}

/// The two names of dictionary encoding mean the same.
fn same_name(encoding: Encoding) -> Encoding {
    match encoding {
        Encoding::PLAIN_DICTIONARY => Encoding::RLE_DICTIONARY,
        encoding => encoding,
    }
}

impl Survey {
    /// The rows that begin in whole page `page`.
    pub(super) fn rows_in(&self, page: usize) -> usize {
        self.pages.get(page).map_or(0, |page| (page.rows.end - page.rows.start) as usize)
    }

    /// The rows that can be read, all together.
    pub fn rows(&self) -> u64 {
        self.pages.last().map_or(0, |page| page.before + (page.rows.end - page.rows.start))
    }

    /// What cannot be read, in the order of the file. Several may have the same rows, where it is not known which page
    /// has which.
    pub fn lost(&self) -> &[LostPage] {
        &self.lost
    }

    /// How many of the rows that can be read are before `row` of the row group.
    pub fn position(&self, row: u64) -> u64 {
        let after = self.pages.partition_point(|page| page.rows.end <= row);
        match self.pages.get(after) {
            Some(page) => page.before + row.saturating_sub(page.rows.start),
            None => self.rows(),
        }
    }

    /// Nothing can be read.
    fn nothing(rows: u64, bytes: Range<u64>, error: Error) -> Result<Survey> {
        if !is_damage(&error) {
            return Err(error);
        }
        let reason = error.message().to_owned();
        let lost = vec![LostPage { page: None, rows: 0..rows, bytes, reason }];
        Ok(Survey { lost, ..Survey::default() })
    }

    /// Gives each page its rows: from the first page on up to the first whose rows are not known, and from the last page
    /// back to the last such.
    fn place(pages: Vec<Found>, rows: u64, bytes: Range<u64>, may_exceed: bool, cuts_rows: bool) -> Survey {
        let is_unknown = |page: &Found| page.what == What::Data && page.rows.is_none();
        let known = pages.iter().fold(0u64, |sum, page| sum.saturating_add(page.rows.unwrap_or(0)));
        let unknown = pages.iter().position(is_unknown).zip(pages.iter().rposition(is_unknown));
        let is_wrong = known < rows && unknown.is_none();
        if is_wrong || known > rows && (unknown.is_some() || !may_exceed) {
            let reason = format!("the pages have {known} rows, the row group {rows}");
            let lost = LostPage { page: None, rows: 0..rows, bytes, reason };
            return Survey { lost: vec![lost], ..Survey::default() };
        }
        let rows_in = |pages: &[Found]| pages.iter().filter_map(|page| page.rows).sum::<u64>();
        let middle = unknown.map(|(first, last)| {
            let (before, after) = (rows_in(&pages[..first]), rows_in(&pages[last + 1..]));
            // The last row of the page before may have gone on.
            (first..=last, before.saturating_sub(u64::from(cuts_rows))..rows - after)
        });
        let mut survey = Survey::default();
        let (mut next, mut is_after_gap) = (0, false);
        for (i, page) in pages.into_iter().enumerate() {
            let mut range = next..(next + page.rows.unwrap_or(0)).min(rows);
            let mut reason = page.reason;
            if let Some((pages, lost)) = &middle
                && pages.contains(&i)
            {
                reason = reason.or_else(|| Some("between lost pages: its rows are not known".to_owned()));
                (range, next) = (lost.clone(), lost.end);
            } else {
                next = range.end;
            }
            match (page.what, reason) {
                (What::Dictionary, None) => survey.dictionary = Some(page.bytes.start),
                (_, Some(reason)) => {
                    is_after_gap |= page.what == What::Data;
                    let (page, bytes) = (Some(page.index), page.bytes);
                    survey.lost.push(LostPage { page, rows: range, bytes, reason });
                }
                // After a gap it has nothing but the rest of a lost row.
                (What::Data, None) if !(range.is_empty() && is_after_gap) => {
                    survey.push(page.index, page.bytes.start, range, std::mem::take(&mut is_after_gap));
                }
                _ => {}
            }
        }
        survey
    }

    fn push(&mut self, index: usize, offset: u64, rows: Range<u64>, is_after_gap: bool) {
        let before = self.rows();
        self.pages.push(WholePage { offset, index, rows, before, is_after_gap });
    }
}

/// The rows that begin in a data page, if its header says.
fn rows_of(start: &PageStart, is_flat: bool) -> Option<u64> {
    match is_flat {
        true => start.num_values().ok().map(|n| n as u64),
        false => start.num_rows().map(|n| n as u64),
    }
}

/// Whether an offset index can be true of a chunk of `rows` rows in `bytes`.
fn is_plausible(index: &OffsetIndex, bytes: &Range<u64>, rows: u64) -> bool {
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
