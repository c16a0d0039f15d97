//! The trait of memory pools: asked before memory is allocated.

use crate::Result;
use std::fmt::Debug;

/// A host's pool of memory, from which readers and writers reserve what they hold.
/// [`MemoryBudget::from_pool`](crate::MemoryBudget::from_pool) turns it into the budget that
/// [`Limits::memory`](crate::Limits::memory) takes. A budget is itself a pool, too.
///
/// A pool only counts bytes and allocates nothing. Any thread may call it, for some 64 KiB at a time or more.
///
/// `arrow_buffer::MemoryPool` has another purpose: it counts buffers that already exist and never refuses, so it bounds
/// nothing. A host that has one can use it to count the batches that it was given.
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
    /// Takes `bytes`, or nothing if it fails. They count until they are given back.
    ///
    /// May wait for others to give memory back, as long as those do not wait for the caller. It is called while streams are polled.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if fewer bytes are left.
    fn try_grow(&self, bytes: usize) -> Result<()>;

    /// Gives back `bytes` of those that were taken.
    fn shrink(&self, bytes: usize);

    /// About how many bytes could be taken now. Readers read ahead by a part of it. The default, `usize::MAX`, stands
    /// for an unknown number.
    fn left(&self) -> usize {
        usize::MAX
    }
}
