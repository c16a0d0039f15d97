//! An object as an asynchronous sink of bytes, by multipart upload.

use crate::part_sizes::PartSizes;
use crate::store_error::store_failed;
use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use marquetry_arrow::async_writer::AsyncSink;
use marquetry_base::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A new object in a store, written in parts.
///
/// Up to 4 parts are uploaded at a time, and the bytes of one more are buffered. Parts have 8 MiB, and their size
/// doubles after every 800 parts: so 10,000 parts, the most that stores accept, hold more than the 5 TiB that an object
/// may have. An object that is shorter than a part is written in one request. The store decides what is retried, and
/// how often.
///
/// The object is not visible before [`complete`](AsyncSink::complete) is ready; an object that was there stays until
/// then. After an error, or if the sink is dropped before, the upload is aborted, and the store discards the parts. A
/// drop aborts in a task of the current Tokio runtime, or of the one that the upload began in. If the process ends
/// first or is killed, parts may stay and cost money: set a rule on the bucket that ends incomplete uploads.
///
/// QUIRK: Cloudflare R2 requires parts of one size. The default allows objects of up to 6.25 GiB; use
/// [`with_part_bytes`](Self::with_part_bytes) for more.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use marquetry_arrow::async_writer::AsyncArrowWriter;
/// use marquetry_object_store::ObjectSink;
/// use object_store::{ObjectStore, ObjectStoreExt, memory::InMemory, path::Path};
/// use std::sync::Arc;
///
/// # futures::executor::block_on(async {
/// let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
/// let path = Path::from("ids.parquet");
/// let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
///
/// let sink = ObjectSink::new(store.clone(), path.clone());
/// let mut writer = AsyncArrowWriter::try_new(sink, batch.schema(), None)?;
/// writer.write(&batch).await?;
/// assert!(store.head(&path).await.is_err());
/// writer.close().await?;
/// assert!(store.head(&path).await.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is there until it is completed"]
pub struct ObjectSink {
    target: Target,
    /// The name in errors.
    name: Arc<str>,
    sizes: PartSizes,
    at_once: usize,
    overwrite: bool,
    /// Bytes of the next part.
    waiting: Vec<Bytes>,
    waiting_bytes: u64,
    /// Number of parts that were begun.
    parts: u64,
    upload: Option<Upload>,
    state: State,
}

#[derive(Clone)]
struct Target {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Writable, as far as is known.
    Open,
    Completed,
    Failed,
}

/// An upload that the store knows of, and its parts in flight.
struct Upload {
    inner: Box<dyn MultipartUpload>,
    /// The runtime that it began in.
    runtime: Option<Handle>,
    under_way: FuturesUnordered<BoxFuture<'static, object_store::Result<()>>>,
}

impl ObjectSink {
    /// Creates a sink for the object at `path` of `store`. Sends nothing to the store yet.
    pub fn new(store: Arc<dyn ObjectStore>, path: Path) -> Self {
        ObjectSink {
            name: path.as_ref().into(),
            target: Target { store, path },
            sizes: PartSizes::default(),
            at_once: AT_ONCE,
            overwrite: true,
            waiting: Vec::new(),
            waiting_bytes: 0,
            parts: 0,
            upload: None,
            state: State::New,
        }
    }

    /// Sets whether an existing object is replaced. Default `true`.
    ///
    /// If not, an existing object is an error. It is looked for before the first byte is taken, and again at the end.
    /// An object of one part is written with a condition that the store evaluates as it writes, if it supports such
    /// conditions. Otherwise the store is asked just before, so that of two writers that end at the same time both may
    /// succeed, and the last one wins.
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets the size of the first parts in bytes. Default 8 MiB; at least 5 MiB, the minimum of stores, and at most 2
    /// GiB.
    pub fn with_part_bytes(mut self, bytes: u64) -> Self {
        self.sizes = PartSizes::new(bytes);
        self
    }

    /// Sets how many parts are uploaded at a time, at least one. Default 4.
    pub fn with_parts_at_once(mut self, parts: usize) -> Self {
        self.at_once = parts.max(1);
        self
    }

