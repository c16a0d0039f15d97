//! `Limits::memory` bounds streams too: what they fetch, ahead or not, and what they make of it.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_base::{Error, ErrorKind, Limits, MemoryBudget, MemoryPool, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::{Compression, WriterProperties};
use peak_alloc::PeakAlloc;
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
/// What is not counted: footer and indexes, codec contexts, the small things; and a batch that was handed over.
const PADDING: usize = 6 * MIB;
const ROWS: usize = 600_000;

/// Six row groups of 2.4 MiB, in a file, so that what is fetched is memory.
fn file() -> (tempfile::NamedTempFile, Arc<dyn Source>) {
    let numbers = (0..ROWS as i64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
    let texts = (0..ROWS).map(|i| format!("text {:x}", i * i % 1_000_003));
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
        ("number", Arc::new(Int64Array::from_iter_values(numbers))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_max_row_group_row_count(Some(ROWS / 6))
        .build();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let source = Arc::new(LocalFile::open(file.path()).unwrap());
    (file, source)
}

/// The rows that a stream gives, the most of the budget that was taken between batches, and the most memory.
fn read(
    source: &Arc<dyn Source>,
    memory: &MemoryBudget,
    predicate: Option<&str>,
) -> (Result<usize>, usize, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let limits = Limits::default().with_memory(memory.clone());
    let options = ArrowReaderOptions::new().with_limits(limits);
    let outcome = block_on(async {
        let metadata = ArrowReaderMetadata::load_async(source, options).await?;
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source.clone(), metadata);
        if let Some(predicate) = predicate {
            builder = builder.with_predicate(Predicate::parse(predicate)?);
        }
        let mut stream = builder.with_batch_size(8192).build()?;
        let (mut rows, mut most) = (0, 0);
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows();
            most = most.max(memory.used());
        }
        Ok((rows, most))
    });
    let peak = MEMORY.peak_usage() - before;
    assert_eq!(memory.used(), 0, "all is given back");
    match outcome {
        Ok((rows, most)) => (Ok(rows), most, peak),
        Err(error) => (Err(error), 0, peak),
    }
}

/// The rows of a stream that takes its memory from `memory`.
fn count(source: &Arc<dyn Source>, memory: &MemoryBudget) -> impl Future<Output = Result<usize>> + use<> {
    let (source, limits) = (source.clone(), Limits::default().with_memory(memory.clone()));
    async move {
        let metadata =
            ArrowReaderMetadata::load_async(&source, ArrowReaderOptions::new().with_limits(limits)).await?;
        let mut stream = ParquetRecordBatchStreamBuilder::new_with_metadata(source, metadata).build()?;
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows();
            give_way().await;
        }
        Ok(rows)
    }
}

/// Lets others have a turn.
async fn give_way() {
    let mut asked = false;
    futures::future::poll_fn(|_| match std::mem::replace(&mut asked, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// A host's pool that waits for others to give their memory back, unless all who share it wait.
#[derive(Debug, Default)]
struct WaitingPool {
    state: Mutex<PoolState>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    left: usize,
    streams: usize,
    waiting: usize,
    waits: usize,
}

impl WaitingPool {
    /// A stream has come to its end.
    fn leave(&self) {
        self.state.lock().unwrap().streams -= 1;
        self.given_back.notify_all();
    }
}

impl MemoryPool for WaitingPool {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        while state.left < bytes {
            if state.waiting + 1 >= state.streams {
                return Err(Error::memory("nobody is left who could give any back"));
            }
            state.waiting += 1;
            state.waits += 1;
            state = self.given_back.wait(state).unwrap();
            state.waiting -= 1;
        }
        state.left -= bytes;
        Ok(())
    }

    fn shrink(&self, bytes: usize) {
        self.state.lock().unwrap().left += bytes;
        self.given_back.notify_all();
    }

    fn left(&self) -> usize {
        self.state.lock().unwrap().left
    }
}

/// Two streams that share a budget come to their ends: polled in turn where the budget refuses, and on threads of their own where
/// the pool waits.
fn streams_that_share_a_budget_end(source: &Arc<dyn Source>) {
    let memory = MemoryBudget::new(24 * MIB);
    let both = futures::future::join(count(source, &memory), count(source, &memory));
    let (first, second) = polled_to_the_end(both);
    assert_eq!((first.unwrap(), second.unwrap()), (ROWS, ROWS));
    assert_eq!(memory.used(), 0);

    for bytes in [12 * MIB, 16 * MIB, 40 * MIB] {
        let pool = Arc::new(WaitingPool::default());
        *pool.state.lock().unwrap() = PoolState { left: bytes, streams: 2, ..PoolState::default() };
        let memory = MemoryBudget::from_pool(pool.clone());
        let threads = [(); 2].map(|()| {
            let (pool, stream) = (pool.clone(), count(source, &memory));
            std::thread::spawn(move || {
                let rows = polled_to_the_end(stream);
                pool.leave();
                rows
            })
        });
        let ends = threads.map(|thread| thread.join().unwrap());
        let state = pool.state.lock().unwrap();
        println!("{bytes} bytes: {} waits, {ends:?}", state.waits);
        assert_eq!((state.left, state.waiting), (bytes, 0), "all is given back");
        // Where both wait for each other one of them is refused; the other one ends.
        assert!(ends.iter().any(|rows| rows.as_ref().is_ok_and(|rows| *rows == ROWS)), "{ends:?}");
        let refused = ends.iter().filter_map(|rows| rows.as_ref().err());
        assert!(refused.into_iter().all(|error| error.kind() == ErrorKind::Memory && bytes < 40 * MIB));
    }
}

/// The result of a future that is polled until it is ready, whether it asks for that or not.
fn polled_to_the_end<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Some(done) = block_on(futures::future::poll_immediate(&mut future)) {
            return done;
        }
        std::thread::yield_now();
    }
}

/// One test: the allocator counts for all threads.
#[test]
fn a_stream_keeps_its_budget() {
    let (_file, source) = file();
    assert!(source.len() > 10 * MIB as u64);
    for (predicate, wanted) in [(None, ROWS), (Some("id >= 150000 and text like 'text 1%'"), 0)] {
        let (rows, _, free) = read(&source, &MemoryBudget::default(), predicate);
        let rows = rows.unwrap();
        assert!(if wanted > 0 { rows == wanted } else { (1..ROWS / 2).contains(&rows) }, "{rows}");
        for budget in [12 * MIB, 24 * MIB] {
            let (seen, most, peak) = read(&source, &MemoryBudget::new(budget), predicate);
            println!("{predicate:?}: {peak} with {budget}, {most} of it held, {free} without a bound");
            assert_eq!(seen.unwrap(), rows);
            assert!(peak <= budget + PADDING, "{peak} with {budget}");
            assert!((2 * MIB..=budget).contains(&most), "{most}: what was fetched counts");
        }
        let (seen, _, peak) = read(&source, &MemoryBudget::new(MIB), predicate);
        let error = seen.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(error.message().contains("Limits::memory"), "{error}");
        assert!(peak <= MIB + PADDING, "{peak}");
    }
    streams_that_share_a_budget_end(&source);
}
