//! What reading and writing cost: counted as they go, by any number of threads.

mod atomic_duration;
mod read_metrics;
mod write_metrics;

pub use read_metrics::{Pruned, ReadCounters, ReadMetrics};
pub use write_metrics::{WriteCounters, WriteMetrics};
