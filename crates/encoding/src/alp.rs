//! ALP (10): floating-point values that were decimals are stored as integers.
//!
//! Spec: AlpEncoding.md. Legal for FLOAT and DOUBLE. A value is `integer * 10^factor * 10^-exponent`, with one factor
//! and one exponent for each vector of values. The least integer of a vector is subtracted from all of them (frame of
//! reference), and the differences are packed in as many bits as the largest needs. Values that are not reproduced
//! exactly are exceptions: an arbitrary integer takes their place, and their bits are stored after the integers.
//!
//! ```text
//! page   := <mode: 1 byte, 0> <integer encoding: 1 byte, 0> <log2(vector size): 1 byte, 3 to 15> <values: 4 bytes>
//!           <offset of each vector from the first offset: 4 bytes each> <vectors>
//! vector := <exponent: 1 byte> <factor: 1 byte> <exceptions: 2 bytes>
//!           <least integer: as wide as a value> <bits of an integer: 1 byte>
//!           <integers, packed least significant bit first> <position of each exception: 2 bytes each>
//!           <exceptions: as wide as a value>
//! ```
//!
//! The specification's example. It chose exponent 4 and factor 3; any other pair with the same difference that
//! reproduces the values exactly is as good:
//!
//! ```
//! use marquetry_encoding::{alp, PhysicalType, Values};
//! let values = Values::W64([1500.0, f64::NAN, 2500.0, 333.5].map(f64::to_bits).to_vec());
//! let page = |exponent: u8, factor: u8| [
//!     0, 0,                         // mode, integer encoding
//!     10,                           // 2^10 values in a vector
//!     4, 0, 0, 0,                   // 4 values
//!     4, 0, 0, 0,                   // offset of vector 0
//!     exponent, factor,
//!     1, 0,                         // 1 exception
//!     0x07, 0x0d, 0, 0, 0, 0, 0, 0, // least integer: 3335
//!     15,                           // bits of an integer
//!     0x91, 0xad, 0xc8, 0x56, 0x28, 0x15, 0, 0, // 11665 11665 21665 0
//!     1, 0,                         // exception at position 1
//!     0, 0, 0, 0, 0, 0, 0xf8, 0x7f, // NaN
//! ];
//! assert_eq!(alp::decode(&page(4, 3), PhysicalType::Double, 4)?, values);
//! assert_eq!(alp::encode(&values)?, page(18, 17));
//! # Ok::<(), marquetry_base::Error>(())
//! ```

mod decoder;
mod encoder;
mod exponents;
mod header;
mod search;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use encoder::Encoder;

use crate::shape::PhysicalType;
use crate::traits::{EncodedPage, decode_all, encode_all};
use crate::values::Values;
use marquetry_base::Result;

/// Decodes the first `n` values of a page of FLOAT or DOUBLE.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::new(bytes, physical, usize::MAX);
    decode_all(Decoder::new(&page)?, physical.shape(), n)
}

/// Encodes all of `values`: the bits of FLOAT or DOUBLE values.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::from_shape(values.shape())?, values)
}
