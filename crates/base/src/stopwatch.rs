//! How long something took. This is the only file that asks a clock; a build without the feature `threads` has
//! `stopwatch_off.rs` in its place.

use std::time::{Duration, Instant};

/// The time since it was started.
///
/// ```
/// let watch = marquetry_base::Stopwatch::start();
/// let first = watch.elapsed();
/// assert!(watch.elapsed() >= first);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// How long ago it was started; nothing in a build without the feature `threads`, which has no clock.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
