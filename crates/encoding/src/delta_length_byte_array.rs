//! DELTA_LENGTH_BYTE_ARRAY (6): all lengths first, as deltas, then all strings end to end.
//!
//! Spec: Encodings.md, "Delta-length byte array". Legal for BYTE_ARRAY.
//!
//! ```text
//! page := <lengths: DELTA_BINARY_PACKED of INT32> <bytes of all strings>
//! ```
//!
//! ```
//! use marquetry_encoding::{delta_length_byte_array as delta_length, Values, StringViews};
//! let mut bytes = vec![
//!     0x80, 0x01, // values in a block: 128
//!     4,          // miniblocks in a block
//!     4,          // values
//!     10,         // first length: 5, zigzag
//!     0,          // least delta
//!     1, 0, 0, 0, // widths
//!     0b0000_0010, 0, 0, 0, // deltas 0 1 0 and filling
//! ];
//! bytes.extend(b"HelloWorldFoobarABCDEF");
//! let strings = Values::Bytes(StringViews::from_iter(["Hello", "World", "Foobar", "ABCDEF"]));
//! assert_eq!(delta_length::decode(&bytes, 4)?, strings);
//! assert_eq!(delta_length::encode(&strings)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::delta_binary_packed::{DeltaReader, DeltaWriter};
use crate::shape::{PhysicalType, Shape};
use crate::traits::{Decode, Encode, EncodedPage, decode_all, encode_all};
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels::{self as kernels, view_at, view_len};
use std::ops::Range;

/// Decodes `n` strings.
pub fn decode(bytes: &[u8], n: usize) -> Result<Values> {
    let page = EncodedPage::new(bytes, PhysicalType::ByteArray, n);
    decode_all(Decoder::new(&page)?, Shape::Bytes, n)
}

/// Encodes all of `strings`, which must be byte strings.
pub fn encode(strings: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::new(), strings)
}

/// Decodes strings as views into the page, without copying them.
#[derive(Debug)]
pub struct Decoder(LengthReader);

impl Decoder {
    /// Creates a decoder for a page. Reads the headers of the length blocks to find where the strings begin.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        Ok(Decoder(LengthReader::new(&page.bytes, 0)?))
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let strings = &mut self.0;
        if let Values::Offsets(out) = out {
            let range = strings.next(n)?;
            return out.push_strings(&strings.page.as_slice()[range], &strings.lengths);
        }
        let out = out.as_bytes()?;
        let buffer = [strings.page.to_bytes()];
        let mut left = n;
        while left > 0 {
            let take = left.min(LENGTHS_PER_BLOCK);
            left -= take;
            let mut position = strings.next(take)?.start;
            let (padded, lengths) = (strings.page.padded(), &strings.lengths);
            out.push_views(&buffer, |views, buffer| {
                views.extend(lengths.iter().map(|&len| {
                    let view = view_at(padded, position, len, buffer);
                    position += len as usize;
                    view
                }));
            });
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let take = left.min(LENGTHS_PER_BLOCK);
            left -= take;
            self.0.next(take)?;
        }
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// Reads lengths and tracks the positions of their strings: for this encoding, and for the suffixes of DELTA_BYTE_ARRAY.
#[derive(Debug)]
pub(crate) struct LengthReader {
    page: PaddedBytes,
    deltas: DeltaReader<u32>,
    /// Offset of the next string in the page.
    position: usize,
    lengths: Vec<u32>,
}

impl LengthReader {
    /// Reads the header of the lengths at `start` of the page and finds the end of the lengths.
    pub(crate) fn new(page: &PaddedBytes, start: usize) -> Result<Self> {
        if u32::try_from(page.len()).is_err() {
            return Err(Error::limit("a page of over 4 GiB of byte strings"));
        }
        let deltas = DeltaReader::new(page, start)?;
        Ok(LengthReader { page: page.clone(), position: deltas.end()?, deltas, lengths: Vec::new() })
    }

    /// The number of strings still to come, according to the header.
    pub(crate) fn left(&self) -> usize {
        self.deltas.left()
    }

    /// Reads the next `n` lengths and returns the range of their strings in the page.
    ///
    /// INVARIANT: the strings, end to end, are inside the page, so callers need not check again.
    pub(crate) fn next(&mut self, n: usize) -> Result<Range<usize>> {
        self.lengths.clear();
        self.deltas.decode(n, &mut self.lengths)?;
        let total = total(&self.lengths)?;
        let there = self.page.len() - self.position;
        if total > there as u64 {
            return Err(Error::truncated(format!("{n} strings of {total} bytes, {there} left"))
                .at(self.position as u64));
        }
        let start = self.position;
        self.position += total as usize;
        Ok(start..self.position)
    }

