//! Options of recovering.

use crate::report::SchemaOrigin;
use marquetry_base::{Limits, SharedExecutor};
use marquetry_format as format;
use std::sync::Arc;

/// How a file is recovered.
#[derive(Debug, Clone, Default)]
pub struct RecoverOptions {
    /// The schema that is taken if no footer is found. Without it the schema is inferred.
    pub schema: Option<GivenSchema>,
    /// Whether row groups with lost columns are kept, with nulls instead, if the columns may be null. Default: false.
    pub partial: bool,
    /// Whether row groups are kept that a change in place had added when it was stopped. Default: false, so that what comes back
    /// is the file as it was before: whoever appends the rows again has them once.
    pub keep_appended: bool,
    /// Threads that validate chunks; 0, the default, for one per processor.
    pub threads: usize,
    /// What has the threads besides the caller's. Default: threads of our own, for as long as the file is looked at.
    pub executor: SharedExecutor,
    /// Limits of memory and sizes while reading.
    pub limits: Arc<Limits>,
}

/// A schema that the caller knows.
#[derive(Debug, Clone)]
pub struct GivenSchema {
    /// The schema as a footer has it, its root first.
    pub elements: Vec<format::SchemaElement>,
    /// Where the caller has it from.
    pub origin: SchemaOrigin,
    /// The application that wrote the file, as a footer has it. Known mistakes of writers are allowed for.
    pub created_by: Option<String>,
    /// Key-value metadata of the new file.
    pub key_values: Vec<format::KeyValue>,
}
