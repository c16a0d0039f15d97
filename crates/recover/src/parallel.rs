//! Runs independent work in several threads, with results in order.

use crate::options::RecoverOptions;
use marquetry_base::{Executor, Result, available_threads, parallel_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads that examine a file: the caller's, and others of a host or our own.
#[derive(Clone)]
pub(crate) struct Workers {
    threads: usize,
    executor: Arc<dyn Executor>,
}

impl Workers {
    /// Creates the threads that the options ask for. Threads of our own live as long as this.
    pub(crate) fn new(options: &RecoverOptions) -> Self {
        let threads = match options.threads {
            0 => available_threads(),
            wanted => wanted.min(MAX_THREADS),
        };
        Workers { threads, executor: options.executor.or_threads("marquetry-recover") }
    }

    /// Calls `work` for each of `0..count`, in several threads if there are enough `bytes` to work on. Returns the
    /// results in order, up to the first error.
    pub(crate) fn ordered_map<T: Send + 'static>(
        &self,
        bytes: u64,
        count: usize,
        work: impl Fn(usize) -> Result<T> + Send + Sync + 'static,
    ) -> Vec<Result<T>> {
        let threads = if bytes < MIN_BYTES_FOR_THREADS { 1 } else { self.threads.min(count).max(1) };
        let failed = Arc::new(AtomicUsize::new(usize::MAX));
        let first_failed = failed.clone();
        let all =
            parallel_map(&*self.executor, (0..count).collect(), &mut vec![(); threads], move |i, ()| {
                // INVARIANT: everything before the first error is done.
                let result = (i <= failed.load(Ordering::Relaxed)).then(|| work(i))?;
                if result.is_err() {
                    failed.fetch_min(i, Ordering::Relaxed);
                }
                Some(result)
            });
        let wanted = first_failed.load(Ordering::Relaxed).saturating_add(1);
        all.into_iter().take(wanted).flatten().collect()
    }
}

/// PERF: for fewer bytes, starting threads takes longer than the work.
const MIN_BYTES_FOR_THREADS: u64 = 1 << 20;
/// Maximum number of threads.
const MAX_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::Error;

    #[test]
    fn results_come_in_order_up_to_the_first_failure() {
        for threads in [1, 2, 7] {
            let workers = Workers::new(&RecoverOptions { threads, ..RecoverOptions::default() });
            let all = workers.ordered_map(u64::MAX, 100, Ok);
            assert!(all.into_iter().map(Result::unwrap).eq(0..100));
            let some = workers.ordered_map(u64::MAX, 100, |i| match i % 40 {
                39 => Err(Error::corrupt(format!("at {i}"))),
                _ => Ok(i),
            });
            assert_eq!(some.len(), 40);
            assert!(some[..39].iter().all(Result::is_ok));
            assert_eq!(some[39].as_ref().unwrap_err().message(), "at 39");
            assert!(workers.ordered_map(u64::MAX, 0, Ok).is_empty());
        }
    }
}
