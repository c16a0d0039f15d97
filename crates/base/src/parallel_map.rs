//! Parallel maps: the same for many items, on several threads of which the caller is one.

use crate::executor::Executor;
use crate::schedule::Schedule;
use std::any::Any;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Calls `work` for each of `items` and returns the results in the order of the items. There is one worker for each of
/// `states`: the caller, and threads of `executor`. Items are started in order.
///
/// Does not wait for threads that have not started. Without states nothing is done, and the result is empty.
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
/// If `work` panics, with the same panic. No further items are started.
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

/// Like [`parallel_map`], for items of unequal cost: `weight` estimates the work of an item in any unit. The caller
/// passes the results to `take` in the order of the items, each as soon as it and all results before it are there.
///
/// Items are started in order, so that results come early. An exception is the heaviest item, which is started first if
/// it is more than one worker's share of the remaining work.
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
/// If `work` or `take` panics, with the same panic. No further items are started.
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
    let whole = move |item, state: &mut S, _: &mut dyn FnMut(Infallible)| work(item, state);
    parallel_map_parts(executor, items, states, weight, whole, |output| match output {
        Output::Part(never) => match never {},
        Output::Result(result) => take(result),
    });
}

/// What `work` of [`parallel_map_parts`] produces for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output<P, R> {
    /// A part of the item's output. More outputs follow.
    Part(P),
    /// The return value, after all parts.
    Result(R),
}

/// Like [`parallel_map_each`], for work that produces its output in parts: `work` passes each part to its last argument. The caller passes
/// the parts to `take` in the order of the items: whenever it has finished an item of its own, and whenever such an item produces a part.
///
/// ```
/// use marquetry_base::{Output, ThreadPool, parallel_map_parts};
/// let mut text = String::new();
/// let work = |word: &str, (): &mut (), part: &mut dyn FnMut(char)| word.chars().for_each(part);
/// let weight = |word: &&str| word.len() as u64;
/// parallel_map_parts(&ThreadPool::new("spell"), vec!["a", "list"], &mut vec![(); 2], weight, work, |output| match output {
///     Output::Part(letter) => text.push(letter),
///     Output::Result(()) => text += ". ",
/// });
/// assert_eq!(text, "a. list. ");
/// ```
///
/// # Panics
/// If `work` or `take` panics, with the same panic. No further items are started.
pub fn parallel_map_parts<T, S, P, R>(
    executor: &dyn Executor,
    items: Vec<T>,
    states: &mut Vec<S>,
    weight: impl Fn(&T) -> u64,
    work: impl Fn(T, &mut S, &mut dyn FnMut(P)) -> R + Send + Sync + 'static,
    mut take: impl FnMut(Output<P, R>),
) where
    T: Send + 'static,
    S: Send + 'static,
    P: Send + 'static,
    R: Send + 'static,
{
    if let [state] = states.as_mut_slice() {
        for item in items {
            let result = work(item, state, &mut |part| take(Output::Part(part)));
            take(Output::Result(result));
        }
        return;
    }
    let workers = states.len().min(items.len());
    let state = State {
        outputs: items.iter().map(|_| VecDeque::new()).collect(),
        schedule: Schedule::new(items.iter().map(weight).collect()),
        items: items.into_iter().map(Some).collect(),
        states: std::mem::take(states),
        running: 0,
        panic: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), workers, work });
    for _ in 1..workers {
        let shared = shared.clone();
        executor.spawn(Box::new(move || shared.help()));
    }
    let mut state = shared.lead(&mut take);
    *states = std::mem::take(&mut state.states);
    let panic = state.panic.take();
    drop(state);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

struct Shared<T, S, P, R, W> {
    state: Mutex<State<T, S, P, R>>,
    /// Signalled when there is a new output, or when a worker ends.
    changed: Condvar,
    workers: usize,
    work: W,
}

