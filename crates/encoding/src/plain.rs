//! PLAIN (0): the values themselves, one after the other.
//!
//! Spec: Encodings.md, "Plain". Legal for all physical types.
//!
//! ```text
//! BOOLEAN                one bit each, least significant bit first
//! INT32, FLOAT           4 bytes little-endian
//! INT64, DOUBLE          8 bytes little-endian
//! INT96                  12 bytes little-endian
//! BYTE_ARRAY             length: 4 bytes little-endian | bytes
//! FIXED_LEN_BYTE_ARRAY   bytes
//! ```
//!
//! ```
//! use marquetry_encoding::{plain, PhysicalType, Values, StringViews};
//! let bytes = [
//!     5, 0, 0, 0,                         // length
//!     b'h', b'e', b'l', b'l', b'o',       // bytes
//!     0, 0, 0, 0,                         // length of the empty string
//! ];
//! let strings = Values::Bytes(StringViews::from_iter(["hello", ""]));
//! assert_eq!(plain::decode(&bytes, PhysicalType::ByteArray, 2)?, strings);
//! assert_eq!(plain::encode(&strings)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::lengths_of_fixed;
use crate::shape::{PhysicalType, Shape};
use crate::string_views::StringViews;
use crate::traits::{Decode, Encode, EncodedPage, decode_all, encode_all};
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, PaddedBytes, Result, try_reserve};
use marquetry_kernels::{self as kernels, Bitmap};
use std::ops::Range;

/// Decodes `n` values.
pub fn decode(bytes: &[u8], physical: PhysicalType, n: usize) -> Result<Values> {
    let page = EncodedPage::new(bytes, physical, n);
    decode_all(Decoder::new(&page), physical.shape(), n)
}

/// Encodes all of `values`.
pub fn encode(values: &Values) -> Result<Vec<u8>> {
    encode_all(Encoder::new(values.shape()), values)
}

/// Counts the complete values in `bytes`, the beginning of a page.
pub fn count_whole(bytes: &[u8], physical: PhysicalType) -> usize {
    match physical.shape() {
        Shape::Bit => bytes.len() * 8,
        Shape::W32 => bytes.len() / 4,
        Shape::W64 => bytes.len() / 8,
        Shape::Fixed(width) => bytes.len().checked_div(width).unwrap_or(usize::MAX),
        Shape::Bytes => {
            let (mut n, mut left) = (0, bytes);
            while let Some((len, rest)) = left.split_first_chunk()
                && let Some(rest) = rest.get(u32::from_le_bytes(*len) as usize..)
            {
                (n, left) = (n + 1, rest);
            }
            n
        }
    }
}

/// Whether a PLAIN page of fixed-width values seems to have a length before each value, a quirk of arrow-rs.
pub fn has_lengths(page: &EncodedPage) -> bool {
    lengths_of_fixed::of_at_most(&page.bytes, page.physical, page.max_values).is_some()
}

/// Decodes PLAIN values straight from the page.
#[derive(Debug)]
pub struct Decoder {
    page: PaddedBytes,
    shape: Shape,
    /// Position of the next value: in bytes, or for BOOLEAN in bits.
    position: usize,
    /// Whether strings are so long on average that each is validated by itself.
    is_long: bool,
}

impl Decoder {
    /// Creates a decoder for the whole page.
    pub fn new(page: &EncodedPage) -> Self {
        let without_lengths = lengths_of_fixed::of_at_most(&page.bytes, page.physical, page.max_values);
        let is_long = page.bytes.len() / page.max_values.max(1) >= LONG_STRING_BYTES;
        let bytes = without_lengths.unwrap_or_else(|| page.bytes.clone());
        Decoder { page: bytes, shape: page.physical.shape(), position: 0, is_long }
    }

    /// Creates a decoder for a dictionary page, which has as many values as fit in `bytes`.
    pub(crate) fn of_dictionary(bytes: &PaddedBytes, shape: Shape) -> Self {
        Decoder { page: bytes.clone(), shape, position: 0, is_long: false }
    }

