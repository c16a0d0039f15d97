//! Executors: the threads that work is given to, those of the host or our own.

/// A piece of work for a thread.
pub type Task = Box<dyn FnOnce() + Send + 'static>;

/// Runs tasks on threads of the host, for readers, writers and checks that may use several threads. A closure can be an executor:
///
/// ```
/// use marquetry_base::{Executor, SharedExecutor};
/// # mod rayon { pub fn spawn(work: impl FnOnce() + Send + 'static) { std::thread::spawn(work); } }
/// // rayon
/// let pool = SharedExecutor::new(|task| rayon::spawn(task));
/// // tokio: `let handle = tokio::runtime::Handle::current();` and then
/// // SharedExecutor::new(move |task| drop(handle.spawn_blocking(task)))
/// # let (sender, receiver) = std::sync::mpsc::channel();
/// pool.spawn(Box::new(move || sender.send(7).unwrap()));
/// # assert_eq!(receiver.recv().unwrap(), 7);
/// ```
///
/// A task usually runs for some milliseconds, reads its file, and never waits for other tasks; if there is nothing to
/// do, it ends. The caller that spawns tasks does their work itself as long as none has begun. So an executor may run
/// tasks late, on few threads, or drop them, and the caller may be one of its threads.
pub trait Executor: Send + Sync {
    /// Lets another thread run `task` soon, and returns at once. Must not run the task itself.
    fn spawn(&self, task: Task);
}

impl<F: Fn(Task) + Send + Sync> Executor for F {
    fn spawn(&self, task: Task) {
        self(task);
    }
}
