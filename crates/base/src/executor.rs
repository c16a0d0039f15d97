//! Executors: the threads that work is given to, those of the host or our own.

/// Work for a thread.
pub type Task = Box<dyn FnOnce() + Send + 'static>;

/// Runs tasks on threads of the host, for readers, writers and checks that were told to use several. A closure is one:
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
/// A task works for some milliseconds at most times, reads its file, and does not wait for other tasks: where there is nothing to
/// do it ends. Whoever spawns tasks does their work himself as long as none has begun. So an executor may run them late, on
/// few threads, or drop them; the caller may itself be one of its threads.
pub trait Executor: Send + Sync {
    /// Has another thread run `task` soon, and returns at once. Must not run it itself.
    fn spawn(&self, task: Task);
}

impl<F: Fn(Task) + Send + Sync> Executor for F {
    fn spawn(&self, task: Task) {
        self(task);
    }
}