    /// Takes the bytes of the next `n` values of `width` bytes.
    fn take(&mut self, n: usize, width: usize) -> Result<&[u8]> {
        let left = self.page.len() - self.position;
        let wanted = n.saturating_mul(width);
        if wanted > left {
            return Err(self.short(n));
        }
        let from = self.position;
        self.position += wanted;
        Ok(&self.page.as_slice()[from..from + wanted])
    }

    /// PERF: prefetches the next values while the caller builds an array from the `len` bytes just read.
    fn prefetch_next(&self, len: usize) {
        let next = &self.page.as_slice()[self.position..];
        kernels::prefetch(&next[..next.len().min(len).min(kernels::PREFETCH_BYTES)]);
    }

    /// Appends views of the next `n` strings and calls `look` with each string. Returns the number of non-ASCII bytes in the length fields.
    fn decode_views(&mut self, n: usize, look: impl FnMut(&[u8]), out: &mut StringViews) -> Result<usize> {
        let (page, position) = (&self.page, self.position);
        let end = out.push_views(&[page.to_bytes()], |views, buffer| {
            kernels::plain_views(page.padded(), page.len(), position, n, buffer, look, views)
        });
        let (end, not_ascii) = end.ok_or_else(|| self.short(n))?;
        self.position = end;
        Ok(not_ascii)
    }

    fn take_bits(&mut self, n: usize) -> Result<usize> {
        let from = self.position;
        if n > self.page.len() * 8 - from {
            return Err(self.short(n));
        }
        self.position += n;
        Ok(from)
    }

    #[cold]
    fn short(&self, n: usize) -> Error {
        Error::truncated(format!(
            "{n} PLAIN values wanted from position {} of {} bytes",
            self.position,
            self.page.len()
        ))
    }
}

