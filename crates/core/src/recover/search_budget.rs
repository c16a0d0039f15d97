//! Bounds the work that a search may take, so that a hostile file does not take for ever.

/// What searching may still cost, in bytes: a file of nothing but page headers must not take for ever.
#[derive(Debug)]
pub(super) struct SearchBudget {
    left: u64,
}

impl SearchBudget {
    pub(super) fn new(len: u64) -> Self {
        SearchBudget { left: (256 << 20) + len.saturating_mul(32) }
    }

    /// Whether there was so much left.
    pub(super) fn spend(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0
    }
}
