//! Bounds the work of a search, so that a hostile file does not take for ever.

/// The work that a search may still do, in bytes looked at.
#[derive(Debug)]
pub(crate) struct SearchBudget {
    left: u64,
}

impl SearchBudget {
    pub(crate) fn new(len: u64) -> Self {
        SearchBudget { left: (256 << 20) + len.saturating_mul(32) }
    }

    /// Takes `bytes` from the budget. Returns whether there was as much.
    pub(crate) fn spend(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }
}
