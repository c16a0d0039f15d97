//! The byte ranges of a file that its footer refers to, and what each is for.

use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page_index::read_bloom_filter_header;
use crate::source::Source;
use marquetry_base::Limits;
use marquetry_crypto::GCM_OVERHEAD;
use marquetry_format::{FooterTail, Writer};
use std::ops::Range;

/// What bytes of a file are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// The four bytes that a file begins with.
    Magic,
    /// The pages of a column chunk.
    Pages,
    /// The bounds of its pages.
    ColumnIndex,
    /// The places of its pages.
    OffsetIndex,
    /// Its bloom filter, header and bits.
    BloomFilter,
    /// The footer, with its length and the magic behind it.
    Footer,
}

/// Bytes of a file that its footer refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRegion {
    /// Where they are, as the footer says it: a damaged one may point out of the file.
    pub range: Range<u64>,
    /// What they are for.
    pub kind: RegionKind,
    /// Row group and column, of what belongs to a column chunk.
    pub chunk: Option<(usize, usize)>,
}

/// All bytes that a footer refers to, in the order in which it names them. Left out are chunks that it hides, that are in other files,
/// or that make no sense.
///
/// A bloom filter whose length the footer does not tell costs a read.
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

/// How many bytes of a file nothing refers to: neither its footer nor its form. `rewrite` leaves them behind.
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

/// What belongs to a chunk: pages, indexes, bloom filter.
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

/// Header and bits.
fn bloom_len(source: &dyn Source, chunk: ColumnChunk<'_>) -> Option<i64> {
    let header = read_bloom_filter_header(source, chunk, &Limits::default()).ok()??;
    let mut writer = Writer::new();
    header.write(&mut writer);
    let around = if chunk.is_encrypted() { 2 * GCM_OVERHEAD as i64 } else { 0 };
    Some(writer.finish().len() as i64 + i64::from(header.num_bytes) + around)
}
