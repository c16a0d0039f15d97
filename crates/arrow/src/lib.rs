//! Parquet columns as Arrow arrays, and back.
//!
//! ```text
//! arrow_reader, async_reader  batches of rows out of a file, and out of a store without waiting
//! arrow_writer, async_writer  files out of batches of rows
//! schema     which Arrow type each field becomes: the mapping, and the hints and wishes that change it
//! convert    the values of one column as an Arrow array, and back, one file for each family of types
//! assemble   arrays of columns as arrays of structs, lists and maps
//! shred      and the other way round, with the nulls and lists as levels
//! evolution  a file as another schema: missing columns, wider types, another order
//! dataset    many files as one
//! variant    columns of VARIANT, shredded or not, row by row, and shredded into a shape
//! infer_shredding  the shape that a sample has, if it pays
//! literals   values of arrays as literals of predicates
//! column_map  a value for each column
//! null_arrays  nulls where no page has values, within bounds
//! trusted    arrays from parts that were validated when they were decoded: the crate's only `unsafe`
//! ```
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrow_reader;
pub mod arrow_writer;
// Crate-private, because text in a `ColumnBatch` is taken to be UTF-8 without another look: only batches from the chunk
// reader of `marquetry-core`, which validates it, may get here.
mod assemble;
#[cfg(feature = "async")]
pub mod async_reader;
#[cfg(feature = "async")]
pub mod async_writer;
mod column_map;
mod convert;
pub mod dataset;
pub mod evolution;
pub mod infer_shredding;
mod literals;
mod null_arrays;
pub mod schema;
mod shred;
#[cfg(test)]
mod test_schemas;
#[allow(unsafe_code)]
mod trusted;
pub mod variant;

pub use literals::literals;

use arrow_schema::ArrowError;
use marquetry_base::{Error, ErrorKind};

/// Arrow refuses what was read: the parts of one array contradict each other.
#[cold]
fn arrow_error(error: ArrowError) -> Error {
    Error::caused_by(ErrorKind::Corrupt, "the values make no Arrow array", error)
}
