//! A source with some of its bytes in memory.

use super::RangeCache;
use crate::source::{CoalesceOptions, Source};
use bytes::{Bytes, BytesMut};
use marquetry_base::Result;
use std::ops::Range;
use std::sync::Arc;

/// A file with some of its bytes in memory, which are returned without a read of the file.
///
/// ```
/// use bytes::Bytes;
/// use marquetry_core::fetch::{CachedSource, RangeCache};
/// use marquetry_core::source::Source;
/// use std::sync::Arc;
/// let cached = RangeCache::new(10);
/// cached.insert(2, Bytes::from_static(b"known"));
/// let file: Arc<dyn Source> = Arc::new(Bytes::from_static(b"0123456789"));
/// let source = CachedSource::new(Arc::new(cached), file);
/// assert_eq!((&source.read_at(3, 3)?[..], &source.read_at(0, 3)?[..]), (&b"now"[..], &b"012"[..]));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub struct CachedSource {
    cached: Arc<RangeCache>,
    source: Arc<dyn Source>,
}

impl CachedSource {
    /// Creates a source with bytes of `source` in `cached`. The caller must ensure that both are the same file.
    pub fn new(cached: Arc<RangeCache>, source: Arc<dyn Source>) -> Self {
        CachedSource { cached, source }
    }

    fn cached(&self, offset: u64, len: usize) -> Option<Bytes> {
        let range = offset..offset.checked_add(len as u64).filter(|&end| end <= self.cached.len())?;
        self.cached.missing_of([range]).is_empty().then(|| self.cached.read_at(offset, len).ok()).flatten()
    }
}

impl Source for CachedSource {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.cached(offset, len).map_or_else(|| self.source.read_at(offset, len), Ok)
    }

    fn read_at_reusing(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
        match self.cached(offset, len) {
            Some(bytes) => Ok(bytes),
            None => self.source.read_at_reusing(offset, len, memory),
        }
    }

    fn available(&self, offset: u64, len: usize) -> usize {
        match self.cached(offset, 1) {
            Some(_) => self.cached.available(offset, len),
            None => self.source.available(offset, len),
        }
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        self.source.request_cost()
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        self.source.prefetch(&self.cached.missing_of(ranges.iter().cloned()))
    }
}
