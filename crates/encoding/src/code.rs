//! The numbers that encodings have in page headers and footers.
//!
//! Spec: `parquet.thrift`, `enum Encoding`. 1 was for groups of variable length and is not used.

/// PLAIN: values one after the other.
pub const PLAIN: i32 = 0;
/// PLAIN_DICTIONARY, deprecated: indices into a dictionary, and the dictionary itself.
pub const PLAIN_DICTIONARY: i32 = 2;
/// RLE, for levels and booleans.
pub const RLE: i32 = 3;
/// BIT_PACKED, deprecated, for levels only.
pub const BIT_PACKED: i32 = 4;
/// DELTA_BINARY_PACKED.
pub const DELTA_BINARY_PACKED: i32 = 5;
/// DELTA_LENGTH_BYTE_ARRAY.
pub const DELTA_LENGTH_BYTE_ARRAY: i32 = 6;
/// DELTA_BYTE_ARRAY.
pub const DELTA_BYTE_ARRAY: i32 = 7;
/// RLE_DICTIONARY: indices into a dictionary, whose own page is PLAIN.
pub const RLE_DICTIONARY: i32 = 8;
/// BYTE_STREAM_SPLIT.
pub const BYTE_STREAM_SPLIT: i32 = 9;
/// ALP.
pub const ALP: i32 = 10;
