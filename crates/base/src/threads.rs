//! Threads of this process. This is the only file that starts any; a build without the feature `threads` has
//! `threads_off.rs` in its place.

use std::any::Any;
use std::thread::{self, JoinHandle};

/// The number of threads that can run at a time; 1 in a build without the feature `threads`.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A thread that runs beside its owner.
#[derive(Debug)]
pub struct Thread<T>(JoinHandle<T>);

impl<T: Send + 'static> Thread<T> {
    /// Starts a thread. Returns `None` if that is not possible, as in a build without the feature `threads`.
    pub fn spawn(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        thread::Builder::new().name(name.to_owned()).spawn(work).ok().map(Thread)
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits until the thread has ended and returns its result, or the payload of its panic.
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        self.0.join()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gives_its_result() {
        assert_eq!(Thread::spawn("three", || 3).expect("a thread").join().expect("no panic"), 3);
    }
}
