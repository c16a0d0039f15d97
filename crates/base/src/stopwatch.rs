//! Measures how long something takes. This is the only file that reads a clock; a build without the feature `threads`
//! has `stopwatch_off.rs` in its place.

use std::time::{Duration, Instant};

/// A clock that measures the time since its start.
///
/// ```
/// let watch = marquetry_base::Stopwatch::start();
/// let first = watch.elapsed();
/// assert!(watch.elapsed() >= first);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// The time since the start; zero in a build without the feature `threads`, which has no clock.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
