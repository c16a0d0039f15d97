//! Replaces threads in a build without the feature `threads`: the caller does all the work.

use std::any::Any;
use std::convert::Infallible;
use std::marker::PhantomData;

/// The number of threads that can run at a time: only the caller's.
pub fn available_threads() -> usize {
    1
}

/// A thread that runs beside its owner: never exists in this build.
#[derive(Debug)]
pub struct Thread<T>(Infallible, PhantomData<T>);

impl<T: Send + 'static> Thread<T> {
    /// Returns `None`: no thread can be started.
    pub fn spawn(_: &str, _: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        None
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        match self.0 {}
    }

    /// The result of the thread.
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        match self.0 {}
    }
}
