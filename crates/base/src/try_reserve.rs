//! Fallible allocation: a lack of memory for a vector is an error, not the end of the process.

use crate::{Error, Result};

/// Reserves capacity for exactly `more` elements.
///
/// ```
/// let mut bytes: Vec<u8> = Vec::new();
/// assert!(marquetry_base::try_reserve_exact(&mut bytes, 100).is_ok());
/// assert!(marquetry_base::try_reserve_exact(&mut bytes, usize::MAX).is_err());
/// ```
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the system does not give that much.
pub fn try_reserve_exact<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve_exact(more).map_err(|_| refused::<T>(more))
}

/// Reserves capacity for at least `more` elements, with room to grow.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the system does not give that much.
pub fn try_reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve(more).map_err(|_| refused::<T>(more))
}

/// Reserves capacity for at least `more` elements, if the system gives that much. For elements that are only expected:
/// if memory is short, fewer may come.
pub fn reserve_if_available<T>(vec: &mut Vec<T>, more: usize) {
    let _ = vec.try_reserve(more);
}

#[cold]
fn refused<T>(more: usize) -> Error {
    Error::memory(format!("the system has no memory for {} more bytes", more.saturating_mul(size_of::<T>())))
}
