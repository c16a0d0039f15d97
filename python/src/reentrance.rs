//! A file object whose `read` reads the file that it is.
//!
//! Such a call waits for itself, forever: a file object is read by one thread at a time, and a stream is. So it is refused. The thread that
//! calls `read` knows whose it is in; what another thread does, on which `read` waits, is not seen.

use marquetry::errors::{Error, Result};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The file objects in whose methods this thread is.
    static INSIDE: RefCell<Vec<ObjectId>> = const { RefCell::new(Vec::new()) };
}

/// A file object that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectId(u64);

impl ObjectId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ObjectId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// This thread calls a method of the object, until what is returned is dropped.
    pub(crate) fn enter(self) -> Inside {
        INSIDE.with_borrow_mut(|inside| inside.push(self));
        Inside(PhantomData)
    }

    /// Fails if this thread is in a method of the object.
    fn check(self) -> Result<()> {
        match INSIDE.with_borrow(|inside| inside.contains(&self)) {
            true => {
                Err(Error::argument("a file object reads the file that it is, which would wait for itself"))
            }
            false => Ok(()),
        }
    }
}

/// Fails if there is an object, and this thread is in a method of it.
pub(crate) fn check_outside(object: Option<ObjectId>) -> Result<()> {
    object.map_or(Ok(()), ObjectId::check)
}

/// A call of a method, on one thread.
pub(crate) struct Inside(PhantomData<*const ()>);

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(|inside| inside.pop());
    }
}
