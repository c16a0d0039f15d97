//! The executor in options: one that is shared by reference.

use crate::executor::{Executor, Task};
use crate::thread_pool::ThreadPool;
use crate::threads::Thread;
use std::fmt;
use std::sync::Arc;

/// The executor in options. By default, its users start threads of our own when they need them and end them afterwards.
#[derive(Clone, Default)]
pub struct SharedExecutor(Option<Arc<dyn Executor>>);

impl SharedExecutor {
    /// Uses the threads of a host.
    pub fn new(executor: impl Executor + 'static) -> Self {
        SharedExecutor(Some(Arc::new(executor)))
    }

    /// Returns the host's executor, or a new pool of threads called `name` if there is none.
    pub fn or_threads(&self, name: &'static str) -> Arc<dyn Executor> {
        match &self.0 {
            Some(executor) => executor.clone(),
            None => Arc::new(ThreadPool::new(name)),
        }
    }
}

impl Executor for SharedExecutor {
    /// Runs the task on the host's threads, or on a new thread.
    fn spawn(&self, task: Task) {
        match &self.0 {
            Some(executor) => executor.spawn(task),
            None => drop(Thread::spawn("marquetry", task)),
        }
    }
}

/// Executors are equal if they are clones of each other, or both default.
impl PartialEq for SharedExecutor {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        }
    }
}

impl Eq for SharedExecutor {}

impl fmt::Debug for SharedExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "SharedExecutor(host)" } else { "SharedExecutor(threads)" })
    }
}
