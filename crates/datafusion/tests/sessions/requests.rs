//! What is asked of a store, and how much memory that takes.

use crate::tables::{batch, batches, longs, plan, rows, run, session_with};
use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use futures::stream::BoxStream;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::write::{Compression, WriterProperties};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A store that counts what is read of it.
#[derive(Debug, Default)]
struct Counting {
    inner: InMemory,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Which simple put fails, counted from 1, and the number of puts.
    failing_put: AtomicU64,
    puts: AtomicU64,
    uploads: Arc<Uploads>,
}

/// The state of multipart uploads.
#[derive(Debug, Default)]
struct Uploads {
    /// Which part of each upload fails, counted from 1.
    failing: AtomicU64,
    /// Which part of each upload hangs, and how many did.
    hanging: AtomicU64,
    hung: AtomicU64,
    completed: AtomicU64,
    aborted: AtomicU64,
}

#[derive(Debug)]
struct CountedUpload {
    inner: Box<dyn MultipartUpload>,
    parts: u64,
    uploads: Arc<Uploads>,
}

#[async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.parts += 1;
        if self.parts == self.uploads.failing.load(Ordering::Relaxed) {
            return Box::pin(async {
                Err(Error::NotImplemented { operation: "o".into(), implementer: "i".into() })
            });
        }
        if self.parts == self.uploads.hanging.load(Ordering::Relaxed) {
            self.uploads.hung.fetch_add(1, Ordering::Relaxed);
            return Box::pin(futures::future::pending());
        }
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.uploads.completed.fetch_add(1, Ordering::Relaxed);
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.uploads.aborted.fetch_add(1, Ordering::Relaxed);
        self.inner.abort().await
    }
}

impl Counting {
    /// Requests and bytes since the last time.
    fn take(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        if self.puts.fetch_add(1, Ordering::Relaxed) + 1 == self.failing_put.load(Ordering::Relaxed) {
            return Err(Error::NotImplemented { operation: "o".into(), implementer: "i".into() });
        }
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(path, options).await?;
        Ok(Box::new(CountedUpload { inner, parts: 0, uploads: self.uploads.clone() }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let is_head = options.head;
        let answer = self.inner.get_opts(path, options).await?;
        if !is_head {
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(answer.range.end - answer.range.start, Ordering::Relaxed);
        }
        Ok(answer)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A session over a store that counts, in which there is room for so many bytes.
fn counting_session(pool: Arc<dyn MemoryPool>) -> (Arc<Counting>, SessionContext) {
    let config = SessionConfig::new().with_target_partitions(2);
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
    let ctx = SessionContext::new_with_config_rt(config, runtime);
    marquetry_datafusion::register(&ctx).unwrap();
    let store = Arc::new(Counting::default());
    let url = ObjectStoreUrl::parse("mem://store").unwrap();
    ctx.register_object_store(url.as_ref(), store.clone());
    (store, ctx)
}

/// `rows` ascending numbers, and as many random ones; uncompressed, in pages of 10,000.
fn table(first: i64, rows: i64) -> RecordBatch {
    let random = |n: i64| n.wrapping_mul(0x5851_f42d_4c95_7f2d_i64).rotate_left(17);
    batch([("k", longs(first..first + rows)), ("v", longs((first..first + rows).map(random)))])
}

fn file(table: &RecordBatch) -> Bytes {
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_encoding(marquetry_core::write::Encoding::PLAIN)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(10_000);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties.build())).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    bytes.into()
}

async fn put(store: &Counting, path: &str, bytes: &Bytes) {
    store.put(&Path::from(path), bytes.clone().into()).await.unwrap();
}

#[tokio::test]
async fn counts_and_bounds_of_a_thousand_files_take_their_footers() {
    let (store, ctx) = counting_session(Arc::new(UnboundedMemoryPool::default()));
    // Each is larger than what is asked of its end.
    let files = [file(&table(0, 20_000)), file(&table(-5, 20_000))];
    for number in 0..1000 {
        put(&store, &format!("t/{number}.parquet"), &files[usize::from(number == 700)]).await;
    }
    run(&ctx, "set datafusion.execution.parquet.metadata_size_hint = 0").await;
    run(&ctx, "create external table t stored as parquet location 'mem://store/t/'").await;
    assert_eq!(rows(&ctx, "select count(*), min(k), max(k) from t").await, ["20000000 | -5 | 19999"]);
    let (requests, bytes) = store.take();
    assert_eq!((requests, bytes), (1000, 1000 * 64 * 1024));
    assert_eq!(rows(&ctx, "select count(*), count(k), min(v) < 0 from t").await.len(), 1);
    assert_eq!(store.take(), (0, 0));
    let asked = plan(&ctx, "select count(*), min(k), max(k) from t").await;
    assert!(!asked.contains("DataSourceExec"), "{asked}");
}

#[tokio::test]
async fn rows_that_stand_together_take_little_more_than_their_pages() {
    let (store, ctx) = counting_session(Arc::new(UnboundedMemoryPool::default()));
    put(&store, "t.parquet", &file(&table(0, 1_000_000))).await;
    run(&ctx, "create external table t stored as parquet location 'mem://store/t.parquet'").await;
    store.take();
    let sql = "select count(v) from t where k >= 504000 and k < 514000";
    assert_eq!(rows(&ctx, sql).await, ["10000"]);
    let (requests, bytes) = store.take();
    // Two pages of each column.
    let least = 4 * 80_000;
    assert!(bytes * 10 <= least * 12, "{bytes} bytes of {requests} requests, {least} at least");
    // The session keeps the page indexes with the footer.
    assert_eq!(
        rows(&ctx, &sql.replace("k >= 504000 and k < 514000", "k >= 704000 and k < 714000")).await,
        ["10000"]
    );
    let (fewer, pages) = store.take();
    assert!(
        fewer < requests && pages < bytes,
        "{pages} bytes of {fewer} requests, before {bytes} of {requests}"
    );
}

#[tokio::test]
async fn readers_take_their_memory_from_the_sessions_pool() {
    let sql = "select sum(v), count(k) from t";
    for (room, is_enough) in [(64 << 20, true), (100_000, false)] {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(room));
        let (store, ctx) = counting_session(pool.clone());
        put(&store, "t.parquet", &file(&table(0, 300_000))).await;
        run(&ctx, "create external table t stored as parquet location 'mem://store/t.parquet'").await;
        match batches(&ctx, sql).await {
            Ok(_) => assert!(is_enough, "{room} bytes are enough"),
            Err(error) => {
                let message = error.to_string();
                assert!(!is_enough && message.contains("the session has no memory left"), "{message}");
                assert!(message.contains("t.parquet"), "{message}");
            }
        }
        assert_eq!(pool.reserved(), 0);
    }
}

#[tokio::test]
async fn one_row_group_is_read_by_several_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, file(&table(0, 100_000))).unwrap();
    let ctx = session_with(SessionConfig::new().with_target_partitions(4));
    run(&ctx, "set datafusion.execution.enable_file_stream_work_stealing = false").await;
    run(&ctx, &format!("create external table t stored as parquet location '{}'", path.display())).await;
    let query = ctx.sql("select k from t where v <> 7").await.unwrap().create_physical_plan().await.unwrap();
    let partitions = datafusion::physical_plan::collect_partitioned(query, ctx.task_ctx()).await.unwrap();
    let rows: Vec<usize> =
        partitions.iter().map(|batches| batches.iter().map(RecordBatch::num_rows).sum()).collect();
    assert_eq!(rows.iter().sum::<usize>(), 100_000);
    assert!(rows.len() == 4 && rows.iter().all(|rows| *rows > 20_000), "{rows:?}");
}

