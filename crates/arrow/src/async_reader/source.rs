//! Asynchronous sources of bytes, such as files in object stores.

use bytes::Bytes;
use futures_core::future::BoxFuture;
use marquetry_base::Result;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// A file that is read by asking and waiting.
///
/// A reader asks for the end of the file first, learns of which version it is, and names that version with all that it
/// asks for later: parts of two versions must never be mixed.
pub trait AsyncSource: Send + Sync {
    /// The last `len` bytes of the file, or all of it if it is shorter, and which version they are of.
    fn read_tail(&self, len: usize) -> BoxFuture<'_, Result<Tail>>;

    /// The bytes of each of `ranges`, which are sorted, disjoint, not empty and inside the file.
    ///
    /// Fails if the file is not `version` any more. All may be fetched at the same time. Retrying is up to this method.
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
    /// Which version was read.
    pub version: FileVersion,
    /// Its last bytes.
    pub bytes: Bytes,
}

impl Tail {
    /// The last bytes of a version.
    pub fn new(version: FileVersion, bytes: Bytes) -> Self {
        Tail { version, bytes }
    }
}

/// Which content of a file was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FileVersion {
    /// How many bytes it has.
    pub len: u64,
    /// What tells this content from others of the same length, such as an ETag, if there is anything.
    pub tag: Option<Arc<str>>,
}

impl FileVersion {
    /// A version by its length, and by what else tells it from others.
    pub fn new(len: u64, tag: Option<Arc<str>>) -> Self {
        FileVersion { len, tag }
    }
}

/// Any other source: it is read while the stream is polled, so it should answer at once.
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
