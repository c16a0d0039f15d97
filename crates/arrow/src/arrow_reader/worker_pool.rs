//! A worker pool whose caller helps while it waits for a result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Hands out tasks, several of which can run in parallel.
pub(super) trait Scheduler: Send + 'static {
    /// State that each thread owns.
    type Worker: Send + 'static;
    /// A unit of work, and its result.
    type Task;
    type Done;

    /// The next task for this worker, if there is one now.
    fn choose(&mut self, worker: &Self::Worker) -> Option<Self::Task>;

    /// Runs a task. Other threads choose and finish theirs meanwhile.
    fn run(task: Self::Task, worker: &mut Self::Worker) -> Self::Done;

    /// Stores the result of a task.
    fn put(&mut self, done: Self::Done);

    /// Whether other threads may find a task now.
    fn has_work(&self) -> bool;
}

/// A pool of threads, of which the caller is one while it waits.
pub(super) struct WorkerPool<W: Scheduler> {
    shared: Arc<Shared<W>>,
    others: Vec<JoinHandle<()>>,
    /// The caller's own state.
    worker: W::Worker,
}

struct Shared<W> {
    state: Mutex<PoolState<W>>,
    /// Signalled when a task is done, when there is a new one, and at the end.
    changed: Condvar,
}

struct PoolState<W> {
    work: W,
    /// How many threads wait.
    waiting: usize,
    is_over: bool,
    /// What a thread panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

impl<W: Scheduler> WorkerPool<W> {
    /// The caller with `worker`, and a thread for each of `others`; fewer, if no more can be started.
    pub(super) fn new(work: W, worker: W::Worker, others: impl IntoIterator<Item = W::Worker>) -> Self {
        let state = PoolState { work, waiting: 0, is_over: false, panic: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let others = others.into_iter().filter_map(|mut worker| {
            let shared = shared.clone();
            let run = move || shared.run(&mut worker);
            std::thread::Builder::new().name("marquetry-read".to_owned()).spawn(run).ok()
        });
        let others = others.collect();
        WorkerPool { others, shared, worker }
    }

    /// Runs tasks until `ready` finds its result.
    ///
    /// # Panics
    /// As a thread did; and after that at every call.
    pub(super) fn wait_for<T>(&mut self, mut ready: impl FnMut(&mut W) -> Option<T>) -> T {
        let shared = &*self.shared;
        let mut state = shared.state();
        loop {
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            assert!(!state.is_over, "a thread of the reader panicked before");
            let found = ready(&mut state.work);
            // A result that was taken makes room for new tasks.
            if state.waiting > 0 && state.work.has_work() {
                shared.changed.notify_all();
            }
            if let Some(found) = found {
                return found;
            }
            state = shared.step(state, &mut self.worker);
        }
    }
}

impl<W: Scheduler> Drop for WorkerPool<W> {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        for other in self.others.drain(..) {
            // Its panic, if it had one, was caught.
            let _ = other.join();
        }
    }
}

impl<W: Scheduler> Shared<W> {
    fn state(&self) -> MutexGuard<'_, PoolState<W>> {
        // What may panic under the lock ends the pool.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a thread of the pool.
    fn run(&self, worker: &mut W::Worker) {
        let mut state = self.state();
        while !state.is_over {
            state = self.step(state, worker);
        }
    }

    /// Runs one task, or waits for one.
    fn step<'a>(
        &'a self,
        mut state: MutexGuard<'a, PoolState<W>>,
        worker: &mut W::Worker,
    ) -> MutexGuard<'a, PoolState<W>> {
        let task = match catch_unwind(AssertUnwindSafe(|| state.work.choose(worker))) {
            Ok(Some(task)) => task,
            Ok(None) => {
                state.waiting += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
                return state;
            }
            Err(panic) => return self.end(state, panic),
        };
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| W::run(task, worker)));
        let mut state = self.state();
        let done = done.and_then(|done| catch_unwind(AssertUnwindSafe(|| state.work.put(done))));
        if let Err(panic) = done {
            return self.end(state, panic);
        }
        // PERF: without the check this would be a system call even if no thread waits.
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        state
    }

    /// Stops all threads after a panic: what the task worked on is lost, so that nobody could wait for it.
    fn end<'a>(
        &'a self,
        mut state: MutexGuard<'a, PoolState<W>>,
        panic: Box<dyn Any + Send>,
    ) -> MutexGuard<'a, PoolState<W>> {
        state.panic.get_or_insert(panic);
        state.is_over = true;
        self.changed.notify_all();
        state
    }
}
