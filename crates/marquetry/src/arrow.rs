//! Parquet to Arrow, and Arrow to Parquet.

pub use marquetry_arrow::arrow_reader;
pub use marquetry_arrow::arrow_reader::ProjectionMask;
pub use marquetry_arrow::arrow_writer::{self, ArrowWriter};
#[cfg(feature = "async")]
pub use marquetry_arrow::async_reader::{self, ParquetRecordBatchStreamBuilder};
#[cfg(feature = "async")]
pub use marquetry_arrow::async_writer::{self, AsyncArrowWriter};
pub use marquetry_arrow::evolution;
pub use marquetry_arrow::schema::{
    ARROW_SCHEMA_KEY as ARROW_SCHEMA_META_KEY, BINARY_METADATA_PREFIX, FIELD_ID_KEY, HintPolicy,
    StringLayout, TypeHook, TypeOptions, parse_stored as parse_stored_schema,
    print_stored as print_stored_schema,
};

/// The metadata key of an Arrow field that holds the Parquet field id.
pub const PARQUET_FIELD_ID_META_KEY: &str = FIELD_ID_KEY;
