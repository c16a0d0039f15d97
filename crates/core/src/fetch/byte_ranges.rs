//! Plans which bytes a read needs, as far as footer and indexes show.
//!
//! A plan is a guess that costs nothing: its superfluous bytes are fetched in vain, and
//! [`RangeCache`](super::RangeCache) records bytes that it lacks when they are read.

use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page_index::read_offset_index;
use crate::source::Source;
use marquetry_base::{Limits, Result};
use marquetry_format::OffsetIndex;
use std::ops::Range;

/// Returns the byte ranges of some column chunks of a row group, dictionaries included.
///
/// A chunk whose range is invalid has none here; reading it gives the error.
pub fn chunk_ranges(metadata: &ParquetMetaData, row_group: usize, leaves: &[usize]) -> Vec<Range<u64>> {
    let group = metadata.row_group(row_group);
    leaves.iter().filter_map(|&leaf| whole(group.column(leaf).ok()?)).collect()
}

/// Returns the byte ranges of the column indexes and offset indexes of some columns of a row group.
pub fn index_ranges(metadata: &ParquetMetaData, row_group: usize, leaves: &[usize]) -> Vec<Range<u64>> {
    let group = metadata.row_group(row_group);
    let chunks = leaves.iter().filter_map(|&leaf| group.column(leaf).ok());
    chunks.flat_map(|chunk| [chunk.column_index_range(), chunk.offset_index_range()]).flatten().collect()
}

/// Returns, for each of some columns of a row group, the byte ranges of the pages with any of `rows`, and of the
/// dictionary. `rows` must be sorted and disjoint. A column with a missing or invalid offset index has all its pages.
///
/// Fails only if `source` does, from which offset indexes are read.
pub fn page_ranges(
    source: &dyn Source,
    metadata: &ParquetMetaData,
    row_group: usize,
    leaves: &[usize],
    rows: &[Range<u64>],
    limits: &Limits,
) -> Result<Vec<Vec<Range<u64>>>> {
    let group = metadata.row_group(row_group);
    let mut out = vec![Vec::new(); leaves.len()];
    if rows.is_empty() {
        return Ok(out);
    }
    let (mut failed, mut lacks) = (None, false);
    for (&leaf, out) in leaves.iter().zip(&mut out) {
        let Ok(chunk) = group.column(leaf) else { continue };
        let index = match read_offset_index(source, chunk, limits) {
            Ok(index) => index,
            Err(error) if error.is_damage() => None,
            Err(error) => {
                // The other indexes are read all the same, so that all that are missing are fetched at once.
                (failed, lacks) = (failed.or(Some(error)), true);
                continue;
            }
        };
        if lacks {
            continue;
        }
        match index.and_then(|index| selected(chunk, &index, group.num_rows(), rows)) {
            Some(pages) => out.extend(pages),
            None => out.extend(whole(chunk)),
        }
    }
    failed.map_or(Ok(out), Err)
}

/// Bytes to read behind a chunk. QUIRK: old parquet-mr does not count the dictionary page's header, some 20 bytes, in
/// the size.
const FORGOTTEN_HEADER: u64 = 64;

fn whole(chunk: ColumnChunk<'_>) -> Option<Range<u64>> {
    let range = chunk.byte_range().ok()?;
    let end = range.end.saturating_add(FORGOTTEN_HEADER);
    Some(range.start..end.min(chunk.data_end().unwrap_or(end)).max(range.start))
}

/// Returns the ranges of the dictionary page, and of the data pages with any of `rows`; `None` if the index is invalid.
fn selected(
    chunk: ColumnChunk<'_>,
    index: &OffsetIndex,
    num_rows: u64,
    rows: &[Range<u64>],
) -> Option<Vec<Range<u64>>> {
    let start = chunk.byte_range().ok()?.start;
    let mut out = Vec::new();
    // The bytes before the first data page are the dictionary page.
    let mut at = u64::try_from(index.page_locations.first()?.offset).ok().filter(|&first| first >= start)?;
    if at > start {
        out.push(start..at);
    }
    let mut rows = rows.iter().peekable();
    for (i, page) in index.page_locations.iter().enumerate() {
        let first = u64::try_from(page.first_row_index).ok()?;
        let next = match index.page_locations.get(i + 1) {
            Some(next) => u64::try_from(next.first_row_index).ok()?,
            None => num_rows,
        };
        let begin = u64::try_from(page.offset).ok()?;
        let end = begin.checked_add(u64::try_from(page.compressed_page_size).ok()?)?;
        if begin < at || next < first || i == 0 && first > 0 {
            return None;
        }
        at = end;
        while rows.peek().is_some_and(|rows| rows.end <= first) {
            rows.next();
        }
        if rows.peek().is_some_and(|rows| rows.start < next) {
            out.push(begin..end);
        }
    }
    Some(out)
}
