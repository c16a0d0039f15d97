//! What the fuzz targets do, one function for each, and what must hold whatever the input is.
//!
//! No panic and no sanitizer report is the least. Each target also asserts laws of its layer: what is decoded in one go
//! is what is decoded in splits, skipping is decoding and dropping, what decodes comes back when it is encoded again,
//! and no input costs more memory than it earns. The first bytes of most inputs choose types and sizes; the rest is
//! what a file would have.
#![forbid(unsafe_code)]
// The library's tests run this file too (`replay.rs`), and have no such feature.
#![allow(unexpected_cfgs)]

mod arrow_schema;
mod bits;
mod codec;
#[cfg(feature = "differential")]
mod differential;
mod encoding;
mod encrypted;
mod file;
mod footer;
mod geometry;
mod input;
mod memory;
mod page;
mod predicate;
mod recover;
#[cfg(test)]
mod replay;
mod round_trip;
mod variant;
mod verify;

pub use arrow_schema::arrow_schema;
pub use bits::{bit_packed, rle};
pub use codec::codec;
#[cfg(feature = "differential")]
pub use differential::differential;
pub use encoding::{
    PHYSICAL, alp, byte_stream_split, delta_binary_packed, delta_byte_array, delta_length_byte_array,
    dictionary, plain,
};
pub use encrypted::encrypted;
pub use file::{file, salvage};
pub use footer::{footer, thrift};
pub use geometry::{geometry, geometry_text};
pub use page::{SCHEMAS, page};
pub use predicate::predicate_text;
pub use recover::{recover, schema_text};
pub use round_trip::round_trip;
pub use variant::{shredded_variant, variant_json, variant_value};
pub use verify::verify;
