//! The memory of a writer, or of one of its columns: counted, and taken from a budget.

use marquetry_base::{MemoryBudget, MemoryReservation, Result};
use marquetry_core::metrics::WriteCounters;
use std::sync::Arc;

/// What somebody holds, until it is dropped.
#[derive(Debug)]
pub(super) struct HeldMemory {
    counters: Arc<WriteCounters>,
    bytes: usize,
    budget: MemoryBudget,
    reservation: MemoryReservation,
}

impl HeldMemory {
    /// Nothing yet.
    pub(super) fn new(counters: &Arc<WriteCounters>, budget: &MemoryBudget) -> Self {
        HeldMemory {
            counters: counters.clone(),
            bytes: 0,
            budget: budget.clone(),
            reservation: budget.empty(),
        }
    }

    /// Notes that it is `bytes` now.
    ///
    /// Fails if the budget has not as many: it is counted all the same, for it is held.
    pub(super) fn set(&mut self, bytes: usize) -> Result<()> {
        self.counters.holds(bytes, self.bytes);
        self.bytes = bytes;
        self.reservation.shrink_to(bytes);
        self.reservation.grow_to(bytes)
    }

    /// How many bytes the budget has given.
    pub(super) fn granted(&self) -> usize {
        self.reservation.bytes()
    }

    /// Whether that is more than is left to others. Where all who share a budget hold no more than what is left, all come to have
    /// the same.
    pub(super) fn is_greedy(&self) -> bool {
        self.granted() > self.budget.left()
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.counters.holds(0, self.bytes);
    }
}
