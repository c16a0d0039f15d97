//! A duration that several threads add to.

use marquetry_base::Stopwatch;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A duration in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct AtomicDuration(AtomicU64);

impl AtomicDuration {
    /// Adds the time since `start`.
    pub(super) fn add_since(&self, start: Stopwatch) {
        self.0.fetch_add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Returns the sum of all additions.
    pub(super) fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Relaxed))
    }
}
