//! A sink that queues bytes, for writers whose real sink is asynchronous.

use super::chunk_bytes::ChunkBytes;
use bytes::Bytes;
use marquetry_base::Result;
use std::io::{self, Write};

/// A sink of a [`FileWriter`](super::FileWriter) that returns the bytes in pieces, in order, for sinks that are
/// asynchronous. Pages are moved through it, not copied, and spilled bytes are read piece by piece as they are taken.
///
/// ```
/// use marquetry_core::write::ByteQueue;
/// use std::io::Write;
///
/// let mut queue = ByteQueue::default();
/// queue.write_all(b"abc")?;
/// queue.write_all(b"def")?;
/// assert_eq!(queue.len(), 6);
/// assert_eq!(queue.take_piece()?.unwrap(), "abcdef");
/// assert_eq!(queue.take_piece()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ByteQueue {
    chunks: ChunkBytes,
    /// Short pieces behind the chunks: magic numbers, filters, indexes, footers.
    tail: Vec<u8>,
}

impl ByteQueue {
    /// The number of bytes in the queue.
    pub fn len(&self) -> u64 {
        self.chunks.len() + self.tail.len() as u64
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many of the bytes are in memory.
    pub fn held(&self) -> usize {
        self.chunks.held() + self.tail.len()
    }

    /// Takes the first bytes from the queue; `None` if it is empty. Fails if they were spilled, or are to be copied
    /// from a file, and cannot be read from there.
    pub fn take_piece(&mut self) -> Result<Option<Bytes>> {
        self.close_tail();
        self.chunks.take_piece()
    }

    pub(super) fn take_chunk(&mut self, bytes: ChunkBytes) -> Result<()> {
        self.close_tail();
        self.chunks.append(bytes);
        Ok(())
    }

    fn close_tail(&mut self) {
        if !self.tail.is_empty() {
            self.chunks.push(std::mem::take(&mut self.tail));
        }
    }
}

impl Write for ByteQueue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tail.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
