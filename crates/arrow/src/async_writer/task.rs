//! Runs long work off the thread that polls.

use futures_core::future::BoxFuture;
use marquetry_base::{Error, ErrorKind, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Work that computes, or reads a disk, for a while. It must be run once, on a thread that may be kept busy.
pub type BlockingTask = Box<dyn FnOnce() + Send>;

/// Runs a task somewhere else, and is ready when it has run.
type Run = dyn Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync;

/// Where work is done: on the thread that polls, unless the host has a better place.
#[derive(Clone, Default)]
pub(super) struct Tasks(Option<Arc<Run>>);

impl Tasks {
    pub(super) fn new(run: impl Fn(BlockingTask) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Tasks(Some(Arc::new(run)))
    }

    /// Has `work` done with `item`, which is given back with the result. A panic of the work is one of the caller's.
    ///
    /// Fails if the host has not run it.
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
