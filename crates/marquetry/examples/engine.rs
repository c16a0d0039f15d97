//! A small engine on Tokio, by the public API only: `cargo run -p marquetry --features object_store --example engine`.
//!
//! It answers `SELECT city, count(*), sum(amount), max(day) FROM sales WHERE amount >= 900 AND day >= 60 GROUP BY city`
//! over files of an object store, and writes the rows of `WHERE` to another one. As in a real engine, the engine stays
//! in control: it plans by statistics as Arrow arrays with a rule of its own, caches footers, decodes and encodes on
//! the runtime's blocking threads, has one memory pool for all that a query reads and writes, and cancels all of it
//! with one token.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use futures::{StreamExt, TryStreamExt, stream};
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::arrow::async_reader::RowGroupReader;
use marquetry::arrow::{AsyncArrowWriter, ParquetRecordBatchStreamBuilder, ProjectionMask};
use marquetry::basic::Compression;
use marquetry::errors::{CancelToken, Error, ErrorKind, Limits, MemoryBudget, MemoryPool, Result};
use marquetry::file::FileCacheKey;
use marquetry::file::properties::WriterProperties;
use marquetry::metrics::{ReadMetrics, WriteMetrics};
use marquetry::object_store::object_store::{ObjectStore, ObjectStoreExt, memory::InMemory, path::Path};
use marquetry::object_store::{ObjectFile, ObjectSink};
use marquetry::predicate::{Predicate, col};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FILES: i64 = 6;
const ROWS: i64 = 100_000;
const ROW_GROUP: usize = 25_000;
const CITIES: [&str; 5] = ["Lyon", "Porto", "Turin", "Graz", "Ghent"];
const LEAST_AMOUNT: i64 = 900;
const FIRST_DAY: i32 = 60;
/// Maximum memory of a query.
const MEMORY: usize = 256 << 20;
/// Number of files that are read at a time.
const FILES_AT_ONCE: usize = 3;

/// The memory pool of a query, in place of an engine's own pool.
#[derive(Debug, Default)]
struct QueryMemory {
    used: AtomicUsize,
    peak: AtomicUsize,
}

impl MemoryPool for QueryMemory {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= MEMORY);
        match self.used.fetch_update(Relaxed, Relaxed, fits) {
            Ok(used) => drop(self.peak.fetch_max(used + bytes, Relaxed)),
            Err(used) => {
                return Err(Error::memory(format!("the query has {used} bytes and wants {bytes} more")));
            }
        }
        Ok(())
    }

    fn shrink(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    fn left(&self) -> usize {
        MEMORY - self.used.load(Relaxed)
    }
}

/// The totals of a city so far.
#[derive(Debug, Clone, Default, PartialEq)]
struct Totals {
    count: i64,
    sum: i64,
    last_day: i32,
}

type Groups = BTreeMap<String, Totals>;

fn add(groups: &mut Groups, city: &str, Totals { count, sum, last_day }: Totals) {
    // Most rows belong to cities that are known already.
    if !groups.contains_key(city) {
        groups.insert(city.to_owned(), Totals::default());
    }
    if let Some(known) = groups.get_mut(city) {
        *known = Totals {
            count: known.count + count,
            sum: known.sum + sum,
            last_day: known.last_day.max(last_day),
        };
    }
}

/// A store, and the footers of its files.
struct Engine {
    store: Arc<dyn ObjectStore>,
    footers: Mutex<HashMap<FileCacheKey, ArrowReaderMetadata>>,
}

/// The state that all parts of a query share.
struct Query {
    memory: Arc<QueryMemory>,
    cancel: CancelToken,
    read: Mutex<ReadMetrics>,
    footers_known: AtomicUsize,
}

impl Query {
    fn new() -> Arc<Self> {
        let (memory, cancel) = (Arc::default(), CancelToken::new());
        Arc::new(Query { memory, cancel, read: Mutex::default(), footers_known: AtomicUsize::new(0) })
    }

    fn budget(&self) -> MemoryBudget {
        MemoryBudget::from_pool(self.memory.clone())
    }
}

/// A row group that was fetched, to be decoded on any thread.
type Rows = RowGroupReader;

impl Engine {
    fn new(store: &Arc<dyn ObjectStore>) -> Self {
        Engine { store: store.clone(), footers: Mutex::default() }
    }

