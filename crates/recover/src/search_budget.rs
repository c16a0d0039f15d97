//! Bounds the work of a search, so that a hostile file does not take for ever.

use marquetry_base::CancelToken;

/// The work that a search may still do, in bytes looked at. There is none once it is cancelled: whoever searches then must
/// look at the token before a result is believed.
#[derive(Debug)]
pub(crate) struct SearchBudget {
    left: u64,
    cancel: CancelToken,
}

impl SearchBudget {
    pub(crate) fn new(len: u64, cancel: CancelToken) -> Self {
        SearchBudget { left: (256 << 20) + len.saturating_mul(32), cancel }
    }

    /// Takes `bytes` from the budget. Returns whether there was as much.
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