impl Decode for Decoder {
    /// PERF: validates all strings in one pass, together with the length fields between them. If all length bytes are
    /// ASCII, no character can span two strings, so the whole range is checked as UTF-8. Otherwise all other bytes must
    /// be ASCII. Long strings are validated one by one while they are read.
    fn decode_utf8(&mut self, n: usize, out: &mut Values) -> Result<bool> {
        let Values::Bytes(views) = out else { return self.decode(n, out).map(|()| false) };
        if self.is_long {
            let mut is_text = true;
            let look = |string: &[u8]| is_text &= simdutf8::basic::from_utf8(string).is_ok();
            self.decode_views(n, look, views)?;
            return Ok(is_text);
        }
        let start = self.position;
        let not_ascii = self.decode_views(n, kernels::prefetch_next_string, views)?;
        let strings = &self.page.as_slice()[start..self.position];
        Ok(match not_ascii {
            0 => strings.is_ascii() || simdutf8::basic::from_utf8(strings).is_ok(),
            _ => count_not_ascii(strings) == not_ascii,
        })
    }

    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        match self.shape {
            Shape::Bit => {
                let from = self.take_bits(n)?;
                out.as_bits()?.push_packed(self.page.as_slice(), from, n);
            }
            Shape::W32 => {
                let (words, _) = self.take(n, 4)?.as_chunks();
                kernels::copy_u32(words, out.as_w32()?);
                self.prefetch_next(4 * n);
            }
            Shape::W64 => {
                let (words, _) = self.take(n, 8)?.as_chunks();
                kernels::copy_u64(words, out.as_w64()?);
                self.prefetch_next(8 * n);
            }
            Shape::Fixed(width) => {
                let (start, len) = (self.position, self.take(n, width)?.len());
                out.as_fixed(width)?.push_stored(n, &self.page, start..start + len);
                self.prefetch_next(len);
            }
            Shape::Bytes => match out {
                Values::Offsets(out) => {
                    let (page, position) = (&self.page, self.position);
                    let end = out.push_plain(page.padded(), page.len(), position, n)?;
                    self.position = end.ok_or_else(|| self.short(n))?;
                }
                out => _ = self.decode_views(n, kernels::prefetch_next_string, out.as_bytes()?)?,
            },
        }
        Ok(())
    }

    /// PERF: expands values other than strings and booleans directly from the page.
    fn decode_spaced(
        &mut self,
        validity: &Bitmap,
        first: usize,
        n: usize,
        ones: usize,
        out: &mut Values,
    ) -> Result<bool> {
        let level = kernels::Kernels::current();
        match self.shape {
            Shape::W32 => {
                let (words, _) = self.take(ones, 4)?.as_chunks();
                level.expand_u32(words, validity, first, n, out.as_w32()?);
            }
            Shape::W64 => {
                let (words, _) = self.take(ones, 8)?.as_chunks();
                level.expand_u64(words, validity, first, n, out.as_w64()?);
            }
            Shape::Fixed(width) => {
                let values = self.take(ones, width)?;
                out.as_fixed(width)?.push_spaced(values, validity, first, n);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match self.shape {
            Shape::Bit => self.take_bits(n).map(|_| ()),
            Shape::W32 => self.take(n, 4).map(|_| ()),
            Shape::W64 => self.take(n, 8).map(|_| ()),
            Shape::Fixed(width) => self.take(n, width).map(|_| ()),
            Shape::Bytes => {
                for _ in 0..n {
                    let len = self.take(1, 4)?.try_into().map_or(0, u32::from_le_bytes);
                    self.take(1, len as usize)?;
                }
                Ok(())
            }
        }
    }

    fn is_exhausted(&self) -> bool {
        match self.shape {
            Shape::Bit => self.position.div_ceil(8) == self.page.len(),
            _ => self.position == self.page.len(),
        }
    }
}

/// Appends values in their PLAIN form.
#[derive(Debug)]
pub struct Encoder {
    shape: Shape,
    bytes: Vec<u8>,
    bits: Bitmap,
}

impl Encoder {
    /// Creates an encoder for values of `shape`.
    pub fn new(shape: Shape) -> Self {
        Encoder { shape, bytes: Vec::new(), bits: Bitmap::new() }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        if values.shape() != self.shape {
            return Err(wrong_shape(self.shape, values));
        }
        match values {
            Values::Bit(bits) => self.bits.push_packed(bits.as_bytes(), range.start, range.len()),
            Values::W32(values) => {
                self.bytes.extend(values[range].iter().flat_map(|value| value.to_le_bytes()));
            }
            Values::W64(values) => {
                self.bytes.extend(values[range].iter().flat_map(|value| value.to_le_bytes()));
            }
            Values::Fixed(values) => {
                let width = values.width();
                try_reserve(&mut self.bytes, range.len() * width)?;
                self.bytes.extend_from_slice(&values.as_bytes()[range.start * width..range.end * width]);
            }
            Values::Bytes(views) => {
                // Only a call with few strings can have strings so long that memory may run out.
                if range.len() <= FEW_STRINGS {
                    let more = 4 * range.len() + views.data_bytes(range.clone());
                    try_reserve(&mut self.bytes, more + kernels::LONG_COPY_BYTES)?;
                }
                views.write_plain(range, &mut self.bytes);
            }
            Values::Offsets(_) => return Err(wrong_shape(self.shape, values)),
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.bits.as_bytes().len()
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        if page.is_empty() {
            // PERF: copying a page of long strings takes longer than encoding it.
            std::mem::swap(page, &mut self.bytes);
        } else {
            page.extend_from_slice(&self.bytes);
            // Keeps the memory: the next page is about as large.
            self.bytes.clear();
        }
        page.extend_from_slice(self.bits.as_bytes());
        self.bits.clear();
        Ok(())
    }
}

/// Average size of the strings of a page, in bytes with the length field, from which they are validated one by one.
const LONG_STRING_BYTES: usize = 256;

/// Maximum number of strings in a call that may have long strings; callers with short strings pass more at a time.
const FEW_STRINGS: usize = 64;

/// Counts the bytes that are not ASCII.
fn count_not_ascii(bytes: &[u8]) -> usize {
    let in_block = |bytes: &[u8]| bytes.iter().map(|byte| byte >> 7).sum::<u8>();
    bytes.chunks(128).map(|block| usize::from(in_block(block))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_have_the_least_significant_bit_first() {
        let bits =
            Values::Bit([true, false, true, true, false, false, false, false, true].into_iter().collect());
        assert_eq!(encode(&bits).unwrap(), [0b0000_1101, 0b0000_0001]);
        assert_eq!(decode(&[0b0000_1101, 0b0000_0001], PhysicalType::Boolean, 9).unwrap(), bits);
    }

    #[test]
    fn of_a_part_of_a_page_whole_values_are_counted() {
        let strings = [
            5, 0, 0, 0, // length
            b'h', b'e', b'l', b'l', b'o', // bytes
            0, 0, 0, 0, // length of the empty string
            1, 0, 0, 0,    // length
            b'a', // bytes
        ];
        let counts: Vec<usize> =
            (0..=strings.len()).map(|end| count_whole(&strings[..end], PhysicalType::ByteArray)).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]);
        assert_eq!(count_whole(&strings, PhysicalType::Int64), 2);
        assert_eq!(count_whole(&strings, PhysicalType::FixedLenByteArray(5)), 3);
    }

    #[test]
    fn values_of_a_fixed_width_may_have_lengths() {
        let stored = b"\x03\0\0\0abc\x03\0\0\0def";
        let physical = PhysicalType::FixedLenByteArray(3);
        let plain = decode(b"abcdef", physical, 2).unwrap();
        assert_eq!(decode(stored, physical, 2).unwrap(), plain);
        let dictionary = crate::dictionary::Dictionary::read(PaddedBytes::copy_of(stored), physical, 2);
        assert_eq!(*dictionary.unwrap().values(), plain);
    }

    #[test]
    fn a_fixed_width_may_be_zero() {
        let none = decode(&[], PhysicalType::FixedLenByteArray(0), 3).unwrap();
        assert_eq!(none.len(), 3);
        assert!(encode(&none).unwrap().is_empty());
    }

    /// Some length fields have bytes that are not ASCII, or that look like a part of a character.
    #[test]
    fn text_is_looked_at_with_its_lengths() {
        let lengths = [5, 127, 128, 129, 3, 200, 0, 255, 256, 1000, 13, 384, 12, 129, 7, 1];
        let read = |strings: &[Vec<u8>]| {
            let page = encode(&Values::Bytes(strings.iter().collect())).unwrap();
            // Strings are validated together, or one by one if the page has few values for its size.
            let [together, apart] = [usize::MAX, 1].map(|max_values| {
                let page = EncodedPage::new(&page, PhysicalType::ByteArray, max_values);
                let mut values = Values::Bytes(StringViews::new());
                let is_text = Decoder::new(&page).decode_utf8(strings.len(), &mut values).unwrap();
                assert_eq!(values, Values::Bytes(strings.iter().collect()));
                is_text
            });
            let are_text = strings.iter().all(|string| std::str::from_utf8(string).is_ok());
            if page.len() >= LONG_STRING_BYTES {
                assert_eq!(apart, are_text);
            }
            assert!(are_text || !together);
            together
        };
        for letter in ["a", "\u{44f}", "\u{20ac}"] {
            for lengths in [&lengths[..], &[5, 60, 12, 127, 0, 13]] {
                let strings: Vec<Vec<u8>> =
                    lengths.iter().map(|len| letter.repeat(len / letter.len()).into_bytes()).collect();
                let all_short = strings.iter().all(|string| string.len() < 128);
                assert_eq!(read(&strings), letter == "a" || all_short, "{letter}");
                for i in 0..strings.len() {
                    let len = strings[i].len();
                    for (at, wrong) in [(0, 0x80), (len / 2, 0xff), (len.saturating_sub(1), 0xd1)] {
                        let mut strings = strings.clone();
                        let Some(byte) = strings[i].get_mut(at) else { continue };
                        *byte = wrong;
                        assert!(!read(&strings), "{letter}: byte {at} of {i}");
                    }
                }
            }
        }
    }
}
