//! What a query takes: time on the wall, and time of processors.

use std::time::Instant;

/// Seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) wall: f64,
    /// Of all threads that still exist; 0 if the system does not tell.
    pub(crate) processor: f64,
}

pub(crate) struct Clock {
    begun: Instant,
    processor: f64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { processor: processor(), begun: Instant::now() }
    }

    pub(crate) fn stop(&self) -> Took {
        let wall = self.begun.elapsed().as_secs_f64();
        Took { wall, processor: (processor() - self.processor).max(0.0) }
    }
}

/// Linux counts nanoseconds of each thread.
fn processor() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| -> Option<u64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    tasks.filter_map(of).sum::<u64>() as f64 / 1e9
}