/// A store keeps the parts of an upload, and charges for them, until it is aborted.
#[tokio::test]
async fn an_upload_that_fails_is_aborted() {
    let (store, ctx) = counting_session(Arc::new(UnboundedMemoryPool::default()));
    ctx.register_batch("t", table(0, 1_500_000)).unwrap();
    run(&ctx, "set datafusion.execution.objectstore_writer_buffer_size = 1000").await;
    run(&ctx, "set datafusion.execution.target_partitions = 1").await;
    // 24 MB at most, in parts of 5 MiB.
    let copy = |name: &str| {
        format!(
            "copy t to 'mem://store/{name}.parquet' options ('compression' 'uncompressed', 'encoding' 'plain', 'dictionary_enabled' 'false')"
        )
    };
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    run(&ctx, &copy("whole")).await;
    assert_eq!((count(&store.uploads.completed), count(&store.uploads.aborted)), (1, 0));
    run(&ctx, "create external table w stored as parquet location 'mem://store/whole.parquet'").await;
    assert_eq!(rows(&ctx, "select count(*), max(k) from w").await, ["1500000 | 1499999"]);
    for failing in 1..=5 {
        store.uploads.failing.store(failing, Ordering::Relaxed);
        let message = crate::tables::error(&ctx, &copy("broken")).await;
        assert!(message.contains("the store failed"), "{message}");
        assert_eq!((count(&store.uploads.completed), count(&store.uploads.aborted)), (1, failing));
        assert!(store.head(&Path::from("broken.parquet")).await.is_err());
    }
}

/// After a statement was cancelled, as by Ctrl-C in a shell, no request is sent.
#[tokio::test]
async fn an_upload_that_is_given_up_is_aborted() {
    let (store, ctx) = counting_session(Arc::new(UnboundedMemoryPool::default()));
    ctx.register_batch("t", table(0, 1_000_000)).unwrap();
    run(&ctx, "set datafusion.execution.objectstore_writer_buffer_size = 1000").await;
    let copy = "copy t to 'mem://store/given_up.parquet' options ('compression' 'uncompressed', 'encoding' 'plain', 'dictionary_enabled' 'false')";
    let begun = Instant::now();
    let until = async |count: &AtomicU64| {
        while count.load(Ordering::Relaxed) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it never comes");
            tokio::task::yield_now().await;
        }
    };
    store.uploads.hanging.store(1, Ordering::Relaxed);
    tokio::select! {
        _ = run(&ctx, copy) => panic!("it waits for the part"),
        () = until(&store.uploads.hung) => {}
    }
    until(&store.uploads.aborted).await;
    assert!(store.head(&Path::from("given_up.parquet")).await.is_err());
}

/// Files are published one after the other: if that fails, the error names those that were.
#[tokio::test]
async fn files_that_are_there_are_told() {
    let (store, ctx) = counting_session(Arc::new(UnboundedMemoryPool::default()));
    ctx.register_batch("t", table(0, 3)).unwrap();
    for (failing, sentence) in [(1, None), (2, Some("its file ")), (3, Some("2 of its files are there"))] {
        store.puts.store(0, Ordering::Relaxed);
        store.failing_put.store(failing, Ordering::Relaxed);
        let copy = format!(
            "copy (select v, k from t) to 'mem://store/{failing}/' stored as parquet partitioned by (k)"
        );
        let message = crate::tables::error(&ctx, &copy).await;
        assert!(message.contains("the store failed"), "{message}");
        assert_eq!(message.contains("the statement is not undone"), sentence.is_some(), "{message}");
        assert!(message.contains(sentence.unwrap_or_default()), "{message}");
    }
}
