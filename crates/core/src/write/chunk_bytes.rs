//! The bytes of a column chunk until they go into the file: in memory, in a temporary file, or still in the file that
//! they are copied from.

use super::buffer_pool::{BLOCK_BYTES, BufferPool, PooledBlock};
use super::spill::Spill;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{CancelToken, Error, Result};
use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// A sequence of bytes whose parts may be in different places.
#[derive(Debug, Default)]
pub struct ChunkBytes {
    parts: VecDeque<Part>,
    len: u64,
    held: usize,
}

enum Part {
    Held(PooledBlock),
    Spilled(Arc<Spill>, Range<u64>),
    Elsewhere(Arc<dyn Source>, Range<u64>),
}

impl ChunkBytes {
    /// Creates an empty sequence.
    pub fn new() -> Self {
        ChunkBytes::default()
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many of the bytes are in memory.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: Vec<u8>) {
        self.len += bytes.len() as u64;
        self.held += bytes.len();
        self.parts.push_back(Part::Held(PooledBlock::of(bytes)));
    }

    /// Appends a copy of `bytes`, in memory from the pool.
    pub(super) fn extend(&mut self, mut bytes: &[u8], pool: &Arc<BufferPool>) {
        self.held += bytes.len();
        while !bytes.is_empty() {
            let room = match self.parts.back_mut() {
                Some(Part::Held(block)) if block.len() < BLOCK_BYTES => block,
                _ => {
                    // The first block of a short chunk will be its last.
                    let is_first = self.parts.is_empty();
                    let block = if is_first { PooledBlock::of(Vec::new()) } else { PooledBlock::full(pool) };
                    self.parts.push_back(Part::Held(block));
                    continue;
                }
            };
            let before = bytes.len();
            bytes = room.fill(bytes);
            self.len += (before - bytes.len()) as u64;
        }
    }

    /// Appends the bytes before a page, and the page. If the page is long, it takes its memory and gives other memory
    /// for it.
    ///
    /// PERF: copying a page that is no longer in the cache takes longer than anything else that is done with it.
    pub(super) fn push_page(&mut self, before: [&[u8]; 2], page: &mut Vec<u8>, pool: &Arc<BufferPool>) {
        // Blocks that are kept take at most twice as much memory as they have bytes.
        if page.len() < BLOCK_BYTES.max(page.capacity() / 2) {
            [before[0], before[1], page].into_iter().for_each(|bytes| self.extend(bytes, pool));
            return;
        }
        self.push(before.concat());
        self.len += page.len() as u64;
        self.held += page.len();
        self.parts.push_back(Part::Held(PooledBlock::page(page, pool)));
    }

    /// Appends bytes of a file, which are read when they are written.
    pub fn push_from(&mut self, source: Arc<dyn Source>, range: Range<u64>) {
        self.len += range.end.saturating_sub(range.start);
        self.parts.push_back(Part::Elsewhere(source, range));
    }

    /// Appends all of `other`.
    pub fn append(&mut self, other: ChunkBytes) {
        self.len += other.len;
        self.held += other.held;
        self.parts.extend(other.parts);
    }

    /// Moves the bytes in memory to the spill.
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

    /// Takes the first bytes away: a whole part that is in memory, or at most a megabyte of other parts, which is read.
    /// `None` if there are no more.
    pub fn take_piece(&mut self) -> Result<Option<Bytes>> {
        let Some(part) = self.parts.pop_front() else { return Ok(None) };
        let (piece, rest) = match part {
            Part::Held(block) => {
                self.held -= block.len();
                (Bytes::from_owner(block), None)
            }
            Part::Spilled(spill, range) => {
                let (first, rest) = cut(range);
                let mut buffer = Vec::new();
                spill.read(first, &mut buffer)?;
                (buffer.into(), rest.map(|rest| Part::Spilled(spill, rest)))
            }
            Part::Elsewhere(source, range) => {
                let (first, rest) = cut(range);
                let bytes = source.read_at(first.start, (first.end - first.start) as usize)?;
                (bytes, rest.map(|rest| Part::Elsewhere(source, rest)))
            }
        };
        self.len -= piece.len() as u64;
        if let Some(rest) = rest {
            self.parts.push_front(rest);
        }
        Ok(Some(piece))
    }

