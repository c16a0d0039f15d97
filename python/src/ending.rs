//! The end of the interpreter, while other threads still run.
//!
//! Python waits for its threads when it ends, but for daemon threads and those of libraries. Before version 3.14 it ends such a thread
//! where that next takes the interpreter's lock, by unwinding it, and Rust frames on the way abort the process. Where PyO3 takes the lock
//! it holds the thread instead. But code of Python gives the lock away and takes it again as it likes: a file object, a generator, a
//! callback. So whatever here may run such code asks first. From the exit on it is refused, and what runs then is waited for, a second. What
//! runs on is ended by an exception, as nothing else ends a loop. What hears of none, because it waits for something outside of Python,
//! is left to wait.
//!
//! The thread that ends the interpreter is never ended itself, and functions of `atexit` that are called later may read and write.

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Calls of Python's code that threads are in.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The threads that are in these calls, by Python's numbers of them; one that calls in a call is here twice.
static CALLERS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

thread_local! {
    /// Python's number of this thread, once that was asked for.
    static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Operations that threads of Python are in, in Rust or in Python's code.
static OPERATIONS: AtomicUsize = AtomicUsize::new(0);

/// Whether there may be no new calls.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The thread that ends the interpreter.
static LAST: OnceLock<ThreadId> = OnceLock::new();

/// How long the end waits for calls, for those that it ended, and for operations: a generator may wait for rows that never come.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(1);

/// A call of Python's code, until this is dropped.
pub(crate) struct Call {
    is_counted: bool,
    caller: Option<u64>,
}

impl Call {
    /// Fails from the exit on, but on the thread that ends the interpreter. SystemExit ends a thread, and nothing is printed.
    pub(crate) fn begin(py: Python<'_>) -> PyResult<Self> {
        let mut call = Call::begin_detached()?;
        call.note_caller(py);
        Ok(call)
    }

    /// The same of a thread that may be without the interpreter's lock, and does not ask for it.
    pub(crate) fn begin_detached() -> PyResult<Self> {
        if is_last() {
            return Ok(Call { is_counted: false, caller: None });
        }
        // Before it asks, so that the end sees the call, or the call the end.
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

/// An operation of a thread that is not the main one, until this is dropped.
pub(crate) struct Operation(());

impl Operation {
    /// Fails from the exit on, also when other threads may call again.
    pub(crate) fn begin() -> PyResult<Self> {
        // Before it asks, as for calls.
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

/// Does `call` with the interpreter's lock, unless Python ends.
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

/// An object of Python that threads of ours call. There is none once it is dropped.
pub(crate) struct Callee(Option<Py<PyAny>>);

impl Callee {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Callee(Some(object))
    }

    /// Does `call` with the object and the interpreter's lock, unless Python ends.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> PyResult<T> {
        attached(|py| call(self.0.as_ref().unwrap_or(&py.None()).bind(py)))
    }
}

impl Drop for Callee {
    /// What goes with the last reference may be closed, which is code of Python, too.
    fn drop(&mut self) {
        let object = self.0.take();
        match Call::begin_detached() {
            Ok(_call) => drop(Python::try_attach(|_| drop(object))),
            Err(_) => mem::forget(object),
        }
    }
}

/// Ends what threads do in Python's code. Called by `atexit`, before Python ends the threads.
#[pyfunction]
pub(crate) fn end_calls(py: Python<'_>) {
    let _ = LAST.set(thread::current().id());
    py.detach(close);
    // Later versions hold threads. If one cannot be ended, it may be too late for it; the end goes on.
    if CALLS.load(Ordering::SeqCst) > 0 && py.version_info() < (3, 14) && end_callers(py).is_ok() {
        py.detach(|| wait_for(&CALLS));
    }
}

/// Has the threads that are in Python's code raise SystemExit there.
fn end_callers(py: Python<'_>) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    let exception = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
    for caller in callers().clone() {
        raise.call1((ctypes.call_method1("c_ulong", (caller,))?, &exception))?;
    }
    Ok(())
}

/// Lets threads of ours call again if it is the last thread that has work for them: a function of `atexit`, after ours. Not once the
/// interpreter is being taken apart. Operations of other threads end before, as their next calls are refused: one that could go on would be in
/// Python's code when the interpreter ends.
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

/// Waits until there is none, but not for ever.
fn wait_for(counter: &AtomicUsize) {
    let end = Instant::now() + PATIENCE;
    while counter.load(Ordering::SeqCst) > 0 && Instant::now() < end {
        thread::sleep(PAUSE);
    }
}

fn is_last() -> bool {
    LAST.get().is_some_and(|last| *last == thread::current().id())
}

/// Whether it is too late: other threads that take the lock are ended.
fn is_finalizing(py: Python<'_>) -> bool {
    let asked = py.import("sys").and_then(|sys| sys.call_method0("is_finalizing")?.extract());
    asked.unwrap_or(true)
}
