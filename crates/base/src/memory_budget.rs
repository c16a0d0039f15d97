//! A memory budget that readers and writers share.

use crate::{Error, MemoryPool, Result, process_memory};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A limit on the memory that readers and writers may hold together. [`Limits::default`](crate::Limits) uses [the
/// budget of the process](Self::of_process). `MemoryBudget::default()`, the default of writers, has no bound.
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
pub struct MemoryBudget(Option<Bound>);

/// The bound of a budget.
#[derive(Debug, Clone)]
enum Bound {
    Shared(Arc<Shared>),
    Pool(Arc<dyn MemoryPool>),
}

#[derive(Debug)]
struct Shared {
    limit: AtomicUsize,
    used: AtomicUsize,
    /// Whether this is the budget of the process.
    is_of_process: bool,
}

impl MemoryBudget {
    /// Creates a budget of `bytes`.
    pub fn new(bytes: usize) -> Self {
        MemoryBudget::with_limit(bytes, false)
    }

    fn with_limit(bytes: usize, is_of_process: bool) -> Self {
        let (limit, used) = (AtomicUsize::new(bytes), AtomicUsize::new(0));
        MemoryBudget(Some(Bound::Shared(Arc::new(Shared { limit, used, is_of_process }))))
    }

    /// Creates a budget that takes its memory from the pool of a host. Each reservation may take up to 64 KiB more from
    /// the pool than it [uses](MemoryReservation::bytes).
    pub fn from_pool(pool: Arc<dyn MemoryPool>) -> Self {
        MemoryBudget(Some(Bound::Pool(pool)))
    }

    fn shared(&self) -> Option<&Shared> {
        match &self.0 {
            Some(Bound::Shared(shared)) => Some(shared),
            _ => None,
        }
    }

    /// The budget that all readers of the process share, unless their limits have another one. It is the least of a quarter of
    /// the machine's memory, half of what its control group (a container's limit) allows, and a quarter of its limit of address
    /// space, but at least 16 MiB. [`set_process_limit`](Self::set_process_limit) sets another bound.
    ///
    /// ```
    /// use marquetry_base::{Limits, MemoryBudget};
    /// assert!(MemoryBudget::of_process().limit().is_some());
    /// assert_eq!(Limits::default().memory, MemoryBudget::of_process());
    /// ```
    pub fn of_process() -> Self {
        static OF_PROCESS: OnceLock<MemoryBudget> = OnceLock::new();
        OF_PROCESS.get_or_init(|| MemoryBudget::with_limit(process_memory::default_limit(), true)).clone()
    }

    /// Sets the bound of [the process's budget](Self::of_process) to `bytes`. Memory that is already held stays reserved.
    pub fn set_process_limit(bytes: usize) {
        if let Some(shared) = MemoryBudget::of_process().shared() {
            shared.limit.store(bytes, Ordering::Relaxed);
        }
    }

    /// The bound in bytes; `None` if there is none, or if the bound is in the pool of a host.
    pub fn limit(&self) -> Option<usize> {
        self.shared().map(|shared| shared.limit.load(Ordering::Relaxed))
    }

    /// Whether there is a bound of any kind.
    pub fn is_bounded(&self) -> bool {
        self.0.is_some()
    }

    /// The number of bytes that could be reserved now; `usize::MAX` without a bound.
    ///
    /// ```
    /// use marquetry_base::MemoryBudget;
    /// let budget = MemoryBudget::new(1000);
    /// let held = budget.reserve(900)?;
    /// assert_eq!(budget.left(), 100);
    /// assert_eq!(MemoryBudget::default().left(), usize::MAX);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn left(&self) -> usize {
        match &self.0 {
            None => usize::MAX,
            Some(Bound::Shared(shared)) => {
                let used = shared.used.load(Ordering::Relaxed);
                shared.limit.load(Ordering::Relaxed).saturating_sub(used)
            }
            Some(Bound::Pool(pool)) => pool.left(),
        }
    }

    /// The bound, if readers should spare memory: a bound that the caller set, or that of the process if it is below 1 GiB. For the pool of
    /// a host, the bytes that are [left](Self::left), if the pool knows. Readers then read ahead by only a part of it.
    pub fn tight_limit(&self) -> Option<usize> {
        match &self.0 {
            None => None,
            Some(Bound::Shared(shared)) => {
                let limit = shared.limit.load(Ordering::Relaxed);
                Some(limit).filter(|limit| !shared.is_of_process || *limit < TIGHT_BYTES)
            }
            Some(Bound::Pool(pool)) => Some(pool.left()).filter(|left| *left < usize::MAX),
        }
    }

    /// The number of bytes that are reserved now. Always 0 for the pool of a host, and without a bound, because nothing is counted then.
    pub fn used(&self) -> usize {
        self.shared().map_or(0, |shared| shared.used.load(Ordering::Relaxed))
    }

    /// Reserves `bytes` until the result is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if fewer are left.
    pub fn reserve(&self, bytes: usize) -> Result<MemoryReservation> {
        let mut held = self.empty();
        held.grow(bytes)?;
        Ok(held)
    }

    /// Creates a reservation of 0 bytes, which can grow.
    pub fn empty(&self) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), bytes: 0, ahead: 0 }
    }
}

