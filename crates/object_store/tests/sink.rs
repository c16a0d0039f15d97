//! Objects that are written: whole or not at all, in parts that stores take, and no more of them at a time than was said.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, TryStreamExt};
use marquetry_arrow::async_writer::{AsyncArrowWriter, AsyncSink};
use marquetry_core::write::WriterProperties;
use marquetry_object_store::ObjectSink;
use marquetry_object_store::object_store::memory::InMemory;
use marquetry_object_store::object_store::path::Path;
use marquetry_object_store::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The requests to a store.
#[derive(Debug, Default)]
struct Asked {
    puts: AtomicUsize,
    begun: AtomicUsize,
    aborted: AtomicUsize,
    completed: AtomicUsize,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    parts: Mutex<Vec<usize>>,
}

/// The faults of a store.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    /// The part of this number fails.
    part: Option<usize>,
    complete: bool,
    /// The duration of each request.
    delay: Duration,
    /// It supports no conditions.
    no_conditions: bool,
}

/// A store in memory that records requests.
#[derive(Debug, Default)]
struct Store {
    inner: InMemory,
    asked: Arc<Asked>,
    faults: Faults,
}

impl Display for Store {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a store with faults")
    }
}

fn broken(what: &str) -> Error {
    Error::Generic { store: "test", source: format!("{what} failed, see https://host/x?sig=secret").into() }
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        use marquetry_object_store::object_store::PutMode;
        self.asked.puts.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(self.faults.delay).await;
        if self.faults.no_conditions && matches!(options.mode, PutMode::Create) {
            return Err(Error::NotImplemented { operation: "create".into(), implementer: "test".into() });
        }
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        tokio::time::sleep(self.faults.delay).await;
        self.asked.begun.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.put_multipart_opts(path, options).await?;
        Ok(Box::new(Upload { inner, asked: self.asked.clone(), faults: self.faults }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct Upload {
    inner: Box<dyn MultipartUpload>,
    asked: Arc<Asked>,
    faults: Faults,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let number = {
            let mut parts = self.asked.parts.lock().unwrap();
            parts.push(data.content_length());
            parts.len() - 1
        };
        let under_way = self.asked.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        self.asked.most_under_way.fetch_max(under_way, Ordering::Relaxed);
        let (asked, faults, part) = (self.asked.clone(), self.faults, self.inner.put_part(data));
        async move {
            tokio::time::sleep(faults.delay).await;
            let done = if faults.part == Some(number) { Err(broken("the part")) } else { part.await };
            asked.under_way.fetch_sub(1, Ordering::Relaxed);
            done
        }
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        tokio::time::sleep(self.faults.delay).await;
        if self.faults.complete {
            return Err(broken("completing"));
        }
        self.asked.completed.fetch_add(1, Ordering::Relaxed);
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        assert_eq!(self.asked.under_way.load(Ordering::Relaxed), 0, "a part may arrive behind the end");
        self.asked.aborted.fetch_add(1, Ordering::Relaxed);
        self.inner.abort().await
    }
}

const MIB: usize = 1 << 20;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn path() -> Path {
    Path::from("a/b.parquet")
}

fn store(faults: Faults) -> (Arc<dyn ObjectStore>, Arc<Asked>) {
    let store = Store { faults, ..Store::default() };
    let asked = store.asked.clone();
    (Arc::new(store), asked)
}

/// Bytes that repeat nowhere.
fn bytes(len: usize) -> Bytes {
    (0..len as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).take(len).collect()
}

fn slow() -> Faults {
    Faults { delay: Duration::from_millis(20), ..Faults::default() }
}

/// So slow that no request is finished when it is polled at once, however busy the machine is.
fn very_slow() -> Faults {
    Faults { delay: Duration::from_millis(400), ..Faults::default() }
}

async fn is_nothing_there(store: &dyn ObjectStore) -> bool {
    store.list(None).try_collect::<Vec<_>>().await.unwrap().is_empty()
}

/// Background tasks finish soon.
async fn soon(is_done: impl Fn() -> bool) {
    for _ in 0..200 {
        if is_done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it was not done");
}

#[test]
fn a_short_object_is_one_request() {
    runtime().block_on(async {
        for len in [0, 1, 8 * MIB - 1] {
            let (store, asked) = store(Faults::default());
            let mut sink = ObjectSink::new(store.clone(), path());
            for piece in bytes(len).chunks(MIB) {
                sink.write(Bytes::copy_from_slice(piece)).await.unwrap();
                assert!(is_nothing_there(&*store).await);
            }
            sink.complete().await.unwrap();
            assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), bytes(len));
            assert_eq!((asked.puts.load(Ordering::Relaxed), asked.begun.load(Ordering::Relaxed)), (1, 0));
            assert!(sink.write(Bytes::from_static(b"x")).await.is_err());
            assert!(sink.complete().await.is_err());
        }
    });
}

#[test]
fn a_long_object_is_sent_in_parts() {
    let whole = bytes(43 * MIB + 17);
    for (at_once, has_runtime) in [(1, true), (3, true), (3, false)] {
        let run = async {
            let (store, asked) = store(if has_runtime { slow() } else { Faults::default() });
            let mut sink =
                ObjectSink::new(store.clone(), path()).with_part_bytes(0).with_parts_at_once(at_once);
            // Pieces that are longer than a part, and pieces that end anywhere in one.
            let mut rest = whole.clone();
            for len in [12 * MIB, 1, 0, 777, 5 * MIB, 3 * MIB + 1].into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                sink.write(rest.split_to(len.min(rest.len()))).await.unwrap();
                assert!(is_nothing_there(&*store).await);
            }
            sink.complete().await.unwrap();
            assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), whole);
            let parts = asked.parts.lock().unwrap().clone();
            assert_eq!(parts, [[5 * MIB; 8].as_slice(), &[3 * MIB + 17]].concat());
            assert!(asked.most_under_way.load(Ordering::Relaxed) <= at_once);
            assert_eq!(asked.completed.load(Ordering::Relaxed), 1);
            drop(sink);
            assert_eq!(asked.aborted.load(Ordering::Relaxed), 0);
        };
        match has_runtime {
            true => runtime().block_on(run),
            // The store of this test calls `sleep`, which needs the context of a runtime, even without a delay.
            false => futures::executor::block_on(async {
                let guard = runtime();
                let _entered = guard.enter();
                run.await;
            }),
        }
    }
}

