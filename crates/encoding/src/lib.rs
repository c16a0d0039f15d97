//! Every Parquet encoding, both directions, one file each.
//!
//! An encoding turns the non-null values of one page into bytes and back. It knows nothing of nulls, nesting, logical
//! types or Arrow: those are dealt with outside, once, for all encodings. What it does know is a [`Shape`]: parquet's
//! eight physical types are stored in five ways.
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
//! [`registry::ENCODINGS`] lists them with the physical types they are legal for and finds a decoder or encoder by code.
#![forbid(unsafe_code)]

pub mod alp;
mod arena;
pub mod bit_packed;
pub mod byte_stream_split;
pub mod delta_binary_packed;
pub mod delta_byte_array;
pub mod delta_length_byte_array;
pub mod dictionary;
mod fixed_len_bytes;
pub mod levels;
mod offset_strings;
pub mod plain;
pub mod registry;
pub mod rle;
mod shape;
mod string_views;
mod values;

pub use fixed_len_bytes::FixedLenBytes;
pub use marquetry_kernels::{
    Bitmap, compact_bits, compact_u8 as compact_levels, compact_u32 as compact_w32,
    compact_u64 as compact_w64, compact_u128 as compact_views, max_u32 as max_w32, min_max_f32, min_max_f64,
    min_max_i32, min_max_i64, min_max_u32, min_max_u64,
};
pub use offset_strings::OffsetStrings;
pub use shape::{PhysicalType, Shape};
pub use string_views::StringViews;
pub use values::Values;

use dictionary::Dictionary;
use marquetry_base::{PaddedBytes, Result};
use std::ops::Range;
use std::sync::Arc;

/// What a decoder is made from: the values section of one data page.
#[derive(Debug, Clone)]
pub struct EncodedPage {
    /// The bytes after the levels, decompressed.
    pub bytes: PaddedBytes,
    /// At most so many values are in the page. Exact where the page says so; where nulls are not known yet, the nulls
    /// are counted too.
    pub max_values: usize,
    /// The column's physical type.
    pub physical: PhysicalType,
    /// The chunk's dictionary, if a dictionary page was read.
    pub dictionary: Option<Arc<Dictionary>>,
}

impl EncodedPage {
    /// A page of `bytes` with at most `max_values` values, without a dictionary.
    pub fn of(bytes: &[u8], physical: PhysicalType, max_values: usize) -> Self {
        EncodedPage { bytes: PaddedBytes::copy_of(bytes), max_values, physical, dictionary: None }
    }
}

/// Reads the non-null values of one page, front to back.
///
/// Any split of reads gives the same values, and `skip(n)` leaves the decoder where decoding `n` values would. After an
/// error the decoder is of no further use, and what it appended is unspecified.
pub trait Decode: Send {
    /// Appends exactly the next `n` values to `out`, which must be of the page's [`Shape`].
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()>;

    /// [`decode`](Self::decode) of text. Whether it was seen, by the way, that all of it is UTF-8; if not, it is still to be
    /// looked at.
    fn decode_utf8(&mut self, n: usize, out: &mut Values) -> Result<bool> {
        self.decode(n, out).map(|()| false)
    }

    /// Appends a slot for each of the `n` bits of `validity` from bit `first` on, `ones` of which are 1: the next value for a
    /// 1, 0 for a 0. Whether it did; false, and nothing was taken, where that is no faster than to decode and then to
    /// spread.
    fn decode_spaced(
        &mut self,
        _validity: &Bitmap,
        _first: usize,
        _n: usize,
        _ones: usize,
        _out: &mut Values,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Passes over the next `n` values.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Whether the values that were taken are all that the page has bytes for: what is left, if anything, is the filling
    /// of a last byte or group. Page headers are under no checksum, and this is what one that counts wrongly is held
    /// against.
    fn is_exhausted(&self) -> bool;
}

/// Collects non-null values and writes them as the values section of a page, then of the next page, and so on.
pub trait Encode: Send {
    /// Takes the values in `range`.
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()>;

    /// How many bytes [`finish`](Encode::finish) would append now; an estimate where the exact number costs as much as
    /// the encoding itself.
    fn size(&self) -> usize;

    /// Appends the page's bytes and starts a new page, perhaps in the memory of `page` if that is empty.
    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()>;

    /// As [`finish`](Encode::finish), where a page is stored in parts: what comes first may be appended to `head`, so that
    /// the rest, in `body`, which is empty, need not be copied.
    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        let _ = head;
        self.finish(body)
    }

    /// The values that were collected for the chunk's dictionary page; `None` for all but the dictionary encoding.
    fn dictionary(&self) -> Option<&Dictionary> {
        None
    }
}

/// The first `n` values of a page: what the `decode` doors of the encodings give.
fn decode_all(mut decoder: impl Decode, shape: Shape, n: usize) -> Result<Values> {
    let mut out = shape.empty();
    decoder.decode(n, &mut out)?;
    Ok(out)
}

/// The bytes of a page of all `values`: what the `encode` doors of the encodings give.
fn encode_all(mut encoder: impl Encode, values: &Values) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encoder.encode(values, 0..values.len())?;
    encoder.finish(&mut out)?;
    Ok(out)
}
