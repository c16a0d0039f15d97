//! Parquet columns as Arrow arrays, and back.
//!
//! ```text
//! schema     which Arrow type each field becomes: the mapping, and the hints and wishes that change it
//! leaf       the values of one column as an array, one file for each family of types
//! assemble   arrays of columns as arrays of structs, lists and maps
//! evolution  a file as another schema: missing columns, wider types, another order
//! dataset    many files as one
//! shred      and the other way round, with the nulls and lists as levels
//! trusted    arrays from parts that were validated when they were decoded: the crate's only `unsafe`
//! ```
#![deny(unsafe_code)]

pub mod arrow_reader;
pub mod arrow_writer;
// Crate-private, because text in a `ColumnBatch` is taken to be UTF-8 without another look: only batches from the chunk
// reader of `marquetry-core`, which validates it, may get here.
mod assemble;
#[cfg(feature = "async")]
pub mod async_reader;
mod by_leaf;
pub mod dataset;
pub mod evolution;
mod leaf;
#[cfg(test)]
mod sample;
pub mod schema;
mod shred;
#[allow(unsafe_code)]
mod trusted;

use arrow_schema::ArrowError;
use marquetry_base::{Error, ErrorKind};

/// Arrow refuses what was read: the parts of one array contradict each other.
#[cold]
fn refused(error: ArrowError) -> Error {
    Error::caused_by(ErrorKind::Corrupt, "the values make no Arrow array", error)
}
