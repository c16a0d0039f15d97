//! Parquet columns as Arrow arrays, and back.
//!
//! ```text
//! arrow_reader, async_reader  read batches of rows, blocking and asynchronously
//! arrow_writer, async_writer  write batches of rows, blocking and asynchronously
//! schema                      the mapping between Parquet and Arrow types, and the hints and options that change it
//! convert                     converts the values of one column to an Arrow array and back, one file for each family of types
//! assemble                    assembles columns into structs, lists and maps
//! shred                       the reverse: arrays become levels and values
//! evolution                   reads a file as another schema: missing columns, wider types, another order
//! dataset                     reads many files as one table
//! variant                     columns of VARIANT: unshreds and shreds them
//! infer_shredding             infers a shredding from a sample, and keeps it if it pays
//! literals                    converts values of arrays to literals of predicates
//! column_map                  a value for each column
//! null_arrays                 arrays of nulls, with a checked size
//! trusted                     arrays from validated parts: the crate's only `unsafe`
//! ```
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrow_reader;
pub mod arrow_writer;
// Crate-private: a `ColumnBatch`'s text is trusted to be UTF-8, so only batches from the chunk reader of
// `marquetry-core`, which validates it, may get here.
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

/// Turns Arrow's refusal of what was read into an error: the parts of one array contradict each other.
#[cold]
fn arrow_error(error: ArrowError) -> Error {
    Error::caused_by(ErrorKind::Corrupt, "the values make no Arrow array", error)
}
