//! The cost of reading and writing, counted along the way by any number of threads.

mod atomic_duration;
mod read_metrics;
mod write_metrics;

pub use read_metrics::{Pruned, ReadCounters, ReadMetrics};
pub use write_metrics::{WriteCounters, WriteMetrics};
