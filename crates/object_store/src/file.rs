//! An object as an asynchronous source of bytes.

use crate::store_error::store_failed;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use marquetry_arrow::async_reader::{AsyncSource, FileVersion, Tail};
use marquetry_base::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::ops::Range;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A file in a store.
///
/// Up to 16 ranges are fetched at the same time. Inside a Tokio runtime each fetch is a task of its own, so that bytes
/// arrive while batches are decoded. A task is cancelled when the future that waits for it is dropped. The store
/// decides what is retried, and how often.
///
/// A response that breaks off is resumed where it ended. No response is read beyond the requested range.
///
/// Every response is checked against the version that was opened: by its length, and by its ETag, which is also sent to
/// the store as a condition. Without an ETag, the time of the last change is compared instead. Reading a file that has
/// changed is an error.
#[derive(Debug, Clone)]
pub struct ObjectFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

impl ObjectFile {
    /// Creates a source for the object at `path` of `store`. Whether the object exists shows when it is read.
    pub fn new(store: Arc<dyn ObjectStore>, path: Path) -> Self {
        ObjectFile { store, path }
    }

    async fn tail(self, len: usize) -> Result<Tail> {
        let suffix = GetOptions::new().with_range(Some(GetRange::Suffix(len as u64)));
        let answer = match self.store.get_opts(&self.path, suffix).await {
            Err(error) if may_refuse_suffix(&error) => self.tail_by_length(len, error).await?,
            answer => answer.map_err(|error| self.failed(error))?,
        };
        let version = version_of(&answer.meta);
        let range = version.len.saturating_sub(len as u64)..version.len;
        let bytes = self.whole(&version, range, answer).await?;
        Ok(Tail::new(version, bytes))
    }

    /// Requests the end of the file from a store that does not take suffix ranges. `refused` is the error of the suffix
    /// request.
    async fn tail_by_length(&self, len: usize, refused: object_store::Error) -> Result<GetResult> {
        use object_store::Error::{NotFound, NotImplemented, NotSupported};
        let (size, e_tag) = match (self.store.head(&self.path).await, refused) {
            (Ok(meta), _) => (meta.size, meta.e_tag),
            // Some servers give the size only in responses to ranges. One that ignores ranges fails here with an error
            // that says so.
            (Err(NotFound { .. }), NotSupported { .. } | NotImplemented { .. }) => {
                let first = GetOptions::new().with_range(Some(GetRange::Bounded(0..1)));
                let answer = self.store.get_opts(&self.path, first).await;
                let meta = answer.map_err(|error| self.failed(error))?.meta;
                (meta.size, meta.e_tag)
            }
            // The suffix request was refused without looking for the file.
            (Err(error), NotSupported { .. } | NotImplemented { .. }) => return Err(self.failed(error)),
            (Err(_), refused) => return Err(self.failed(refused)),
        };
        // Servers refuse empty ranges, and may ignore a range that covers the whole file.
        let start = size.saturating_sub(len as u64);
        let range = (start > 0).then_some(GetRange::Bounded(start..size));
        let options = GetOptions { if_match: strong(e_tag.as_deref()), ..GetOptions::new() };
        self.store.get_opts(&self.path, options.with_range(range)).await.map_err(|error| self.failed(error))
    }

    async fn range(self, version: FileVersion, range: Range<u64>) -> Result<Bytes> {
        let answer = self.answer(&version, range.clone()).await?;
        self.whole(&version, range, answer).await
    }

    /// Requests a range of this version of the file.
    async fn answer(&self, version: &FileVersion, range: Range<u64>) -> Result<GetResult> {
        let options = GetOptions { if_match: strong(version.tag.as_deref()), ..GetOptions::new() };
        let start = range.start;
        let answer =
            self.store.get_opts(&self.path, options.with_range(Some(GetRange::Bounded(range)))).await;
        let answer = answer.map_err(|error| self.failed(error).at(start))?;
        // Not every server evaluates the condition.
        if version_of(&answer.meta) != *version {
            return Err(changed().at(start));
        }
        Ok(answer)
    }

