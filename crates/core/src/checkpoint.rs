//! Footers inside a file: checkpoints of its writer, and footers that ended the file before it grew.
//!
//! A writer with checkpoints leaves between row groups everything that would end the file if it were truncated there:
//!
//! ```text
//! marker: CHECKPOINT_MAGIC, its own position u64 | footer length u32 | CRC-32 of the footer u32 |
//! footer of all row groups so far | footer length u32 | PAR1                           all little-endian
//! ```
//!
//! The footer names neither indexes nor bloom filters that come at the end of the file. A change of a finished file
//! begins directly behind its last byte, with a marker that states that the bytes before it were a complete file:
//!
//! ```text
//! ... footer | length | PAR1 | marker: APPEND_MAGIC, its own position u64 | what is new | footer | length | PAR1
//! ```
//!
//! No other footer refers to these bytes, so readers that do not know them skip them. A marker contains its own
//! position: a copy of it elsewhere, or in a page because a file is stored in a value, is not a marker.

use crate::metadata::ParquetMetaData;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_crypto::FileDecryptionProperties;
use marquetry_format::{FooterTail, PAR1, PARE, PageHeader, Reader};
use std::ops::Range;
use std::sync::Arc;

/// The magic bytes of a checkpoint's marker. The first byte and the last one keep it from being text.
pub const CHECKPOINT_MAGIC: [u8; 8] = *b"\x93MQsync\n";
/// The magic bytes of the marker behind a file that grew.
pub const APPEND_MAGIC: [u8; 8] = *b"\x93MQgrow\n";
/// Length of a marker in bytes: magic and position.
pub const MARKER_LEN: usize = 16;
/// Bytes of a checkpoint besides its footer: marker, length, checksum, and again length and PAR1.
pub const CHECKPOINT_FRAME_LEN: u64 = (HEAD_LEN + TAIL_LEN) as u64;

/// A footer that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckpointFound {
    /// The parsed footer; pages are before its first byte.
    pub metadata: ParquetMetaData,
    /// The byte range of the footer.
    pub footer: Range<u64>,
    /// Where the file may be truncated: behind the PAR1 of the footer.
    pub end: u64,
    /// The evidence that it is a footer.
    pub evidence: Evidence,
}

/// The evidence that bytes are the footer of the bytes before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The marker of a checkpoint is before it, and its checksum is correct.
    Checkpoint,
    /// A marker behind it states that it ended the file; that marker may have been written only in part.
    Append,
    /// It is at the end of the file.
    End,
    /// It can be parsed, and its pages match the file. Not certain: it may be the footer of a file in a value.
    Plausible,
}

/// Creates a marker at `position`.
pub fn marker(magic: [u8; 8], position: u64) -> [u8; MARKER_LEN] {
    let mut out = [0; MARKER_LEN];
    out[..8].copy_from_slice(&magic);
    out[8..].copy_from_slice(&position.to_le_bytes());
    out
}

/// Creates a whole checkpoint at `position`; `magic` are the magic bytes at the end of the file, `PAR1` or `PARE`.
///
/// Fails if the footer is longer than the format allows.
pub fn frame(position: u64, footer: &[u8], magic: [u8; 4]) -> Result<Vec<u8>> {
    let len = u32::try_from(footer.len())
        .map_err(|_| Error::argument("the footer is too long for the format"))?
        .to_le_bytes();
    let mut out = Vec::with_capacity(footer.len() + CHECKPOINT_FRAME_LEN as usize);
    out.extend_from_slice(&marker(CHECKPOINT_MAGIC, position));
    out.extend_from_slice(&len);
    out.extend_from_slice(&crc32fast::hash(footer).to_le_bytes());
    out.extend_from_slice(footer);
    out.extend_from_slice(&len);
    out.extend_from_slice(&magic);
    Ok(out)
}

/// Finds the last footer that is certain: at the end of the file, of a checkpoint, or of the file before it grew.
///
/// Reads the file backward from its end, as far as needed; `None` if there is no such footer. Fails if the file cannot
/// be read, or if so much of it looks like footers that reading them all would exceed [`Limits::footer_bytes`]; damage
/// is not an error.
pub fn find_last_checkpoint(source: &dyn Source, limits: &Limits) -> Result<Option<CheckpointFound>> {
    Search::new(source, limits, None, false).run()
}

