//! File objects whose methods read the file that they are.
//!
//! Such a call would wait for itself forever, as only one thread at a time reads a file object, or a stream. So it is
//! refused. This module records in which methods threads are, and who reads. If a method waits for another thread that
//! reads the file, Python's frames show that where it waits for a thread or a future. Otherwise an endless wait cannot
//! be told from a long one - for a file that is fetched from a tape - and none is ended automatically; Ctrl-C ends it.

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

/// How long a thread waits before it checks whether its turn can come at all.
const PAUSE: Duration = Duration::from_millis(500);

/// Number of calls of the main thread that a signal has ended, and Python's id of that thread.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);
static MAIN: AtomicU64 = AtomicU64::new(0);

/// Notes that a signal ends the call of this thread, which is the main one. Threads that wait for a method which waits
/// for that call, and so would never end, learn of it.
pub(crate) fn interrupt() {
    // A thread without an id has read no file object.
    if let Some(ident) = IDENT.get() {
        MAIN.store(ident, Ordering::Relaxed);
        INTERRUPTS.fetch_add(1, Ordering::Release);
    }
}

/// A file object that is read: the running calls of its methods, and the threads that read it.
#[derive(Clone, Default)]
pub(crate) struct ObjectCalls(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// The id of the next call: threads with several stacks do not end calls in the order in which they began.
    next: u64,
    methods: Vec<MethodCall>,
    /// Python threads that read the object.
    readers: Vec<Reader>,
}

struct MethodCall {
    id: u64,
    thread: ThreadId,
    /// Python's id of the thread.
    ident: u64,
}

struct Reader {
    id: u64,
    ident: u64,
    /// Number of calls that signals had ended when it began.
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

    /// Returns whether this thread is in a method of the object.
    fn have_this_thread(&self) -> bool {
        let this = thread::current().id();
        self.methods.iter().any(|call| call.thread == this)
    }
}

impl ObjectCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this thread calls a method, until the returned value is dropped.
    pub(crate) fn enter(&self, py: Python<'_>) -> PyResult<InMethod<'_>> {
        let (thread, ident) = (thread::current().id(), ident(py)?);
        let mut calls = self.calls();
        let id = calls.new_id();
        calls.methods.push(MethodCall { id, thread, ident });
        Ok(InMethod { of: self, id })
    }

    /// Notes that this thread reads the object, until the returned value is dropped. Fails if the thread is in a method
    /// of the object.
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

    /// Fails if a running method cannot end, as far as can be determined: waiting for it would last forever.
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

    /// Drops a reader of the object, whose threads may be in a method that waits for this thread.
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

/// Notes that the calling thread reads the object, if there is one. Fails if the thread is in a method of the object.
pub(crate) fn begin_reading(object: Option<&ObjectCalls>) -> Result<Option<Reading>> {
    object.map(ObjectCalls::begin).transpose()
}

/// Drops a reader of the object, if there is one.
pub(crate) fn release(object: Option<&ObjectCalls>, reader: impl Send + 'static) {
    match object {
        Some(object) => object.release(reader),
        None => drop(reader),
    }
}

/// A running call of a method on one thread.
pub(crate) struct InMethod<'a> {
    of: &'a ObjectCalls,
    id: u64,
}

impl Drop for InMethod<'_> {
    fn drop(&mut self) {
        self.of.calls().methods.retain(|call| call.id != self.id);
    }
}

/// A call that reads the object.
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
    /// Python's id of this thread, once known.
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

/// Returns whether one of `threads` waits for one of `others`, as far as Python's frames show it.
fn waits_for(threads: Vec<u64>, others: HashSet<u64>) -> PyResult<bool> {
    attached(|py| py.import("marquetry._waiting")?.getattr("waits_for")?.call1((threads, others))?.extract())
}

/// A value that threads use one after the other.
pub(crate) struct Turns<T> {
    is_taken: Mutex<bool>,
    changed: Condvar,
    value: Mutex<T>,
}

impl<T> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        Turns { is_taken: Mutex::new(false), changed: Condvar::new(), value: Mutex::new(value) }
    }

    /// Waits for this thread's turn, without the interpreter's lock. Fails if the turn cannot come, because of a method
    /// of `object`.
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

/// The turn of a thread. It ends when this is dropped.
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
    /// The next thread waits for the value until this drop is over, and no longer.
    fn drop(&mut self) {
        *self.of.is_taken() = false;
        self.of.changed.notify_one();
    }
}
