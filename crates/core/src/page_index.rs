//! Reads the parts of a chunk beside its pages: column indexes, offset indexes, headers of bloom filters.
//!
//! Spec: PageIndex.md, BloomFilter.md. Each is one Thrift struct at an offset that the footer states.

mod bloom_filter;
mod index;
mod page_map;

pub use bloom_filter::{read_bloom_filter, read_bloom_filter_bytes, read_bloom_filter_header};
pub use index::PageIndex;
pub use page_map::PageLocations;

use crate::metadata::ColumnChunk;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_crypto::ModuleType;
use marquetry_format::{ColumnIndex, OffsetIndex, Reader};
use std::ops::Range;

/// Reads the column index of `chunk`, the bounds of each data page; `None` if the file has none.
///
/// Fails if it is damaged, or encrypted without a key for it. Does not check that there is an entry for each page.
pub fn read_column_index(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<ColumnIndex>> {
    read(source, chunk, chunk.column_index_range(), limits, COLUMN_INDEX, ColumnIndex::read)
}

/// Reads the offset index of `chunk`, the place of each data page; `None` if the file has none.
///
/// Fails if it is damaged, or encrypted without a key for it. Does not check that the pages are where it states.
pub fn read_offset_index(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    limits: &Limits,
) -> Result<Option<OffsetIndex>> {
    read(source, chunk, chunk.offset_index_range(), limits, OFFSET_INDEX, OffsetIndex::read)
}

fn read<T>(
    source: &dyn Source,
    chunk: ColumnChunk<'_>,
    range: Option<Range<u64>>,
    limits: &Limits,
    (name, module): Named,
    parse: impl FnOnce(&mut Reader<'_>) -> Result<T>,
) -> Result<Option<T>> {
    // QUIRK: writers without an index omit offset and length, or set them to 0.
    let Some(range) = range.filter(|range| !range.is_empty() && range.start > 0) else {
        return Ok(None);
    };
    let decryptor = chunk.decryptor()?;
    limits.cancel.check()?;
    let place = |error: Error| framed(error, name).offset_by(range.start).at(range.start);
    let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let bytes = source.read_at(range.start, len).map_err(|error| framed(error, name))?;
    let bytes = match decryptor {
        Some(decryptor) => decryptor.open(module, &bytes).map(Bytes::from).map_err(place)?,
        None => bytes,
    };
    parse(&mut Reader::with_limits(&bytes, limits)).map(Some).map_err(place)
}

/// Adds the struct's name to the error's message. The end of the file is not a position in the struct, so only the
/// offset is kept.
fn framed(error: Error, name: &str) -> Error {
    if error.kind() != ErrorKind::Truncated {
        return error.with_context(name);
    }
    let framed = Error::corrupt(format!("{name}: {}", error.message()));
    match error.place().offset {
        Some(offset) => framed.at(offset),
        None => framed,
    }
}

/// The name of a struct beside the pages, and the module type with which it is encrypted.
type Named = (&'static str, ModuleType);

const COLUMN_INDEX: Named = ("column index", ModuleType::ColumnIndex);
const OFFSET_INDEX: Named = ("offset index", ModuleType::OffsetIndex);