    /// Returns the bytes of a range. If the response breaks off, requests what is missing. Never takes more than the
    /// range from a response.
    async fn whole(&self, version: &FileVersion, range: Range<u64>, answer: GetResult) -> Result<Bytes> {
        let wanted = (range.end - range.start) as usize;
        let mut parts: Vec<Bytes> = Vec::new();
        let mut got = 0;
        let mut pieces = answer.into_stream();
        let (mut failures, mut in_vain) = (0, 0);
        while got < wanted {
            let place = range.start + got as u64;
            match pieces.next().await {
                Some(Ok(piece)) => {
                    if piece.len() > wanted - got {
                        let message = format!("requested {wanted} bytes, and the store returned more");
                        return Err(Error::new(ErrorKind::Io, message).at(range.start));
                    }
                    got += piece.len();
                    in_vain = if piece.is_empty() { in_vain } else { 0 };
                    parts.push(piece);
                }
                // A connection broke. What is missing is requested again, but not endlessly.
                Some(Err(error)) if in_vain >= RESUMES_IN_VAIN || failures >= RESUMES => {
                    return Err(self.failed(error).at(place));
                }
                Some(Err(_)) => {
                    (failures, in_vain) = (failures + 1, in_vain + 1);
                    pieces = self.answer(version, place..range.end).await?.into_stream();
                }
                None => {
                    let message = format!("requested {wanted} bytes, got {got}");
                    return Err(Error::new(ErrorKind::Io, message).at(range.start));
                }
            }
        }
        Ok(match parts.as_mut_slice() {
            [one] => std::mem::take(one),
            _ => parts.concat().into(),
        })
    }

    #[cold]
    fn failed(&self, error: object_store::Error) -> Error {
        store_failed(&error)
    }
}

impl AsyncSource for ObjectFile {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        spawned(self.clone().tail(len)).boxed()
    }

    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        let parts = ranges.into_iter().map(|range| spawned(self.clone().range(version.clone(), range)));
        stream::iter(parts).buffered(AT_ONCE).try_collect().boxed()
    }
}

/// How often a response that breaks off is resumed.
const RESUMES: usize = 32;

/// How often, if no bytes arrived in between.
const RESUMES_IN_VAIN: usize = 2;

/// Concurrent requests for one file: enough to fill a fast connection, few enough for any server.
const AT_ONCE: usize = 16;

/// Runs `work` as a task of its own if there is a runtime. Dropping the future cancels the task.
async fn spawned<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let Ok(runtime) = Handle::try_current() else { return work.await };
    let mut task = Task(runtime.spawn(work));
    match (&mut task.0).await {
        Ok(result) => result,
        Err(error) => Err(Error::caused_by(ErrorKind::Io, "fetching was given up", error)),
    }
}

struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether a suffix range may be what the store refused. Azure has none; web servers may have none, and refuse them for
/// empty files.
fn may_refuse_suffix(error: &object_store::Error) -> bool {
    use object_store::Error::{Generic, NotImplemented, NotSupported};
    matches!(error, NotSupported { .. } | NotImplemented { .. } | Generic { .. })
}

fn version_of(meta: &ObjectMeta) -> FileVersion {
    let tag =
        meta.e_tag.clone().unwrap_or_else(|| format!("changed {}", meta.last_modified.timestamp_millis()));
    FileVersion::new(meta.size, Some(tag.into()))
}

/// Returns an ETag that a server can compare. Weak ETags never match, and those that begin with `changed` were made by
/// us.
fn strong(tag: Option<&str>) -> Option<String> {
    tag.filter(|tag| !tag.starts_with("W/") && !tag.starts_with("changed ")).map(str::to_owned)
}

#[cold]
fn changed() -> Error {
    Error::new(ErrorKind::Changed, "the file has changed since it was opened")
}
