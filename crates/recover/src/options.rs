//! Options of a recovery.

use crate::report::SchemaOrigin;
use marquetry_base::{Limits, SharedExecutor};
use marquetry_format as format;
use std::sync::Arc;

/// Options of a recovery.
///
/// ```
/// use marquetry_recover::RecoverOptions;
/// let options = RecoverOptions::default().with_partial(true).with_threads(2);
/// assert!(options.partial && !options.keep_appended);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RecoverOptions {
    /// The schema to use if no footer is found. Without it, the schema is inferred.
    pub schema: Option<GivenSchema>,
    /// Whether row groups with lost columns are kept, with nulls instead, if the schema allows nulls. Default: false.
    pub partial: bool,
    /// Whether row groups are kept that an interrupted change in place had added. Default: false, which restores the
    /// file as it was before the change: whoever appends the rows again has them once.
    pub keep_appended: bool,
    /// Number of threads that validate chunks. The default 0 means one per processor.
    pub threads: usize,
    /// The executor that provides the threads besides the caller's. Default: threads of our own, for as long as the
    /// recovery examines the file.
    pub executor: SharedExecutor,
    /// Limits on memory and sizes while reading.
    pub limits: Arc<Limits>,
}

impl RecoverOptions {
    /// Sets [`schema`](Self::schema).
    #[must_use]
    pub fn with_schema(mut self, schema: Option<GivenSchema>) -> Self {
        self.schema = schema;
        self
    }

    /// Sets [`partial`](Self::partial).
    #[must_use]
    pub fn with_partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Sets [`keep_appended`](Self::keep_appended).
    #[must_use]
    pub fn with_keep_appended(mut self, keep_appended: bool) -> Self {
        self.keep_appended = keep_appended;
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

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Arc<Limits>) -> Self {
        self.limits = limits;
        self
    }
}

/// A schema that the caller knows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GivenSchema {
    /// The schema as a footer stores it, the root first.
    pub elements: Vec<format::SchemaElement>,
    /// The source of the schema.
    pub origin: SchemaOrigin,
    /// The application that wrote the file, as a footer states it. Known mistakes of writers are then allowed for.
    pub created_by: Option<String>,
    /// Key-value metadata of the new file.
    pub key_values: Vec<format::KeyValue>,
}

impl GivenSchema {
    /// Creates the schema of a file about which nothing else is known.
    pub fn new(elements: Vec<format::SchemaElement>, origin: SchemaOrigin) -> Self {
        GivenSchema { elements, origin, created_by: None, key_values: Vec::new() }
    }

    /// Sets [`created_by`](Self::created_by).
    #[must_use]
    pub fn with_created_by(mut self, created_by: Option<String>) -> Self {
        self.created_by = created_by;
        self
    }

    /// Sets [`key_values`](Self::key_values).
    #[must_use]
    pub fn with_key_values(mut self, key_values: Vec<format::KeyValue>) -> Self {
        self.key_values = key_values;
        self
    }
}
