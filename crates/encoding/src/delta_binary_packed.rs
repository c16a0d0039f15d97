//! DELTA_BINARY_PACKED (5): differences between neighbours, less the smallest of their block, in as few bits as they need.
//!
//! Spec: Encodings.md, "Delta Encoding". Legal for INT32 and INT64. The two byte array encodings next to it store their
//! lengths in this way, as INT32, and go on where it ends.
//!
//! ```text
//! page   := <header> <block>*
//! header := <values in a block: ULEB128> <miniblocks in a block: ULEB128> <values: ULEB128> <first value: zigzag>
//! block  := <least delta: zigzag> <width: 1 byte for each miniblock> <miniblock>*
//! miniblock := <delta - least delta, each in the width of the miniblock, least significant bit first>
//! ```
//!
//! The last block has the widths of all its miniblocks, but only those miniblocks that hold values. The last of these
//! is padded with arbitrary bits. All sums wrap around in the width of the type.
//!
//! The specification's two examples have blocks of 8 values, to be short; in a file at least 128 are demanded, which
//! [`decode`] checks and [`decode_blocks`] does not:
//!
//! ```
//! use marquetry_encoding::{delta_binary_packed as delta, PhysicalType::Int32, Values};
//! let bytes = [
//!     8,           // values in a block
//!     1,           // miniblocks in a block
//!     8,           // values
//!     14,          // first value: 7, zigzag
//!     3,           // least delta: -2, zigzag
//!     2,           // width
//!     0b1100_0000, // 0 0 0 3
//!     0b0011_1111, // 3 3 3 and filling
//! ];
//! let values = Values::W32(vec![7, 5, 3, 1, 2, 3, 4, 5]);
//! assert_eq!(delta::decode_blocks(&bytes, Int32, 8)?, values);
//! assert_eq!(delta::encode_blocks(&values, 8, 1)?, bytes);
//! assert!(delta::decode(&bytes, Int32, 8).is_err());
//!
//! let bytes = [8, 1, 5, 2, 2, 0]; // the same fields: equal deltas take no bits at all
//! let values = Values::W32(vec![1, 2, 3, 4, 5]);
//! assert_eq!(delta::decode_blocks(&bytes, Int32, 5)?, values);
//! assert_eq!(delta::encode_blocks(&values, 8, 1)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod decoder;
mod delta_int;
mod encoder;
mod header;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub(crate) use decoder::DeltaReader;
pub(crate) use encoder::DeltaWriter;
pub use encoder::Encoder;

use crate::shape::PhysicalType;
use crate::traits::{Decode, Encode};
use crate::values::Values;
use header::{Header, MINIBLOCKS_PER_BLOCK, VALUES_PER_BLOCK};
use marquetry_base::{ByteCursor, PaddedBytes, Result};

/// Decodes `n` values of INT32 or INT64.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    Header::read(&mut ByteCursor::new(bytes))?.check()?;
    decode_blocks(bytes, physical, n)
}

/// Decodes `n` values of INT32 or INT64 in blocks of any size, even one that is not legal in a file.
pub fn decode_blocks(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let mut out = physical.shape().empty();
    Decoder::open(&PaddedBytes::copy_of(bytes), physical)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes all of `values`, which must be 32-bit or 64-bit.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_blocks(values, VALUES_PER_BLOCK, MINIBLOCKS_PER_BLOCK)
}

/// Encodes all of `values` in blocks of `block` values. Only sizes that the specification allows may be written to a file.
///
/// # Panics
/// If a block cannot be divided into `miniblocks` miniblocks of a multiple of 8 values.
pub fn encode_blocks(values: &Values, block: usize, miniblocks: usize) -> Result<Vec<u8>> {
    let mut encoder = Encoder::with_blocks(values.shape(), block, miniblocks)?;
    encoder.encode(values, 0..values.len())?;
    let mut out = Vec::new();
    encoder.finish(&mut out)?;
    Ok(out)
}