    /// Returns the footer of a file, which is read once for each version of the file.
    async fn footer(&self, path: &Path, file: &ObjectFile, query: &Query) -> Result<ArrowReaderMetadata> {
        let head = self.store.head(path).await.map_err(io)?;
        let key = FileCacheKey::new(path.as_ref(), head.size, head.e_tag.as_deref());
        if let Some(known) = self.footers.lock().unwrap().get(&key) {
            query.footers_known.fetch_add(1, Relaxed);
            return Ok(known.clone());
        }
        let read = ArrowReaderMetadata::load_async(file, ArrowReaderOptions::new()).await?;
        let columns = ProjectionMask::columns(read.parquet_schema(), ["amount", "day"]);
        let read = read.with_page_index(file, &columns).await?;
        self.footers.lock().unwrap().insert(key, read.clone());
        Ok(read)
    }

    /// Runs `work` on each row group that may have wanted rows, each on a blocking thread.
    async fn scan<T: Send + 'static>(
        &self,
        query: &Arc<Query>,
        path: &Path,
        work: fn(Rows) -> Result<T>,
    ) -> Result<Vec<T>> {
        let file = ObjectFile::new(self.store.clone(), path.clone());
        let limits = Limits::default().with_memory(query.budget()).with_cancel(query.cancel.clone());
        let options = ArrowReaderOptions::new().with_limits(limits);
        let footer = self.footer(path, &file, query).await?.with_options(options)?;
        let kept = row_groups(&footer)?;
        let mut rows = ParquetRecordBatchStreamBuilder::new_with_metadata(file, footer)
            .with_row_groups(kept)
            .with_predicate(wanted())
            .build()?;
        let mut tasks = Vec::new();
        while let Some(group) = rows.next_row_group().await? {
            tasks.push(tokio::task::spawn_blocking(move || work(group)));
        }
        let mut done = Vec::new();
        for task in tasks {
            done.push(task.await.map_err(io)??);
        }
        *query.read.lock().unwrap() += rows.metrics();
        Ok(done)
    }

    /// Computes the aggregates.
    async fn totals(&self, query: &Arc<Query>, files: &[Path]) -> Result<Groups> {
        let scans = stream::iter(files).map(|path| self.scan(query, path, aggregate));
        let parts: Vec<Vec<Groups>> = scans.buffer_unordered(FILES_AT_ONCE).try_collect().await?;
        let mut all = Groups::new();
        for (city, totals) in parts.into_iter().flatten().flatten() {
            add(&mut all, &city, totals);
        }
        Ok(all)
    }

    /// Writes the rows of `WHERE` to a file in the store. It is sent in parts, and visible once it is complete.
    async fn copy(&self, query: &Arc<Query>, files: &[Path], to: &Path) -> Result<WriteMetrics> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_memory(query.budget())
            .set_cancel_token(query.cancel.clone())
            .set_max_row_group_row_count(Some(20_000));
        let scans =
            stream::iter(files).map(|path| self.scan(query, path, |rows| rows.map(of_arrow).collect()));
        let mut parts = scans.buffered(FILES_AT_ONCE);
        let mut writer = self.writer(to, properties.build())?;
        while let Some(batches) = parts.try_next().await? {
            let batches: Vec<Vec<RecordBatch>> = batches;
            for batch in batches.concat() {
                writer.write(&batch).await?;
            }
        }
        writer.finish().await?;
        Ok(writer.metrics())
    }

    /// Returns a writer of a file of the table, which encodes outside of the polling thread.
    fn writer(&self, path: &Path, properties: WriterProperties) -> Result<AsyncArrowWriter<ObjectSink>> {
        let sink = ObjectSink::new(self.store.clone(), path.clone());
        let sink = sink.with_part_bytes(5 << 20).with_parts_at_once(2);
        let writer = AsyncArrowWriter::try_new(sink, sales(0, 0).schema(), Some(properties))?;
        Ok(writer
            .with_blocking_tasks(|task| Box::pin(async { drop(tokio::task::spawn_blocking(task).await) })))
    }
}

fn wanted() -> Predicate {
    col("amount").ge(LEAST_AMOUNT).and(col("day").ge(FIRST_DAY))
}

/// Returns the row groups that may have wanted rows, by the engine's own rule over statistics.
fn row_groups(footer: &ArrowReaderMetadata) -> Result<Vec<usize>> {
    let groups = || footer.metadata().row_groups();
    let amounts = footer.statistics("amount")?.row_group_maxes(groups())?;
    let days = footer.statistics("day")?.row_group_maxes(groups())?;
    let (amounts, days) = (amounts.as_primitive::<Int64Type>(), days.as_primitive::<Int32Type>());
    // Without statistics, the row group may match.
    let may_match = |group: &usize| {
        (amounts.is_null(*group) || amounts.value(*group) >= LEAST_AMOUNT)
            && (days.is_null(*group) || days.value(*group) >= FIRST_DAY)
    };
    Ok((0..groups().len()).filter(may_match).collect())
}

