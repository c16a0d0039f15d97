//! Limits the work of a search, so that a hostile file does not take forever.

use marquetry_base::CancelToken;

/// The work that a search may still do, in bytes examined. Nothing is left once it is cancelled: the caller must then
/// check the token before it trusts a result.
#[derive(Debug)]
pub(crate) struct SearchBudget {
    left: u64,
    cancel: CancelToken,
}

impl SearchBudget {
    pub(crate) fn new(len: u64, cancel: CancelToken) -> Self {
        SearchBudget { left: (256 << 20) + len.saturating_mul(32), cancel }
    }

    /// Takes `bytes` from the budget. Returns whether that much was left.
    pub(crate) fn spend(&mut self, bytes: u64) -> bool {
        if self.is_cancelled() {
            return false;
        }
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0 || self.is_cancelled()
    }

    /// Whether the caller wants no result any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
