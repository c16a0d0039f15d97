//! A worker pool whose caller helps while it waits for a result.
//!
//! ```text
//! idle [worker, worker]  ── has_work ──►  a task of the executor takes one, works while there is work, gives it back
//! ```
//!
//! A worker is state, not a thread: the executor's threads never wait for work. The caller waits only for tasks that
//! have begun, and does everything else itself.

use marquetry_base::{CancelToken, Executor};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The name of our own threads.
pub(super) const THREAD_NAME: &str = "marquetry-read";

/// Hands out tasks, several of which can run in parallel.
pub(super) trait Scheduler: Send + 'static {
    /// State that each thread owns while it works.
    type Worker: Send + 'static;
    /// A unit of work, and its result.
    type Task;
    type Done;

    /// Returns the next task for this worker, if there is one now.
    fn choose(&mut self, worker: &Self::Worker) -> Option<Self::Task>;

    /// Runs a task. Meanwhile other threads choose and finish theirs.
    fn run(task: Self::Task, worker: &mut Self::Worker) -> Self::Done;

    /// Stores the result of a task.
    fn put(&mut self, done: Self::Done);

    /// Returns whether other threads may find a task now.
    fn has_work(&self) -> bool;
}

/// A pool of workers. The caller uses one of them while it waits.
pub(super) struct WorkerPool<W: Scheduler> {
    shared: Arc<Shared<W>>,
    /// Cancels the running tasks, so that dropping the pool does not wait for their end.
    stop: CancelToken,
}

struct Shared<W: Scheduler> {
    executor: Arc<dyn Executor>,
    state: Mutex<PoolState<W>>,
    /// Signalled when a task is done, and when the pool ends.
    changed: Condvar,
}

struct PoolState<W: Scheduler> {
    /// `None` once the pool has ended.
    work: Option<W>,
    /// Workers that no thread uses.
    idle: Vec<W::Worker>,
    /// How many threads use a worker.
    running: usize,
    /// How many tasks the executor has, begun or not, and the maximum: one less than there are workers.
    helpers: usize,
    most_helpers: usize,
    /// Whether the caller waits for a change.
    is_waiting: bool,
    /// The payload of a thread's panic.
    panic: Option<Box<dyn Any + Send>>,
}

impl<W: Scheduler> WorkerPool<W> {
    /// Creates a pool of one thread for each of `workers`: the caller's, and the others from `executor`, or fewer if it
    /// has no more. `stop` is cancelled when the pool is dropped.
    pub(super) fn new(
        work: W,
        workers: Vec<W::Worker>,
        executor: Arc<dyn Executor>,
        stop: CancelToken,
    ) -> Self {
        let state = PoolState {
            work: Some(work),
            running: 0,
            helpers: 0,
            most_helpers: workers.len().saturating_sub(1),
            idle: workers,
            is_waiting: false,
            panic: None,
        };
        let shared = Arc::new(Shared { executor, state: Mutex::new(state), changed: Condvar::new() });
        WorkerPool { shared, stop }
    }

    /// Runs tasks until `ready` returns a result.
    ///
    /// # Panics
    /// If a thread panicked, and at every call after that.
    pub(super) fn wait_for<T>(&mut self, mut ready: impl FnMut(&mut W) -> Option<T>) -> T {
        let shared = &self.shared;
        let mut state = shared.state();
        loop {
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            let work = state.work.as_mut().expect("a thread of the reader panicked before");
            let found = ready(work);
            // Taking a result makes room for new tasks.
            state = Shared::call_helpers(shared, state);
            if let Some(found) = found {
                return found;
            }
            state = match shared.take_task(&mut state) {
                Some((task, worker)) => shared.run(state, task, worker),
                None if state.running > 0 => shared.wait(state),
                // A panic under the lock has left nothing to do.
                None => {
                    drop(state);
                    shared.state()
                }
            };
        }
    }
}