#[test]
fn a_part_that_fails_ends_the_upload() {
    runtime().block_on(async {
        for part in [0, 1, 4] {
            let (store, asked) = store(Faults { part: Some(part), ..slow() });
            let mut sink = ObjectSink::new(store.clone(), path()).with_part_bytes(0).with_parts_at_once(2);
            let mut failed = None;
            for _ in 0..5 {
                if let Err(error) = sink.write(bytes(5 * MIB)).await {
                    failed = Some(error);
                    break;
                }
            }
            let error = match failed {
                Some(error) => error,
                None => sink.complete().await.unwrap_err(),
            };
            let text = error.to_string();
            assert!(text.contains("the part failed") && text.contains("a/b.parquet"), "{text}");
            assert!(!text.contains("secret"), "{text}");
            assert_eq!(asked.aborted.load(Ordering::Relaxed), 1);
            assert!(sink.complete().await.is_err() && is_nothing_there(&*store).await);
        }
    });
}

#[test]
fn who_gives_up_waiting_may_complete_again() {
    runtime().block_on(async {
        for len in [MIB, 20 * MIB] {
            let (store, _) = store(very_slow());
            let mut sink = ObjectSink::new(store.clone(), path());
            sink.write(bytes(len)).await.unwrap();
            assert!(sink.complete().now_or_never().is_none());
            sink.complete().await.unwrap();
            assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), bytes(len));
        }
    });
}

#[test]
fn an_upload_that_cannot_be_completed_is_aborted() {
    runtime().block_on(async {
        let (store, asked) = store(Faults { complete: true, ..Faults::default() });
        let mut sink = ObjectSink::new(store.clone(), path());
        sink.write(bytes(9 * MIB)).await.unwrap();
        assert!(sink.complete().await.unwrap_err().to_string().contains("completing failed"));
        assert_eq!(asked.aborted.load(Ordering::Relaxed), 1);
        assert!(is_nothing_there(&*store).await);
    });
}

#[test]
fn what_is_given_up_leaves_nothing() {
    runtime().block_on(async {
        // Asked to.
        let (store, asked) = store(slow());
        let mut sink = ObjectSink::new(store.clone(), path());
        sink.write(bytes(20 * MIB)).await.unwrap();
        sink.abort().await.unwrap();
        assert_eq!(asked.aborted.load(Ordering::Relaxed), 1);
        assert!(sink.write(bytes(1)).await.is_err() && sink.complete().await.is_err());
        assert!(is_nothing_there(&*store).await);

        // Dropped in the middle.
        let (store, asked) = self::store(slow());
        let mut sink = ObjectSink::new(store.clone(), path());
        sink.write(bytes(20 * MIB)).await.unwrap();
        drop(sink);
        soon(|| asked.aborted.load(Ordering::Relaxed) == 1).await;
        assert!(is_nothing_there(&*store).await);

        // While the upload begins: the future is dropped, and nobody knows of the upload yet.
        let (store, asked) = self::store(very_slow());
        let mut sink = ObjectSink::new(store.clone(), path());
        let whole = bytes(20 * MIB);
        assert!(sink.write(whole).now_or_never().is_none());
        drop(sink);
        soon(|| asked.begun.load(Ordering::Relaxed) == 1 && asked.aborted.load(Ordering::Relaxed) == 1).await;

        // While it is aborted, and parts are under way.
        let (store, asked) = self::store(very_slow());
        let mut sink = ObjectSink::new(store.clone(), path());
        sink.write(bytes(20 * MIB)).await.unwrap();
        assert!(sink.abort().now_or_never().is_none());
        drop(sink);
        soon(|| asked.aborted.load(Ordering::Relaxed) == 1).await;
        assert!(is_nothing_there(&*store).await);

        // While it is completed.
        let (store, asked) = self::store(very_slow());
        let mut sink = ObjectSink::new(store.clone(), path());
        sink.write(bytes(20 * MIB)).await.unwrap();
        assert!(sink.complete().now_or_never().is_none());
        drop(sink);
        soon(|| asked.aborted.load(Ordering::Relaxed) == 1).await;
        assert!(is_nothing_there(&*store).await);
    });
}

