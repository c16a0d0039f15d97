//! A runtime of one thread, on which blocking callers wait.

use marquetry_base::{Error, ErrorKind, Result};
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

/// A runtime of one thread. Any thread may wait for it or drop it, because its own thread does the work.
pub(crate) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    pub(crate) fn new() -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("marquetry-remote").enable_all();
        Ok(OwnRuntime(Some(builder.build()?)))
    }

    /// Runs `work` and returns its result. `block_on` would panic on threads of another runtime.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let given_up = || Error::new(ErrorKind::Io, "fetching was given up");
        let (sender, receiver) = mpsc::sync_channel(1);
        let runtime = self.0.as_ref().ok_or_else(given_up)?;
        // The receiver still waits, so sending cannot fail.
        runtime.spawn(async move { drop(sender.send(work.await)) });
        receiver.recv().map_err(|_| given_up())?
    }
}

impl Drop for OwnRuntime {
    /// Does not wait for the thread, which threads of other runtimes must not do.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
