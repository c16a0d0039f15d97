//! Every Parquet encoding, in both directions: one file each, or one folder.
//!
//! An encoding turns the non-null values of one page into bytes and back. Nulls, nesting, logical types and Arrow are handled
//! outside, once for all encodings. An encoding only knows a [`Shape`]: Parquet's eight physical types are stored in five
//! ways.
//!
//! | file | encoding | code |
//! |---|---|--:|
//! | [`plain`] | PLAIN | 0 |
//! | [`dictionary`] | PLAIN_DICTIONARY, RLE_DICTIONARY | 2, 8 |
//! | [`rle`] | RLE, the hybrid of runs and packed groups | 3 |
//! | [`bit_packed`] | BIT_PACKED, deprecated | 4 |
//! | [`delta_binary_packed`] | DELTA_BINARY_PACKED | 5 |
//! | [`delta_length_byte_array`] | DELTA_LENGTH_BYTE_ARRAY | 6 |
//! | [`delta_byte_array`] | DELTA_BYTE_ARRAY | 7 |
//! | [`byte_stream_split`] | BYTE_STREAM_SPLIT | 9 |
//! | [`alp`] | ALP | 10 |
//!
//! [`registry::ENCODINGS`] lists them with the physical types they are legal for and finds a decoder or encoder by [`code`].
#![forbid(unsafe_code)]

pub mod alp;
mod arena;
pub mod bit_packed;
pub mod byte_stream_split;
pub mod code;
pub mod delta_binary_packed;
pub mod delta_byte_array;
pub mod delta_length_byte_array;
pub mod dictionary;
mod entry_offsets;
mod fixed_len_bytes;
mod lengths_of_fixed;
pub mod levels;
mod offset_strings;
pub mod plain;
pub mod registry;
pub mod rle;
mod shape;
mod string_views;
mod traits;
mod values;
mod varint;

pub use fixed_len_bytes::FixedLenBytes;
pub use marquetry_kernels::{
    Bitmap, filter_bits, filter_u8, filter_u32, filter_u64, list_offsets, max_u32, min_max_f32, min_max_f64,
    min_max_i32, min_max_i64, min_max_u32, min_max_u64, unpack_u8,
};
pub use offset_strings::OffsetStrings;
pub use shape::{PhysicalType, Shape};
pub use string_views::StringViews;
pub use traits::{Decode, Encode, EncodedPage};
pub use values::Values;