/// Aggregates the rows of a row group.
fn aggregate(rows: Rows) -> Result<Groups> {
    let mut groups = Groups::new();
    for batch in rows {
        let batch = of_arrow(batch)?;
        let cities = batch.column(0).as_string::<i32>();
        let days = batch.column(1).as_primitive::<Int32Type>();
        let amounts = batch.column(2).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let (sum, last_day) = (amounts.value(row), days.value(row));
            add(&mut groups, cities.value(row), Totals { count: 1, sum, last_day });
        }
    }
    Ok(groups)
}

fn of_arrow<T>(done: std::result::Result<T, arrow_schema::ArrowError>) -> Result<T> {
    done.map_err(Error::from)
}

fn io(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::caused_by(ErrorKind::Io, "the engine failed", error)
}

/// Returns the city, day and amount of a row. Later files have later days.
fn sale(file: i64, row: i64) -> (&'static str, i32, i64) {
    let city = CITIES[(row * 7 % 11 % CITIES.len() as i64) as usize];
    (city, (file * 20 + row * 20 / ROWS) as i32, (row * 7_919 + file * 13) % 1_000)
}

/// Returns the first rows of a file of the table. Each has a note, so that there is something to write.
fn sales(file: i64, rows: i64) -> RecordBatch {
    let sales = || (0..rows).map(|row| sale(file, row));
    let word = |row: i64, n: i64| {
        let mixed = (((file * ROWS + row) * 13 + n) as u64 ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{:016x}", (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    };
    let notes = (0..rows).map(|row| (0..13).map(|n| word(row, n)).collect::<String>());
    let columns: [(&str, ArrayRef); 4] = [
        ("city", Arc::new(StringArray::from_iter_values(sales().map(|sale| sale.0)))),
        ("day", Arc::new(Int32Array::from_iter_values(sales().map(|sale| sale.1)))),
        ("amount", Arc::new(Int64Array::from_iter_values(sales().map(|sale| sale.2)))),
        ("note", Arc::new(StringArray::from_iter_values(notes))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn main() -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().build()?.block_on(run())
}

async fn run() -> Result<()> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let engine = Engine::new(&store);
    let files: Vec<Path> = (0..FILES).map(|file| Path::from(format!("sales/{file}.parquet"))).collect();
    for (number, path) in (0..).zip(&files) {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROW_GROUP)).build();
        let mut writer = engine.writer(path, properties)?;
        writer.write(&sales(number, ROWS)).await?;
        writer.close().await?;
    }

    // The result of a loop over all rows.
    let mut expected = Groups::new();
    for (city, day, amount) in (0..FILES).flat_map(|file| (0..ROWS).map(move |row| sale(file, row))) {
        if amount >= LEAST_AMOUNT && day >= FIRST_DAY {
            add(&mut expected, city, Totals { count: 1, sum: amount, last_day: day });
        }
    }
    let rows = expected.values().map(|totals| totals.count).sum::<i64>() as u64;
    let query = Query::new();
    let found = engine.totals(&query, &files).await?;
    let read = *query.read.lock().unwrap();
    println!("{found:#?}\n{read:#?}\n{} bytes of memory", query.memory.peak.load(Relaxed));
    assert_eq!((found, read.rows, read.row_groups), (expected.clone(), rows, 12));
    assert_eq!(query.memory.used.load(Relaxed), 0);

    // The wanted rows as one file, with footers that are known already. The same query on it has the same result.
    let (query, copy) = (Query::new(), Path::from("wanted.parquet"));
    let written = engine.copy(&query, &files, &copy).await?;
    println!("{written:#?}");
    assert_eq!((written.rows, query.footers_known.load(Relaxed) as i64), (rows, FILES));
    // At least two parts.
    assert!(written.bytes_written > 5 << 20, "{written:?}");
    assert_eq!(store.head(&copy).await.map_err(io)?.size, written.bytes_written);
    assert_eq!(engine.totals(&Query::new(), &[copy]).await?, expected);

    // A cancelled query fails with `Cancelled`, frees its memory, and leaves no file.
    let (query, never) = (Query::new(), Path::from("never.parquet"));
    let cancel = query.cancel.clone();
    let (ended, ()) = tokio::join!(engine.copy(&query, &files, &never), async move { cancel.cancel() });
    let error = ended.expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    // Blocking threads may still read a row group. They notice soon, and free what they hold.
    let deadline = Instant::now() + Duration::from_secs(10);
    while query.memory.used.load(Relaxed) > 0 {
        assert!(Instant::now() < deadline, "{} bytes are still held", query.memory.used.load(Relaxed));
        tokio::task::yield_now().await;
    }
    assert!(store.head(&never).await.is_err());
    println!("cancelled: {error}");
    Ok(())
}
