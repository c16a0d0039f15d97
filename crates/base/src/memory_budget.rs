//! A bound on memory that is really kept: who holds memory says so first.

use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much memory readers may hold, all that share it together. By default there is no bound.
///
/// ```
/// use marquetry_base::MemoryBudget;
/// let budget = MemoryBudget::new(1000);
/// let held = budget.reserve(900)?;
/// assert!(budget.clone().reserve(200).is_err());
/// drop(held);
/// assert!(budget.reserve(200).is_ok());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryBudget(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    limit: usize,
    used: AtomicUsize,
}

impl MemoryBudget {
    /// A budget of `bytes`.
    pub fn new(bytes: usize) -> Self {
        MemoryBudget(Some(Arc::new(Shared { limit: bytes, used: AtomicUsize::new(0) })))
    }

    /// The bound in bytes; `None` if there is none.
    pub fn limit(&self) -> Option<usize> {
        self.0.as_ref().map(|shared| shared.limit)
    }

    /// Bytes that are held now; 0 without a bound, as nothing is counted then.
    pub fn used(&self) -> usize {
        self.0.as_ref().map_or(0, |shared| shared.used.load(Ordering::Relaxed))
    }

    /// Takes `bytes` until the result is dropped. Fails, with [`ErrorKind::Limit`](crate::ErrorKind::Limit), if there are not as
    /// many left.
    pub fn reserve(&self, bytes: usize) -> Result<MemoryReservation> {
        let mut held = self.empty();
        held.grow(bytes)?;
        Ok(held)
    }

    /// Takes nothing yet.
    pub fn empty(&self) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), bytes: 0 }
    }
}

/// Budgets are equal if their bounds are.
impl PartialEq for MemoryBudget {
    fn eq(&self, other: &Self) -> bool {
        self.limit() == other.limit()
    }
}

impl Eq for MemoryBudget {}

/// Bytes taken from a [`MemoryBudget`], given back when this is dropped.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    budget: MemoryBudget,
    bytes: usize,
}

impl MemoryReservation {
    /// How many.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `more`; if that fails, nothing is changed.
    pub fn grow(&mut self, more: usize) -> Result<()> {
        if let Some(shared) = &self.budget.0 {
            let fits = |used: usize| used.checked_add(more).filter(|sum| *sum <= shared.limit);
            shared.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|used| {
                let limit = shared.limit;
                Error::limit(format!(
                    "{more} more bytes of memory, where {used} of {limit} are held; read fewer columns at once or smaller \
                     batches, or raise Limits::memory"
                ))
            })?;
            self.bytes += more;
        }
        Ok(())
    }

    /// Makes it at least `bytes`.
    pub fn grow_to(&mut self, bytes: usize) -> Result<()> {
        self.grow(bytes.saturating_sub(self.bytes))
    }

    /// Takes over what another holds, of the same budget.
    pub fn join(&mut self, mut other: MemoryReservation) {
        if other.bytes > 0 {
            if self.bytes == 0 {
                self.budget = other.budget.clone();
            }
            self.bytes += std::mem::take(&mut other.bytes);
        }
    }
}

/// A copy holds nothing: it is the first that memory was taken for.
impl Clone for MemoryReservation {
    fn clone(&self) -> Self {
        MemoryReservation { budget: self.budget.clone(), bytes: 0 }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if let Some(shared) = self.budget.0.as_ref().filter(|_| self.bytes > 0) {
            shared.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back() {
        let budget = MemoryBudget::new(100);
        let mut a = budget.reserve(40).unwrap();
        let b = budget.reserve(50).unwrap();
        assert!(a.grow(11).is_err());
        assert_eq!(budget.used(), 90);
        a.join(b);
        assert_eq!((a.bytes(), a.clone().bytes(), budget.used()), (90, 0, 90));
        a.grow_to(95).unwrap();
        a.grow_to(3).unwrap();
        assert_eq!(budget.used(), 95);
        drop(a);
        assert_eq!(budget.used(), 0);
        assert!(budget.reserve(usize::MAX).is_err());
        assert_eq!(MemoryBudget::default().reserve(usize::MAX).unwrap().bytes(), 0);
    }
}