/// Like [`find_last_checkpoint`], for an encrypted file with its keys. Footers with wrong tags or signatures do not
/// count.
///
/// Also fails if there is a footer, and the key is missing or wrong.
pub fn find_last_encrypted_checkpoint(
    source: &dyn Source,
    limits: &Limits,
    keys: &Arc<FileDecryptionProperties>,
) -> Result<Option<CheckpointFound>> {
    Search::new(source, limits, Some(keys), false).run()
}

/// Like [`find_last_checkpoint`], but returns the last footer that matches the file before it, marked or not.
pub fn find_last_footer(source: &dyn Source, limits: &Limits) -> Result<Option<CheckpointFound>> {
    Search::new(source, limits, None, true).run()
}

/// A backward search for footers.
struct Search<'a> {
    source: &'a dyn Source,
    limits: &'a Limits,
    keys: Option<&'a Arc<FileDecryptionProperties>>,
    takes_plausible: bool,
    /// The part of the file that is searched, with its offset.
    window: (u64, Bytes),
    /// Bytes that may still be spent on candidates that are not footers.
    left: usize,
}

impl<'a> Search<'a> {
    fn new(
        source: &'a dyn Source,
        limits: &'a Limits,
        keys: Option<&'a Arc<FileDecryptionProperties>>,
        takes_plausible: bool,
    ) -> Self {
        Search { source, limits, keys, takes_plausible, window: (0, Bytes::new()), left: limits.footer_bytes }
    }

    fn run(&mut self) -> Result<Option<CheckpointFound>> {
        let mut end = self.source.len();
        while end >= PAR1.len() as u64 {
            self.limits.cancel.check()?;
            let start = end.saturating_sub(WINDOW);
            let bytes = self.source.read_at(start, (end - start) as usize)?;
            self.window = (start, bytes.clone());
            let is_magic = |bytes: &[u8]| *bytes == PAR1 || self.keys.is_some() && *bytes == PARE;
            let hits = bytes.windows(PAR1.len()).enumerate().rev().filter(|(_, bytes)| is_magic(bytes));
            let hits: Vec<usize> = hits.map(|(at, _)| at).collect();
            for at in hits {
                if let Some(found) = self.footer_before(start + (at + PAR1.len()) as u64)? {
                    return Ok(Some(found));
                }
            }
            if start == 0 {
                break;
            }
            // A magic may cross the border.
            end = start + PAR1.len() as u64 - 1;
        }
        Ok(None)
    }

    /// Returns the footer whose PAR1 ends at `end`, if there is one.
    fn footer_before(&mut self, end: u64) -> Result<Option<CheckpointFound>> {
        let Some(tail) = end.checked_sub(TAIL_LEN as u64).filter(|tail| *tail > FIRST_PAGE) else {
            return Ok(None);
        };
        let bytes = self.read(tail, TAIL_LEN)?;
        let Some(Ok(kind)) = bytes.first_chunk().map(FooterTail::parse) else { return Ok(None) };
        let len = kind.metadata_len() as usize;
        let start = tail.checked_sub(len as u64).filter(|start| *start >= FIRST_PAGE);
        let Some(start) = start.filter(|_| len > 0 && len <= self.limits.footer_bytes) else {
            return Ok(None);
        };
        let (evidence, checksum) = self.evidence(start, len, end)?;
        if evidence == Evidence::Plausible && !self.takes_plausible {
            return Ok(None);
        }
        // Each candidate has a minimum cost, however short it is.
        self.left = self.left.checked_sub(len.max(LEAST_COST)).ok_or_else(|| {
            Error::limit("too much of the file looks like a footer; raise Limits::footer_bytes to search on")
        })?;
        let footer = self.read(start, len)?;
        if checksum.is_some_and(|checksum| checksum != crc32fast::hash(&footer)) {
            return Ok(None);
        }
        let metadata = match ParquetMetaData::open(kind, footer, self.limits, self.keys) {
            Ok(metadata) => metadata.with_data_end(start),
            Err(error) if error.stops_reading() => return Err(error),
            // This is certainly a footer, but not for these keys.
            Err(error) if error.kind() == ErrorKind::Key && evidence != Evidence::Plausible => {
                return Err(error.at(start));
            }
            Err(_) => return Ok(None),
        };
        if !chunks_are_before(&metadata, start)
            || evidence == Evidence::Plausible && !self.is_plausible(&metadata, start)?
        {
            return Ok(None);
        }
        self.left = self.left.saturating_add(len);
        Ok(Some(CheckpointFound { metadata, footer: start..tail, end, evidence }))
    }

