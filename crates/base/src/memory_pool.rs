//! The trait of memory pools: asked before memory is allocated.

use crate::Result;
use std::fmt::Debug;

/// A pool of memory of the host, for what readers and writers hold. [`MemoryBudget::from_pool`](crate::MemoryBudget::from_pool)
/// makes the budget of it that [`Limits::memory`](crate::Limits::memory) wants; a budget is one, too.
///
/// Only bytes are counted: nobody gets memory from it. It is asked for some 64 KiB at a time or more, by any thread.
///
/// `arrow_buffer::MemoryPool` is another thing: it counts buffers that are there already, and never refuses, so that it bounds
/// nothing. A host that has one lets it count the batches that it was given.
///
/// ```
/// use marquetry_base::{Error, Limits, MemoryBudget, MemoryPool, Result};
/// use std::sync::{Arc, Mutex};
///
/// /// The reservation of an engine, as `datafusion::execution::memory_pool::MemoryReservation` is one.
/// #[derive(Debug, Default)]
/// struct Reservation(Mutex<usize>);
///
/// impl MemoryPool for Reservation {
///     fn try_grow(&self, bytes: usize) -> Result<()> {
///         let mut used = self.0.lock().unwrap();
///         match *used + bytes <= 1 << 20 {
///             true => *used += bytes,
///             false => return Err(Error::memory(format!("{bytes} more bytes than the query may have"))),
///         }
///         Ok(())
///     }
///
///     fn shrink(&self, bytes: usize) {
///         *self.0.lock().unwrap() -= bytes;
///     }
///
///     fn left(&self) -> usize {
///         (1 << 20) - *self.0.lock().unwrap()
///     }
/// }
///
/// let memory = MemoryBudget::from_pool(Arc::new(Reservation::default()));
/// let limits = Limits::default().with_memory(memory.clone());
/// assert!(memory.reserve(2 << 20).unwrap_err().is_retryable());
/// # drop(limits);
/// ```
pub trait MemoryPool: Debug + Send + Sync {
    /// Takes so many bytes, or none: all of them count until they are given back.
    ///
    /// May wait for others to give theirs back, as long as those do not wait for the caller. It is called where streams are
    /// polled.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there are not as many.
    fn try_grow(&self, bytes: usize) -> Result<()>;

    /// Gives back so many of the bytes that were taken.
    fn shrink(&self, bytes: usize);

    /// How many bytes could be taken now, about: reading ahead keeps to a part of them. `usize::MAX`, the default, if nobody knows.
    fn left(&self) -> usize {
        usize::MAX
    }
}
