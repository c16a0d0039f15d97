//! What is wanted of the advice.

use super::query::Query;
use marquetry_core::write::Compat;
use std::time::Duration;

/// What a file should be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Goal {
    /// Few bytes: levels of ZSTD that take long to write are tried.
    #[default]
    Size,
    /// Fast reading: no column gets a codec that is slower to decompress than the one that it has.
    Scan,
    /// Queries that skip much: what lets them comes first. Columns get what they get for few bytes.
    Filter,
}

/// How advice is come to.
///
/// ```
/// use marquetry_inspect::{AdviseOptions, Goal};
/// let options = AdviseOptions::default().with_goal(Goal::Scan);
/// assert_eq!(options.budget.as_secs(), 10);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdviseOptions {
    /// What the file should be good for. Default: few bytes.
    pub goal: Goal,
    /// Which readers must read the file. Default: all current ones, [`Compat::Modern`].
    pub compat: Compat,
    /// How long to measure: after that nothing is begun, and what is being tried ends soon, within a page, too. Default: 10
    /// seconds. A column that no time is left for stays as it is.
    pub budget: Duration,
    /// Row groups of more rows are measured by up to four stretches of so many, which are spread evenly. Default: 2^20.
    pub window_rows: u64,
    /// What the file is asked for. Default: nothing is known of that.
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