/// A budget is itself a pool that others can take memory from.
impl MemoryPool for MemoryBudget {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(bound) => bound.take(bytes),
        }
    }

    fn shrink(&self, bytes: usize) {
        if let Some(bound) = &self.0 {
            bound.give_back(bytes);
        }
    }

    fn left(&self) -> usize {
        MemoryBudget::left(self)
    }
}

/// Budgets are equal if their bounds are equal, or if they use the same pool.
impl PartialEq for MemoryBudget {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(Bound::Pool(ours)), Some(Bound::Pool(theirs))) => Arc::ptr_eq(ours, theirs),
            (Some(Bound::Pool(_)), _) | (_, Some(Bound::Pool(_))) => false,
            _ => self.limit() == other.limit(),
        }
    }
}

impl Eq for MemoryBudget {}

/// Bytes reserved from a [`MemoryBudget`], released on drop.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    budget: MemoryBudget,
    bytes: usize,
    /// Bytes taken from the budget in advance.
    ahead: usize,
}

impl MemoryReservation {
    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves `more` bytes. Changes nothing if that fails.
    pub fn grow(&mut self, more: usize) -> Result<()> {
        let Some(bound) = &self.budget.0 else { return Ok(()) };
        if more <= self.ahead {
            self.ahead -= more;
            self.bytes += more;
            return Ok(());
        }
        let missing = more - self.ahead;
        // PERF: takes some bytes in advance, so that a budget that all threads share is asked seldom.
        let ahead = if bound.is_for_many() { self.bytes.min(AHEAD_BYTES) } else { 0 };
        if ahead > 0 && bound.take(missing.saturating_add(ahead)).is_ok() {
            self.ahead = ahead;
        } else {
            bound.take(missing)?;
            self.ahead = 0;
        }
        self.bytes += more;
        Ok(())
    }

    /// Grows to at least `bytes`.
    pub fn grow_to(&mut self, bytes: usize) -> Result<()> {
        match bytes.checked_sub(self.bytes) {
            None | Some(0) => Ok(()),
            Some(more) => self.grow(more),
        }
    }

    /// Gives back all but `bytes`, if more are reserved.
    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(bound) = self.budget.0.as_ref().filter(|_| bytes < self.bytes) else { return };
        bound.give_back(self.bytes - bytes + self.ahead);
        (self.bytes, self.ahead) = (bytes, 0);
    }

    /// Takes over the bytes of another reservation of the same budget.
    pub fn merge(&mut self, mut other: MemoryReservation) {
        if other.bytes > 0 {
            if self.bytes + self.ahead == 0 {
                self.budget = other.budget.clone();
            }
            self.bytes += std::mem::take(&mut other.bytes);
        }
    }
}

impl Bound {
    /// Whether many reservations share the bound, so that it should be asked seldom.
    fn is_for_many(&self) -> bool {
        match self {
            Bound::Shared(shared) => shared.is_of_process,
            Bound::Pool(_) => true,
        }
    }

    fn take(&self, bytes: usize) -> Result<()> {
        match self {
            Bound::Shared(shared) => shared.take(bytes),
            Bound::Pool(pool) => pool.try_grow(bytes),
        }
    }

    fn give_back(&self, bytes: usize) {
        match self {
            Bound::Shared(shared) => drop(shared.used.fetch_sub(bytes, Ordering::Relaxed)),
            Bound::Pool(pool) => pool.shrink(bytes),
        }
    }
}

impl Shared {
    fn take(&self, bytes: usize) -> Result<()> {
        let limit = self.limit.load(Ordering::Relaxed);
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map(drop).map_err(|used| self.refused(bytes, used))
    }

    #[cold]
    fn refused(&self, more: usize, used: usize) -> Error {
        let limit = self.limit.load(Ordering::Relaxed);
        let whose = if self.is_of_process { " of the process" } else { "" };
        let refused = Error::memory(format!(
            "{more} more bytes of memory, where {used} of {limit}{whose} are held; read fewer columns at once or smaller \
             batches, or raise Limits::memory"
        ));
        // A request above the limit can never succeed.
        if more > limit { refused.permanent() } else { refused }
    }
}