    /// Whether no lengths and no bytes are left.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left() == 0 && self.position == self.page.len()
    }

    /// The lengths read by the last call of [`next`](Self::next).
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }
}

/// Adds up lengths. Fails if one of them is negative.
pub(crate) fn total(lengths: &[u32]) -> Result<u64> {
    let (total, all) = lengths.iter().fold((0, 0), |(total, all), &len| (total + u64::from(len), all | len));
    match i32::try_from(all) {
        Ok(_) => Ok(total),
        Err(_) => Err(Error::corrupt("a negative length of a byte array")),
    }
}

/// Collects lengths and strings.
#[derive(Debug)]
pub struct Encoder {
    deltas: DeltaWriter<u32>,
    bytes: Vec<u8>,
    lengths: Vec<u32>,
}

impl Encoder {
    /// Creates an encoder with an empty page.
    #[expect(clippy::new_without_default, reason = "encoders are made by the registry, not by default")]
    pub fn new() -> Self {
        Encoder { deltas: DeltaWriter::new(), bytes: Vec::new(), lengths: Vec::new() }
    }

    /// Adds strings: their lengths, and a function that appends their bytes.
    ///
    /// Fails if a length is over 2^31 - 1.
    pub(crate) fn push(&mut self, lengths: &[u32], fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        // SPEC: lengths are INT32.
        if i32::try_from(kernels::max_u32(lengths)).is_err() {
            return Err(Error::argument("a byte string of over 2 GiB"));
        }
        self.deltas.push(lengths);
        fill(&mut self.bytes);
        Ok(())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        let Values::Bytes(strings) = values else {
            return Err(wrong_shape(Shape::Bytes, values));
        };
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.clear();
        lengths.extend(strings.views()[range.clone()].iter().map(|view| view_len(*view)));
        let pushed = self.push(&lengths, |bytes| strings.concat(range, bytes));
        self.lengths = lengths;
        pushed
    }

    fn size(&self) -> usize {
        self.deltas.size() + self.bytes.len()
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        self.deltas.finish(page);
        page.extend_from_slice(&self.bytes);
        self.bytes.clear();
        Ok(())
    }

    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        self.deltas.finish(head);
        std::mem::swap(body, &mut self.bytes);
        Ok(())
    }
}

/// The longest string that is stored inline in its view, in bytes.
pub(crate) const MAX_INLINE_BYTES: u32 = 12;
/// Number of lengths that are read at once: they stay in the first-level cache.
pub(crate) const LENGTHS_PER_BLOCK: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StringViews;

    const HEAD: [u8; 3] = [
        0x80, 0x01, // values in a block
        0x04, // miniblocks in a block
    ];

    #[test]
    fn strings_of_all_lengths_stay_where_they_are() {
        let strings: Vec<Vec<u8>> = (0..40u8).map(|len| (0..len).collect()).collect();
        let values = Values::Bytes(StringViews::from_iter(&strings));
        let bytes = encode(&values).unwrap();
        let Values::Bytes(views) = decode(&bytes, 40).unwrap() else { unreachable!() };
        assert_eq!(views.buffers().len(), 1);
        assert_eq!(views.buffers()[0], bytes);
        assert_eq!(Values::Bytes(views), values);
        assert!(decode(&bytes, 41).is_err());
        // The last string is cut off.
        assert!(decode(&bytes[..bytes.len() - 1], 40).is_err());
        assert!(decode(&bytes[..bytes.len() - 1], 39).is_ok());
    }

    #[test]
    fn a_negative_length_is_refused() {
        let bytes = [
            &HEAD[..],
            &[0x02],       // values
            &[0x0a],       // first length 5
            &[0x0f],       // least delta -8
            &[0, 0, 0, 0], // widths
            b"Hello",
        ]
        .concat();
        assert!(decode(&bytes, 1).is_ok());
        assert!(decode(&bytes, 2).unwrap_err().to_string().contains("negative"));
    }

    #[test]
    fn no_strings_and_empty_strings() {
        assert_eq!(decode(&[], 0).unwrap().len(), 0);
        assert!(decode(&[], 1).is_err());
        let empty = Values::Bytes(StringViews::from_iter([""; 3000]));
        let bytes = encode(&empty).unwrap();
        assert_eq!(decode(&bytes, 3000).unwrap(), empty);
    }
}
