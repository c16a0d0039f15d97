//! The cost of metrics, which are always on.
//!
//! By counting: a scan reports how many pages, requests and batches it had, which is how often each counter was
//! incremented and each clock read. A reader with several threads reads the clock at most once for each column and
//! batch, which is assumed here. The same number of threads then repeats all of this on shared counters, and nothing
//! else: the price without the scan.
//!
//! By doing more of it: a source makes the same updates [`TIMES`] times more, with its reads, on the reading threads,
//! on shared counters. Scans with and without it take turns, and that part of the difference is the cost of metrics.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;

use arrow_array::RecordBatchReader;
use bytes::Bytes;
use marquetry::errors;
use marquetry::file::Source;
use marquetry::internals::base::Stopwatch;
use marquetry::metrics::{ReadCounters, ReadMetrics};

use super::whole_file::builder;
use crate::error::Result;
use crate::timing::in_turn;

/// How many more times the updates of a scan are made: fewer would be lost in the noise.
const TIMES: u64 = 20;

pub(super) fn run(file: &Bytes, threads: usize, rounds: u32) -> Result<()> {
    let plain: Arc<dyn Source> = Arc::new(file.clone());
    let (metrics, columns) = scan(&plain, threads)?;
    let updates = Updates::of(&metrics, columns);
    let more = WithUpdates {
        file: file.clone(),
        share: updates.share(metrics.requests),
        counters: ReadCounters::default(),
    };
    let more: Arc<dyn Source> = Arc::new(more);
    let mut scan_plain = || scan(&plain, threads).map(drop);
    let mut scan_more = || scan(&more, threads).map(drop);
    let mut priced = || {
        updates.by_themselves(threads);
        Ok(())
    };
    let [plain, more, priced] =
        in_turn(rounds, [Some(&mut scan_plain), Some(&mut scan_more), Some(&mut priced)])?;
    let (Some(plain), Some(more), Some(priced)) = (plain, more, priced) else { return Ok(()) };
    let percent = |part: f64, whole: f64| 100.0 * part / whole;
    println!(
        "metrics, {} updates of a scan of {:.3} s (median; best {:.3} s):",
        updates.count(),
        plain.median,
        plain.best
    );
    println!(
        "- counted: {:.1} us by themselves, {:.4} % of the scan",
        priced.median * 1e6,
        percent(priced.median, plain.median)
    );
    println!(
        "- done {TIMES} times more: {:+.3} % of the medians, {:+.3} % of the best; each time {:+.4} % and {:+.4} %\n",
        percent(more.median - plain.median, plain.median),
        percent(more.best - plain.best, plain.best),
        percent(more.median - plain.median, plain.median) / TIMES as f64,
        percent(more.best - plain.best, plain.best) / TIMES as f64,
    );
    Ok(())
}

/// What a scan counted, and how many columns it read.
fn scan(source: &Arc<dyn Source>, threads: usize) -> Result<(ReadMetrics, u64)> {
    let mut reader = builder(source.clone(), threads)?.build()?;
    let columns = reader.schema().fields().len() as u64;
    for batch in reader.by_ref() {
        black_box(batch?);
    }
    Ok((reader.metrics(), columns))
}

/// How often each update is made.
#[derive(Clone, Copy)]
struct Updates {
    requests: u64,
    pages: u64,
    decompressions: u64,
    /// Times of decoding.
    decoded: u64,
    batches: u64,
}

impl Updates {
    fn of(metrics: &ReadMetrics, columns: u64) -> Self {
        Updates {
            requests: metrics.requests,
            pages: metrics.pages,
            decompressions: if metrics.decompressed_bytes > 0 { metrics.pages } else { 0 },
            decoded: metrics.batches * columns,
            batches: metrics.batches,
        }
    }

    fn each(&self, change: impl Fn(u64) -> u64) -> Self {
        let Updates { requests, pages, decompressions, decoded, batches } = *self;
        Updates {
            requests: change(requests),
            pages: change(pages),
            decompressions: change(decompressions),
            decoded: change(decoded),
            batches: change(batches),
        }
    }

    /// The updates for each of `reads` reads, so that all together make these [`TIMES`] times, or a little more.
    fn share(&self, reads: u64) -> Self {
        self.each(|count| (count * TIMES).div_ceil(reads.max(1)))
    }

    fn count(&self) -> u64 {
        self.requests + self.pages + self.decompressions + self.decoded + self.batches
    }

    fn make(&self, counters: &ReadCounters) {
        for _ in 0..self.requests {
            counters.fetched(1, 4096, Stopwatch::start());
        }
        for _ in 0..self.pages {
            counters.page();
        }
        for _ in 0..self.decompressions {
            counters.decompressed(4096, Stopwatch::start());
        }
        for _ in 0..self.decoded {
            counters.decoded(Stopwatch::start());
        }
        for _ in 0..self.batches {
            counters.batch(4096);
        }
    }

    /// Makes all updates, shared out between threads.
    fn by_themselves(&self, threads: usize) {
        let counters = ReadCounters::default();
        let share = self.each(|count| count.div_ceil(threads as u64));
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| share.make(&counters));
            }
            share.make(&counters);
        });
        black_box(counters.snapshot());
    }
}

/// A file in memory whose reads also make updates.
struct WithUpdates {
    file: Bytes,
    share: Updates,
    counters: ReadCounters,
}

impl Source for WithUpdates {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> errors::Result<Bytes> {
        self.share.make(&self.counters);
        self.file.read_at(offset, len)
    }
}
