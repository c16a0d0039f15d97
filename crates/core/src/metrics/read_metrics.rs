//! The cost of a read, and what it ruled out, counted along the way by any number of threads.

use super::atomic_duration::AtomicDuration;
use marquetry_base::Stopwatch;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters that the readers of a file share. PERF: they are updated once per page or batch, not once per value.
#[derive(Debug, Default)]
pub struct ReadCounters {
    requests: AtomicU64,
    bytes_fetched: AtomicU64,
    fetch_time: AtomicDuration,
    row_groups: AtomicU64,
    pruned_row_groups: [AtomicU64; 4],
    pruned_rows: [AtomicU64; 4],
    pages: AtomicU64,
    pages_skipped: AtomicU64,
    decompressed_bytes: AtomicU64,
    decompress_time: AtomicDuration,
    filtered_rows: AtomicU64,
    filter_time: AtomicDuration,
    decode_time: AtomicDuration,
    rows: AtomicU64,
    batches: AtomicU64,
}

/// The state of [`ReadCounters`] at some moment.
///
/// Times are the sums of all threads, so they may exceed the elapsed time. If a table has several files with a reader
/// each, all are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadMetrics {
    /// Number of reads of the source; for a stream, of requests.
    pub requests: u64,
    /// Number of bytes read. The footer's are included if the reader's builder read it.
    pub bytes_fetched: u64,
    /// Time of the reads. Those of a stream run at the same time as each other and as other work.
    pub fetch_time: Duration,
    /// Number of row groups that were begun, even if nothing of them was read in the end. If columns are read one by
    /// one, the number of all row groups to read.
    pub row_groups: u64,
    /// Rows ruled out by the statistics in the footer.
    pub statistics: Pruned,
    /// Rows ruled out by bloom filters, of the rest.
    pub bloom_filters: Pruned,
    /// Rows ruled out by dictionary pages, of the rest.
    pub dictionaries: Pruned,
    /// Rows ruled out by column indexes, of the rest.
    pub page_index: Pruned,
    /// Number of pages that were read: data pages and dictionary pages.
    pub pages: u64,
    /// Number of data pages that were skipped unread, by their header or an offset index.
    pub pages_skipped: u64,
    /// Bytes after decompression.
    pub decompressed_bytes: u64,
    /// Time of decompression.
    pub decompress_time: Duration,
    /// Number of rows that a predicate or a filter tested and rejected.
    pub filtered_rows: u64,
    /// Time of filtering, including that of reading the columns for it.
    pub filter_time: Duration,
    /// Time of making batches from the remaining rows, including decompression, and requests of a blocking source.
    pub decode_time: Duration,
    /// Number of rows in the batches that were made. A reader with several threads makes batches ahead of those that it
    /// has returned.
    pub rows: u64,
    /// Number of batches.
    pub batches: u64,
}

/// Adds the metrics of another reader.
impl AddAssign for ReadMetrics {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes_fetched += other.bytes_fetched;
        self.fetch_time += other.fetch_time;
        self.row_groups += other.row_groups;
        self.statistics += other.statistics;
        self.bloom_filters += other.bloom_filters;
        self.dictionaries += other.dictionaries;
        self.page_index += other.page_index;
        self.pages += other.pages;
        self.pages_skipped += other.pages_skipped;
        self.decompressed_bytes += other.decompressed_bytes;
        self.decompress_time += other.decompress_time;
        self.filtered_rows += other.filtered_rows;
        self.filter_time += other.filter_time;
        self.decode_time += other.decode_time;
        self.rows += other.rows;
        self.batches += other.batches;
    }
}

/// Row groups and rows that an index ruled out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Number of row groups that were ruled out completely.
    pub row_groups: u64,
    /// Number of rows, including those of these row groups.
    pub rows: u64,
}

impl AddAssign for Pruned {
    fn add_assign(&mut self, other: Self) {
        self.row_groups += other.row_groups;
        self.rows += other.rows;
    }
}

impl ReadCounters {
    /// Returns the current counts.
    pub fn snapshot(&self) -> ReadMetrics {
        let pruned = |stage: usize| Pruned {
            row_groups: self.pruned_row_groups[stage].load(Relaxed),
            rows: self.pruned_rows[stage].load(Relaxed),
        };
        ReadMetrics {
            requests: self.requests.load(Relaxed),
            bytes_fetched: self.bytes_fetched.load(Relaxed),
            fetch_time: self.fetch_time.get(),
            row_groups: self.row_groups.load(Relaxed),
            statistics: pruned(0),
            bloom_filters: pruned(1),
            dictionaries: pruned(2),
            page_index: pruned(3),
            pages: self.pages.load(Relaxed),
            pages_skipped: self.pages_skipped.load(Relaxed),
            decompressed_bytes: self.decompressed_bytes.load(Relaxed),
            decompress_time: self.decompress_time.get(),
            filtered_rows: self.filtered_rows.load(Relaxed),
            filter_time: self.filter_time.get(),
            decode_time: self.decode_time.get(),
            rows: self.rows.load(Relaxed),
            batches: self.batches.load(Relaxed),
        }
    }

    /// Counts `requests` requests for `bytes` bytes in total, begun at `start`.
    pub fn fetched(&self, requests: usize, bytes: u64, start: Stopwatch) {
        self.requests.fetch_add(requests as u64, Relaxed);
        self.bytes_fetched.fetch_add(bytes, Relaxed);
        self.fetch_time.add_since(start);
    }

    /// Counts a row group that was begun.
    pub fn row_group(&self) {
        self.row_groups.fetch_add(1, Relaxed);
    }

    /// Counts what a stage of pruning ruled out, by its number in the order of [`ReadMetrics`].
    pub(crate) fn ruled_out(&self, stage: usize, row_groups: usize, rows: u64) {
        self.pruned_row_groups[stage].fetch_add(row_groups as u64, Relaxed);
        self.pruned_rows[stage].fetch_add(rows, Relaxed);
    }

    /// Counts a page that is read.
    pub fn page(&self) {
        self.pages.fetch_add(1, Relaxed);
    }

    /// Counts skipped pages.
    pub fn skipped(&self, pages: usize) {
        self.pages_skipped.fetch_add(pages as u64, Relaxed);
    }

    /// Counts a decompression to `bytes` bytes, begun at `start`.
    pub fn decompressed(&self, bytes: usize, start: Stopwatch) {
        self.decompressed_bytes.fetch_add(bytes as u64, Relaxed);
        self.decompress_time.add_since(start);
    }

    /// Counts rows that were tested and rejected, since `start`.
    pub fn filtered(&self, rows: usize, start: Stopwatch) {
        self.filtered_rows.fetch_add(rows as u64, Relaxed);
        self.filter_time.add_since(start);
    }

    /// Counts decoding since `start`.
    pub fn decoded(&self, start: Stopwatch) {
        self.decode_time.add_since(start);
    }

    /// Counts a batch that was made.
    pub fn batch(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Relaxed);
        self.batches.fetch_add(1, Relaxed);
    }
}
