//! A parallel map over an iterator: worker threads share the work, results come in the order of the input.
//!
//! ```text
//! source ──one item at a time, under a lock──> worker ──> slot 0 ──> next()
//!                                         └──> worker ──> slot 1
//! ```
//!
//! A worker takes the next item only while fewer than `2 × threads` items are between the source and the caller: that
//! bounds memory, however slow the caller is. No thread of its own runs the source, so a source that is itself expensive,
//! such as a reader, overlaps with the work on the items before.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The results of a function over the items of an iterator, in the order of the items.
pub(crate) struct OrderedMap<S, T> {
    work: Work<S, T>,
}

enum Work<S, T> {
    /// The calling thread does the work.
    Inline(Source<S>, Function<S, T>),
    /// Worker threads do. They are not joined: one may wait forever for a pipe.
    Threads(Arc<Shared<S, T>>),
}

type Source<S> = Box<dyn Iterator<Item = S> + Send>;
type Function<S, T> = Box<dyn Fn(S) -> T + Send + Sync>;

/// The default number of threads.
pub(crate) fn default_threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl<S: Send + 'static, T: Send + 'static> OrderedMap<S, T> {
    /// Maps the items of `source` with `threads` workers; with one thread, the caller does it when it asks for the next
    /// result.
    pub(crate) fn new(
        source: impl Iterator<Item = S> + Send + 'static,
        threads: NonZeroUsize,
        function: impl Fn(S) -> T + Send + Sync + 'static,
    ) -> Self {
        let (source, function): (Source<S>, Function<S, T>) = (Box::new(source), Box::new(function));
        if threads == NonZeroUsize::MIN {
            return OrderedMap { work: Work::Inline(source, function) };
        }
        let shared = Arc::new(Shared {
            source: Mutex::new(source),
            function,
            state: Mutex::new(State { slots: VecDeque::new(), first: 0, end: End::Open }),
            changed: Condvar::new(),
            most_slots: 2 * threads.get(),
        });
        let start = |_: &usize| {
            let shared = shared.clone();
            thread::Builder::new().spawn(move || shared.work()).is_ok()
        };
        // Fewer, if the system starts no more.
        let started = (0..threads.get()).take_while(start).count();
        match Arc::try_unwrap(shared) {
            Ok(Shared { source, function, .. }) if started == 0 => OrderedMap {
                work: Work::Inline(source.into_inner().unwrap_or_else(PoisonError::into_inner), function),
            },
            Ok(shared) => OrderedMap { work: Work::Threads(Arc::new(shared)) },
            Err(shared) => OrderedMap { work: Work::Threads(shared) },
        }
    }
}

impl<S, T> Iterator for OrderedMap<S, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.work {
            Work::Inline(source, function) => source.next().map(function),
            Work::Threads(shared) => shared.take(),
        }
    }
}

impl<S, T> Drop for OrderedMap<S, T> {
    fn drop(&mut self) {
        if let Work::Threads(shared) = &self.work {
            shared.end(End::Unwanted);
        }
    }
}

struct Shared<S, T> {
    source: Mutex<Source<S>>,
    function: Function<S, T>,
    state: Mutex<State<T>>,
    /// Signals that a slot was added, filled or taken, or that the end was reached.
    changed: Condvar,
    most_slots: usize,
}

/// The results that were not taken yet.
struct State<T> {
    /// One for each item between the source and the caller; `None` while a worker has the item.
    slots: VecDeque<Option<T>>,
    /// The number of the item in the first slot.
    first: usize,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// More items may come.
    Open,
    /// The source has no more items.
    Reached,
    /// Nobody needs the results any more.
    Unwanted,
    /// The source or the function panicked.
    Panicked,
}

impl<S, T> Shared<S, T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // A panic shows in `End::Panicked`; nothing panics while this lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        self.state().end = end;
        self.changed.notify_all();
    }

    /// Runs a worker until there are no more items.
    fn work(&self) {
        let panicking = OnPanic(self);
        while let Some((number, item)) = self.item() {
            let result = (self.function)(item);
            let mut state = self.state();
            let at = number - state.first;
            state.slots[at] = Some(result);
            drop(state);
            self.changed.notify_all();
        }
        std::mem::forget(panicking);
    }

    /// The next item and its number; waits until there is room for its result.
    fn item(&self) -> Option<(usize, S)> {
        let mut source = self.source.lock().ok()?;
        let mut state = self.state();
        while state.end == End::Open && state.slots.len() >= self.most_slots {
            state = self.wait(state);
        }
        if state.end != End::Open {
            return None;
        }
        drop(state);
        let Some(item) = source.next() else {
            let mut state = self.state();
            if state.end == End::Open {
                state.end = End::Reached;
            }
            drop(state);
            self.changed.notify_all();
            return None;
        };
        // The item gets its number before another worker can lock the source.
        let mut state = self.state();
        state.slots.push_back(None);
        Some((state.first + state.slots.len() - 1, item))
    }

    /// The next result.
    fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            assert!(state.end != End::Panicked, "a worker thread panicked");
            if let Some(result) = state.slots.front_mut().and_then(Option::take) {
                state.slots.pop_front();
                state.first += 1;
                drop(state);
                self.changed.notify_all();
                return Some(result);
            }
            if state.slots.is_empty() && state.end != End::Open {
                return None;
            }
            state = self.wait(state);
        }
    }
}

/// Ends the map when a worker unwinds, so that nobody waits for its result.
struct OnPanic<'a, S, T>(&'a Shared<S, T>);

impl<S, T> Drop for OnPanic<'_, S, T> {
    fn drop(&mut self) {
        self.0.end(End::Panicked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn threads(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    #[test]
    fn results_come_in_order() {
        for n in [1, 2, 5] {
            let slow_if_even = |i: u64| {
                thread::sleep(Duration::from_micros(if i.is_multiple_of(2) { 200 } else { 0 }));
                i * i
            };
            let found: Vec<u64> = OrderedMap::new(0..300, threads(n), slow_if_even).collect();
            assert_eq!(found, (0..300).map(|i| i * i).collect::<Vec<_>>());
        }
        assert_eq!(OrderedMap::new(0..0, threads(3), |i: u64| i).count(), 0);
    }

    #[test]
    fn a_slow_caller_bounds_what_is_taken() {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = taken.clone();
        let source = (0..1000).inspect(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let mut map = OrderedMap::new(source, threads(3), |i: usize| i);
        assert_eq!(map.next(), Some(0));
        thread::sleep(Duration::from_millis(50));
        assert!(taken.load(Ordering::SeqCst) <= 1 + 2 * 3);
        drop(map);
    }

    #[test]
    #[should_panic(expected = "a worker thread panicked")]
    fn a_panic_reaches_the_caller() {
        let map = OrderedMap::new(0..10, threads(2), |i: usize| assert!(i != 5, "five"));
        map.for_each(drop);
    }
}
