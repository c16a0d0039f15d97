//! What a read cost, and what it left out: counted as it goes, by any number of threads.

use super::atomic_duration::AtomicDuration;
use marquetry_base::Stopwatch;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters that the readers of a file share. PERF: they are added to once a page or batch, not once a value.
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

/// What was counted up to a moment.
///
/// Times are those of all threads together, so that they may be more than the clock says. Of a file of several readers, as those
/// of a table are, all are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadMetrics {
    /// Reads of the source; of a stream, requests.
    pub requests: u64,
    /// The bytes that they gave. The footer's are in it if the reader's builder read it.
    pub bytes_fetched: u64,
    /// How long they took. Those of a stream run side by side, and besides other work.
    pub fetch_time: Duration,
    /// Row groups that were begun, those included of which nothing was read in the end; all that are to be read, where columns are
    /// read one by one.
    pub row_groups: u64,
    /// What the statistics of the footer ruled out.
    pub statistics: Pruned,
    /// What bloom filters ruled out, of the rest.
    pub bloom_filters: Pruned,
    /// What dictionary pages ruled out, of the rest.
    pub dictionaries: Pruned,
    /// What column indexes ruled out, of the rest.
    pub page_index: Pruned,
    /// Pages that were opened: of data, and of dictionaries.
    pub pages: u64,
    /// Data pages that were passed over unopened, by their header or an offset index.
    pub pages_skipped: u64,
    /// Bytes that came out of decompression.
    pub decompressed_bytes: u64,
    /// How long that took.
    pub decompress_time: Duration,
    /// Rows that a predicate or a filter was asked about and did not want.
    pub filtered_rows: u64,
    /// How long that took, with reading the columns that it looks at.
    pub filter_time: Duration,
    /// How long it took to make batches of what was left, with decompression, and with the requests of a source that blocks.
    pub decode_time: Duration,
    /// Rows of the batches that were made. A reader of several threads makes them ahead of those that it has given.
    pub rows: u64,
    /// How many batches.
    pub batches: u64,
}

/// That of several readers together.
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

/// What an index ruled out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Row groups, as a whole.
    pub row_groups: u64,
    /// Rows, those of these row groups included.
    pub rows: u64,
}

impl AddAssign for Pruned {
    fn add_assign(&mut self, other: Self) {
        self.row_groups += other.row_groups;
        self.rows += other.rows;
    }
}

impl ReadCounters {
    /// What was counted so far.
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

    /// Counts `requests` requests that gave `bytes` bytes, begun at `start`.
    pub fn fetched(&self, requests: usize, bytes: u64, start: Stopwatch) {
        self.requests.fetch_add(requests as u64, Relaxed);
        self.bytes_fetched.fetch_add(bytes, Relaxed);
        self.fetch_time.add_since(start);
    }

    /// Counts a row group that is begun.
    pub fn row_group(&self) {
        self.row_groups.fetch_add(1, Relaxed);
    }

    /// Counts what a stage of pruning ruled out, by its number in the order of [`ReadMetrics`].
    pub(crate) fn ruled_out(&self, stage: usize, row_groups: usize, rows: u64) {
        self.pruned_row_groups[stage].fetch_add(row_groups as u64, Relaxed);
        self.pruned_rows[stage].fetch_add(rows, Relaxed);
    }

    /// Counts a page that is opened.
    pub fn page(&self) {
        self.pages.fetch_add(1, Relaxed);
    }

    /// Counts pages that are passed over.
    pub fn skipped(&self, pages: usize) {
        self.pages_skipped.fetch_add(pages as u64, Relaxed);
    }

    /// Counts a decompression to `bytes` bytes, begun at `start`.
    pub fn decompressed(&self, bytes: usize, start: Stopwatch) {
        self.decompressed_bytes.fetch_add(bytes as u64, Relaxed);
        self.decompress_time.add_since(start);
    }

    /// Counts rows that were asked about and not wanted, since `start`.
    pub fn filtered(&self, rows: usize, start: Stopwatch) {
        self.filtered_rows.fetch_add(rows as u64, Relaxed);
        self.filter_time.add_since(start);
    }

    /// Counts decoding since `start`.
    pub fn decoded(&self, start: Stopwatch) {
        self.decode_time.add_since(start);
    }

    /// Counts a batch that is made.
    pub fn batch(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Relaxed);
        self.batches.fetch_add(1, Relaxed);
    }
}
