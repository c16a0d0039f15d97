//! Chunks are looked at side by side: nothing that is found in one matters for another.

use marquetry_base::Result;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` gives for each of `0..count`, in order, by so many threads. Behind the first failure the rest is left out.
pub(super) fn ordered_map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let run = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            // INVARIANT: what comes before a failure is always done.
            if i >= count || i > failed.load(Ordering::Relaxed) {
                return done;
            }
            let result = work(i);
            if result.is_err() {
                failed.fetch_min(i, Ordering::Relaxed);
            }
            done.push((i, result));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(run)).collect();
        let mut all = run();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(i, _)| *i);
    all.truncate(failed.into_inner().saturating_add(1));
    all.into_iter().map(|(_, result)| result).collect()
}

/// How many threads so many bytes are worth, where `wanted` are wanted; 0 means one for each processor.
pub(super) fn threads_for(bytes: u64, wanted: usize) -> usize {
    match wanted {
        _ if bytes < WORTH_THREADS => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted.min(MOST_THREADS),
    }
}

/// PERF: less is done before threads have begun.
const WORTH_THREADS: u64 = 1 << 20;
/// No more threads than this, whatever was asked for.
const MOST_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::Error;

    #[test]
    fn results_come_in_order_up_to_the_first_failure() {
        for threads in [1, 2, 7] {
            let all = ordered_map(100, threads, Ok);
            assert!(all.into_iter().map(Result::unwrap).eq(0..100));
            let some = ordered_map(100, threads, |i| match i % 40 {
                39 => Err(Error::corrupt(format!("at {i}"))),
                _ => Ok(i),
            });
            assert_eq!(some.len(), 40);
            assert!(some[..39].iter().all(Result::is_ok));
            assert_eq!(some[39].as_ref().unwrap_err().message(), "at 39");
        }
        assert!(ordered_map(0, 4, Ok).is_empty());
    }
}
