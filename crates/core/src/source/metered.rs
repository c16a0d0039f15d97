//! A source that counts its reads.

use super::{CoalesceOptions, Source};
use crate::metrics::ReadCounters;
use bytes::{Bytes, BytesMut};
use marquetry_base::{Result, Span, Stopwatch};
use std::ops::Range;
use std::sync::Arc;

/// A source that counts the reads of another one, and their time.
pub struct MeteredSource {
    source: Arc<dyn Source>,
    counters: Arc<ReadCounters>,
}

impl MeteredSource {
    /// Counts the reads of `source` in `counters`.
    pub fn new(source: Arc<dyn Source>, counters: Arc<ReadCounters>) -> Self {
        MeteredSource { source, counters }
    }

    fn count<T>(
        &self,
        read: impl FnOnce() -> Result<T>,
        requests: usize,
        bytes: impl Fn(&T) -> u64,
    ) -> Result<T> {
        let start = Stopwatch::start();
        let given = Span::read().in_scope(read)?;
        self.counters.fetched(requests, bytes(&given), start);
        Ok(given)
    }
}

impl Source for MeteredSource {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.count(|| self.source.read_at(offset, len), 1, |bytes| bytes.len() as u64)
    }

    fn read_at_reusing(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
        self.count(|| self.source.read_at_reusing(offset, len, memory), 1, |bytes| bytes.len() as u64)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let all = |parts: &Vec<Bytes>| parts.iter().map(|part| part.len() as u64).sum();
        self.count(|| self.source.read_ranges(ranges), ranges.len(), all)
    }

    fn available(&self, offset: u64, len: usize) -> usize {
        self.source.available(offset, len)
    }

    fn request_cost(&self) -> Option<CoalesceOptions> {
        self.source.request_cost()
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        self.source.prefetch(ranges)
    }
}
