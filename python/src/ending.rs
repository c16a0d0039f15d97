//! The end of the interpreter, while other threads still run.
//!
//! Python waits for its threads when it ends, except for daemon threads and those of libraries. Before version 3.14 it
//! ends such a thread when that next takes the interpreter's lock, by unwinding it, and Rust frames on the way abort
//! the process. Where PyO3 takes the lock it blocks the thread instead. But Python code releases and takes the lock as
//! it likes: a file object, a generator, a callback. So anything here that may run such code begins a `Call` first.
//! From the exit on calls are refused, and running ones are waited for, for a second. Those that go on are ended by an
//! exception, as nothing else ends a loop. A call that does not see it, as it waits for something outside of Python, is
//! left waiting.
//!
//! The thread that ends the interpreter is never ended itself, and later `atexit` functions may read and write.

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Number of running calls of Python code.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The threads in these calls, by Python's ids; a thread in nested calls is here repeatedly.
static CALLERS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

thread_local! {
    /// Python's id of this thread, once known.
    static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Number of running operations of Python threads, in Rust or in Python code.
static OPERATIONS: AtomicUsize = AtomicUsize::new(0);

/// Whether new calls are refused.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The thread that ends the interpreter.
static LAST: OnceLock<ThreadId> = OnceLock::new();

/// How long the end waits for calls, for those that it ended by an exception, and for operations: a generator may wait
/// for rows that never come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Interval between checks.
const PAUSE: Duration = Duration::from_millis(1);

/// A call of Python code, until this is dropped.
pub(crate) struct Call {
    is_counted: bool,
    caller: Option<u64>,
}

impl Call {
    /// Fails from the exit on, except on the thread that ends the interpreter. The error is SystemExit, which ends a
    /// thread silently.
    pub(crate) fn begin(py: Python<'_>) -> PyResult<Self> {
        let mut call = Call::begin_detached()?;
        call.note_caller(py);
        Ok(call)
    }

    /// As [`begin`](Self::begin), for a thread that may not hold the interpreter's lock; does not take it.
    pub(crate) fn begin_detached() -> PyResult<Self> {
        if is_last() {
            return Ok(Call { is_counted: false, caller: None });
        }
        // Counted before the check, so that either the end sees the call, or the call sees the end.
        let mut call = Call { is_counted: true, caller: None };
        CALLS.fetch_add(1, Ordering::SeqCst);
        if IS_CLOSED.load(Ordering::SeqCst) {
            return Err(at_exit());
        }
        call.caller = NUMBER.get();
        callers().extend(call.caller);
        Ok(call)
    }

    fn note_caller(&mut self, py: Python<'_>) {
        if self.is_counted && self.caller.is_none() {
            let ask = || py.import("threading")?.call_method0("get_ident")?.extract();
            let number: PyResult<u64> = ask();
            NUMBER.set(number.ok());
            self.caller = NUMBER.get();
            callers().extend(self.caller);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(caller) = self.caller {
            let mut callers = callers();
            if let Some(at) = callers.iter().position(|other| *other == caller) {
                callers.swap_remove(at);
            }
        }
        if self.is_counted {
            CALLS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn callers() -> MutexGuard<'static, Vec<u64>> {
    CALLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An operation of a thread other than the main one, until this is dropped.
pub(crate) struct Operation(());

impl Operation {
    /// Fails from the exit on, even when other threads may call again.
    pub(crate) fn begin() -> PyResult<Self> {
        // Counted before the check, as for calls.
        OPERATIONS.fetch_add(1, Ordering::SeqCst);
        let operation = Operation(());
        match LAST.get() {
            Some(_) if !is_last() => Err(at_exit()),
            _ => Ok(operation),
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        OPERATIONS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs `call` with the interpreter's lock, unless Python ends.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    let mut begun = Call::begin_detached()?;
    let attached = Python::try_attach(|py| {
        begun.note_caller(py);
        call(py)
    });
    attached.unwrap_or_else(|| Err(at_exit()))
}

fn at_exit() -> PyErr {
    PySystemExit::new_err("Python ends")
}

/// A Python object that our threads call. `None` only during drop.
pub(crate) struct Callee(Option<Py<PyAny>>);

impl Callee {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Callee(Some(object))
    }

    /// Runs `call` with the object and the interpreter's lock, unless Python ends.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> PyResult<T> {
        attached(|py| call(self.0.as_ref().unwrap_or(&py.None()).bind(py)))
    }
}

impl Drop for Callee {
    /// Dropping the last reference may close the object, which runs Python code, too.
    fn drop(&mut self) {
        let object = self.0.take();
        match Call::begin_detached() {
            Ok(_call) => drop(Python::try_attach(|_| drop(object))),
            Err(_) => mem::forget(object),
        }
    }
}

/// Ends the calls of Python code in other threads. `atexit` calls this before Python terminates the threads.
#[pyfunction]
pub(crate) fn end_calls(py: Python<'_>) {
    let _ = LAST.set(thread::current().id());
    py.detach(close);
    // Later versions block threads instead. If raising the exception fails, it may be too late; the exit continues.
    if CALLS.load(Ordering::SeqCst) > 0 && py.version_info() < (3, 14) && end_callers(py).is_ok() {
        py.detach(|| wait_for(&CALLS));
    }
}

/// Raises SystemExit in the threads that run Python code.
fn end_callers(py: Python<'_>) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    let exception = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
    for caller in callers().clone() {
        raise.call1((ctypes.call_method1("c_ulong", (caller,))?, &exception))?;
    }
    Ok(())
}

/// Allows calls of our threads again, if the last thread has work for them: in an `atexit` function that runs after
/// ours. Does nothing once the interpreter is being finalized. Operations of other threads end before that, as their
/// next calls are refused: one that went on would be in Python code when the interpreter ends.
pub(crate) fn reopen(py: Python<'_>) {
    if is_last() {
        let is_too_late = is_finalizing(py);
        if !is_too_late && IS_CLOSED.load(Ordering::SeqCst) {
            py.detach(|| wait_for(&OPERATIONS));
        }
        IS_CLOSED.store(is_too_late, Ordering::SeqCst);
    }
}

fn close() {
    IS_CLOSED.store(true, Ordering::SeqCst);
    wait_for(&CALLS);
}

/// Waits until the counter is zero, but not forever.
fn wait_for(counter: &AtomicUsize) {
    let end = Instant::now() + PATIENCE;
    while counter.load(Ordering::SeqCst) > 0 && Instant::now() < end {
        thread::sleep(PAUSE);
    }
}

fn is_last() -> bool {
    LAST.get().is_some_and(|last| *last == thread::current().id())
}

/// Whether the interpreter is being finalized: other threads that take the lock are ended.
fn is_finalizing(py: Python<'_>) -> bool {
    let asked = py.import("sys").and_then(|sys| sys.call_method0("is_finalizing")?.extract());
    asked.unwrap_or(true)
}
