//! Options for advice.

use super::query::Query;
use marquetry_core::write::Compat;
use std::time::Duration;

/// The purpose that a file should be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Goal {
    /// A small file. Levels of ZSTD that take long to write are tried.
    #[default]
    Size,
    /// Fast reading. No column gets a codec that decompresses more slowly than its present one.
    Scan,
    /// Queries that skip much, so that what lets them skip comes first. Columns get the same as for a small file.
    Filter,
}

/// Options for advice.
///
/// ```
/// use marquetry_inspect::{AdviseOptions, Goal};
/// let options = AdviseOptions::default().with_goal(Goal::Scan);
/// assert_eq!(options.budget.as_secs(), 10);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdviseOptions {
    /// The purpose of the file. Default: a small file.
    pub goal: Goal,
    /// The readers that must be able to read the file. Default: all current ones, [`Compat::Modern`].
    pub compat: Compat,
    /// How long to measure. After that time nothing new is begun, and running measurements end soon, even within a
    /// page. Default: 10 seconds. A column for which no time is left stays as it is.
    pub budget: Duration,
    /// Maximum number of rows of a stretch that is measured. Larger row groups are measured by up to four such
    /// stretches, which are spread evenly. Default: 2^20.
    pub window_rows: u64,
    /// The queries on the file. Default: none are known.
    pub queries: Vec<Query>,
}

impl Default for AdviseOptions {
    fn default() -> Self {
        AdviseOptions {
            goal: Goal::default(),
            compat: Compat::default(),
            budget: Duration::from_secs(10),
            window_rows: 1 << 20,
            queries: Vec::new(),
        }
    }
}

impl AdviseOptions {
    /// Sets [`goal`](Self::goal).
    #[must_use]
    pub fn with_goal(mut self, goal: Goal) -> Self {
        self.goal = goal;
        self
    }

    /// Sets [`compat`](Self::compat).
    #[must_use]
    pub fn with_compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Sets [`budget`](Self::budget).
    #[must_use]
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Sets [`window_rows`](Self::window_rows); 0 counts as 1.
    #[must_use]
    pub fn with_window_rows(mut self, rows: u64) -> Self {
        self.window_rows = rows.max(1);
        self
    }

    /// Sets [`queries`](Self::queries).
    #[must_use]
    pub fn with_queries(mut self, queries: impl IntoIterator<Item = Query>) -> Self {
        self.queries = queries.into_iter().collect();
        self
    }
}
