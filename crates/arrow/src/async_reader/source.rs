//! Asynchronous sources of bytes, such as files in object stores.

use bytes::Bytes;
use futures_core::future::BoxFuture;
use marquetry_base::Result;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// A file that is read asynchronously.
///
/// A reader fetches the end of the file first, which tells it the file's version. It passes that version to all later
/// requests: parts of two versions must never be mixed.
pub trait AsyncSource: Send + Sync {
    /// Reads the last `len` bytes of the file, or all of it if it is shorter. Also returns the version that they belong to.
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>>;

    /// Reads the bytes of each of `ranges`, which are sorted, disjoint, not empty and inside the file.
    ///
    /// Fails if the file is not `version` any more. The ranges may be fetched at the same time. Retrying is up to this method.
    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>>;
}

/// The end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The version that was read.
    pub version: FileVersion,
    /// The last bytes of the file.
    pub bytes: Bytes,
}

impl Tail {
    /// Creates the tail of a version.
    pub fn new(version: FileVersion, bytes: Bytes) -> Self {
        Tail { version, bytes }
    }
}

/// Identifies the content of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FileVersion {
    /// The file's length in bytes.
    pub len: u64,
    /// A tag that distinguishes this content from others of the same length, such as an ETag, if there is one.
    pub tag: Option<Arc<str>>,
}

impl FileVersion {
    /// Creates a version of this length and tag.
    pub fn new(len: u64, tag: Option<Arc<str>>) -> Self {
        FileVersion { len, tag }
    }
}

/// Any blocking source. It is read while the stream is polled, so it should answer at once.
impl AsyncSource for Arc<dyn Source> {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        let tail = tail_of(&**self, len);
        Box::pin(async { tail })
    }

    fn read_ranges<'a>(
        &'a self,
        _: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        let read = (**self).read_ranges(&ranges);
        Box::pin(async { read })
    }
}

impl AsyncSource for Arc<dyn AsyncSource> {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        (**self).read_tail(len)
    }

    fn read_ranges<'a>(
        &'a self,
        version: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        (**self).read_ranges(version, ranges)
    }
}

/// A file in memory.
impl AsyncSource for Bytes {
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>> {
        let tail = tail_of(self, len);
        Box::pin(async { tail })
    }

    fn read_ranges<'a>(
        &'a self,
        _: &'a FileVersion,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'a, Result<Vec<Bytes>>> {
        let read = Source::read_ranges(self, &ranges);
        Box::pin(async { read })
    }
}

fn tail_of(source: &dyn Source, len: usize) -> Result<Tail> {
    let version = FileVersion { len: source.len(), tag: None };
    let start = version.len.saturating_sub(len as u64);
    Ok(Tail { bytes: read(source, start..version.len)?, version })
}

fn read(source: &dyn Source, range: Range<u64>) -> Result<Bytes> {
    source.read_at(range.start, usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
}
