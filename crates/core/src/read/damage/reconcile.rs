//! Decides which pages to trust, and which rows they contain.

use super::chunk_damage::{ChunkDamage, LostPage};
use super::header_walk::{PageRole, WalkedPage, rows_by_index};
use crate::metadata::ColumnChunk;
use crate::read::page_decoder::TrailingBytes;
use marquetry_format::{Encoding, OffsetIndex};
use std::collections::BTreeSet;
use std::ops::Range;

/// Decides between the decoded numbers of rows and those that headers or the index claim. `is_counted` tells that the
/// claims add up to the rows of the row group.
pub(super) fn reconcile_rows(pages: &mut [WalkedPage], rows: u64, is_counted: bool) {
    let sum = pages.iter().fold(0u64, |sum, page| sum.saturating_add(page.rows.unwrap_or(0)));
    // QUIRK: some writers claim wrong numbers of rows for pages that are intact.
    let is_whole = sum == rows && pages.iter().all(|page| page.reason.is_none());
    let count = pages.len();
    for (i, page) in pages.iter_mut().enumerate() {
        if let (Some(claimed), Some(counted)) = (page.claimed, page.rows)
            && page.reason.is_none()
            && is_counted
            && !is_whole
            // QUIRK: the last page may have more rows than the row group has left.
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

/// Rejects pages whose encoding is not in the footer's list, and pages with bytes behind their entries.
pub(super) fn reject_contradicted(pages: &mut [WalkedPage], chunk: ColumnChunk<'_>, is_counted: bool) {
    let encodings = || {
        let data = pages.iter().filter(|page| page.role == PageRole::Data);
        data.filter_map(|page| page.encoding).map(same_name)
    };
    // The list is walked once, not for each page: a hostile footer has millions of entries.
    let used: BTreeSet<Encoding> = encodings().collect();
    let listed: BTreeSet<Encoding> =
        chunk.encodings().iter().map(same_name).filter(|listed| used.contains(listed)).collect();
    // QUIRK: some writers' lists are wrong, so a list without the encoding of any page is ignored.
    let lists = !chunk.encodings().is_empty() && (!listed.is_empty() || encodings().count() == 1);
    let mut rests = pages
        .iter()
        .filter(|page| page.role == PageRole::Data && page.reason.is_none())
        .map(|page| page.trailing);
    // QUIRK: some writers leave bytes after the levels, others after the values, and do so in each page.
    let first = rests.next().unwrap_or_default();
    let is_habit = !(first.levels && first.values) && rests.all(|rest| rest == first);
    for page in pages.iter_mut().filter(|page| page.role == PageRole::Data && page.reason.is_none()) {
        page.reason = match page.encoding {
            Some(encoding) if lists && !listed.contains(&same_name(encoding)) => {
                Some(format!("{encoding} is not among the encodings of the column chunk"))
            }
            _ if page.trailing != TrailingBytes::default() && !is_habit => {
                Some("it has more bytes than the entries that its header says".to_owned())
            }
            _ => continue,
        };
        page.rows = page.claimed.or(page.rows).filter(|_| is_counted);
    }
}

/// Returns one name for the two names of dictionary encoding.
fn same_name(encoding: Encoding) -> Encoding {
    match encoding {
        Encoding::PLAIN_DICTIONARY => Encoding::RLE_DICTIONARY,
        encoding => encoding,
    }
}

/// Gives pages the rows of the offset index, if it agrees with the readable pages. Returns whether it does.
pub(super) fn apply_offset_index(pages: &mut [WalkedPage], index: &OffsetIndex, rows: u64) -> bool {
    let locations = &index.page_locations;
    let data = || pages.iter().filter(|page| page.role == PageRole::Data);
    let agrees = data().count() == locations.len()
        && data().zip(locations).enumerate().all(|(i, (page, location))| {
            let expected = rows_by_index(index, i, rows);
            let is_last = i + 1 == locations.len();
            page.bytes.start == location.offset as u64
                && page.rows.is_none_or(|rows| rows == expected || is_last && rows > expected)
        });
    if agrees {
        let data = pages.iter_mut().filter(|page| page.role == PageRole::Data);
        data.enumerate().for_each(|(i, page)| page.rows = Some(rows_by_index(index, i, rows)));
    }
    agrees
}

/// Locates the rows of each page: forward from the first page to the first one with an unknown number of rows, and
/// backward from the last page to the last such one.
pub(super) fn locate_rows(
    pages: Vec<WalkedPage>,
    rows: u64,
    bytes: Range<u64>,
    may_exceed: bool,
    cuts_rows: bool,
) -> ChunkDamage {
    let is_unknown = |page: &WalkedPage| page.role == PageRole::Data && page.rows.is_none();
    let known = pages.iter().fold(0u64, |sum, page| sum.saturating_add(page.rows.unwrap_or(0)));
    let unknown = pages.iter().position(is_unknown).zip(pages.iter().rposition(is_unknown));
    let is_wrong = known < rows && unknown.is_none();
    if is_wrong || known > rows && (unknown.is_some() || !may_exceed) {
        let reason = format!("the pages have {known} rows, the row group {rows}");
        let lost = LostPage { page: None, rows: 0..rows, bytes, reason };
        return ChunkDamage { lost: vec![lost], ..ChunkDamage::default() };
    }
    let rows_in = |pages: &[WalkedPage]| pages.iter().filter_map(|page| page.rows).sum::<u64>();
    let middle = unknown.map(|(first, last)| {
        let (before, after) = (rows_in(&pages[..first]), rows_in(&pages[last + 1..]));
        // The last row of the page before may continue in the gap.
        (first..=last, before.saturating_sub(u64::from(cuts_rows))..rows - after)
    });
    let mut damage = ChunkDamage::default();
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
        match (page.role, reason) {
            (PageRole::Dictionary, None) => damage.dictionary = Some(page.bytes.start),
            (_, Some(reason)) => {
                is_after_gap |= page.role == PageRole::Data;
                let (page, bytes) = (Some(page.index), page.bytes);
                damage.lost.push(LostPage { page, rows: range, bytes, reason });
            }
            // Omits a page after a gap that only has the rest of a lost row.
            (PageRole::Data, None) if !(range.is_empty() && is_after_gap) => {
                damage.push(page.index, page.bytes.start, range, std::mem::take(&mut is_after_gap));
            }
            _ => {}
        }
    }
    damage
}
