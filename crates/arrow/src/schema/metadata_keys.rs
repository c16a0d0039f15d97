//! Keys of metadata that Arrow and Parquet share.

/// The key of the file's metadata under which Arrow writers store the Arrow schema: an IPC message as base64.
pub const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// The key of GeoParquet's metadata.
pub(crate) const GEOPARQUET_KEY: &str = "geo";

/// The key of an Arrow field's metadata that holds the Parquet field id, in decimal digits.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";
