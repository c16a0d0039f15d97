//! Marquetry reads Parquet: every encoding, every type, nested to any depth, to Arrow record batches.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! for batch in marquetry::open(path)?.columns(["name", "price"]).batches()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`open`] is the short door: text as `Utf8View`, INT96 in a unit that holds every value.
//! - [`dataset()`] reads many files as one table; [`OpenFile::evolve`] reads a file as another schema.
//! - [`arrow::arrow_reader`] has the builder that users of the `parquet` crate know; [`porting`] tells how to come over.
//! - [`mod@file`], [`schema`] and [`mod@format`] show what a file says of itself.
//! - Every error is an [`Error`](errors::Error) that says what is wrong and [where](errors::ErrorLocation).
#![forbid(unsafe_code)]

pub mod arrow;
mod create;
pub mod errors;
pub mod file;
mod many;
mod open;
pub mod porting;

pub use create::{ParquetFileWriter, create, create_with_properties};
pub use many::dataset;
pub use open::{OpenFile, open, open_bytes, open_with_options};

/// Many files as one table.
pub use marquetry_arrow::dataset;

/// The footer and page headers as structs: `parquet.thrift` in Rust.
pub use marquetry_format as format;

/// The schema: a tree of fields, whose leaves are the columns.
pub mod schema {
    pub use marquetry_core::schema::*;

    /// What a column means, and the paths and types by which settings find it.
    pub mod types {
        pub use marquetry_core::logical_type::{LogicalType, TimeUnit};
        pub use marquetry_core::write::{ColumnPath, TypeSelector};
    }
}

/// The names of codecs, encodings and types.
pub mod basic {
    pub use marquetry_core::write::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
    pub use marquetry_format::Type;
}

/// Every encoding, both directions.
pub use marquetry_encoding as encoding;

/// The compression codecs.
pub use marquetry_codec as codec;

/// Which rows are wanted.
pub mod predicate {
    pub use marquetry_arrow::literals;
    pub use marquetry_core::predicate::*;
}

/// Which rows of a row group may match a predicate, without reading them.
pub use marquetry_core::prune;

/// Files in object stores.
#[cfg(feature = "object_store")]
pub use marquetry_object_store as object_store;

/// What is wrong with a file, rule by rule.
pub use marquetry_verify as verify;
