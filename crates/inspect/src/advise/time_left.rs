//! How long there is to measure.

use marquetry_base::Stopwatch;
use std::time::Duration;

/// A part of a budget, and when it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLeft {
    watch: Stopwatch,
    budget: Duration,
}

impl TimeLeft {
    pub(super) fn of(budget: Duration) -> Self {
        TimeLeft { watch: Stopwatch::start(), budget }
    }

    /// A share of what is left, from 0 to 1, which begins now.
    pub(super) fn share(self, share: f64) -> Self {
        TimeLeft::of(self.budget.saturating_sub(self.watch.elapsed()).mul_f64(share))
    }

    /// What is left, but so much at least, which may be more than there is; it begins now.
    pub(super) fn at_least(self, least: Duration) -> Self {
        TimeLeft::of(self.budget.saturating_sub(self.watch.elapsed()).max(least))
    }

    pub(super) fn is_over(self) -> bool {
        self.watch.elapsed() >= self.budget
    }
}
