//! A file object whose methods read the file that it is.
//!
//! Such a call would wait for itself, forever: a file object is read by one thread at a time, and a stream is. So it is refused. Whose
//! methods a thread is in, and who reads, is noted here. If a method waits for another thread, which reads the file, then that is found
//! out by Python's frames where it waits for a thread or a future. Else nobody can tell a wait that never ends from a long one - a file
//! that is fetched from a tape - and none ends by itself; Ctrl-C ends it.

use crate::ending::attached;
use crate::errors::from_python;
use marquetry::errors::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How long a thread waits before it looks whether its turn can come at all.
const PAUSE: Duration = Duration::from_millis(500);

/// Calls of the main thread that a signal has ended, and what Python calls that thread.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);
static MAIN: AtomicU64 = AtomicU64::new(0);

/// A signal ends what this thread does, which is the main one. Who waits for a method that it waits for, and would never come to its end, is
/// told.
pub(crate) fn interrupt() {
    // Without a name it has read no file object.
    if let Some(ident) = IDENT.get() {
        MAIN.store(ident, Ordering::Relaxed);
        INTERRUPTS.fetch_add(1, Ordering::Release);
    }
}

/// A file object that is read: the calls of its methods, and the threads that read it.
#[derive(Clone, Default)]
pub(crate) struct ObjectCalls(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// What the next call is called: calls do not end in the order in which they begin, where threads have several stacks.
    next: u64,
    methods: Vec<MethodCall>,
    /// Threads of Python that read the object.
    readers: Vec<Reader>,
}

struct MethodCall {
    id: u64,
    thread: ThreadId,
    /// What Python calls the thread.
    ident: u64,
}

struct Reader {
    id: u64,
    ident: u64,
    /// How many calls signals had ended when it began.
    interrupts: u64,
}

impl Reader {
    fn is_interrupted(&self) -> bool {
        INTERRUPTS.load(Ordering::Acquire) > self.interrupts && MAIN.load(Ordering::Relaxed) == self.ident
    }
}

impl Calls {
    fn new_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Whether this thread is in a method.
    fn have_this_thread(&self) -> bool {
        let this = thread::current().id();
        self.methods.iter().any(|call| call.thread == this)
    }
}

impl ObjectCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This thread calls a method, until what is returned is dropped.
    pub(crate) fn enter(&self, py: Python<'_>) -> PyResult<InMethod<'_>> {
        let (thread, ident) = (thread::current().id(), ident(py)?);
        let mut calls = self.calls();
        let id = calls.new_id();
        calls.methods.push(MethodCall { id, thread, ident });
        Ok(InMethod { of: self, id })
    }

    /// This thread reads the object, until what is returned is dropped. Fails if it is in a method of the object.
    fn begin(&self) -> Result<Reading> {
        if self.calls().have_this_thread() {
            return Err(Error::argument(
                "a file object reads the file that it is, which would wait for itself",
            ));
        }
        let ident = match IDENT.get() {
            Some(ident) => ident,
            None => attached(ident).map_err(from_python)?,
        };
        let mut calls = self.calls();
        let id = calls.new_id();
        calls.readers.push(Reader { id, ident, interrupts: INTERRUPTS.load(Ordering::Acquire) });
        Ok(Reading { of: self.clone(), id })
    }

    /// Fails if a method that is called now does not come to an end, as far as can be told: who waits for it would wait forever.
    fn check_progress(&self) -> Result<()> {
        let calls = self.calls();
        let inside: Vec<u64> = calls.methods.iter().map(|call| call.ident).collect();
        let readers: HashSet<u64> = calls.readers.iter().map(|reader| reader.ident).collect();
        let is_interrupted = calls.readers.iter().any(Reader::is_interrupted);
        drop(calls);
        if inside.is_empty() {
            return Ok(());
        }
        if waits_for(inside, readers).map_err(from_python)? {
            return Err(Error::argument(
                "a method of the file object waits for a thread that reads the file, and each would wait for the other",
            ));
        }
        match is_interrupted {
            true => Err(Error::new(
                ErrorKind::Cancelled,
                "a signal has ended a call that reads the file, whose file object may be waiting for this one",
            )),
            false => Ok(()),
        }
    }

    /// Drops what reads the object, whose threads may be in a method that waits for this one.
    fn release(&self, reader: impl Send + 'static) {
        let calls = self.calls();
        let (is_called, is_inside) = (!calls.methods.is_empty(), calls.have_this_thread());
        drop(calls);
        if !is_called {
            return drop(reader);
        }
        let (done, dropped) = channel::<()>();
        let started = thread::Builder::new().name("marquetry".into()).spawn(move || {
            drop(reader);
            drop(done);
        });
        while started.is_ok() && !is_inside {
            match dropped.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) if self.check_progress().is_ok() => (),
                _ => return,
            }
        }
    }
}

