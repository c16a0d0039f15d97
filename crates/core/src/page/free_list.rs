//! A free list that readers share: they take an item, use it, and give it back.

use std::sync::{Arc, Mutex, PoisonError};

/// Values that are not in use. Their number is at most that of values in use at the same time.
pub(super) struct FreeList<T>(Arc<Mutex<Vec<T>>>);

impl<T> FreeList<T> {
    /// Takes the value that was given back last, which is most likely still in the cache.
    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Puts a value into the list, taken from it or new.
    pub(super) fn give_back(&self, value: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

impl<T> Default for FreeList<T> {
    fn default() -> Self {
        FreeList(Arc::default())
    }
}

/// Refers to the same list.
impl<T> Clone for FreeList<T> {
    fn clone(&self) -> Self {
        FreeList(self.0.clone())
    }
}