struct State<T, S, P, R> {
    schedule: Schedule,
    /// The items that were not started.
    items: Vec<Option<T>>,
    /// The outputs of each item that were not taken yet.
    outputs: Vec<VecDeque<Output<P, R>>>,
    /// The states that no worker uses.
    states: Vec<S>,
    running: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T, S, P, R, W: Fn(T, &mut S, &mut dyn FnMut(P)) -> R> Shared<T, S, P, R, W> {
    fn state(&self) -> MutexGuard<'_, State<T, S, P, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on items until none is left.
    fn help(&self) {
        let mut state = self.state();
        // A worker that starts late finds no states or no items.
        let Some(mut own) = state.states.pop() else { return };
        state.running += 1;
        while let Some(i) = state.schedule.begin(self.workers) {
            state = self.do_item(i, state, &mut own, &mut |part| {
                self.state().outputs[i].push_back(Output::Part(part));
                self.changed.notify_all();
            });
            self.changed.notify_all();
        }
        state.states.push(own);
        state.running -= 1;
        self.changed.notify_all();
    }

    /// Works on items as one of several workers, and takes the outputs of all of them, until no items are left and all workers have ended.
    fn lead(&self, take: &mut impl FnMut(Output<P, R>)) -> MutexGuard<'_, State<T, S, P, R>> {
        let mut state = self.state();
        let Some(mut own) = state.states.pop() else { return state };
        let mut taken = 0;
        loop {
            state = self.take_ready(state, &mut taken, take);
            if let Some(i) = state.schedule.begin(self.workers) {
                state = self.do_item(i, state, &mut own, &mut |part| {
                    let mut state = self.state();
                    state.outputs[i].push_back(Output::Part(part));
                    drop(self.take_ready(state, &mut taken, take));
                });
            } else if state.running == 0 {
                state.states.push(own);
                return state;
            } else if !state.has_output(taken) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Takes all outputs whose turn has come. `taken` is the number of finished items.
    fn take_ready<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T, S, P, R>>,
        taken: &mut usize,
        take: &mut impl FnMut(Output<P, R>),
    ) -> MutexGuard<'a, State<T, S, P, R>> {
        while let Some(output) = state.outputs.get_mut(*taken).and_then(VecDeque::pop_front) {
            drop(state);
            *taken += usize::from(matches!(output, Output::Result(_)));
            take(output);
            state = self.state();
        }
        state
    }

    /// Does the work of an item and stores its result. Releases the lock meanwhile.
    fn do_item<'a>(
        &'a self,
        i: usize,
        mut state: MutexGuard<'a, State<T, S, P, R>>,
        own: &mut S,
        part: &mut dyn FnMut(P),
    ) -> MutexGuard<'a, State<T, S, P, R>> {
        let Some(item) = state.items[i].take() else { return state };
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(item, own, part)));
        let mut state = self.state();
        match done {
            Ok(result) => state.outputs[i].push_back(Output::Result(result)),
            Err(panic) => {
                state.panic.get_or_insert(panic);
                state.schedule.end();
            }
        }
        state
    }
}

impl<T, S, P, R> State<T, S, P, R> {
    fn has_output(&self, item: usize) -> bool {
        self.outputs.get(item).is_some_and(|outputs| !outputs.is_empty())
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
    fn parts_are_taken_in_order_whoever_made_them() {
        for workers in [1, 2, 3, 9] {
            let mut taken = Vec::new();
            let items: Vec<u64> = vec![3, 9, 1, 0, 40, 2, 9];
            let expected: Vec<_> = (0..7)
                .flat_map(|i| {
                    (0..items[i]).map(move |part| Output::Part((i, part))).chain([Output::Result(i)])
                })
                .collect();
            let work = |(i, parts), (): &mut (), part: &mut dyn FnMut((usize, u64))| {
                for number in 0..parts {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                    part((i, number));
                }
                i
            };
            let (pool, items) = (ThreadPool::new("test"), items.into_iter().enumerate().collect());
            parallel_map_parts(
                &pool,
                items,
                &mut vec![(); workers],
                |item| item.1,
                work,
                |output| taken.push(output),
            );
            assert_eq!(taken, expected, "{workers}");
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
