//! The same for many items, on several threads of which the caller is one.

use crate::executor::Executor;
use std::any::Any;
use std::cmp::Reverse;
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
    let mut results = Vec::with_capacity(items.len());
    parallel_map_each(executor, items, states, |_| 0, work, |result| results.push(result));
    results
}

/// As [`parallel_map`], for items of which some are much more work: `weight` says how much, by any measure. The caller gives each
/// result to `take` as soon as it and all before it are there, in the order of the items.
///
/// Threads of the executor begin with the heaviest items. The caller begins with the first, so that results come early, unless the
/// heaviest is more than one worker's share of what is left.
///
/// ```
/// use marquetry_base::{ThreadPool, parallel_map_each};
/// let mut text = String::new();
/// let words = vec!["a", "list", "of", "words"];
/// let weight = |word: &&str| word.len() as u64;
/// parallel_map_each(&ThreadPool::new("upper"), words, &mut vec![(); 2], weight, |word, ()| word.to_uppercase(), |word| {
///     text += &word;
/// });
/// assert_eq!(text, "ALISTOFWORDS");
/// ```
///
/// # Panics
/// As `work` or `take` did; other items are not begun if `work` panics.
pub fn parallel_map_each<T, S, R>(
    executor: &dyn Executor,
    items: Vec<T>,
    states: &mut Vec<S>,
    weight: impl Fn(&T) -> u64,
    work: impl Fn(T, &mut S) -> R + Send + Sync + 'static,
    mut take: impl FnMut(R),
) where
    T: Send + 'static,
    S: Send + 'static,
    R: Send + 'static,
{
    if let [state] = states.as_mut_slice() {
        return items.into_iter().for_each(|item| take(work(item, state)));
    }
    let workers = states.len().min(items.len());
    let state = State {
        results: items.iter().map(|_| None).collect(),
        schedule: Schedule::new(items.iter().map(weight).collect()),
        items: items.into_iter().map(Some).collect(),
        states: std::mem::take(states),
        running: 0,
        panic: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), work });
    for _ in 1..workers {
        let shared = shared.clone();
        executor.spawn(Box::new(move || shared.help()));
    }
    let mut state = shared.lead(workers, &mut take);
    *states = std::mem::take(&mut state.states);
    let panic = state.panic.take();
    drop(state);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

struct Shared<T, S, R, W> {
    state: Mutex<State<T, S, R>>,
    /// Signalled when there is a result more, or a worker less.
    changed: Condvar,
    work: W,
}

struct State<T, S, R> {
    schedule: Schedule,
    /// Those that were not begun.
    items: Vec<Option<T>>,
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

    /// Works until no item is left, the heaviest first.
    fn help(&self) {
        let mut state = self.state();
        // Who comes late finds no states, or no items.
        let Some(mut own) = state.states.pop() else { return };
        state.running += 1;
        while let Some(i) = state.schedule.begin_heaviest() {
            state = self.do_item(i, state, &mut own);
            self.changed.notify_all();
        }
        state.states.push(own);
        state.running -= 1;
        self.changed.notify_all();
    }

    /// Works as one of several and takes results, until all are taken and no worker is left.
    fn lead(&self, workers: usize, take: &mut impl FnMut(R)) -> MutexGuard<'_, State<T, S, R>> {
        let mut state = self.state();
        let Some(mut own) = state.states.pop() else { return state };
        let mut taken = 0;
        loop {
            if let Some(result) = state.results.get_mut(taken).and_then(Option::take) {
                drop(state);
                take(result);
                taken += 1;
                state = self.state();
            } else if let Some(i) = state.schedule.begin_first(workers) {
                state = self.do_item(i, state, &mut own);
            } else if state.running > 0 {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state.states.push(own);
                return state;
            }
        }
    }

    /// Does the work of an item, and notes its result. Others have the state meanwhile.
    fn do_item<'a>(
        &'a self,
        i: usize,
        mut state: MutexGuard<'a, State<T, S, R>>,
        own: &mut S,
    ) -> MutexGuard<'a, State<T, S, R>> {
        let Some(item) = state.items[i].take() else { return state };
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(item, own)));
        let mut state = self.state();
        match done {
            Ok(result) => state.results[i] = Some(result),
            Err(panic) => {
                state.panic.get_or_insert(panic);
                state.schedule.end();
            }
        }
        state
    }
}

