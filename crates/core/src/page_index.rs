//! What stands beside the pages: column indexes, offset indexes, headers of bloom filters.
//!
//! Spec: PageIndex.md, BloomFilter.md. Each is one Thrift struct at a place that the footer names.

mod page_map;

pub use page_map::PageLocations;

use crate::metadata::ColumnChunk;
use crate::source::Source;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_format::{BloomFilterHeader, ColumnIndex, OffsetIndex, Reader};
use std::ops::Range;

/// The bounds of each data page of `chunk`; `None` if the file has no column index for it.
///
/// Fails if it is encrypted or damaged. That there is an entry for each page is not checked.
pub fn read_column_index(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<ColumnIndex>> {
    read(source, chunk, chunk.column_index_range(), limits, "column index", ColumnIndex::read)
}

/// The place of each data page of `chunk`; `None` if the file has no offset index for it.
///
/// Fails if it is encrypted or damaged. That the pages are where it says is not checked.
pub fn read_offset_index(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<OffsetIndex>> {
    read(source, chunk, chunk.offset_index_range(), limits, "offset index", OffsetIndex::read)
}

/// The header of the bloom filter of `chunk`; `None` if it has none.
///
/// Fails if it is encrypted or damaged.
pub fn read_bloom_filter_header(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<BloomFilterHeader>> {
    // The footer may leave out the length, and if it does not, the bits are in it: the header alone is short.
    let range = chunk.bloom_filter_offset().map(|offset| {
        let end = offset.saturating_add(LONGEST_BLOOM_HEADER).min(source.len());
        offset..end.max(offset)
    });
    read(source, chunk, range, limits, "bloom filter", BloomFilterHeader::read)
}

fn read<T>(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    range: Option<Range<u64>>,
    limits: &Limits,
    name: &str,
    parse: impl FnOnce(&mut Reader<'_>) -> Result<T>,
) -> Result<Option<T>> {
    // QUIRK: writers without an index leave offset and length away, or set them to 0.
    let Some(range) = range.filter(|range| !range.is_empty() && range.start > 0) else {
        return Ok(None);
    };
    if chunk.is_encrypted() {
        return Err(Error::encrypted(format!("the {name} is encrypted, and no key was given")));
    }
    let place = |error: Error| framed(error, name).offset_by(range.start).at(range.start);
    let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let bytes = source.read_at(range.start, len).map_err(|error| framed(error, name))?;
    parse(&mut Reader::with_limits(&bytes, limits)).map(Some).map_err(place)
}

/// The error, its message naming the struct. The file's end is no place inside the struct, so only the offset goes
/// along.
fn framed(error: Error, name: &str) -> Error {
    let kind = if error.kind() == ErrorKind::Truncated { ErrorKind::Corrupt } else { error.kind() };
    let framed = Error::new(kind, format!("{name}: {}", error.message()));
    match error.place().offset {
        Some(offset) => framed.at(offset),
        None => framed,
    }
}

/// Four fields take some twenty bytes; unions of later versions may take more.
const LONGEST_BLOOM_HEADER: u64 = 256;
