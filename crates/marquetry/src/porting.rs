//! Coming from the `parquet` crate.
