//! A cancellation token: a flag that long work looks at, and stops.

use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels the reads, writes and checks that were given this token or a clone of it: in [`Limits::cancel`](crate::Limits::cancel), or in
/// the properties of writers. They check the token before each page, each block of values and each request, and fail with
/// [`ErrorKind::Cancelled`]. They still wait for a request under way and finish the page being decompressed.
///
/// The default token cannot be cancelled and costs nothing.
///
/// ```
/// use marquetry_base::{CancelToken, ErrorKind};
/// let token = CancelToken::new();
/// let of_thread = token.clone();
/// let work = std::thread::spawn(move || {
///     loop {
///         of_thread.check()?;
///         // .. a page ..
///     }
/// });
/// token.cancel();
/// let stopped: Result<(), marquetry_base::Error> = work.join().unwrap();
/// assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Option<Arc<Flag>>);

#[derive(Debug)]
struct Flag {
    is_set: AtomicBool,
    /// A token whose cancellation cancels this one, too.
    parent: CancelToken,
}

impl CancelToken {
    /// Creates a token that is not cancelled yet.
    pub fn new() -> Self {
        CancelToken::default().child()
    }

    /// Creates a token that is cancelled along with this one, but can also be cancelled alone.
    ///
    /// ```
    /// # use marquetry_base::CancelToken;
    /// let all = CancelToken::new();
    /// let (one, other) = (all.child(), all.child());
    /// one.cancel();
    /// assert!(one.is_cancelled() && !other.is_cancelled() && !all.is_cancelled());
    /// all.cancel();
    /// assert!(other.is_cancelled());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        CancelToken(Some(Arc::new(Flag { is_set: AtomicBool::new(false), parent: self.clone() })))
    }

    /// Cancels whatever uses this token, its clones and its children, for good. Does nothing to the default token.
    pub fn cancel(&self) {
        if let Some(flag) = &self.0 {
            flag.is_set.store(true, Ordering::Relaxed);
        }
    }

    /// Whether this token, or one that it is a [child](Self::child) of, was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.is_set.load(Ordering::Relaxed) || flag.parent.is_cancelled())
    }

    /// Fails with [`ErrorKind::Cancelled`] if the token was cancelled.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(cancelled()),
            false => Ok(()),
        }
    }
}

/// Tokens are equal if they are clones of each other, or both default tokens.
impl PartialEq for CancelToken {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        }
    }
}

impl Eq for CancelToken {}

#[cold]
fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "the caller cancelled it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_never_cancelled() {
        let token = CancelToken::default();
        token.cancel();
        assert!(token.check().is_ok());
        assert_eq!(token, CancelToken::default());
        assert_ne!(CancelToken::new(), CancelToken::new());
    }

    #[test]
    fn a_child_of_a_child_is_cancelled_with_the_first() {
        let first = CancelToken::new();
        let last = first.child().child();
        first.clone().cancel();
        assert_eq!(last.check().unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