#[test]
fn a_dropped_future_loses_no_bytes() {
    runtime().block_on(async {
        let (store, _) = store(slow());
        let mut sink = ObjectSink::new(store.clone(), path()).with_part_bytes(0).with_parts_at_once(1);
        let whole = bytes(24 * MIB);
        for part in whole.chunks(6 * MIB) {
            // It waits for room for the part; the bytes were accepted.
            let _ = sink.write(Bytes::copy_from_slice(part)).now_or_never();
        }
        sink.complete().await.unwrap();
        assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), whole);
    });
}

#[test]
fn what_is_there_stays_if_it_must() {
    runtime().block_on(async {
        for no_conditions in [false, true] {
            for len in [10, 9 * MIB] {
                let faults = Faults { no_conditions, ..Faults::default() };
                let (store, asked) = store(faults);
                let sink = || ObjectSink::new(store.clone(), path()).with_overwrite(false);
                // Nothing is there yet; and then there is.
                let mut first = sink();
                let mut second = sink();
                first.write(bytes(len)).await.unwrap();
                second.write(bytes(len + 1)).await.unwrap();
                first.complete().await.unwrap();
                let error = second.complete().await.unwrap_err();
                assert!(error.message().contains("an object of this name already exists"), "{error}");
                let error = sink().write(bytes(1)).await.unwrap_err();
                assert!(error.message().contains("an object of this name already exists"), "{error}");
                assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), bytes(len));
                assert_eq!(asked.aborted.load(Ordering::Relaxed), usize::from(len > MIB));
                // It is replaced if overwriting is allowed.
                let mut third = sink().with_overwrite(true);
                third.write(bytes(3)).await.unwrap();
                third.complete().await.unwrap();
                assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), bytes(3));
            }
        }
    });
}

#[test]
fn a_file_is_written_by_waiting() {
    let column = |from: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(
            (from..from + 200_000).map(|i| i.wrapping_mul(0x5851_f42d_4c95_7f2d)),
        ))
    };
    let batches: Vec<_> =
        (0..12).map(|i| RecordBatch::try_from_iter([("noise", column(i * 200_000))]).unwrap()).collect();
    runtime().block_on(async {
        let (store, asked) = store(slow());
        let sink = ObjectSink::new(store.clone(), path()).with_part_bytes(0);
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(400_000)).build();
        let mut writer =
            AsyncArrowWriter::try_new(sink, batches[0].schema(), Some(properties.clone())).unwrap();
        writer = writer
            .with_blocking_tasks(|task| Box::pin(async { drop(tokio::task::spawn_blocking(task).await) }));
        for batch in &batches {
            writer.write(batch).await.unwrap();
        }
        // Parts are on their way before the end, and nothing is there.
        assert!(asked.parts.lock().unwrap().len() > 1 && is_nothing_there(&*store).await);
        writer.close().await.unwrap();
        let written = store.get(&path()).await.unwrap().bytes().await.unwrap();
        let mut other = marquetry_arrow::arrow_writer::ArrowWriter::try_new(
            Vec::new(),
            batches[0].schema(),
            Some(properties),
        )
        .unwrap();
        batches.iter().for_each(|batch| other.write(batch).unwrap());
        assert!(written == other.into_inner().unwrap());
        assert!(asked.most_under_way.load(Ordering::Relaxed) <= 4);

        // A writer that is given up.
        let sink = ObjectSink::new(store.clone(), Path::from("other")).with_part_bytes(0);
        let mut writer = AsyncArrowWriter::try_new(sink, batches[0].schema(), None).unwrap();
        for batch in &batches {
            writer.write(batch).await.unwrap();
        }
        writer.flush().await.unwrap();
        drop(writer);
        soon(|| asked.aborted.load(Ordering::Relaxed) == 1).await;
        assert!(store.head(&Path::from("other")).await.is_err());
    });
}
