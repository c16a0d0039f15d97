//! Recognizes what stands between pages and is no page: bloom filters, checkpoints, metadata of chunks, indexes, zeros for
//! alignment. Where there is nothing else between two pages, none is lost.

use crate::window::Window;
use marquetry_core::checkpoint::{APPEND_MAGIC, CHECKPOINT_FRAME_LEN, CHECKPOINT_MAGIC, MARKER_LEN, marker};
use marquetry_format::{BloomFilterHeader, ColumnChunk, ColumnIndex, ColumnMetaData, OffsetIndex, Reader};
use std::ops::Range;

/// Bytes between pages. Later variants are better evidence of where row groups end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Filler {
    /// Zeros.
    Alignment,
    /// Metadata of the chunk before it.
    ChunkMetadata,
    /// Bloom filters stand between row groups, or behind all of them.
    BloomFilter,
    /// Indexes stand behind all row groups, checkpoints between them.
    IndexOrCheckpoint,
}

impl Filler {
    /// Whether a row group ends before it.
    pub(crate) fn ends_row_group(self) -> bool {
        self >= Filler::BloomFilter
    }
}

/// Whether a gap consists of fillers.
pub(crate) fn is_known(window: &mut Window, gap: Range<u64>) -> bool {
    fillers(window, gap.clone()).1 == gap.end
}

/// The fillers that a range begins with: the greatest variant among them, and the end of the last one.
pub(crate) fn fillers(window: &mut Window, range: Range<u64>) -> (Option<Filler>, u64) {
    let (mut found, mut at) = (None, range.start);
    while at < range.end {
        match filler(window, at) {
            Some((filler, len)) if len <= range.end - at => {
                found = found.max(Some(filler));
                at += len;
            }
            _ => break,
        }
    }
    (found, at)
}

/// The length in bytes of the filler at a position; `None` if there is none.
pub(crate) fn known(window: &mut Window, at: u64) -> Option<u64> {
    filler(window, at).map(|(_, len)| len)
}

/// The filler at a position, and its length in bytes.
fn filler(window: &mut Window, at: u64) -> Option<(Filler, u64)> {
    let bytes = window.at(at, HEAD).ok()?;
    if bytes.starts_with(&marker(CHECKPOINT_MAGIC, at)) {
        let len = bytes
            .get(MARKER_LEN..)
            .and_then(|rest| rest.first_chunk::<4>())
            .map(|len| u32::from_le_bytes(*len))?;
        return Some((Filler::IndexOrCheckpoint, CHECKPOINT_FRAME_LEN.checked_add(u64::from(len))?));
    }
    if bytes.starts_with(&marker(APPEND_MAGIC, at)) {
        return Some((Filler::IndexOrCheckpoint, MARKER_LEN as u64));
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    if zeros > 0 {
        return (zeros < HEAD).then_some((Filler::Alignment, zeros as u64));
    }
    // This is a page header. It could be read as other structs too.
    if matches!(*bytes, [0x15, _, 0x15, ..]) {
        return None;
    }
    let mut reader = Reader::new(&bytes);
    if let Ok(header) = BloomFilterHeader::read(&mut reader) {
        let bits = u64::try_from(header.num_bytes).ok().filter(|bits| *bits > 0 && bits % 32 == 0);
        if let Some(bits) = bits {
            return Some((Filler::BloomFilter, reader.position() as u64 + bits));
        }
    }
    let bytes = window.at(at, MAX_LEN).ok()?;
    let read = |filler, read: fn(&mut Reader<'_>) -> bool| {
        let mut reader = Reader::new(&bytes);
        read(&mut reader).then_some((filler, reader.position() as u64))
    };
    // QUIRK: many writers leave a chunk's metadata behind it, as the format once asked for.
    read(Filler::ChunkMetadata, |reader| {
        ColumnMetaData::read(reader).is_ok_and(|meta| !meta.encodings.is_empty())
    })
    .or_else(|| {
        read(Filler::ChunkMetadata, |reader| {
            ColumnChunk::read(reader).is_ok_and(|chunk| chunk.meta_data.is_some())
        })
    })
    .or_else(|| {
        read(Filler::IndexOrCheckpoint, |reader| {
            ColumnIndex::read(reader).is_ok_and(|index| !index.null_pages.is_empty())
        })
    })
    .or_else(|| {
        read(Filler::IndexOrCheckpoint, |reader| {
            OffsetIndex::read(reader).is_ok_and(|index| !index.page_locations.is_empty())
        })
    })
}

/// Whether a footer, perhaps cut off, begins at a position: a version of 1 or 2, then a list of structs, the schema.
pub(crate) fn begins_footer(window: &mut Window, at: u64) -> bool {
    window.at(at, 4).is_ok_and(|bytes| is_footer_head(&bytes))
}

/// Whether these bytes begin as a footer does.
pub(crate) fn is_footer_head(bytes: &[u8]) -> bool {
    matches!(*bytes, [0x15, 2 | 4, 0x19, list, ..] if list & 0x0f == 0x0c)
}

/// Bytes of a bloom filter's header or a checkpoint's beginning at most. Fewer zeros are for alignment.
const HEAD: usize = 64;
/// Bytes of the longest metadata or index that is recognized.
const MAX_LEN: usize = 64 << 10;
