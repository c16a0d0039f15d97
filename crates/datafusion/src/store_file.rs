//! One object of a session's store as an asynchronous source of bytes.
//!
//! DataFusion uses another version of the crate `object_store` than `marquetry-object-store`, so this is a reader of
//! its own: of one object whose size is known, through stores that retry failed requests themselves.

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use marquetry_arrow::async_reader::{AsyncSource, CoalesceOptions, FileVersion, Tail};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::source::Source;
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectMeta, ObjectStore};
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::task::JoinError;

/// A file in a store, as it was when it was listed.
///
/// Every response is checked against the ETag, or the time of last change if there is none, and against the size. A
/// local file is opened once, and read by positions.
#[derive(Debug, Clone)]
pub(crate) struct StoreFile {
    store: Arc<dyn ObjectStore>,
    meta: Arc<ObjectMeta>,
    is_local: bool,
    /// Whether requests have the condition that the ETag is the listed one. Azure lists none that can be sent as they are.
    sends_tags: bool,
    local: Arc<OnceCell<Option<Arc<LocalFile>>>>,
}

impl StoreFile {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, meta: ObjectMeta) -> Self {
        // Any other store would start to send the whole object in response to a request without a range.
        let name = store.to_string();
        let (is_local, sends_tags) =
            (name.starts_with("LocalFileSystem"), !name.starts_with("MicrosoftAzure"));
        StoreFile { store, meta: Arc::new(meta), is_local, sends_tags, local: Arc::default() }
    }

    pub(crate) fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    /// The store of the file.
    pub(crate) fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The cost of a request.
    pub(crate) fn cost(&self) -> CoalesceOptions {
        if self.is_local { CoalesceOptions::LOCAL } else { CoalesceOptions::OBJECT_STORE }
    }

    fn version(&self) -> FileVersion {
        FileVersion::new(self.meta.size, Some(tag(&self.meta).into()))
    }

    /// The open file, if the store is the local file system.
    async fn local(&self) -> Result<Option<Arc<LocalFile>>> {
        if !self.is_local {
            return Ok(None);
        }
        let opened = self.local.get_or_try_init(|| async {
            let answer = self.store.get_opts(&self.meta.location, GetOptions::default()).await;
            let answer = answer.map_err(failed)?;
            self.check(&answer.meta)?;
            match answer.payload {
                GetResultPayload::File(file, _) => Ok(Some(Arc::new(LocalFile::new(file)?))),
                GetResultPayload::Stream(_) => Ok(None),
            }
        });
        opened.await.cloned()
    }

    fn check(&self, there: &ObjectMeta) -> Result<()> {
        match there.size == self.meta.size && tag(there) == tag(&self.meta) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Changed, "the file has changed since it was listed")),
        }
    }

    async fn read(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        match self.local().await? {
            Some(file) => {
                let read = tokio::task::spawn_blocking(move || file.read_ranges(&ranges));
                read.await.map_err(given_up)?
            }
            None => {
                let parts = ranges.into_iter().map(|range| spawned(self.clone().range(range)));
                stream::iter(parts).buffered(AT_ONCE).try_collect().await
            }
        }
    }

    async fn range(self, range: Range<u64>) -> Result<Bytes> {
        let (start, wanted) = (range.start, range.end - range.start);
        let if_match = self.meta.e_tag.clone().filter(|tag| self.sends_tags && !tag.starts_with("W/"));
        let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() };
        let answer = self.store.get_opts(&self.meta.location, options).await;
        let answer = answer.map_err(|error| failed(error).at(start))?;
        // Not every server checks the condition.
        self.check(&answer.meta).map_err(|error| error.at(start))?;
        let bytes = answer.bytes().await.map_err(|error| failed(error).at(start))?;
        if bytes.len() as u64 != wanted {
            let message = format!("requested {wanted} bytes, got {}", bytes.len());
            return Err(Error::new(ErrorKind::Io, message).at(start));
        }
        Ok(bytes)
    }
}

impl AsyncSource for StoreFile {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        let end = self.meta.size;
        let start = end.saturating_sub(len as u64);
        async move {
            // Servers refuse empty ranges.
            let bytes = match start < end {
                true => self.read(std::iter::once(start..end).collect()).await?.pop().unwrap_or_default(),
                false => Bytes::new(),
            };
            Ok(Tail::new(self.version(), bytes))
        }
        .boxed()
    }

    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        async move {
            if *version != self.version() {
                return Err(Error::new(ErrorKind::Changed, "the file has changed since its footer was read"));
            }
            self.read(ranges).await
        }
        .boxed()
    }
}

/// Concurrent requests of one file: enough to fill a fast connection, few enough for any server.
const AT_ONCE: usize = 16;

/// Identifies the content of an object.
pub(crate) fn tag(meta: &ObjectMeta) -> String {
    let changed = || format!("changed {}", meta.last_modified.timestamp_micros());
    meta.e_tag.as_deref().map_or_else(changed, |tag| unquoted(tag).to_owned())
}

/// QUIRK: Azure puts no quotes around ETags in a listing, but does in a response.
fn unquoted(tag: &str) -> &str {
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag)
}

/// Runs `work` as a task of its own, so that bytes arrive while batches are decoded; dropping the future cancels it.
async fn spawned<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let mut task = tokio::task::JoinSet::new();
    task.spawn(work);
    match task.join_next().await {
        Some(result) => result.map_err(given_up)?,
        None => Err(Error::new(ErrorKind::Io, "fetching was given up")),
    }
}

#[cold]
fn given_up(error: JoinError) -> Error {
    Error::caused_by(ErrorKind::Io, "fetching was given up", error)
}

#[cold]
pub(crate) fn failed(error: object_store::Error) -> Error {
    let kind = match error {
        object_store::Error::NotFound { .. } => ErrorKind::NotFound,
        object_store::Error::Precondition { .. } => ErrorKind::Changed,
        _ => ErrorKind::Io,
    };
    Error::caused_by(kind, "the store failed", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_same_with_quotes_and_without() {
        let meta = |e_tag: Option<&str>| ObjectMeta {
            location: "a.parquet".into(),
            last_modified: Default::default(),
            size: 1,
            e_tag: e_tag.map(str::to_owned),
            version: None,
        };
        assert_eq!(tag(&meta(Some("\"0x8D\""))), tag(&meta(Some("0x8D"))));
        assert_ne!(tag(&meta(Some("0x8E"))), tag(&meta(Some("0x8D"))));
        assert_eq!((tag(&meta(Some("\""))), tag(&meta(None))), ("\"".to_owned(), "changed 0".to_owned()));
    }
}
