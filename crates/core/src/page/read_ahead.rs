//! Reads a column chunk ahead, in windows of limited size.

use super::buffers::PageBuffers;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{MemoryBudget, MemoryReservation, PADDING, Result};
use std::sync::Arc;

/// A read-ahead window of a column chunk. Its memory does not grow with the chunk.
pub(super) struct ReadAhead {
    source: Arc<dyn Source>,
    budget: MemoryBudget,
    /// End of the chunk by the footer. It is only a hint, see
    /// [`ColumnChunk::byte_range`](crate::metadata::ColumnChunk::byte_range).
    end: u64,
    window: Bytes,
    /// Offset of the window in the file.
    window_start: u64,
    /// Bytes to read per request, unless more are needed.
    distance: u64,
    /// Maximum of `distance`.
    most: u64,
    held: MemoryReservation,
}

impl ReadAhead {
    /// Creates an empty window for the chunk that ends at `end`.
    pub(super) fn new(
        source: Arc<dyn Source>,
        budget: MemoryBudget,
        end: u64,
        buffers: &PageBuffers,
    ) -> Self {
        ReadAhead {
            source,
            budget,
            end,
            window: Bytes::new(),
            window_start: 0,
            distance: buffers.max_read_ahead(),
            most: u64::MAX,
            held: MemoryReservation::default(),
        }
    }

    /// Returns the end of the chunk by the footer.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the length of the file.
    pub(super) fn source_len(&self) -> u64 {
        self.source.len()
    }

    /// Returns how many of the `len` bytes at `offset` need no further request, as far as the source knows: 1 to `len`,
    /// whatever the source returns.
    pub(super) fn available(&self, offset: u64, len: usize) -> usize {
        self.source.available(offset, len).clamp(1, len.max(1))
    }

    /// Limits requests to `bytes` bytes, until a page is needed.
    pub(super) fn limit(&mut self, bytes: u64) {
        self.distance = self.distance.min(bytes);
    }

    /// Reads a page of this many bytes with one request, and nothing more.
    pub(super) fn limit_to_page(&mut self, bytes: u64) {
        match self.most {
            u64::MAX => self.limit(bytes),
            // The next request would otherwise have read less.
            most => self.distance = bytes.min(most),
        }
    }

    /// Begins with a header only, and limits all later read-ahead to [`SHORT_READ`].
    pub(super) fn stay_short(&mut self) {
        self.limit(FIRST_HEADER_READ as u64);
        self.most = SHORT_READ;
    }

    /// Makes later requests larger. Needed pages come in groups: the more of them were needed, the further to read
    /// ahead.
    pub(super) fn extend(&mut self, buffers: &PageBuffers) {
        self.distance = (self.distance * 4).min(buffers.max_read_ahead()).min(self.most);
    }

    /// Returns bytes of the file from `offset` on: at least `len`, and the rest of the window.
    pub(super) fn bytes_at(&mut self, offset: u64, len: usize, buffers: &mut PageBuffers) -> Result<Bytes> {
        let end = offset + len as u64;
        let window_end = self.window_start + self.window.len() as u64;
        if offset < self.window_start || end > window_end {
            let wanted = self.distance(offset, len, buffers).max(len as u64) + PADDING as u64;
            let there = self.source.len().saturating_sub(offset);
            let read = usize::try_from(wanted.min(there)).unwrap_or(usize::MAX);
            let read = self.available(offset, read).max(len);
            let held = self.budget.reserve(read)?;
            self.clear(buffers);
            let memory = std::mem::take(&mut buffers.window);
            self.window = self.source.read_at_reusing(offset, read, memory)?;
            (self.window_start, self.held) = (offset, held);
        }
        Ok(self.window.slice((offset - self.window_start) as usize..))
    }

    /// Drops the window. Its memory is reused, unless values still refer to it.
    pub(super) fn clear(&mut self, buffers: &mut PageBuffers) {
        let held = std::mem::take(&mut self.held);
        match std::mem::take(&mut self.window).try_into_mut() {
            Ok(memory) => buffers.window = memory,
            Err(_) => buffers.retained.merge(held),
        }
    }

    /// Returns how many bytes from `offset` on to parse a header from, such that no request is larger than needed.
    pub(super) fn header_bytes_at(&self, offset: u64) -> usize {
        let window_end = self.window_start + self.window.len() as u64;
        let held = if offset < self.window_start { 0 } else { window_end.saturating_sub(offset) as usize };
        match held {
            // A short page may be all that is available without another request.
            0 => self.available(offset, FIRST_HEADER_READ),
            held => held.min(FIRST_HEADER_READ),
        }
    }

    /// Returns how many bytes to read from `offset` on, where `len` bytes are needed.
    ///
    /// PERF: the part of a page at the end of a window is read again with the rest of the page. Large pages are
    /// therefore read one by one, each with the next header; and the rest of a short chunk is read at once.
    fn distance(&self, offset: u64, len: usize, buffers: &PageBuffers) -> u64 {
        let most = buffers.max_read_ahead();
        match self.end.saturating_sub(offset) {
            left if left <= 2 * most && self.distance == most => left,
            _ if len as u64 > most / 8 => (len + FIRST_HEADER_READ) as u64,
            _ => self.distance,
        }
    }
}

/// Maximum bytes to read ahead where few rows are wanted.
const SHORT_READ: u64 = 32 << 10;
/// Bytes for the first attempt to parse a header. Headers take 20 to 100 bytes without statistics.
pub(super) const FIRST_HEADER_READ: usize = 256;
