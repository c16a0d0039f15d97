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
//! - [`open`] is the shortest way to read a file, with text as `Utf8View` and INT96 in a unit that holds every value.
//! - [`dataset()`] reads many files as one table; [`OpenFile::evolve`] reads a file as another schema.
//! - [`arrow::arrow_reader`] has the builder that users of the `parquet` crate know; [`porting`] explains how to
//!   migrate.
//! - [`low_level`] reads and writes the parts of files: column chunks, pages, bloom filters.
//! - [`mod@file`] and [`schema`] show the metadata and the schema of a file.
//! - [`internals`] has the crates below, which change in any release.
//! - Features leave out what is not needed: codecs one by one, two of which are C (`codecs-rust` replaces them by Rust
//!   ones); `fs`, local files, without which [`open_bytes`] and [`OpenFile::new`] open files; `threads`, threads and
//!   clocks; `encryption`, the ciphers of encrypted files. All of these are on by default. `async`, `object_store` and
//!   `tracing` (spans for observers) are off.
//! - Every error is an [`Error`](errors::Error) that says what is wrong and [where](errors::ErrorLocation).
//!
//! # How settings are named
//!
//! - `set_x` on [`WriterPropertiesBuilder`](file::properties::WriterPropertiesBuilder), as the `parquet` crate has it.
//! - `with_x` on all other options, limits and builders, as the `parquet` crate has it for readers. They take `self`
//!   and return it.
//! - `x` on [`OpenFile`], whose calls read like a sentence.
//!
//! Options are made by `new` or `default` and changed by these methods: a minor release may add more of them, and
//! variants of enums that are not the format's.
//!
//! # What has to be finished
//! A file exists only once its writer is closed, finished or completed. The compiler warns about a writer that is
//! created and not kept.
//!
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use marquetry::arrow::ArrowWriter;
//! # let schema = std::sync::Arc::new(arrow_schema::Schema::empty());
//! ArrowWriter::try_new(Vec::new(), schema, None)?;
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
//!
//! ```
//! #![deny(unused_must_use)]
//! # use marquetry::arrow::ArrowWriter;
//! # let schema = std::sync::Arc::new(arrow_schema::Schema::empty());
//! let writer = ArrowWriter::try_new(Vec::new(), schema, None)?;
//! writer.close()?;
//! # Ok::<(), marquetry::errors::Error>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrow;
#[cfg(feature = "fs")]
mod create;
pub mod errors;
pub mod file;
pub mod low_level;
mod open;
#[cfg(feature = "fs")]
mod open_dataset;
#[cfg(feature = "fs")]
mod open_local;
pub mod porting;

#[cfg(feature = "fs")]
pub use self::{
    create::{ParquetFileWriter, create, create_with_properties},
    open_dataset::dataset,
    open_local::{open, open_with_options},
};
pub use open::{OpenFile, open_bytes};

/// Many files as one table.
pub use marquetry_arrow::dataset;

/// Geometries: well-known binary, boxes, WKT and GeoJSON both ways, the metadata of GeoParquet.
pub mod geo {
    pub use marquetry_geo::*;
}

/// VARIANT: binary values, JSON in both directions, paths, and columns, shredded or not.
pub mod variant {
    pub use marquetry_arrow::infer_shredding::{InferredShredding, infer_shreddings, paying};
    pub use marquetry_arrow::variant::{
        BatchShredder, Shredder, Shreddings, VariantArrayBuilder, VariantCast, VariantColumn, VariantPath,
        VariantReader, is_variant, is_variant_null, shreddings_of, variant_columns, variant_get,
        variant_get_field,
    };
    pub use marquetry_variant::*;
}

/// The schema: a tree of fields, whose leaves are the columns.
pub mod schema {
    pub use marquetry_core::schema::*;

    /// Logical types, and the paths and types by which settings select columns.
    pub mod types {
        pub use marquetry_core::logical_type::{LogicalType, TimeUnit};
        pub use marquetry_core::sort_order::SortOrder;
        pub use marquetry_core::write::{ColumnPath, TypeSelector};
    }
}

/// The names of codecs, encodings and types.
pub mod basic {
    pub use marquetry_codec::Codec;
    pub use marquetry_core::write::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
    pub use marquetry_encoding::PhysicalType;
    pub use marquetry_format::Type;
}

/// Predicates, which select rows.
pub mod predicate {
    pub use marquetry_arrow::literals;
    pub use marquetry_base::datetime_text::Moment;
    pub use marquetry_core::predicate::*;
}

/// Pruning: which rows of a row group may match a predicate, without reading them.
pub use marquetry_core::prune;

/// The crates that this one consists of, in full: `parquet.thrift` as structs in `format`, every encoding in both
/// directions in `encoding`, the compression codecs in `codec`.
///
/// Items that are only here are not part of the public surface that version numbers cover: they change in any release.
/// Items that are also in other modules are as stable as those modules. A method elsewhere that takes or returns a type
/// which is only here, such as `to_thrift`, is as stable as that type.
pub mod internals {
    pub use marquetry_arrow as arrow;
    pub use marquetry_base as base;
    pub use marquetry_codec as codec;
    pub use marquetry_core as core;
    pub use marquetry_encoding as encoding;
    pub use marquetry_format as format;
}

/// Files in object stores.
#[cfg(feature = "object_store")]
pub use marquetry_object_store as object_store;

/// Metrics: what reading cost and skipped, and what writing cost.
pub use marquetry_core::metrics;

/// Executors: threads of the host, for readers and writers that use several.
pub mod threads {
    pub use marquetry_base::{Executor, SharedExecutor, Task, ThreadPool};
}

/// Verification of files against the rules of the format.
pub use marquetry_verify as verify;
