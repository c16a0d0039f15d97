//! The bytes of a column chunk until they go into the file: in memory, in a temporary file, or still in the file that
//! they are copied from.

use super::spares::{BLOCK, Block, Spares};
use crate::source::Source;
use marquetry_base::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes in order, wherever each part of them is.
#[derive(Debug, Default)]
pub struct ChunkBytes {
    parts: Vec<Part>,
    len: u64,
    held: usize,
}

enum Part {
    Held(Block),
    Spilled(Arc<Spill>, Range<u64>),
    Elsewhere(Arc<dyn Source>, Range<u64>),
}

impl ChunkBytes {
    /// No bytes.
    pub fn new() -> Self {
        ChunkBytes::default()
    }

    /// How many bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many of them are in memory.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: Vec<u8>) {
        self.len += bytes.len() as u64;
        self.held += bytes.len();
        self.parts.push(Part::Held(Block::of(bytes)));
    }

    /// Appends a copy of `bytes`, in memory that others have left.
    pub(super) fn extend(&mut self, mut bytes: &[u8], spares: &Arc<Spares>) {
        self.held += bytes.len();
        while !bytes.is_empty() {
            let room = match self.parts.last_mut() {
                Some(Part::Held(block)) if block.len() < BLOCK => block,
                _ => {
                    // Of a short chunk the first block will be the last.
                    let is_first = self.parts.is_empty();
                    let block = if is_first { Block::of(Vec::new()) } else { Block::full(spares) };
                    self.parts.push(Part::Held(block));
                    continue;
                }
            };
            let before = bytes.len();
            bytes = room.fill(bytes);
            self.len += (before - bytes.len()) as u64;
        }
    }

    /// Appends a page: what is before it, and the page. If that is long, its memory is taken and other memory given for it.
    ///
    /// PERF: a page that is no longer in the cache takes longer to copy than anything else that happens to it.
    pub(super) fn push_page(&mut self, before: [&[u8]; 2], page: &mut Vec<u8>, spares: &Arc<Spares>) {
        // What is kept takes at most twice as much memory as it has bytes.
        if page.len() < BLOCK.max(page.capacity() / 2) {
            [before[0], before[1], page].into_iter().for_each(|bytes| self.extend(bytes, spares));
            return;
        }
        self.push(before.concat());
        self.len += page.len() as u64;
        self.held += page.len();
        self.parts.push(Part::Held(Block::page(page, spares)));
    }

    /// Appends bytes of a file, which are read when they are written.
    pub fn push_from(&mut self, source: Arc<dyn Source>, range: Range<u64>) {
        self.len += range.end.saturating_sub(range.start);
        self.parts.push(Part::Elsewhere(source, range));
    }

    /// Appends all of `other`.
    pub fn append(&mut self, other: ChunkBytes) {
        self.len += other.len;
        self.held += other.held;
        self.parts.extend(other.parts);
    }

    /// Moves what is in memory to a temporary file.
    pub fn spill_to(&mut self, spill: &Arc<Spill>) -> Result<()> {
        for part in &mut self.parts {
            if let Part::Held(block) = part {
                let range = spill.write(block)?;
                *part = Part::Spilled(spill.clone(), range);
            }
        }
        self.held = 0;
        Ok(())
    }

    /// Writes all bytes to `sink`.
    pub fn copy_to(&self, sink: &mut dyn Write) -> Result<()> {
        for part in &self.parts {
            match part {
                Part::Held(block) => sink.write_all(block).map_err(unwritten)?,
                Part::Spilled(spill, range) => {
                    let mut buffer = Vec::new();
                    for piece in pieces(range) {
                        spill.read(piece, &mut buffer)?;
                        sink.write_all(&buffer).map_err(unwritten)?;
                    }
                }
                Part::Elsewhere(source, range) => {
                    for piece in pieces(range) {
                        let bytes = source.read_at(piece.start, (piece.end - piece.start) as usize)?;
                        sink.write_all(&bytes).map_err(unwritten)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The range cut into what is copied at a time.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    range.clone().step_by(COPIED as usize).map(move |start| start..(start + COPIED).min(end))
}

/// The error of a sink that does not take bytes.
#[cold]
pub(super) fn unwritten(error: std::io::Error) -> Error {
    Error::caused_by(ErrorKind::Io, "the file cannot be written", error)
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Part::Held(block) => write!(f, "Held({} bytes)", block.len()),
            Part::Spilled(_, range) => write!(f, "Spilled({range:?})"),
            Part::Elsewhere(_, range) => write!(f, "Elsewhere({range:?})"),
        }
    }
}

/// A temporary file for pages that memory has no room for. It has no name, so nothing of it stays behind.
#[derive(Debug)]
pub struct Spill {
    /// The file, and how much is in it.
    file: Mutex<(File, u64)>,
}

impl Spill {
    /// An empty file in the system's folder for temporary files.
    pub fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(|error| {
            Error::caused_by(ErrorKind::Io, "no temporary file for finished pages", error)
        })?;
        Ok(Spill { file: Mutex::new((file, 0)) })
    }

    fn write(&self, bytes: &[u8]) -> Result<Range<u64>> {
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        let start = *end;
        file.seek(SeekFrom::Start(start)).and_then(|_| file.write_all(bytes)).map_err(|error| {
            Error::caused_by(ErrorKind::Io, "finished pages cannot be written to a temporary file", error)
        })?;
        *end += bytes.len() as u64;
        Ok(start..*end)
    }

    fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, _) = &mut *guard;
        buffer.resize((range.end - range.start) as usize, 0);
        file.seek(SeekFrom::Start(range.start)).and_then(|_| file.read_exact(buffer)).map_err(|error| {
            Error::caused_by(ErrorKind::Io, "finished pages cannot be read from a temporary file", error)
        })
    }
}

