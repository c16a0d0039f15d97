//! Options for comparing rows.

use marquetry_base::SharedExecutor;
use marquetry_core::write::{SpillFolder, SpillStore};
use std::sync::Arc;

/// How rows are compared.
///
/// ```
/// use marquetry_inspect::DiffOptions;
/// let options = DiffOptions::default().with_key(["id"]).with_threads(2);
/// assert_eq!(options.key, ["id"]);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Dotted paths of the columns to compare, with all columns below them, besides those of the key. Default: all.
    pub columns: Option<Vec<String>>,
    /// Columns whose values show which rows belong together. Default: none; a row is then in both files if all its
    /// values are.
    pub key: Vec<String>,
    /// Number of rows of each kind whose numbers are kept. Default: 20.
    pub samples: usize,
    /// Number of threads that read. The default 0 means one per processor.
    pub threads: usize,
    /// The executor that provides the threads besides the caller's. Default: threads of our own.
    pub executor: SharedExecutor,
    /// Where hashes of rows are spilled that memory has no room for: 8 bytes for each row, 24 with a key. Default: the
    /// system's folder for temporary files.
    pub spill_store: Arc<dyn SpillStore>,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions {
            columns: None,
            key: Vec::new(),
            samples: 20,
            threads: 0,
            executor: SharedExecutor::default(),
            spill_store: Arc::new(SpillFolder::system()),
        }
    }
}

impl DiffOptions {
    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub fn with_columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`key`](Self::key).
    #[must_use]
    pub fn with_key<S: Into<String>>(mut self, key: impl IntoIterator<Item = S>) -> Self {
        self.key = key.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`samples`](Self::samples).
    #[must_use]
    pub fn with_samples(mut self, samples: usize) -> Self {
        self.samples = samples;
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

    /// Sets [`spill_store`](Self::spill_store).
    #[must_use]
    pub fn with_spill_store(mut self, spill_store: Arc<dyn SpillStore>) -> Self {
        self.spill_store = spill_store;
        self
    }
}