    /// Sets the name in errors. Default: the path.
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    async fn take(&mut self, bytes: Bytes) -> Result<()> {
        // The bytes are part of the object even if this future is dropped.
        self.waiting_bytes += bytes.len() as u64;
        self.waiting.extend(Some(bytes).filter(|bytes| !bytes.is_empty()));
        if self.state == State::New {
            self.target.check_free(self.overwrite).await?;
            self.state = State::Open;
        }
        self.send_full().await
    }

    /// Sends all full parts.
    async fn send_full(&mut self) -> Result<()> {
        while self.waiting_bytes >= self.sizes.of(self.parts) {
            self.send(self.sizes.of(self.parts)).await?;
        }
        Ok(())
    }

    /// Sends the first bytes of the buffer as a part, once there is room for it.
    async fn send(&mut self, bytes: u64) -> Result<()> {
        if self.upload.is_none() {
            let inner = self.target.begin().await?;
            let runtime = Handle::try_current().ok();
            self.upload = Some(Upload { inner, runtime, under_way: FuturesUnordered::new() });
        }
        while let Some(upload) = self.upload.as_mut().filter(|upload| upload.under_way.len() >= self.at_once)
        {
            if let Some(Err(error)) = upload.under_way.next().await {
                return Err(store_failed(&error));
            }
        }
        let part = self.cut(bytes);
        if let Some(upload) = &mut self.upload {
            upload.under_way.push(begun(upload.inner.put_part(part)));
            self.parts += 1;
        }
        Ok(())
    }

    /// Takes the first bytes of the buffer.
    fn cut(&mut self, bytes: u64) -> PutPayload {
        let (mut part, mut left) = (Vec::new(), bytes.min(self.waiting_bytes));
        self.waiting_bytes -= left;
        let mut taken = 0;
        for piece in &mut self.waiting {
            if left < piece.len() as u64 {
                part.push(piece.split_to(left as usize));
                break;
            }
            left -= piece.len() as u64;
            taken += 1;
            part.push(std::mem::take(piece));
        }
        self.waiting.drain(..taken);
        PutPayload::from_iter(part)
    }

    async fn end(&mut self) -> Result<()> {
        match self.state {
            State::New | State::Open => {}
            State::Completed | State::Failed => {
                return Err(Error::argument("the object is finished, or was given up"));
            }
        }
        self.send_full().await?;
        if self.upload.is_none() {
            // The bytes stay buffered until they are written: whoever drops this future may call again.
            let all = PutPayload::from_iter(self.waiting.iter().cloned());
            self.target.put(all, self.overwrite).await?;
            (self.waiting, self.waiting_bytes) = (Vec::new(), 0);
            return Ok(());
        }
        if self.waiting_bytes > 0 {
            self.send(u64::MAX).await?;
        }
        self.target.check_free(self.overwrite).await?;
        let Some(upload) = &mut self.upload else { return Ok(()) };
        while let Some(done) = upload.under_way.next().await {
            done.map_err(|error| store_failed(&error))?;
        }
        upload.inner.complete().await.map_err(|error| store_failed(&error))?;
        self.upload = None;
        Ok(())
    }

    /// Aborts the upload.
    async fn give_up(&mut self) -> Result<()> {
        self.state = State::Failed;
        (self.waiting, self.waiting_bytes) = (Vec::new(), 0);
        match self.upload.take() {
            Some(upload) => upload.abort().await.map_err(|error| store_failed(&error)),
            None => Ok(()),
        }
    }

    /// Aborts the upload after an error, and returns that error.
    async fn ended<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.is_err() {
            // The caller gets the first error; that the abort fails, too, is of no use.
            let _ = self.give_up().await;
        }
        done.map_err(|error| error.in_file(self.name.clone()))
    }
}

