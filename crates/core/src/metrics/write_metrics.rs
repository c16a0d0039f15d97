//! The cost of writing a file, counted along the way by any number of threads.

use super::atomic_duration::AtomicDuration;
use marquetry_base::Stopwatch;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters that all writers of a file share. PERF: they are updated once per page or block of rows, not once per
/// value.
#[derive(Debug, Default)]
pub struct WriteCounters {
    rows: AtomicU64,
    row_groups: AtomicU64,
    pages: AtomicU64,
    uncompressed_bytes: AtomicU64,
    compressed_bytes: AtomicU64,
    dictionaries: AtomicU64,
    dictionaries_given_up: AtomicU64,
    encode_time: AtomicDuration,
    compress_time: AtomicDuration,
    spilled_bytes: AtomicU64,
    spill_time: AtomicDuration,
    bytes_written: AtomicU64,
    sink_time: AtomicDuration,
    sync_time: AtomicDuration,
    held_memory: AtomicU64,
    peak_memory: AtomicU64,
}

/// The state of [`WriteCounters`] at some moment.
///
/// Times are the sums of all threads, so they may exceed the elapsed time. In a build without the feature `threads`
/// there is no clock, and they are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteMetrics {
    /// Number of rows in the row groups that were written.
    pub rows: u64,
    /// Number of row groups that were written.
    pub row_groups: u64,
    /// Number of pages that were encoded: data pages and dictionary pages. Pages that were copied from other files do
    /// not count.
    pub pages: u64,
    /// Bytes of these pages before compression, without their headers.
    pub uncompressed_bytes: u64,
    /// Bytes of these pages as stored, without their headers.
    pub compressed_bytes: u64,
    /// Number of column chunks with a dictionary.
    pub dictionaries: u64,
    /// Number of column chunks that began a dictionary, and gave it up because it was full or another encoding was
    /// smaller. If pages already needed it, the chunk also counts in [`dictionaries`](Self::dictionaries).
    pub dictionaries_given_up: u64,
    /// Time of making column chunks from rows, including compression and spilling.
    pub encode_time: Duration,
    /// Time of compression, including that for choosing an encoding.
    pub compress_time: Duration,
    /// Bytes of pages that were spilled.
    pub spilled_bytes: u64,
    /// Time of spilling.
    pub spill_time: Duration,
    /// Bytes that were written to the sink.
    pub bytes_written: u64,
    /// Time of writing to the sink; for an asynchronous one, of waiting for it. It includes reading pages that were
    /// spilled, or are copied from another file.
    pub sink_time: Duration,
    /// Time of making checkpoints and the end of the file durable.
    pub sync_time: Duration,
    /// Peak number of bytes held in memory: pages, dictionaries, and buffers kept for the next row group. It is updated
    /// after columns have taken rows.
    pub peak_memory: u64,
}

impl WriteCounters {
    /// Returns the current counts.
    pub fn snapshot(&self) -> WriteMetrics {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        WriteMetrics {
            rows: count(&self.rows),
            row_groups: count(&self.row_groups),
            pages: count(&self.pages),
            uncompressed_bytes: count(&self.uncompressed_bytes),
            compressed_bytes: count(&self.compressed_bytes),
            dictionaries: count(&self.dictionaries),
            dictionaries_given_up: count(&self.dictionaries_given_up),
            encode_time: self.encode_time.get(),
            compress_time: self.compress_time.get(),
            spilled_bytes: count(&self.spilled_bytes),
            spill_time: self.spill_time.get(),
            bytes_written: count(&self.bytes_written),
            sink_time: self.sink_time.get(),
            sync_time: self.sync_time.get(),
            peak_memory: count(&self.peak_memory),
        }
    }

    /// Counts a row group that was written.
    pub(crate) fn row_group(&self, rows: u64) {
        self.rows.fetch_add(rows, Relaxed);
        self.row_groups.fetch_add(1, Relaxed);
    }

    /// Counts a page, by its bytes before and after compression.
    pub(crate) fn page(&self, uncompressed: usize, compressed: usize) {
        self.pages.fetch_add(1, Relaxed);
        self.uncompressed_bytes.fetch_add(uncompressed as u64, Relaxed);
        self.compressed_bytes.fetch_add(compressed as u64, Relaxed);
    }

    /// Counts a dictionary that was written.
    pub(crate) fn dictionary(&self) {
        self.dictionaries.fetch_add(1, Relaxed);
    }

    /// Counts a dictionary that was given up.
    pub(crate) fn dictionary_given_up(&self) {
        self.dictionaries_given_up.fetch_add(1, Relaxed);
    }

    /// Counts encoding since `start`.
    pub fn encoded(&self, start: Stopwatch) {
        self.encode_time.add_since(start);
    }

    /// Counts compression since `start`.
    pub(crate) fn compressed(&self, start: Stopwatch) {
        self.compress_time.add_since(start);
    }

    /// Counts spilled bytes, begun at `start`.
    pub(crate) fn spilled(&self, bytes: usize, start: Stopwatch) {
        self.spilled_bytes.fetch_add(bytes as u64, Relaxed);
        self.spill_time.add_since(start);
    }

    /// Counts bytes written to the sink, begun at `start`.
    pub(crate) fn written(&self, bytes: u64, start: Stopwatch) {
        self.bytes_written.fetch_add(bytes, Relaxed);
        self.sink_time.add_since(start);
    }

    /// Counts waiting for the sink since `start`.
    pub fn waited(&self, start: Stopwatch) {
        self.sink_time.add_since(start);
    }

    /// Counts making written bytes durable, begun at `start`.
    pub fn synced(&self, start: Stopwatch) {
        self.sync_time.add_since(start);
    }

    /// Records that memory held by one part of the writer changed from `before` to `now` bytes.
    pub fn holds(&self, now: usize, before: usize) {
        let change = (now as u64).wrapping_sub(before as u64);
        let all = self.held_memory.fetch_add(change, Relaxed).wrapping_add(change);
        self.peak_memory.fetch_max(all, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_that_of_all_together() {
        let counters = WriteCounters::default();
        counters.holds(100, 0);
        counters.holds(50, 0);
        counters.holds(10, 100);
        counters.holds(120, 50);
        counters.holds(0, 120);
        counters.holds(0, 10);
        assert_eq!((counters.snapshot().peak_memory, counters.held_memory.load(Relaxed)), (150, 0));
    }
}