    /// Returns the evidence for a footer at `start` whose PAR1 ends at `end`, and the checksum that it must have.
    fn evidence(&self, start: u64, len: usize, end: u64) -> Result<(Evidence, Option<u32>)> {
        if let Some(head) = start.checked_sub(HEAD_LEN as u64).filter(|head| *head >= FIRST_PAGE) {
            let bytes = self.read(head, HEAD_LEN)?;
            let checksum = bytes.last_chunk().copied().map(u32::from_le_bytes);
            let rest = bytes.strip_prefix(&marker(CHECKPOINT_MAGIC, head));
            if rest.is_some_and(|rest| rest.starts_with(&(len as u32).to_le_bytes())) {
                return Ok((Evidence::Checkpoint, checksum));
            }
        }
        let behind = (self.source.len() - end).min(MARKER_LEN as u64) as usize;
        if behind == 0 {
            return Ok((Evidence::End, None));
        }
        let bytes = self.read(end, behind)?;
        let marker = marker(APPEND_MAGIC, end);
        let is_whole = behind == MARKER_LEN && *bytes == marker;
        // After a crash during the write of the marker, only a part of it is behind the footer.
        let is_torn = self.source.len() - end <= MARKER_LEN as u64
            && bytes.iter().zip(&marker).all(|(byte, of_marker)| byte == of_marker || *byte == 0);
        Ok((if is_whole || is_torn { Evidence::Append } else { Evidence::Plausible }, None))
    }

    /// Whether a footer without other evidence matches the file: rows add up, and chunks begin with pages.
    fn is_plausible(&self, metadata: &ParquetMetaData, start: u64) -> Result<bool> {
        if u64::try_from(metadata.declared_rows()) != Ok(metadata.num_rows()) {
            return Ok(false);
        }
        let Some(last) = metadata.num_row_groups().checked_sub(1) else {
            return Ok(start == FIRST_PAGE);
        };
        for group in [0, last] {
            for chunk in metadata.row_group(group).columns().flatten() {
                if !self.is_page(chunk.byte_range()?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a page begins where the chunk does, and ends before its end.
    fn is_page(&self, chunk: Range<u64>) -> Result<bool> {
        let len = (chunk.end - chunk.start).min(HEADER_READ);
        let bytes = self.read(chunk.start, len as usize)?;
        let mut reader = Reader::with_limits(&bytes, self.limits);
        Ok(match PageHeader::read_without_statistics(&mut reader) {
            Ok(header) => {
                u64::try_from(header.compressed_page_size).is_ok_and(|size| size <= chunk.end - chunk.start)
            }
            // A header that is longer than the bytes read proves nothing.
            Err(error) => error.kind() == ErrorKind::Truncated && len == HEADER_READ,
        })
    }

    fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        let (start, bytes) = &self.window;
        let inside = offset.checked_sub(*start).and_then(|from| usize::try_from(from).ok());
        match inside.and_then(|from| Some(from..from.checked_add(len)?)) {
            Some(range) if range.end <= bytes.len() => Ok(bytes.slice(range)),
            _ => self.source.read_at(offset, len),
        }
    }
}

/// Whether all chunks are in this file, before its footer.
fn chunks_are_before(metadata: &ParquetMetaData, footer: u64) -> bool {
    metadata.row_groups().flat_map(|group| group.columns()).all(|chunk| match chunk {
        Ok(chunk) => {
            chunk.file_path().is_none_or(|path| path.is_empty())
                && chunk.byte_range().is_ok_and(|range| range.end <= footer)
        }
        Err(error) => error.kind() == ErrorKind::Key,
    })
}

/// Length of marker, footer length and checksum.
const HEAD_LEN: usize = MARKER_LEN + 8;
/// Length of footer length and PAR1.
const TAIL_LEN: usize = 8;
/// Offset of the first page, behind the opening magic.
const FIRST_PAGE: u64 = 4;
/// Size of the search window in bytes.
const WINDOW: u64 = 1 << 20;
/// Minimum cost in bytes of a candidate that is not a footer.
const LEAST_COST: usize = 64;
/// Bytes to read of a page header. Headers are shorter, unless they have long statistics.
const HEADER_READ: u64 = 16 << 10;
