//! Threads that are started when they are needed, and kept for the next task.

use crate::executor::{Executor, Task};
use crate::span::Span;
use crate::threads::Thread;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Our own [`Executor`]: it starts a thread whenever a task finds no idle one, and keeps it for later tasks. When the
/// pool is dropped, the threads end after their current tasks. If a thread cannot be started, its task waits for
/// another thread; if there is none, the task is dropped.
///
/// ```
/// use marquetry_base::{Executor, ThreadPool};
/// let pool = ThreadPool::new("work");
/// let (sender, receiver) = std::sync::mpsc::channel();
/// pool.spawn(Box::new(move || sender.send(std::thread::current().name().map(str::to_owned)).unwrap()));
/// assert_eq!(receiver.recv().unwrap().as_deref(), Some("work"));
/// ```
pub struct ThreadPool {
    name: &'static str,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    threads: usize,
    /// Number of threads that wait for a task.
    idle: usize,
    is_over: bool,
}

impl ThreadPool {
    /// Creates a pool without threads yet. The threads will have this name.
    pub fn new(name: &'static str) -> Self {
        let state = Mutex::new(State::default());
        ThreadPool { name, shared: Arc::new(Shared { state, changed: Condvar::new() }) }
    }
}

impl Executor for ThreadPool {
    fn spawn(&self, task: Task) {
        // Traces show the task inside the span that spawned it.
        let span = Span::current();
        let task: Task = Box::new(move || span.in_scope(task));
        let mut state = self.shared.state();
        state.tasks.push_back(task);
        if state.idle >= state.tasks.len() {
            drop(state);
            return self.shared.changed.notify_one();
        }
        state.threads += 1;
        drop(state);
        let shared = self.shared.clone();
        if Thread::spawn(self.name, move || shared.run()).is_none() {
            let mut state = self.shared.state();
            state.threads -= 1;
            if state.threads == 0 {
                // Drops the tasks outside of the lock: what a task holds may be large.
                let tasks = std::mem::take(&mut state.tasks);
                drop(state);
                drop(tasks);
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The main loop of a thread.
    fn run(&self) {
        let mut state = self.state();
        while !state.is_over {
            match state.tasks.pop_front() {
                Some(task) => {
                    drop(state);
                    // Whoever waits for the task notices that it panicked. The thread goes on.
                    let _ = catch_unwind(AssertUnwindSafe(task));
                    state = self.state();
                }
                None => {
                    state.idle += 1;
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
            }
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_over = true;
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        self.shared.changed.notify_all();
        drop(tasks);
    }
}

impl std::fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.shared.state();
        f.debug_struct("ThreadPool").field("name", &self.name).field("threads", &state.threads).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn threads_are_kept_and_survive_a_panic() {
        let pool = ThreadPool::new("test");
        let (sender, receiver) = mpsc::channel();
        for i in 0..50 {
            let sender = sender.clone();
            pool.spawn(Box::new(move || {
                sender.send(i).unwrap();
                assert!(i % 10 != 3, "it is meant to fail");
            }));
            assert_eq!(receiver.recv().unwrap(), i);
        }
        // One thread would do, but it may still have been busy when the next task came.
        assert!(pool.shared.state().threads < 25, "{pool:?}");
    }

    #[test]
    fn as_many_threads_as_tasks_at_a_time() {
        let pool = ThreadPool::new("test");
        let all = Arc::new(std::sync::Barrier::new(5));
        let (sender, receiver) = mpsc::channel();
        for i in 0..4 {
            let (sender, all) = (sender.clone(), all.clone());
            pool.spawn(Box::new(move || {
                all.wait();
                sender.send(i).unwrap();
            }));
        }
        all.wait();
        let mut done: Vec<i32> = (0..4).map(|_| receiver.recv().unwrap()).collect();
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3]);
    }
}
