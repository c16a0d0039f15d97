//! Recognizes bytes between pages that are not a page: bloom filters, checkpoints, metadata of chunks, indexes, zeros for
//! alignment. If there is nothing else between two pages, no page is lost there.

use crate::window::Window;
use marquetry_base::ByteCursor;
use marquetry_core::checkpoint::{APPEND_MAGIC, CHECKPOINT_FRAME_LEN, CHECKPOINT_MAGIC, MARKER_LEN, marker};
use marquetry_format::{
    BloomFilterHeader, ColumnChunk, ColumnIndex, ColumnMetaData, OffsetIndex, Reader, SchemaElement,
    ThriftString,
};
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

/// Returns the greatest variant among the fillers that a range begins with, and the end of the last one.
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

/// Returns the length in bytes of the filler at a position, or `None` if there is none.
pub(crate) fn known(window: &mut Window, at: u64) -> Option<u64> {
    filler(window, at).map(|(_, len)| len)
}

/// Returns the filler at a position, and its length in bytes.
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
    // This is a page header, which could be read as other structs, too.
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

/// Returns the column path in the metadata of a chunk between pages.
pub(crate) fn chunk_path(window: &mut Window, gap: Range<u64>) -> Option<Vec<ThriftString>> {
    let mut at = gap.start;
    while at < gap.end {
        let (filler, len) = filler(window, at)?;
        if filler == Filler::ChunkMetadata {
            let bytes = window.at(at, MAX_LEN).ok()?;
            let whole = || ColumnChunk::read(&mut Reader::new(&bytes)).ok()?.meta_data;
            let meta = ColumnMetaData::read(&mut Reader::new(&bytes)).ok();
            let path = meta.filter(|meta| !meta.encodings.is_empty()).or_else(whole)?.path_in_schema;
            return (!path.is_empty()).then_some(path);
        }
        at += len;
    }
    None
}

/// The facts about the schema in the first bytes of a footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FooterHead {
    /// Number of schema elements, the root included.
    pub(crate) elements: usize,
    /// Number of fields of the root, if the root is there.
    pub(crate) fields: Option<usize>,
}

/// Returns the head of the footer that begins at a position, which may be cut off; `None` if none begins there.
pub(crate) fn footer_head(window: &mut Window, at: u64) -> Option<FooterHead> {
    let bytes = window.at(at, MAX_FOOTER_HEAD).ok().filter(|bytes| is_footer_head(bytes))?;
    let mut rest = ByteCursor::new(bytes.get(4..)?);
    let elements = match bytes[3] >> 4 {
        15 => usize::try_from(rest.uleb128().ok()?).ok()?,
        few => usize::from(few),
    };
    let root = SchemaElement::read(&mut Reader::new(rest.rest())).ok();
    let fields = root.and_then(|root| usize::try_from(root.num_children?).ok());
    // A schema has a root, and a root has fields.
    let is_one = elements > 1 && fields.is_none_or(|fields| (1..elements).contains(&fields));
    is_one.then_some(FooterHead { elements, fields })
}

/// Whether a footer, perhaps cut off, begins at a position: a version of 1 or 2, then the schema, a list of structs.
pub(crate) fn begins_footer(window: &mut Window, at: u64) -> bool {
    window.at(at, 4).is_ok_and(|bytes| is_footer_head(&bytes))
}

/// Whether these bytes begin like a footer.
pub(crate) fn is_footer_head(bytes: &[u8]) -> bool {
    matches!(*bytes, [0x15, 2 | 4, 0x19, list, ..] if list & 0x0f == 0x0c)
}

/// Maximum bytes of a bloom filter header or of the beginning of a checkpoint. Fewer zeros are padding for alignment.
const HEAD: usize = 64;
/// Maximum bytes of metadata or an index that is recognized.
const MAX_LEN: usize = 64 << 10;
/// Maximum bytes that are read of the beginning of a footer: the name of a root is short.
const MAX_FOOTER_HEAD: usize = 4 << 10;
