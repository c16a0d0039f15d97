//! The byte ranges of a file that its footer refers to, and their purpose.

use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page_index::read_bloom_filter_header;
use crate::source::Source;
use marquetry_base::Limits;
use marquetry_crypto::GCM_OVERHEAD;
use marquetry_format::{FooterTail, Writer};
use std::ops::Range;

/// The purpose of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// The four magic bytes at the beginning.
    Magic,
    /// The pages of a column chunk.
    Pages,
    /// The column index of the chunk: the bounds of its pages.
    ColumnIndex,
    /// The offset index of the chunk: the places of its pages.
    OffsetIndex,
    /// The bloom filter of the chunk, header and bits.
    BloomFilter,
    /// The footer, with its length and the magic bytes behind it.
    Footer,
}

/// A byte range of a file that its footer refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRegion {
    /// The range by the footer; a damaged one may be outside of the file.
    pub range: Range<u64>,
    /// The purpose of the bytes.
    pub kind: RegionKind,
    /// Row group and column, for parts of a column chunk.
    pub chunk: Option<(usize, usize)>,
}

/// Returns all byte ranges that a footer refers to, in its order. Chunks are left out if their metadata are encrypted,
/// if they are in other files, or if they are invalid.
///
/// A bloom filter whose length is not in the footer costs a read.
pub fn file_regions(source: &dyn Source, metadata: &ParquetMetaData) -> Vec<FileRegion> {
    let len = source.len();
    let tail = len.checked_sub(8).and_then(|tail| source.read_at(tail, 8).ok());
    let tail = tail.and_then(|bytes| FooterTail::parse(bytes.first_chunk()?).ok());
    let footer = tail.map_or(0, |tail| u64::from(tail.metadata_len()) + 8);
    let mut regions = vec![FileRegion { range: 0..4, kind: RegionKind::Magic, chunk: None }];
    for group in metadata.row_groups() {
        for (column, chunk) in group.columns().enumerate() {
            let Ok(chunk) = chunk else { continue };
            if chunk.file_path().is_some_and(|path| !path.is_empty()) {
                continue;
            }
            let place = Some((group.index(), column));
            let of_chunk = of_chunk(source, chunk);
            regions.extend(of_chunk.map(|(range, kind)| FileRegion { range, kind, chunk: place }));
        }
    }
    let footer = len.saturating_sub(footer)..len;
    regions.push(FileRegion { range: footer, kind: RegionKind::Footer, chunk: None });
    regions
}

/// Returns how many bytes of a file are neither referred to by its footer nor part of its framing. `rewrite` drops
/// them.
pub fn unreferenced_bytes(source: &dyn Source, metadata: &ParquetMetaData) -> u64 {
    let len = source.len();
    let mut regions = file_regions(source, metadata);
    regions.sort_by_key(|region| region.range.start);
    let (mut free, mut at) = (0, 0);
    for FileRegion { range, .. } in regions {
        free += range.start.min(len).saturating_sub(at);
        at = at.max(range.end);
    }
    free
}

/// Returns the byte ranges of a chunk: pages, indexes, bloom filter.
fn of_chunk(source: &dyn Source, chunk: ColumnChunk<'_>) -> impl Iterator<Item = (Range<u64>, RegionKind)> {
    let bloom = chunk.bloom_filter_offset().map(|start| {
        let len = chunk.bloom_filter_length().map(i64::from);
        let len = len.or_else(|| bloom_len(source, chunk)).and_then(|len| u64::try_from(len).ok());
        start..start.saturating_add(len.unwrap_or(0))
    });
    let regions = [
        (chunk.byte_range().ok(), RegionKind::Pages),
        (chunk.column_index_range(), RegionKind::ColumnIndex),
        (chunk.offset_index_range(), RegionKind::OffsetIndex),
        (bloom, RegionKind::BloomFilter),
    ];
    regions.into_iter().filter_map(|(range, kind)| Some((range?, kind)))
}

/// Returns the length of a bloom filter, header and bits.
fn bloom_len(source: &dyn Source, chunk: ColumnChunk<'_>) -> Option<i64> {
    let header = read_bloom_filter_header(source, chunk, &Limits::default()).ok()??;
    let mut writer = Writer::new();
    header.write(&mut writer);
    let around = if chunk.is_encrypted() { 2 * GCM_OVERHEAD as i64 } else { 0 };
    Some(writer.finish().len() as i64 + i64::from(header.num_bytes) + around)
}
