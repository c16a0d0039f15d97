//! Physical types, and the five shapes that they are stored in.

use crate::{Bits, Fixed, Values, Views};
use std::fmt;

/// The physical type of a column (`Type` in parquet.thrift), with the length where the schema has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Physical {
    /// One bit.
    Boolean,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 12 bytes: the deprecated timestamp.
    Int96,
    /// IEEE 754 binary32.
    Float,
    /// IEEE 754 binary64.
    Double,
    /// Any number of bytes.
    ByteArray,
    /// The same number of bytes for each value.
    FixedLenByteArray(usize),
}

/// How values are laid out, whatever they mean: all that an encoding needs to know. FLOAT and INT32 are both `W32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One bit.
    Bit,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
    /// So many bytes.
    Fixed(usize),
    /// Any number of bytes.
    Bytes,
}

impl Physical {
    /// How values of this type are laid out.
    pub fn shape(self) -> Shape {
        match self {
            Physical::Boolean => Shape::Bit,
            Physical::Int32 | Physical::Float => Shape::W32,
            Physical::Int64 | Physical::Double => Shape::W64,
            Physical::Int96 => Shape::Fixed(12),
            Physical::FixedLenByteArray(width) => Shape::Fixed(width),
            Physical::ByteArray => Shape::Bytes,
        }
    }
}

impl fmt::Display for Physical {
    /// The format's own name: `INT32`, `FIXED_LEN_BYTE_ARRAY(16)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Physical::Boolean => f.write_str("BOOLEAN"),
            Physical::Int32 => f.write_str("INT32"),
            Physical::Int64 => f.write_str("INT64"),
            Physical::Int96 => f.write_str("INT96"),
            Physical::Float => f.write_str("FLOAT"),
            Physical::Double => f.write_str("DOUBLE"),
            Physical::ByteArray => f.write_str("BYTE_ARRAY"),
            Physical::FixedLenByteArray(width) => write!(f, "FIXED_LEN_BYTE_ARRAY({width})"),
        }
    }
}

impl Shape {
    /// No values of this shape.
    pub fn empty(self) -> Values {
        match self {
            Shape::Bit => Values::Bit(Bits::new()),
            Shape::W32 => Values::W32(Vec::new()),
            Shape::W64 => Values::W64(Vec::new()),
            Shape::Fixed(width) => Values::Fixed(Fixed::new(width)),
            Shape::Bytes => Values::Bytes(Views::new()),
        }
    }
}
