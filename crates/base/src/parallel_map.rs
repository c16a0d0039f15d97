//! The same for many items, on several threads of which the caller is one.

use crate::executor::Executor;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Does `work` for each of `items` and gives the results in their order. There are as many workers as `states`, each of which
/// has one of them: the caller, and threads of `executor`. Items are begun in their order.
///
/// Does not wait for a thread that has not begun. Without states nothing is done, and the result is empty.
///
/// ```
/// use marquetry_base::{ThreadPool, parallel_map};
/// let mut counts = vec![0; 3];
/// let squares = parallel_map(&ThreadPool::new("square"), (0..100).collect(), &mut counts, |i: u64, count| {
///     *count += 1;
///     i * i
/// });
/// assert_eq!(squares[99], 99 * 99);
/// assert_eq!(counts.iter().sum::<i32>(), 100);
/// ```
///
/// # Panics
/// As `work` did; other items are not begun then.
pub fn parallel_map<T, S, R>(
    executor: &dyn Executor,
    items: Vec<T>,
    states: &mut Vec<S>,
    work: impl Fn(T, &mut S) -> R + Send + Sync + 'static,
) -> Vec<R>
where
    T: Send + 'static,
    S: Send + 'static,
    R: Send + 'static,
{
    if let [state] = states.as_mut_slice() {
        return items.into_iter().map(|item| work(item, state)).collect();
    }
    let helpers = states.len().min(items.len()).saturating_sub(1);
    let state = State {
        results: items.iter().map(|_| None).collect(),
        items: items.into_iter().enumerate(),
        states: std::mem::take(states),
        running: 0,
        panic: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), ended: Condvar::new(), work });
    for _ in 0..helpers {
        let shared = shared.clone();
        executor.spawn(Box::new(move || shared.help()));
    }
    shared.help();
    let mut state = shared.state();
    while state.running > 0 {
        state = shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    *states = std::mem::take(&mut state.states);
    let (results, panic) = (std::mem::take(&mut state.results), state.panic.take());
    drop(state);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    results.into_iter().flatten().collect()
}

struct Shared<T, S, R, W> {
    state: Mutex<State<T, S, R>>,
    /// Signalled when no worker is left.
    ended: Condvar,
    work: W,
}

struct State<T, S, R> {
    /// Those that were not begun, and their numbers.
    items: std::iter::Enumerate<std::vec::IntoIter<T>>,
    results: Vec<Option<R>>,
    /// The states that no worker has.
    states: Vec<S>,
    running: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T, S, R, W: Fn(T, &mut S) -> R> Shared<T, S, R, W> {
    fn state(&self) -> MutexGuard<'_, State<T, S, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until no item is left.
    fn help(&self) {
        let mut state = self.state();
        // Who comes late finds no states, or no items.
        let Some(mut own) = state.states.pop() else { return };
        state.running += 1;
        while let Some((i, item)) = state.items.next() {
            drop(state);
            let done = catch_unwind(AssertUnwindSafe(|| (self.work)(item, &mut own)));
            state = self.state();
            match done {
                Ok(result) => state.results[i] = Some(result),
                Err(panic) => {
                    state.panic.get_or_insert(panic);
                    state.items = Vec::new().into_iter().enumerate();
                }
            }
        }
        state.states.push(own);
        state.running -= 1;
        if state.running == 0 {
            self.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Task, ThreadPool};

    fn squares(executor: &dyn Executor, workers: usize) -> Vec<usize> {
        let mut states = vec![0usize; workers];
        let out = parallel_map(executor, (0..200).collect(), &mut states, |i: usize, count| {
            *count += 1;
            i * i
        });
        assert_eq!(states.len(), workers);
        assert_eq!(states.iter().sum::<usize>(), 200);
        out
    }

    #[test]
    fn results_have_the_order_of_the_items_whoever_made_them() {
        let expected: Vec<usize> = (0..200).map(|i| i * i).collect();
        let dropping = |task: Task| drop(task);
        let late = |task: Task| {
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                task();
            });
        };
        for workers in [1, 2, 7] {
            assert_eq!(squares(&ThreadPool::new("test"), workers), expected);
            assert_eq!(squares(&dropping, workers), expected, "nobody helps");
            assert_eq!(squares(&late, workers), expected, "help comes too late");
        }
    }

    #[test]
    fn a_panic_comes_out_and_states_come_back() {
        let (pool, mut states) = (ThreadPool::new("test"), vec![(); 3]);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            parallel_map(&pool, (0..100).collect(), &mut states, |i: i32, ()| {
                assert!(i != 40, "it is meant to fail")
            })
        }));
        assert!(outcome.is_err());
        assert_eq!(states.len(), 3);
    }
}
