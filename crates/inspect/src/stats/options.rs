//! Options of statistics.

use marquetry_base::SharedExecutor;

/// Which columns are read, and by how many threads.
///
/// ```
/// use marquetry_inspect::StatsOptions;
/// let options = StatsOptions::default().with_columns(["price", "tags"]).with_most_common(5);
/// assert_eq!(options.most_common, 5);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StatsOptions {
    /// Dotted paths of the columns to read, with all columns below them. Default: all.
    pub columns: Option<Vec<String>>,
    /// Number of frequent values of each column. Default: 10.
    pub most_common: usize,
    /// Number of threads that read. The default 0 means one per processor. The result is the same for any number.
    pub threads: usize,
    /// The executor that provides the threads besides the caller's. Default: threads of our own, for as long as the
    /// file is read.
    pub executor: SharedExecutor,
}

impl Default for StatsOptions {
    fn default() -> Self {
        StatsOptions { columns: None, most_common: 10, threads: 0, executor: SharedExecutor::default() }
    }
}

impl StatsOptions {
    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub fn with_columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`most_common`](Self::most_common).
    #[must_use]
    pub fn with_most_common(mut self, most_common: usize) -> Self {
        self.most_common = most_common;
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`executor`](Self::executor).
    #[must_use]
    pub fn with_executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
    }
}
