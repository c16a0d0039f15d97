//! What takes the place of threads in a build without the feature `threads`: the caller does all.

use std::any::Any;
use std::convert::Infallible;
use std::marker::PhantomData;

/// How many threads may run at a time: this one.
pub fn available_threads() -> usize {
    1
}

/// A thread that runs beside its owner: there is none.
#[derive(Debug)]
pub struct Thread<T>(Infallible, PhantomData<T>);

impl<T: Send + 'static> Thread<T> {
    /// `None`: no thread can be started.
    pub fn spawn(_: &str, _: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        None
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        match self.0 {}
    }

    /// Its result.
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        match self.0 {}
    }
}
