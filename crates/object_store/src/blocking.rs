//! Blocking access to object stores, with a runtime of one thread behind it.

use crate::blocking_writer::BlockingObjectWriter;
use crate::listing::WILDCARDS;
use crate::own_runtime::OwnRuntime;
use crate::sink::ObjectSink;
use crate::url::Url;
use crate::{ObjectFile, listing};
use bytes::Bytes;
use marquetry_arrow::async_reader::{AsyncSource, CoalesceOptions, FileVersion};
use marquetry_base::{Error, ErrorKind, Result, url_without_secrets};
use marquetry_core::fetch::{RangeCache, bytes};
use marquetry_core::io::TAIL_READ;
use marquetry_core::source::Source;
use object_store::ObjectStore;
use std::collections::HashMap;
use std::iter::once;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A registry of stores, found by the URLs of their files. Each store is connected once.
///
/// A store is configured by the environment variables that its other tools use: `AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_SKIP_SIGNATURE=true` for public
/// buckets; `GOOGLE_APPLICATION_CREDENTIALS`, `GOOGLE_SERVICE_ACCOUNT`; `AZURE_STORAGE_ACCOUNT_NAME`,
/// `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_TOKEN`; `HTTPS_PROXY`.
///
/// `http://` and `https://` are plain web servers, whatever their name, and may have a query.
pub struct StoreRegistry {
    runtime: Arc<OwnRuntime>,
    patience: Duration,
    connected: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl StoreRegistry {
    /// Creates a registry without stores. Fails if the system cannot start a thread.
    pub fn new() -> Result<Self> {
        // If another part of the program has chosen a TLS provider already, that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(StoreRegistry {
            runtime: Arc::new(OwnRuntime::new()?),
            patience: Duration::from_secs(30),
            connected: Mutex::default(),
        })
    }

    /// Sets how long nothing may arrive from a store before that is an error. Default 30 seconds. A response may take
    /// longer as long as it keeps arriving. Stores that are connected already keep their setting.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens the file at `url` by fetching its last 64 KiB.
    ///
    /// Fails if the URL is invalid, if this build does not support its scheme, or if the store does not return the
    /// file.
    pub fn open(&self, url: &str) -> Result<BlockingObjectFile> {
        let open = || {
            let parsed = Url::parse(url)?;
            let file = ObjectFile::new(self.store(parsed)?, parsed.object()?);
            BlockingObjectFile::open(file, self.runtime.clone())
        };
        open().map_err(|error: Error| error.in_file(url))
    }

    /// Begins a file at `url`, which replaces an existing one if `overwrite`. See [`ObjectSink`] for how it is written,
    /// and what `overwrite` can promise.
    ///
    /// Fails if the URL is invalid or of a web server, if this build does not support its scheme, or if the file exists
    /// and may not be replaced.
    pub fn create(&self, url: &str, overwrite: bool) -> Result<BlockingObjectWriter> {
        let create = || {
            let parsed = Url::parse(url)?;
            if parsed.is_web() {
                return Err(Error::unsupported("web servers are only read"));
            }
            if parsed.path.is_empty() || parsed.path.ends_with('/') {
                return Err(Error::argument("the URL of a folder, not of a file"));
            }
            let name: Arc<str> = url_without_secrets(url).as_ref().into();
            let sink = ObjectSink::new(self.store(parsed)?, parsed.object()?);
            let sink = sink.with_overwrite(overwrite).with_name(name.clone());
            BlockingObjectWriter::begin(sink, self.runtime.clone(), name)
        };
        create().map_err(|error: Error| error.in_file(url))
    }

    /// Finds the files that `url` means, and returns their URLs in alphabetical order. A URL with a pattern of `*`,
    /// `?`, `[...]` and `**` in its path means the files that match it. One that ends with a slash, or that does not
    /// have the name of a Parquet file, means the files below it, if there are any. Any other URL means itself. Files
    /// that writers leave beside theirs, such as `_SUCCESS`, are skipped.
    ///
    /// Fails if the URL or the pattern is invalid, if the store fails to list its files, which web servers cannot do,
    /// or if no file is found.
    pub fn files(&self, url: &str) -> Result<Vec<String>> {
        let files = || {
            let parsed = Url::parse(url)?;
            let is_folder = parsed.path.is_empty() || parsed.path.ends_with('/');
            if parsed.is_web() {
                return match parsed.path.contains(WILDCARDS) || is_folder {
                    true => Err(Error::argument("a web server does not list its files: name each")),
                    false => Ok(vec![url.to_owned()]),
                };
            }
            let store = self.store(parsed)?;
            let path = parsed.path.to_owned();
            let files = self.runtime.wait(async move { listing::files(&*store, &path).await })?;
            Ok(files.into_iter().map(|path| parsed.with_path(&path)).collect())
        };
        files().map_err(|error: Error| error.in_file(url))
    }

    fn store(&self, url: Url<'_>) -> Result<Arc<dyn ObjectStore>> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = connected.get(&url.store_of_user()) {
            return Ok(store.clone());
        }
        let store = url.connect(self.patience)?;
        connected.insert(url.store_of_user(), store.clone());
        Ok(store)
    }
}

