//! How a file is recovered.

use super::report::SchemaOrigin;
use marquetry_base::Limits;
use marquetry_format as format;
use std::sync::Arc;

/// How a file is recovered.
#[derive(Debug, Clone, Default)]
pub struct RecoverOptions {
    /// The schema to take where no footer has one.
    pub schema: Option<GivenSchema>,
    /// Whether row groups of which some columns are lost are kept, if those can be null.
    pub partial: bool,
    /// How many threads look at chunks; 0 for one for each processor.
    pub threads: usize,
    /// What reading may cost.
    pub limits: Arc<Limits>,
}

/// A schema that the caller knows.
#[derive(Debug, Clone)]
pub struct GivenSchema {
    /// The schema as a footer has it, its root first.
    pub elements: Vec<format::SchemaElement>,
    /// Where it is from.
    pub origin: SchemaOrigin,
    /// The writer, whose habits decide what is believed.
    pub created_by: Option<String>,
    /// Metadata that belongs to the schema.
    pub key_values: Vec<format::KeyValue>,
}
