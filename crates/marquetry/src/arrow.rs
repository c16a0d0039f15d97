//! Parquet to Arrow.

pub use marquetry_arrow::arrow_reader;
pub use marquetry_arrow::arrow_reader::ProjectionMask;
pub use marquetry_arrow::schema::{
    ARROW_SCHEMA_KEY as ARROW_SCHEMA_META_KEY, FIELD_ID_KEY, Text, TypeOptions,
};

/// The key of an Arrow field's metadata under which the Parquet field id stands.
pub const PARQUET_FIELD_ID_META_KEY: &str = FIELD_ID_KEY;
