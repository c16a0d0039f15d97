//! Bytes of a file that nothing in it refers to.

use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page_index::read_bloom_filter_header;
use crate::source::Source;
use marquetry_base::Limits;
use marquetry_crypto::GCM_OVERHEAD;
use marquetry_format::{FooterTail, Writer};
use std::ops::Range;

/// How many bytes of a file nothing refers to: neither its footer nor its form. `rewrite` leaves them behind.
pub fn unreferenced_bytes(source: &dyn Source, metadata: &ParquetMetaData) -> u64 {
    let len = source.len();
    let tail = len.checked_sub(8).and_then(|tail| source.read_at(tail, 8).ok());
    let tail = tail.and_then(|bytes| FooterTail::parse(bytes.first_chunk()?).ok());
    let footer = tail.map_or(0, |tail| u64::from(tail.metadata_len()) + 8);
    let chunks = metadata.row_groups().flat_map(|group| group.columns()).flatten();
    let mut ranges: Vec<Range<u64>> = chunks.flat_map(|chunk| of_chunk(source, chunk)).collect();
    ranges.push(0..4);
    ranges.push(len.saturating_sub(footer)..len);
    ranges.sort_by_key(|range| range.start);
    let (mut free, mut at) = (0, 0);
    for range in ranges {
        free += range.start.min(len).saturating_sub(at);
        at = at.max(range.end);
    }
    free
}

/// What belongs to a chunk: pages, indexes, bloom filter.
fn of_chunk(source: &dyn Source, chunk: ColumnChunk<'_>) -> Vec<Range<u64>> {
    let bloom = chunk.bloom_filter_offset().map(|start| {
        let len = chunk.bloom_filter_length().map(i64::from);
        let len = len.or_else(|| bloom_len(source, chunk)).and_then(|len| u64::try_from(len).ok());
        start..start.saturating_add(len.unwrap_or(0))
    });
    let ranges = [chunk.byte_range().ok(), chunk.column_index_range(), chunk.offset_index_range(), bloom];
    ranges.into_iter().flatten().collect()
}

/// Header and bits.
fn bloom_len(source: &dyn Source, chunk: ColumnChunk<'_>) -> Option<i64> {
    let header = read_bloom_filter_header(source, chunk, &Limits::default()).ok()??;
    let mut writer = Writer::new();
    header.write(&mut writer);
    let around = if chunk.is_encrypted() { 2 * GCM_OVERHEAD as i64 } else { 0 };
    Some(writer.finish().len() as i64 + i64::from(header.num_bytes) + around)
}