impl AsyncSink for ObjectSink {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let done = match self.state {
                State::New | State::Open => self.take(bytes).await,
                State::Completed | State::Failed => {
                    Err(Error::argument("the object is finished, or was given up"))
                }
            };
            self.ended(done).await
        })
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let done = self.end().await;
            self.ended(done).await?;
            self.state = State::Completed;
            Ok(())
        })
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.give_up().await.map_err(|error| error.in_file(self.name.clone())) })
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            upload.abort_later();
        }
    }
}

impl Target {
    /// Begins an upload. If nobody waits for it any more, it is aborted.
    async fn begin(&self) -> Result<Box<dyn MultipartUpload>> {
        let Target { store, path } = self.clone();
        let Ok(runtime) = Handle::try_current() else {
            return store.put_multipart(&path).await.map_err(|error| store_failed(&error));
        };
        let (sender, receiver) = oneshot::channel();
        runtime.spawn(async move {
            let begun = store.put_multipart(&path).await;
            if let Err(Ok(mut unwanted)) = sender.send(begun) {
                let _ = unwanted.abort().await;
            }
        });
        match receiver.await {
            Ok(begun) => begun.map_err(|error| store_failed(&error)),
            Err(_) => Err(Error::new(ErrorKind::Io, "the runtime was shut down")),
        }
    }

    /// Writes the object in one request.
    async fn put(&self, bytes: PutPayload, overwrite: bool) -> Result<()> {
        use object_store::Error::{AlreadyExists, NotImplemented, NotSupported};
        let put = |mode: PutMode| {
            self.store.put_opts(&self.path, bytes.clone(), PutOptions { mode, ..PutOptions::default() })
        };
        let done = match overwrite {
            true => put(PutMode::Overwrite).await,
            false => match put(PutMode::Create).await {
                Err(NotImplemented { .. } | NotSupported { .. }) => {
                    self.check_free(overwrite).await?;
                    put(PutMode::Overwrite).await
                }
                done => done,
            },
        };
        match done {
            Ok(_) => Ok(()),
            Err(AlreadyExists { .. }) => Err(is_there()),
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Fails if the object exists, unless it may be replaced.
    async fn check_free(&self, overwrite: bool) -> Result<()> {
        if overwrite {
            return Ok(());
        }
        match self.store.head(&self.path).await {
            Ok(_) => Err(is_there()),
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(store_failed(&error)),
        }
    }
}

impl Upload {
    /// Aborts, in a task of its own if there is a runtime, which goes on even if this future is dropped.
    async fn abort(self) -> object_store::Result<()> {
        let Ok(runtime) = Handle::try_current() else { return self.abort_here().await };
        let given_up = |error| object_store::Error::Generic { store: "the runtime", source: Box::new(error) };
        runtime.spawn(self.abort_here()).await.map_err(given_up)?
    }

    /// Aborts without waiting, if there is a runtime. Nobody is left to report an error to.
    fn abort_later(self) {
        if let Some(runtime) = Handle::try_current().ok().or_else(|| self.runtime.clone()) {
            runtime.spawn(self.abort_here());
        }
    }

    async fn abort_here(self) -> object_store::Result<()> {
        let Upload { mut inner, mut under_way, .. } = self;
        // A part that arrives after the abort would stay, so the parts in flight are awaited first.
        while under_way.next().await.is_some() {}
        inner.abort().await
    }
}

impl std::fmt::Debug for ObjectSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectSink")
            .field("path", &self.target.path)
            .field("parts", &self.parts)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Starts the upload of a part at once if there is a runtime; otherwise it starts when it is awaited.
fn begun(part: object_store::UploadPart) -> BoxFuture<'static, object_store::Result<()>> {
    let Ok(runtime) = Handle::try_current() else { return part };
    let mut task = Task(runtime.spawn(part));
    Box::pin(async move {
        let given_up = |error| object_store::Error::Generic { store: "the runtime", source: Box::new(error) };
        (&mut task.0).await.map_err(given_up)?
    })
}

struct Task(JoinHandle<object_store::Result<()>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cold]
fn is_there() -> Error {
    Error::argument("an object of this name already exists; use overwrite to replace it")
}

/// Concurrent parts of one object: enough to fill a fast connection, few enough for memory.
const AT_ONCE: usize = 4;
