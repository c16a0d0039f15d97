//! The memory of a writer, or of one of its columns: counted, and taken from a budget.

use marquetry_base::{MemoryBudget, MemoryReservation, Result};
use marquetry_core::metrics::WriteCounters;
use std::sync::Arc;

/// The memory that a writer or column holds, counted until it is dropped.
#[derive(Debug)]
pub(super) struct HeldMemory {
    counters: Arc<WriteCounters>,
    bytes: usize,
    budget: MemoryBudget,
    reservation: MemoryReservation,
}

impl HeldMemory {
    /// Creates a count of 0 bytes.
    pub(super) fn new(counters: &Arc<WriteCounters>, budget: &MemoryBudget) -> Self {
        HeldMemory {
            counters: counters.clone(),
            bytes: 0,
            budget: budget.clone(),
            reservation: budget.empty(),
        }
    }

    /// Sets the held bytes.
    ///
    /// Fails if the budget does not have that many. They are counted all the same, because they are held.
    pub(super) fn set(&mut self, bytes: usize) -> Result<()> {
        self.counters.holds(bytes, self.bytes);
        self.bytes = bytes;
        self.reservation.shrink_to(bytes);
        self.reservation.grow_to(bytes)
    }

    /// Returns how many bytes the budget has granted.
    pub(super) fn granted(&self) -> usize {
        self.reservation.bytes()
    }

    /// Returns whether more was granted than is left for others. If all who share a budget keep below that, they end up
    /// with equal shares.
    pub(super) fn is_greedy(&self) -> bool {
        self.granted() > self.budget.left()
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.counters.holds(0, self.bytes);
    }
}