    /// Writes all bytes to `sink`.
    pub fn copy_to(&self, sink: &mut dyn Write) -> Result<()> {
        self.copy_unless(&CancelToken::default(), sink)
    }

    /// Like [`copy_to`](Self::copy_to), piece by piece until it is cancelled.
    pub(super) fn copy_unless(&self, cancel: &CancelToken, sink: &mut dyn Write) -> Result<()> {
        for part in &self.parts {
            cancel.check()?;
            match part {
                Part::Held(block) => sink.write_all(block).map_err(unwritten)?,
                Part::Spilled(spill, range) => {
                    let mut buffer = Vec::new();
                    for piece in pieces(range) {
                        cancel.check()?;
                        spill.read(piece, &mut buffer)?;
                        sink.write_all(&buffer).map_err(unwritten)?;
                    }
                }
                Part::Elsewhere(source, range) => {
                    for piece in pieces(range) {
                        cancel.check()?;
                        let bytes = source.read_at(piece.start, (piece.end - piece.start) as usize)?;
                        sink.write_all(&bytes).map_err(unwritten)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Splits off the first piece of the range; returns it and the rest.
fn cut(range: Range<u64>) -> (Range<u64>, Option<Range<u64>>) {
    let middle = range.end.min(range.start.saturating_add(COPIED));
    (range.start..middle, (middle < range.end).then_some(middle..range.end))
}

/// Splits the range into pieces that are copied at a time.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    range.clone().step_by(COPIED as usize).map(move |start| start..(start + COPIED).min(end))
}

/// Returns the error for a sink that does not accept bytes; an error of our own is returned unchanged.
#[cold]
pub(super) fn unwritten(error: std::io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::io("the file cannot be written", error))
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

/// Number of bytes to copy at a time.
const COPIED: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn blocks_are_filled_and_used_again() {
        let pool = BufferPool::new(true);
        let all: Vec<u8> = (0..3 * BLOCK_BYTES + 7).map(|i| (i / 3) as u8).collect();
        for _ in 0..2 {
            let mut chunk = ChunkBytes::new();
            all.chunks(70_001).for_each(|bytes| chunk.extend(bytes, &pool));
            let mut out = Vec::new();
            chunk.copy_to(&mut out).unwrap();
            assert!(out == all);
            assert_eq!((chunk.len(), chunk.held(), chunk.parts.len()), (all.len() as u64, all.len(), 4));
            drop(chunk);
            assert_eq!(pool.blocks(), 3);
        }
        let mut short = ChunkBytes::new();
        short.extend(&all[..100], &pool);
        assert_eq!(pool.blocks(), 3);
    }

    #[test]
    fn long_pages_leave_their_memory() {
        let pool = BufferPool::new(true);
        let mut page = vec![5; BLOCK_BYTES];
        for len in [BLOCK_BYTES, BLOCK_BYTES - 1, BLOCK_BYTES + 9, 2 * BLOCK_BYTES] {
            let mut chunk = ChunkBytes::new();
            let mut expected = Vec::new();
            for number in 0..3 {
                page.clear();
                page.resize(len, number);
                expected.extend([&b"head"[..], b"er", &page].concat());
                chunk.push_page([b"head", b"er"], &mut page, &pool);
            }
            let mut out = Vec::new();
            chunk.copy_to(&mut out).unwrap();
            assert!(out == expected);
            assert_eq!((chunk.len(), chunk.held()), (out.len() as u64, out.len()));
        }
        // A page that uses little of its memory keeps it.
        let mut page = Vec::with_capacity(3 * BLOCK_BYTES);
        page.resize(BLOCK_BYTES, 1);
        ChunkBytes::new().push_page([&[], &[]], &mut page, &pool);
        assert_eq!(page.capacity(), 3 * BLOCK_BYTES);
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
        // Taken away piece by piece, the bytes are the same.
        let mut taken = Vec::new();
        while let Some(piece) = chunk.take_piece().unwrap() {
            assert!(!piece.is_empty() && piece.len() as u64 <= COPIED);
            taken.extend_from_slice(&piece);
        }
        assert!(taken == out);
        assert_eq!((chunk.len(), chunk.held()), (0, 0));
    }
}
