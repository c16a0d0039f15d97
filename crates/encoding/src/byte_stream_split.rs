//! BYTE_STREAM_SPLIT (9): the first bytes of all values, then the second bytes of all, and so on.
//!
//! Spec: Encodings.md, "Byte Stream Split". Legal for INT32, INT64, FLOAT, DOUBLE and FIXED_LEN_BYTE_ARRAY. It does
//! not make the page smaller, but groups similar bytes, which helps the compression that follows.
//!
//! ```text
//! page     := <stream 0> <stream 1> ... one stream for each byte of a value
//! stream i := <byte i of value 0> <byte i of value 1> ...
//! ```
//!
//! There is no header: the number of values is the length of the page divided by the width of a value.
//!
//! The specification's example, three FLOATs:
//!
//! ```
//! use marquetry_encoding::{byte_stream_split, PhysicalType, Values};
//! let bytes = [
//!     0xaa, 0x00, 0xa3, // byte 0 of each
//!     0xbb, 0x11, 0xb4, // byte 1
//!     0xcc, 0x22, 0xc5, // byte 2
//!     0xdd, 0x33, 0xd6, // byte 3
//! ];
//! let floats = Values::W32(vec![0xddcc_bbaa, 0x3322_1100, 0xd6c5_b4a3]);
//! assert_eq!(byte_stream_split::decode(&bytes, PhysicalType::Float, 3)?, floats);
//! assert_eq!(byte_stream_split::encode(&floats)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::shape::{PhysicalType, Shape};
use crate::traits::{Decode, Encode, EncodedPage, decode_all, encode_all};
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::ops::Range;

/// Decodes a page of `n` values.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::new(bytes, physical, n);
    decode_all(Decoder::new(&page)?, physical.shape(), n)
}

/// Encodes all of `values`.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::from_shape(values.shape())?, values)
}

/// Decodes values by merging the streams.
#[derive(Debug)]
pub struct Decoder {
    page: PaddedBytes,
    shape: Shape,
    /// Number of values in the page, which is the length of a stream.
    len: usize,
    /// Index of the next value.
    position: usize,
}

impl Decoder {
    /// Creates a decoder for a page. Fails if its size is not a whole number of values, or if it has more values than `max_values`.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let shape = page.physical.shape();
        let (width, bytes) = (width(shape)?, page.bytes.len());
        let len = match width {
            // Values of width 0 leave no bytes to count.
            0 if bytes == 0 => page.max_values,
            0 => return Err(not_whole(bytes, width)),
            width => bytes / width,
        };
        // SPEC: there is no padding, and the length of the streams is the number of non-null values. A page that breaks
        // this rule would be read with streams of a wrong length.
        if len * width != bytes {
            return Err(not_whole(bytes, width));
        }
        if len > page.max_values {
            let message = format!("{len} BYTE_STREAM_SPLIT values in a page of {}", page.max_values);
            return Err(Error::corrupt(message));
        }
        Ok(Decoder { page: page.bytes.clone(), shape, len, position: 0 })
    }

    /// Moves past the next `n` values and returns the index of the first of them.
    fn take(&mut self, n: usize) -> Result<usize> {
        let left = self.len - self.position;
        if n > left {
            return Err(Error::truncated(format!("{n} BYTE_STREAM_SPLIT values wanted, {left} left")));
        }
        self.position += n;
        Ok(self.position - n)
    }

    /// PERF: prefetches the next values of each stream while the caller builds an array from those just read.
    fn prefetch_next(&self) {
        let Some(each) =
            kernels::PREFETCH_BYTES.checked_div(self.page.len().checked_div(self.len).unwrap_or(0))
        else {
            return;
        };
        for stream in self.page.as_slice().chunks_exact(self.len) {
            kernels::prefetch(&stream[self.position..self.len.min(self.position + each)]);
        }
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let first = self.take(n)?;
        let (streams, stride) = (self.page.as_slice(), self.len);
        match self.shape {
            Shape::W32 => kernels::merge_streams_u32(streams, stride, first, n, out.as_w32()?),
            Shape::W64 => kernels::merge_streams_u64(streams, stride, first, n, out.as_w64()?),
            shape => {
                let width = width(shape)?;
                out.as_fixed(width)?
                    .push_with(n, |out| kernels::merge_streams(streams, width, stride, first, n, out));
            }
        }
        self.prefetch_next();
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    fn is_exhausted(&self) -> bool {
        self.position == self.len || self.page.is_empty()
    }
}

/// Keeps all values of a page until it is finished, because the length of a stream is known only then.
#[derive(Debug)]
pub struct Encoder {
    values: Values,
    width: usize,
}

impl Encoder {
    /// Creates an encoder with an empty page. Fails for BOOLEAN and BYTE_ARRAY.
    pub fn new(physical: PhysicalType) -> Result<Self> {
        Encoder::from_shape(physical.shape())
    }

    fn from_shape(shape: Shape) -> Result<Self> {
        Ok(Encoder { values: shape.empty(), width: width(shape)? })
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        if values.shape() != self.values.shape() {
            return Err(wrong_shape(self.values.shape(), values));
        }
        self.values.push_range(values, range)?;
        Ok(())
    }

    fn size(&self) -> usize {
        self.values.len() * self.width
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        match &self.values {
            Values::W32(values) => kernels::split_streams_u32(values, page),
            Values::W64(values) => kernels::split_streams_u64(values, page),
            Values::Fixed(values) => kernels::split_streams(&values.as_bytes(), self.width, page),
            other => return Err(not_legal(other.shape())),
        }
        self.values.clear();
        Ok(())
    }
}

/// The number of bytes in a value, which is the number of streams.
fn width(shape: Shape) -> Result<usize> {
    match shape {
        Shape::W32 => Ok(4),
        Shape::W64 => Ok(8),
        Shape::Fixed(width) => Ok(width),
        Shape::Bit | Shape::Bytes => Err(not_legal(shape)),
    }
}

#[cold]
fn not_legal(shape: Shape) -> Error {
    Error::argument(format!("BYTE_STREAM_SPLIT of {shape:?} values"))
}

#[cold]
fn not_whole(bytes: usize, width: usize) -> Error {
    Error::corrupt(format!("{bytes} bytes of BYTE_STREAM_SPLIT are not a whole number of values of {width}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_must_be_whole_values_and_not_too_many() {
        assert!(decode(&[0; 8], PhysicalType::Int32, 2).is_ok());
        assert!(decode(&[0; 7], PhysicalType::Int32, 1).is_err());
        assert!(decode(&[0; 8], PhysicalType::Int32, 1).is_err());
        assert!(decode(&[0; 8], PhysicalType::Int32, 3).is_err());
        assert!(decode(&[0; 8], PhysicalType::ByteArray, 1).is_err());
    }

    #[test]
    fn a_width_may_be_zero() {
        let none = decode(&[], PhysicalType::FixedLenByteArray(0), 3).unwrap();
        assert_eq!(none.len(), 3);
        assert!(encode(&none).unwrap().is_empty());
        assert!(decode(&[0], PhysicalType::FixedLenByteArray(0), 3).is_err());
    }
}
