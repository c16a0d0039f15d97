//! What writing a file cost: counted as it goes, by any number of threads.

use super::atomic_duration::AtomicDuration;
use marquetry_base::Stopwatch;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters that all who write one file share. PERF: they are added to once a page or block of rows, not once a value.
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

/// What was counted up to a moment.
///
/// Times are those of all threads together, so that they may be more than the clock says; in a build without the feature
/// `threads` there is no clock, and they are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteMetrics {
    /// Rows of the row groups that are in the file.
    pub rows: u64,
    /// How many row groups these are.
    pub row_groups: u64,
    /// Pages that were encoded: of data, and of dictionaries. Those that were copied from other files are not among them.
    pub pages: u64,
    /// Bytes of these pages before compression, without their headers.
    pub uncompressed_bytes: u64,
    /// The same bytes as they are stored.
    pub compressed_bytes: u64,
    /// Column chunks that have a dictionary.
    pub dictionaries: u64,
    /// Column chunks that began one, and gave it up because it was full or another encoding turned out smaller. Where pages
    /// needed it by then, it is among [`dictionaries`](Self::dictionaries), too.
    pub dictionaries_given_up: u64,
    /// How long it took to make column chunks of rows, with compression and spilling.
    pub encode_time: Duration,
    /// How long compression took, trials to choose an encoding included.
    pub compress_time: Duration,
    /// Bytes of pages that waited outside of memory for the end of their row group.
    pub spilled_bytes: u64,
    /// How long it took to bring them there.
    pub spill_time: Duration,
    /// Bytes that were given to the sink.
    pub bytes_written: u64,
    /// How long the sink took for them; of an asynchronous one, how long it was waited for. Pages that were spilled, or are
    /// copied from another file, are read meanwhile.
    pub sink_time: Duration,
    /// How long it took to make checkpoints and the end of the file safe.
    pub sync_time: Duration,
    /// The most bytes that were held in memory at a time: pages, dictionaries, and what is kept for the next row group. It is looked
    /// at whenever columns have taken rows.
    pub peak_memory: u64,
}

impl WriteCounters {
    /// What was counted so far.
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

    /// Counts a row group that is in the file.
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

    /// Counts a dictionary that is written.
    pub(crate) fn dictionary(&self) {
        self.dictionaries.fetch_add(1, Relaxed);
    }

    /// Counts a dictionary that is given up.
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

    /// Counts bytes that were spilled, begun at `start`.
    pub(crate) fn spilled(&self, bytes: usize, start: Stopwatch) {
        self.spilled_bytes.fetch_add(bytes as u64, Relaxed);
        self.spill_time.add_since(start);
    }

    /// Counts bytes that the sink took, begun at `start`.
    pub(crate) fn written(&self, bytes: u64, start: Stopwatch) {
        self.bytes_written.fetch_add(bytes, Relaxed);
        self.sink_time.add_since(start);
    }

    /// Counts waiting for the sink since `start`.
    pub fn waited(&self, start: Stopwatch) {
        self.sink_time.add_since(start);
    }

    /// Counts making safe what was written, begun at `start`.
    pub fn synced(&self, start: Stopwatch) {
        self.sync_time.add_since(start);
    }

    /// Notes that somebody who held `before` bytes of memory holds `now`.
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
