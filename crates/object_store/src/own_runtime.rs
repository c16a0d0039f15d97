//! A runtime of one thread, on which blocking callers wait.

use marquetry_base::{Error, ErrorKind, Result};
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

/// The runtime. It may be waited for, and dropped, on any thread: its work is done by its own.
pub(crate) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    pub(crate) fn new() -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("marquetry-remote").enable_all();
        Ok(OwnRuntime(Some(builder.build()?)))
    }

    /// What becomes of the work. `block_on` would do where no runtime is entered: on threads of another one it panics.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let given_up = || Error::new(ErrorKind::Io, "fetching was given up");
        let (sender, receiver) = mpsc::sync_channel(1);
        let runtime = self.0.as_ref().ok_or_else(given_up)?;
        // Who waits is still there.
        runtime.spawn(async move { drop(sender.send(work.await)) });
        receiver.recv().map_err(|_| given_up())?
    }
}

impl Drop for OwnRuntime {
    /// Without waiting for its thread, which threads of other runtimes must not do.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
