//! Physical types, and the five shapes in which encodings store them.

use std::fmt;

/// The physical type of a column (`Type` in parquet.thrift), with the length for FIXED_LEN_BYTE_ARRAY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhysicalType {
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

/// The layout of values, whatever they mean: all that an encoding needs to know. FLOAT and INT32 are both `W32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One bit.
    Bit,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
    /// The given number of bytes.
    Fixed(usize),
    /// Any number of bytes.
    Bytes,
}

impl PhysicalType {
    /// The layout of values of this type.
    pub fn shape(self) -> Shape {
        match self {
            PhysicalType::Boolean => Shape::Bit,
            PhysicalType::Int32 | PhysicalType::Float => Shape::W32,
            PhysicalType::Int64 | PhysicalType::Double => Shape::W64,
            PhysicalType::Int96 => Shape::Fixed(12),
            PhysicalType::FixedLenByteArray(width) => Shape::Fixed(width),
            PhysicalType::ByteArray => Shape::Bytes,
        }
    }
}

impl fmt::Display for PhysicalType {
    /// Writes the format's own name: `INT32`, `FIXED_LEN_BYTE_ARRAY(16)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PhysicalType::Boolean => f.write_str("BOOLEAN"),
            PhysicalType::Int32 => f.write_str("INT32"),
            PhysicalType::Int64 => f.write_str("INT64"),
            PhysicalType::Int96 => f.write_str("INT96"),
            PhysicalType::Float => f.write_str("FLOAT"),
            PhysicalType::Double => f.write_str("DOUBLE"),
            PhysicalType::ByteArray => f.write_str("BYTE_ARRAY"),
            PhysicalType::FixedLenByteArray(width) => write!(f, "FIXED_LEN_BYTE_ARRAY({width})"),
        }
    }
}
