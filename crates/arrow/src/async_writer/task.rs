//! Runs long work off the thread that polls.

use futures_core::future::BoxFuture;
use marquetry_base::{Error, ErrorKind, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// A task that computes, or reads a disk, for a while. It must be run once, on a thread that may block.
pub type BlockingTask = Box<dyn FnOnce() + Send>;

/// Runs a task elsewhere. The future is ready when the task has run.
type Run = dyn Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync;

/// Runs tasks on the thread that polls, unless the host has a better place.
#[derive(Clone, Default)]
pub(super) struct Tasks(Option<Arc<Run>>);

impl Tasks {
    pub(super) fn new(run: impl Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Tasks(Some(Arc::new(run)))
    }

    /// Runs `work` with `item`, and returns both the item and the result. A panic in the work continues in the caller.
    ///
    /// Fails if the host did not run the task.
    pub(super) async fn run<I: Send + 'static, T: Send + 'static>(
        &self,
        mut item: I,
        work: impl FnOnce(&mut I) -> T + Send + 'static,
    ) -> Result<(I, T)> {
        let Some(run) = &self.0 else {
            let done = work(&mut item);
            return Ok((item, done));
        };
        let place = Arc::new(Mutex::new(None));
        let result = place.clone();
        let task = move || {
            let done = catch_unwind(AssertUnwindSafe(|| {
                let done = work(&mut item);
                (item, done)
            }));
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        };
        run(Box::new(task)).await;
        match place.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Ok(done)) => Ok(done),
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(Error::new(ErrorKind::Io, "a task of the writer was not run")),
        }
    }
}