/// Which items were not begun, by their numbers.
struct Schedule {
    weights: Vec<u64>,
    is_begun: Vec<bool>,
    /// All before it were begun.
    first: usize,
    /// The heaviest first; all before `next_heaviest` were begun.
    by_weight: Vec<usize>,
    next_heaviest: usize,
    /// The weight of all that were not begun.
    left: u64,
}

impl Schedule {
    fn new(weights: Vec<u64>) -> Self {
        let mut by_weight: Vec<usize> = (0..weights.len()).collect();
        by_weight.sort_by_key(|&i| Reverse(weights[i]));
        Schedule {
            is_begun: vec![false; weights.len()],
            left: weights.iter().copied().fold(0, u64::saturating_add),
            weights,
            first: 0,
            by_weight,
            next_heaviest: 0,
        }
    }

    fn begin_heaviest(&mut self) -> Option<usize> {
        let i = self.heaviest()?;
        self.begin(i)
    }

    /// The first, unless one of so many workers had better begin with the heaviest, so as not to be the last one at work.
    fn begin_first(&mut self, workers: usize) -> Option<usize> {
        let heaviest = self.heaviest()?;
        if self.weights[heaviest] > self.left / workers.max(1) as u64 {
            return self.begin(heaviest);
        }
        while self.is_begun[self.first] {
            self.first += 1;
        }
        self.begin(self.first)
    }

    fn heaviest(&mut self) -> Option<usize> {
        while self.is_begun[*self.by_weight.get(self.next_heaviest)?] {
            self.next_heaviest += 1;
        }
        Some(self.by_weight[self.next_heaviest])
    }

    fn begin(&mut self, i: usize) -> Option<usize> {
        self.left = self.left.saturating_sub(self.weights[i]);
        self.is_begun[i] = true;
        Some(i)
    }

    /// Nothing more is begun.
    fn end(&mut self) {
        *self = Schedule::new(Vec::new());
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
    fn results_are_taken_in_order_whatever_is_begun_first() {
        let weights = [3, 9, 1, 1, 40, 2, 9];
        for workers in [1, 2, 3, 9] {
            let mut taken = Vec::new();
            let items: Vec<(usize, u64)> = weights.into_iter().enumerate().collect();
            let work = |(i, weight), (): &mut ()| {
                std::thread::sleep(std::time::Duration::from_micros(100 * weight));
                i
            };
            let pool = ThreadPool::new("test");
            parallel_map_each(&pool, items, &mut vec![(); workers], |item| item.1, work, |i| taken.push(i));
            assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6], "{workers}");
        }
    }

    #[test]
    fn the_heaviest_are_begun_first_by_helpers_and_by_the_caller_when_it_has_to() {
        let mut schedule = Schedule::new(vec![1, 50, 1, 50, 2, 30]);
        assert_eq!(schedule.begin_heaviest(), Some(1));
        // 84 are left: 50 are more than half of it, 30 of 34 as well; then the first.
        assert_eq!(schedule.begin_first(2), Some(3));
        assert_eq!(schedule.begin_first(2), Some(5));
        let mut even = Schedule::new(vec![5, 7, 6, 5, 8]);
        assert_eq!((even.begin_first(2), even.begin_heaviest()), (Some(0), Some(4)));
        assert_eq!((even.begin_first(3), even.begin_first(1)), (Some(1), Some(2)));
        assert_eq!((even.begin_first(2), even.begin_first(2), even.begin_heaviest()), (Some(3), None, None));
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