/// A clone holds no bytes: the memory belongs to the original.
impl Clone for MemoryReservation {
    fn clone(&self) -> Self {
        self.budget.empty()
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        let taken = self.bytes + self.ahead;
        if let Some(bound) = self.budget.0.as_ref().filter(|_| taken > 0) {
            bound.give_back(taken);
        }
    }
}

/// Maximum number of bytes that a reservation takes in advance; it is also at most what the reservation has.
const AHEAD_BYTES: usize = 64 << 10;
/// Bound in bytes below which a process has to spare memory.
const TIGHT_BYTES: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bytes_are_released() {
        let budget = MemoryBudget::new(100);
        let mut a = budget.reserve(40).unwrap();
        let b = budget.reserve(50).unwrap();
        assert!(a.grow(11).is_err());
        assert_eq!(budget.used(), 90);
        a.merge(b);
        assert_eq!((a.bytes(), a.clone().bytes(), budget.used()), (90, 0, 90));
        a.grow_to(95).unwrap();
        a.grow_to(3).unwrap();
        assert_eq!(budget.used(), 95);
        drop(a);
        assert_eq!(budget.used(), 0);
        assert!(budget.reserve(usize::MAX).is_err());
        assert_eq!(MemoryBudget::default().reserve(usize::MAX).unwrap().bytes(), 0);
    }

    #[test]
    fn what_is_taken_ahead_goes_back() {
        let budget = MemoryBudget::with_limit(4 * AHEAD_BYTES, true);
        let mut a = budget.reserve(AHEAD_BYTES).unwrap();
        assert_eq!((a.bytes(), budget.used()), (AHEAD_BYTES, AHEAD_BYTES));
        a.grow(10).unwrap();
        assert_eq!((a.bytes(), budget.used()), (AHEAD_BYTES + 10, 2 * AHEAD_BYTES + 10));
        a.grow(AHEAD_BYTES).unwrap();
        assert_eq!((a.bytes(), budget.used()), (2 * AHEAD_BYTES + 10, 2 * AHEAD_BYTES + 10));
        // The rest can be reserved down to the last byte.
        let b = budget.reserve(2 * AHEAD_BYTES - 10).unwrap();
        assert_eq!(budget.used(), 4 * AHEAD_BYTES);
        assert!(a.grow(1).unwrap_err().message().contains("of the process"));
        a.merge(b);
        assert_eq!(a.bytes(), 4 * AHEAD_BYTES);
        drop(a);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_pool_of_a_host_gets_back_what_was_taken() {
        // Another budget acts as the host's pool.
        let host = MemoryBudget::new(4 * AHEAD_BYTES);
        let budget = MemoryBudget::from_pool(Arc::new(host.clone()));
        assert_eq!((budget.left(), budget.tight_limit()), (4 * AHEAD_BYTES, Some(4 * AHEAD_BYTES)));
        let mut held = budget.reserve(AHEAD_BYTES).unwrap();
        held.grow(1).unwrap();
        assert_eq!((held.bytes(), host.used()), (AHEAD_BYTES + 1, 2 * AHEAD_BYTES + 1));
        assert_eq!(held.grow(4 * AHEAD_BYTES).unwrap_err().kind(), crate::ErrorKind::Memory);
        assert_eq!(budget, budget.clone());
        assert_ne!(budget, MemoryBudget::from_pool(Arc::new(host.clone())));
        held.shrink_to(2 * AHEAD_BYTES);
        assert_eq!((held.bytes(), host.used()), (AHEAD_BYTES + 1, 2 * AHEAD_BYTES + 1));
        held.shrink_to(10);
        assert_eq!((held.bytes(), host.used()), (10, 10));
        drop(held);
        assert_eq!(host.used(), 0);
    }

    #[test]
    fn what_is_more_than_all_is_not_tried_again() {
        let budget = MemoryBudget::new(100);
        let held = budget.reserve(60).unwrap();
        assert!(budget.reserve(50).unwrap_err().is_retryable());
        assert!(!budget.reserve(101).unwrap_err().is_retryable());
        drop(held);
    }

    #[test]
    fn only_a_small_budget_of_the_process_is_tight() {
        assert_eq!(MemoryBudget::default().tight_limit(), None);
        assert_eq!(MemoryBudget::new(usize::MAX).tight_limit(), Some(usize::MAX));
        assert_eq!(MemoryBudget::with_limit(TIGHT_BYTES, true).tight_limit(), None);
        assert_eq!(MemoryBudget::with_limit(1000, true).tight_limit(), Some(1000));
    }
}
