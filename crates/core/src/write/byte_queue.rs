//! A sink that queues bytes, for writers whose real sink is asynchronous.

use super::chunk_bytes::ChunkBytes;
use bytes::Bytes;
use marquetry_base::Result;
use std::io::{self, Write};

/// Takes what a [`FileWriter`](super::FileWriter) writes, and gives it away in pieces, in order: for sinks that have to be
/// waited for. Pages are moved through it, not copied, and what was spilled is read piece by piece as it is taken.
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
    /// Short pieces behind them: magic numbers, filters, indexes, footers.
    tail: Vec<u8>,
}

impl ByteQueue {
    /// How many bytes wait to be taken.
    pub fn len(&self) -> u64 {
        self.chunks.len() + self.tail.len() as u64
    }

    /// Whether none do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them are in memory.
    pub fn held(&self) -> usize {
        self.chunks.held() + self.tail.len()
    }

    /// Takes the first bytes away. `None` if there are none. Fails if they cannot be read from where they were spilled, or are
    /// copied from.
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
