//! Fetches the byte ranges of a file that a decoding step found to be missing.

use super::source::{AsyncSource, FileVersion};
use marquetry_base::{Error, ErrorKind, MemoryBudget, Result, Span, Stopwatch};
use marquetry_core::fetch::{CoalesceOptions, RangeCache};
use marquetry_core::metrics::ReadCounters;
use std::ops::Range;
use std::sync::Arc;

/// Fetches bytes of one version of a file.
pub(super) struct RangeFetcher<'a, S: ?Sized> {
    pub(super) source: &'a S,
    pub(super) version: &'a FileVersion,
    pub(super) cost: CoalesceOptions,
    /// Fetched bytes count against this budget until they are dropped.
    pub(super) memory: MemoryBudget,
    pub(super) counters: Arc<ReadCounters>,
}

impl<S: AsyncSource + ?Sized> RangeFetcher<'_, S> {
    /// Runs `step`, which reads from `buffered`, again and again until it misses no bytes.
    pub(super) async fn run<T>(
        &self,
        buffered: &RangeCache,
        mut step: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        loop {
            // The result of a step that missed bytes is not used, whatever it is.
            let result = step();
            let missing = buffered.take_misses();
            if missing.is_empty() {
                return result;
            }
            drop(result);
            self.fetch(buffered, missing).await?;
        }
    }

    /// Fetches those of `ranges` that `buffered` lacks.
    pub(super) async fn fetch(&self, buffered: &RangeCache, ranges: Vec<Range<u64>>) -> Result<()> {
        let requests = self.cost.coalesce(buffered.missing_of(ranges));
        if requests.is_empty() {
            return Ok(());
        }
        let bytes = requests.iter().fold(0u64, |sum, range| sum.saturating_add(range.end - range.start));
        let held = self.memory.reserve(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let start = Stopwatch::start();
        let read = self.source.read_ranges(self.version, requests.clone());
        let parts = Span::fetch(requests.len(), bytes).instrument(read).await?;
        self.counters.fetched(requests.len(), bytes, start);
        if parts.len() != requests.len() {
            let message = format!("requested {} ranges of the file, got {}", requests.len(), parts.len());
            return Err(Error::new(ErrorKind::Io, message));
        }
        for (request, part) in requests.into_iter().zip(parts) {
            let wanted = request.end - request.start;
            if part.len() as u64 != wanted {
                let message = format!("requested {wanted} bytes, got {}", part.len());
                return Err(Error::new(ErrorKind::Io, message).at(request.start));
            }
            buffered.insert(request.start, part);
        }
        buffered.hold_reservation(held);
        Ok(())
    }
}
