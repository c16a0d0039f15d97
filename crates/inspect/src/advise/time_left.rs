//! The time that is left to measure.

use marquetry_base::Stopwatch;
use std::time::Duration;

/// A time budget, and when it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLeft {
    watch: Stopwatch,
    budget: Duration,
}

impl TimeLeft {
    pub(super) fn of(budget: Duration) -> Self {
        TimeLeft { watch: Stopwatch::start(), budget }
    }

    /// Returns a share of the time that is left, from 0 to 1, which begins now.
    pub(super) fn share(self, share: f64) -> Self {
        TimeLeft::of(self.budget.saturating_sub(self.watch.elapsed()).mul_f64(share))
    }

    /// Returns the time that is left, but at least `least`, even if that is more. It begins now.
    pub(super) fn at_least(self, least: Duration) -> Self {
        TimeLeft::of(self.budget.saturating_sub(self.watch.elapsed()).max(least))
    }

    pub(super) fn is_over(self) -> bool {
        self.watch.elapsed() >= self.budget
    }
}