/// The calling thread reads the object, if there is one. Fails if it is in a method of the object.
pub(crate) fn begin_reading(object: Option<&ObjectCalls>) -> Result<Option<Reading>> {
    object.map(ObjectCalls::begin).transpose()
}

/// Drops what reads the object, if there is one.
pub(crate) fn release(object: Option<&ObjectCalls>, reader: impl Send + 'static) {
    match object {
        Some(object) => object.release(reader),
        None => drop(reader),
    }
}

/// A call of a method, on one thread.
pub(crate) struct InMethod<'a> {
    of: &'a ObjectCalls,
    id: u64,
}

impl Drop for InMethod<'_> {
    fn drop(&mut self) {
        self.of.calls().methods.retain(|call| call.id != self.id);
    }
}

/// A call that reads.
pub(crate) struct Reading {
    of: ObjectCalls,
    id: u64,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.of.calls().readers.retain(|reader| reader.id != self.id);
    }
}

thread_local! {
    /// What Python calls this thread, once it was asked.
    static IDENT: Cell<Option<u64>> = const { Cell::new(None) };
}

fn ident(py: Python<'_>) -> PyResult<u64> {
    if let Some(ident) = IDENT.get() {
        return Ok(ident);
    }
    let ident = py.import("threading")?.call_method0("get_ident")?.extract()?;
    IDENT.set(Some(ident));
    Ok(ident)
}

/// Whether one of `threads` waits for one of `others`, as far as Python knows.
fn waits_for(threads: Vec<u64>, others: HashSet<u64>) -> PyResult<bool> {
    attached(|py| py.import("marquetry._waiting")?.getattr("waits_for")?.call1((threads, others))?.extract())
}

/// What threads have one after the other.
pub(crate) struct Turns<T> {
    is_taken: Mutex<bool>,
    changed: Condvar,
    value: Mutex<T>,
}

impl<T> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        Turns { is_taken: Mutex::new(false), changed: Condvar::new(), value: Mutex::new(value) }
    }

    /// Waits for this thread's turn, without the interpreter's lock. Fails if it does not come, because of a method of `object`.
    pub(crate) fn take(&self, object: Option<&ObjectCalls>) -> Result<Turn<'_, T>> {
        let mut is_taken = self.is_taken();
        while *is_taken {
            let waited = self.changed.wait_timeout(is_taken, PAUSE);
            let (again, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            is_taken = again;
            if let (true, true, Some(object)) = (*is_taken, waited.timed_out(), object) {
                drop(is_taken);
                object.check_progress()?;
                is_taken = self.is_taken();
            }
        }
        *is_taken = true;
        drop(is_taken);
        Ok(Turn { value: self.value.lock().unwrap_or_else(PoisonError::into_inner), of: self })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_taken(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a thread, until this is dropped.
pub(crate) struct Turn<'a, T> {
    value: MutexGuard<'a, T>,
    of: &'a Turns<T>,
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Turn<'_, T> {
    /// The next one waits for the value until this is over, and no longer.
    fn drop(&mut self) {
        *self.of.is_taken() = false;
        self.of.changed.notify_one();
    }
}