impl<W: Scheduler> Drop for WorkerPool<W> {
    /// Waits for the running threads, at most until each finished its page. The source is not used afterwards.
    fn drop(&mut self) {
        self.stop.cancel();
        let mut state = self.shared.state();
        while state.running > 0 {
            state.work = None;
            state = self.shared.wait(state);
        }
        // Tasks that have not begun keep the pool alive, but not what is read.
        let (work, idle) = (state.work.take(), std::mem::take(&mut state.idle));
        drop(state);
        drop((work, idle));
    }
}

impl<W: Scheduler> Shared<W> {
    fn state(&self) -> MutexGuard<'_, PoolState<W>> {
        // A panic under the lock ends the pool.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls one more thread to help, if there is work for it. That thread calls the next one.
    fn call_helpers<'a>(
        this: &'a Arc<Self>,
        mut state: MutexGuard<'a, PoolState<W>>,
    ) -> MutexGuard<'a, PoolState<W>> {
        if state.helpers >= state.most_helpers || !state.work.as_ref().is_some_and(W::has_work) {
            return state;
        }
        state.helpers += 1;
        drop(state);
        let helper = Helper { shared: this.clone(), has_begun: false };
        this.executor.spawn(Box::new(move || helper.help()));
        this.state()
    }

    /// Waits until a task ends.
    fn wait<'a>(&self, mut state: MutexGuard<'a, PoolState<W>>) -> MutexGuard<'a, PoolState<W>> {
        state.is_waiting = true;
        state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.is_waiting = false;
        state
    }

    /// Returns the next task of any worker.
    fn take_task(&self, state: &mut PoolState<W>) -> Option<(W::Task, W::Worker)> {
        let PoolState { work: Some(work), idle, running, panic, .. } = state else { return None };
        let chosen = catch_unwind(AssertUnwindSafe(|| {
            // Some workers may only continue what they have begun.
            (0..idle.len()).rev().find_map(|i| Some((i, work.choose(&idle[i])?)))
        }));
        match chosen {
            Ok(chosen) => chosen.map(|(i, task)| {
                // Counted under the lock under which the task was chosen: a thread that finds nothing to do waits for it.
                *running += 1;
                (task, idle.swap_remove(i))
            }),
            Err(caught) => {
                panic.get_or_insert(caught);
                state.work = None;
                None
            }
        }
    }

    /// Runs a task outside the lock, then stores its result and takes the worker back.
    fn run<'a>(
        &'a self,
        state: MutexGuard<'a, PoolState<W>>,
        task: W::Task,
        mut worker: W::Worker,
    ) -> MutexGuard<'a, PoolState<W>> {
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| W::run(task, &mut worker)));
        let mut state = self.state();
        state.running -= 1;
        state.idle.push(worker);
        let done = done.and_then(|done| match &mut state.work {
            Some(work) => catch_unwind(AssertUnwindSafe(|| work.put(done))),
            None => Ok(()),
        });
        if let Err(panic) = done {
            // The state of the task is lost, so its result must not be waited for.
            state.panic.get_or_insert(panic);
            state.work = None;
        }
        // PERF: without the check this would be a system call even if nobody waits.
        if state.is_waiting {
            self.changed.notify_all();
        }
        state
    }
}

/// A task of the executor, which may drop it instead of running it.
struct Helper<W: Scheduler> {
    shared: Arc<Shared<W>>,
    has_begun: bool,
}

impl<W: Scheduler> Helper<W> {
    /// Runs tasks while there are any.
    fn help(mut self) {
        self.has_begun = true;
        let shared = &self.shared;
        let mut state = shared.state();
        while let Some((task, worker)) = shared.take_task(&mut state) {
            state = Shared::call_helpers(shared, state);
            state = shared.run(state, task, worker);
        }
        // Counted under the lock under which it found no work: whoever adds work calls another helper.
        state.helpers -= 1;
    }
}

impl<W: Scheduler> Drop for Helper<W> {
    fn drop(&mut self) {
        if !self.has_begun {
            self.shared.state().helpers -= 1;
        }
    }
}
