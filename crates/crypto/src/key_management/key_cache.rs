//! A cache of keys, with a lifetime.

use marquetry_base::{Result, Stopwatch};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Keeps the value that was created for a name until it is too old, and creates it anew then.
pub(super) struct KeyCache<N, T> {
    lifetime: Duration,
    kept: Mutex<HashMap<N, (Stopwatch, T)>>,
}

/// The lifetime that parquet-java and pyarrow use.
const LIFETIME: Duration = Duration::from_secs(600);

impl<N: Hash + Eq, T: Clone> KeyCache<N, T> {
    pub(super) fn new() -> Self {
        KeyCache { lifetime: LIFETIME, kept: Mutex::default() }
    }

    pub(super) fn set_lifetime(&mut self, lifetime: Duration) {
        self.lifetime = lifetime;
    }

    /// Returns the value of `name`, or creates it with `make`. The lock is held meanwhile, so that no value is created twice.
    pub(super) fn get(&self, name: N, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Also drops old values that nobody asks for any more.
        kept.retain(|_, (made, _)| made.elapsed() < self.lifetime);
        if let Some((_, known)) = kept.get(&name) {
            return Ok(known.clone());
        }
        let made = make()?;
        if !self.lifetime.is_zero() {
            kept.insert(name, (Stopwatch::start(), made.clone()));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_old_is_made_anew() {
        let mut cache = KeyCache::new();
        assert_eq!(cache.get("a", || Ok(1)).unwrap(), 1);
        assert_eq!(cache.get("a", || Ok(2)).unwrap(), 1);
        assert_eq!(cache.get("b", || Ok(3)).unwrap(), 3);
        cache.set_lifetime(Duration::ZERO);
        assert_eq!(cache.get("a", || Ok(4)).unwrap(), 4);
        cache.set_lifetime(Duration::from_secs(60));
        assert_eq!(cache.get("a", || Ok(5)).unwrap(), 5);
        assert!(cache.get("c", || Err(marquetry_base::Error::argument("no"))).is_err());
        assert_eq!(cache.get("c", || Ok(6)).unwrap(), 6);
    }
}
