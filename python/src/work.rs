//! Runs work without the interpreter's lock, and lets Ctrl-C cancel it.
//!
//! Python runs signal handlers in its main thread only, and only when that checks for signals. So another thread does
//! the work of the main thread, which waits and checks. Other threads do their work themselves.

use crate::ending::{Call, Operation, reopen};
use crate::errors::to_python;
use crate::reentrance::interrupt;
use marquetry::errors::{CancelToken, Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Interval at which the main thread checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// Runs `work` without the interpreter's lock. A signal whose handler raises cancels `token`, and the exception is
/// returned. A panic becomes an error.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    token: &CancelToken,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        let operation = Operation::begin()?;
        let outcome = py.detach(|| {
            let _operation = operation;
            guarded(work)
        });
        return outcome.map_err(|error| to_python(py, &error));
    }
    reopen(py);
    let (raised, outcome) = py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = sync_channel(1);
            let started = thread::Builder::new().name("marquetry".into()).spawn_scoped(scope, move || {
                let _ = done.send(guarded(work));
            });
            if let Err(error) = started {
                return (None, Err(Error::io("cannot start a thread", error)));
            }
            let mut raised = None;
            loop {
                match finished.recv_timeout(PATIENCE) {
                    Ok(outcome) => return (raised, outcome),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| py.check_signals()).err();
                        if raised.is_some() {
                            interrupt();
                            token.cancel();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => (),
                    Err(RecvTimeoutError::Disconnected) => return (raised, Err(panicked("no reason known"))),
                }
            }
        })
    });
    match raised {
        Some(exception) => Err(exception),
        None => outcome.map_err(|error| to_python(py, &error)),
    }
}

/// Runs `work`, and converts a panic to an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        Err(panicked(
            text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason known"),
        ))
    })
}

fn panicked(why: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("a mistake in Marquetry itself, please report it: {why}"))
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let _call = Call::begin(py)?;
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}