/// A file in a store, for readers that block until bytes arrive. It can be read and dropped on any thread, also on
/// those of an asynchronous runtime. A thread that runs tasks keeps the others waiting meanwhile: read in
/// `spawn_blocking` there, or use [`ObjectFile`].
///
/// Ranges that were announced as [read soon](Source::prefetch) are fetched in few requests, and kept until other ranges
/// are announced. Any other read is a request of its own.
pub struct BlockingObjectFile {
    file: ObjectFile,
    version: FileVersion,
    runtime: Arc<OwnRuntime>,
    /// The end of the file.
    tail: RangeCache,
    /// The end of the file, and the bytes that were fetched ahead.
    held: Mutex<Arc<RangeCache>>,
}

impl BlockingObjectFile {
    fn open(file: ObjectFile, runtime: Arc<OwnRuntime>) -> Result<Self> {
        let opened = file.clone();
        let read = runtime.wait(async move { opened.read_tail(TAIL_READ).await })?;
        let tail = RangeCache::new(read.version.len);
        tail.insert(read.version.len.saturating_sub(read.bytes.len() as u64), read.bytes);
        let held = Mutex::new(Arc::new(copy_of(&tail)));
        Ok(BlockingObjectFile { file, version: read.version, runtime, tail, held })
    }

    /// Returns the version of the file that is read.
    pub fn version(&self) -> &FileVersion {
        &self.version
    }

    /// Returns a copy of the buffer with the end of the file.
    fn tail(&self) -> RangeCache {
        copy_of(&self.tail)
    }

    fn held(&self) -> Arc<RangeCache> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fetch(&self, requests: Vec<Range<u64>>, into: &RangeCache) -> Result<()> {
        if requests.is_empty() {
            return Ok(());
        }
        let (file, version, ranges) = (self.file.clone(), self.version.clone(), requests.clone());
        let parts = self.runtime.wait(async move { file.read_ranges(&version, ranges).await })?;
        for (request, part) in requests.into_iter().zip(parts) {
            let wanted = request.end - request.start;
            if part.len() as u64 != wanted {
                let message = format!("requested {wanted} bytes, got {}", part.len());
                return Err(Error::new(ErrorKind::Io, message).at(request.start));
            }
            into.insert(request.start, part);
        }
        Ok(())
    }
}

impl Source for BlockingObjectFile {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let held = self.held();
        let read = held.read_at(offset, len);
        let missing = held.take_misses();
        if missing.is_empty() {
            return read;
        }
        // Into a buffer of its own: bytes that nobody announced are not kept.
        let read = copy_of(&held);
        self.fetch(CoalesceOptions::OBJECT_STORE.coalesce(missing), &read)?;
        // Except for a footer that is longer than the fetched end: it is read again for each look at the file.
        let end = offset + len as u64;
        if self.tail.missing_of(once(end - 1..self.version.len)).is_empty() && len as u64 <= MOST_FOOTER {
            self.tail.insert_part_of(&read, offset..end);
            self.held().insert_part_of(&read, offset..end);
        }
        read.read_at(offset, len)
    }

    /// Fetches the missing ranges together.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let inside = ranges.iter().map(|range| range.start..range.end.min(self.version.len));
        let held = self.held();
        let missing = CoalesceOptions::OBJECT_STORE.coalesce(held.missing_of(inside));
        let read = copy_of(&held);
        self.fetch(missing, &read)?;
        let len =
            |range: &Range<u64>| usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        ranges.iter().map(|range| read.read_at(range.start, len(range))).collect()
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        Some(CoalesceOptions::OBJECT_STORE)
    }

    fn available(&self, offset: u64, len: usize) -> usize {
        self.held().available(offset, len)
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        let inside = ranges.iter().map(|range| range.start..range.end.min(self.version.len));
        let together = CoalesceOptions::new(0, u64::MAX).coalesce(inside);
        if bytes(&together) > MOST_AHEAD {
            return Ok(());
        }
        let (held, next) = (self.held(), self.tail());
        together.iter().for_each(|range| next.insert_part_of(&held, range.clone()));
        self.fetch(CoalesceOptions::OBJECT_STORE.coalesce(next.missing_of(together)), &next)?;
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        Ok(())
    }
}

fn copy_of(buffered: &RangeCache) -> RangeCache {
    let copy = RangeCache::new(buffered.len());
    copy.insert_all_of(buffered);
    copy
}

/// Maximum bytes that are kept because they are at the end of the file.
const MOST_FOOTER: u64 = 64 << 20;

/// Maximum bytes that are fetched ahead. Row groups with more of the chosen columns are read piece by piece.
const MOST_AHEAD: u64 = 256 << 20;