/// Bytes that are copied at a time.
const COPIED: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn blocks_are_filled_and_used_again() {
        let spares = Spares::new(true);
        let all: Vec<u8> = (0..3 * BLOCK + 7).map(|i| (i / 3) as u8).collect();
        for _ in 0..2 {
            let mut chunk = ChunkBytes::new();
            all.chunks(70_001).for_each(|bytes| chunk.extend(bytes, &spares));
            let mut out = Vec::new();
            chunk.copy_to(&mut out).unwrap();
            assert!(out == all);
            assert_eq!((chunk.len(), chunk.held(), chunk.parts.len()), (all.len() as u64, all.len(), 4));
            drop(chunk);
            assert_eq!(spares.blocks(), 3);
        }
        let mut short = ChunkBytes::new();
        short.extend(&all[..100], &spares);
        assert_eq!(spares.blocks(), 3);
    }

    #[test]
    fn long_pages_leave_their_memory() {
        let spares = Spares::new(true);
        let mut page = vec![5; BLOCK];
        for len in [BLOCK, BLOCK - 1, BLOCK + 9, 2 * BLOCK] {
            let mut chunk = ChunkBytes::new();
            let mut expected = Vec::new();
            for number in 0..3 {
                page.clear();
                page.resize(len, number);
                expected.extend([&b"head"[..], b"er", &page].concat());
                chunk.push_page([b"head", b"er"], &mut page, &spares);
            }
            let mut out = Vec::new();
            chunk.copy_to(&mut out).unwrap();
            assert!(out == expected);
            assert_eq!((chunk.len(), chunk.held()), (out.len() as u64, out.len()));
        }
        // Where little of it is used, it stays.
        let mut page = Vec::with_capacity(3 * BLOCK);
        page.resize(BLOCK, 1);
        ChunkBytes::new().push_page([&[], &[]], &mut page, &spares);
        assert_eq!(page.capacity(), 3 * BLOCK);
    }

    #[test]
    fn parts_come_out_in_order_wherever_they_are() {
        let spill = Arc::new(Spill::new().unwrap());
        let mut chunk = ChunkBytes::new();
        chunk.push(vec![1; 3]);
        chunk.push((0..COPIED + 5).map(|i| i as u8).collect());
        chunk.spill_to(&spill).unwrap();
        assert_eq!(chunk.held(), 0);
        chunk.push_from(Arc::new(Bytes::from_static(b"0123456789")), 2..5);
        chunk.push(vec![9]);
        assert_eq!(chunk.held(), 1);
        let mut out = Vec::new();
        chunk.copy_to(&mut out).unwrap();
        assert_eq!(out.len() as u64, chunk.len());
        assert_eq!(out[..4], [1, 1, 1, 0]);
        assert_eq!(out[out.len() - 5..], [4, b'2', b'3', b'4', 9]);
    }
}
