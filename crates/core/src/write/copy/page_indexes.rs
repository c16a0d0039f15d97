//! The parts of a chunk beside its pages: indexes and the bloom filter. They can be created anew, so damage only costs
//! these; but a reader would believe them, so they are checked.

use crate::metadata::ColumnChunk;
use crate::page_index::{
    read_bloom_filter_bytes, read_bloom_filter_header, read_column_index, read_offset_index,
};
use crate::source::Source;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_format::{ColumnIndex, OffsetIndex, Writer};
use std::borrow::Cow;

/// The indexes of a chunk, unless they are invalid.
pub(super) struct Indexes {
    pub(super) column: Option<ColumnIndex>,
    pub(super) offset: Option<OffsetIndex>,
}

impl Indexes {
    pub(super) fn read(
        source: &dyn Source,
        chunk: ColumnChunk<'_>,
        rows: u64,
        ignore_offset_index: bool,
        limits: &Limits,
        notes: &mut Vec<Cow<'static, str>>,
    ) -> Result<Self> {
        let offset = match ignore_offset_index {
            true => None,
            false => kept(read_offset_index(source, chunk, limits), "a damaged offset index", notes)?,
        };
        let column = kept(read_column_index(source, chunk, limits), "a damaged column index", notes)?;
        // Indexes without pages have no information.
        let offset = offset.filter(|index| !index.page_locations.is_empty());
        let column = column.filter(|index| !index.null_pages.is_empty());
        let (had_offset, had_column) = (offset.is_some(), column.is_some());
        let offset = offset.filter(|index| places_can_be(index, chunk, rows)).map(with_sizes_or_none);
        let column = column.filter(counts_agree);
        if had_offset && offset.is_none() {
            notes.push("an offset index that contradicts itself".into());
        }
        // Bounds belong to pages, so both indexes must have the same pages, or one of them is wrong.
        let pages = offset.as_ref().map(|index| index.page_locations.len());
        let column = column.filter(|index| pages.is_none_or(|pages| pages == index.null_pages.len()));
        if had_column && column.is_none() {
            notes.push("a column index that contradicts itself or the offset index".into());
        }
        Ok(Indexes { column, offset })
    }
}

/// Returns the bloom filter, header and bits, unless it is invalid.
pub(super) fn bloom_filter(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
    notes: &mut Vec<Cow<'static, str>>,
) -> Result<Option<Vec<u8>>> {
    let note = "a damaged bloom filter";
    if chunk.is_encrypted() {
        return Ok(kept(read_bloom_filter_bytes(source, chunk, limits), note, notes)?.map(Vec::from));
    }
    let Some(header) = kept(read_bloom_filter_header(source, chunk, limits), note, notes)? else {
        return Ok(None);
    };
    let Some(offset) = chunk.bloom_filter_offset() else { return Ok(None) };
    let mut writer = Writer::new();
    header.write(&mut writer);
    let bits = usize::try_from(header.num_bytes).ok().filter(|bits| *bits > 0);
    let len = match (chunk.bloom_filter_length(), bits) {
        (_, None) => None,
        // If there is no length, the header is assumed to be as this build would write it, which is how all writers do
        // it.
        (None, Some(bits)) => Some(writer.finish().len() + bits),
        (Some(len), Some(bits)) => usize::try_from(len).ok().filter(|len| *len > bits),
    };
    let end = chunk.data_end().unwrap_or(source.len()).min(source.len());
    let len = len.filter(|len| offset.checked_add(*len as u64).is_some_and(|last| last <= end));
    match len {
        Some(len) => Ok(kept(source.read_at(offset, len).map(Some), note, notes)?.map(Vec::from)),
        None => {
            notes.push(note.into());
            Ok(None)
        }
    }
}

/// Returns what was read; damage becomes a note.
fn kept<T>(
    read: Result<Option<T>>,
    note: &'static str,
    notes: &mut Vec<Cow<'static, str>>,
) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(read),
        Err(error)
            if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::Unsupported) =>
        {
            notes.push(note.into());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether pages follow each other, from the first row on, before the footer and within the rows of the row group.
///
/// QUIRK: hangxie/parquet-go counts values of nested columns instead of rows.
fn places_can_be(index: &OffsetIndex, chunk: ColumnChunk<'_>, rows: u64) -> bool {
    let pages = &index.page_locations;
    let end_of = |at: i64, len: i32| at.checked_add(i64::from(len)).filter(|_| at >= 0 && len >= 0);
    let follows = pages.windows(2).all(|pair| {
        let [before, after] = pair else { return false };
        end_of(before.offset, before.compressed_page_size).is_some_and(|end| end <= after.offset)
            && before.first_row_index <= after.first_row_index
    });
    let last = pages.last().and_then(|last| end_of(last.offset, last.compressed_page_size));
    let data_end = chunk.data_end().and_then(|end| i64::try_from(end).ok()).unwrap_or(i64::MAX);
    let first = pages.first().map(|first| first.first_row_index);
    let is_row = |row: i64| u64::try_from(row).is_ok_and(|row| row <= rows);
    let are_rows = pages.last().is_some_and(|last| is_row(last.first_row_index));
    follows && first == Some(0) && are_rows && last.is_some_and(|last| last <= data_end)
}

fn with_sizes_or_none(mut index: OffsetIndex) -> OffsetIndex {
    let pages = index.page_locations.len();
    index.unencoded_byte_array_data_bytes =
        index.unencoded_byte_array_data_bytes.filter(|sizes| sizes.len() == pages);
    index
}

/// Whether all lists have one element for each page.
fn counts_agree(index: &ColumnIndex) -> bool {
    let pages = index.null_pages.len();
    let histogram = |histogram: &Option<Vec<i64>>| {
        histogram.as_ref().is_none_or(|levels| levels.len().is_multiple_of(pages))
    };
    index.min_values.len() == pages
        && index.max_values.len() == pages
        && index.null_counts.as_ref().is_none_or(|counts| counts.len() == pages)
        && index.nan_counts.as_ref().is_none_or(|counts| counts.len() == pages)
        && histogram(&index.repetition_level_histograms)
        && histogram(&index.definition_level_histograms)
}
