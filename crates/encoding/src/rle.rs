//! RLE (3): runs of one value, and groups of eight packed values, by turns.
//!
//! Spec: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid". Carries levels, dictionary indices and BOOLEAN
//! values. The width of a value, 0 to 32 bits, is known from outside.
//!
//! ```text
//! run     := <count << 1     : ULEB128> <value : ceil(width / 8) bytes, little-endian>
//! packed  := <groups << 1 | 1: ULEB128> <8 * groups values of width bits, least significant bit first>
//! ```
//!
//! Whether the byte length stands before it depends on what is encoded:
//!
//! | values | page | length before? |
//! |---|---|---|
//! | levels | V1 | yes, 4 bytes little-endian |
//! | levels | V2 | no, the page header has it |
//! | dictionary indices | both | no, but one byte with the width |
//! | BOOLEAN | both | yes, 4 bytes little-endian |
//!
//! The specification's example, the numbers 0 to 7 in three bits each:
//!
//! ```
//! use marquetry_encoding::rle;
//! let bytes = [
//!     0b0000_0011, // 1 group << 1 | packed
//!     0b1000_1000, // 0 1 and two bits of 2
//!     0b1100_0110, // the last bit of 2, 3 4 and one bit of 5
//!     0b1111_1010, // two bits of 5, 6 7
//! ];
//! assert_eq!(rle::decode(&bytes, 3, 8)?, [0, 1, 2, 3, 4, 5, 6, 7]);
//! assert_eq!(rle::encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3), bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use crate::{Bits, Decode, Encode, EncodedPage, Values};
use marquetry_base::{Cursor, Error, PageBytes, Result};
use marquetry_kernels as kernels;
use std::ops::Range;

/// Decodes `n` values of `width` bits from hybrid bytes without a length prefix.
pub fn decode(bytes: &[u8], width: u32, n: usize) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    Hybrid::new(PageBytes::copy_of(bytes), width)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes values of `width` bits as hybrid bytes without a length prefix.
pub fn encode(values: &[u32], width: u32) -> Vec<u8> {
    let mut encoder = HybridEncoder::new(width);
    values.iter().for_each(|&value| encoder.push(value));
    let mut out = Vec::new();
    encoder.finish(&mut out);
    out
}

/// Reads hybrid bytes piece by piece. Levels, indices and booleans all decode through this.
#[derive(Debug, Clone)]
pub struct Hybrid {
    page: PageBytes,
    /// Where the next header is.
    position: usize,
    width: u32,
    run: Run,
}

/// What is left of the run that is being read.
#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated {
        value: u32,
        left: usize,
    },
    /// Packed values from byte `start` of the page; `first` is the next of them.
    Packed {
        start: usize,
        first: usize,
        left: usize,
    },
}

/// A stretch of values that are stored alike.
#[derive(Debug)]
pub enum Piece<'a> {
    /// `n` times `value`.
    Repeated {
        /// The value.
        value: u32,
        /// How many.
        n: usize,
    },
    /// `n` values, beginning with value `first` of `bytes`, which may be longer.
    Packed {
        /// Packed values and what follows them.
        bytes: &'a [u8],
        /// The first value to take.
        first: usize,
        /// How many.
        n: usize,
    },
}

impl Hybrid {
    /// A reader of values of `width` bits; fails if `width > 32`.
    pub fn new(page: PageBytes, width: u32) -> Result<Self> {
        if width > 32 {
            return Err(Error::corrupt(format!("RLE width {width} > 32")));
        }
        Ok(Hybrid { page, position: 0, width, run: Run::Repeated { value: 0, left: 0 } })
    }

    /// The width of a value in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The next stretch of at most `max > 0` values; never an empty one.
    #[inline]
    pub fn next(&mut self, max: usize) -> Result<Piece<'_>> {
        if self.left() == 0 {
            self.next_run()?;
        }
        match &mut self.run {
            Run::Repeated { value, left } => {
                let n = max.min(*left);
                *left -= n;
                Ok(Piece::Repeated { value: *value, n })
            }
            Run::Packed { start, first, left } => {
                let n = max.min(*left);
                let from = *first;
                *first += n;
                *left -= n;
                Ok(Piece::Packed { bytes: &self.page.padded()[*start..], first: from, n })
            }
        }
    }

    /// Appends the next `n` values.
    pub fn decode(&mut self, n: usize, out: &mut Vec<u32>) -> Result<()> {
        let width = self.width;
        self.for_each(n, |piece| match piece {
            Piece::Repeated { value, n } => out.resize(out.len() + n, value),
            Piece::Packed { bytes, first, n } => kernels::unpack_u32(bytes, width, first, n, out),
        })
    }

    /// Appends the next `n` values, which must be of at most 8 bits, as bytes.
    ///
    /// # Panics
    /// If the width is over 8.
    pub fn decode_u8(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let width = self.width;
        assert!(width <= 8);
        self.for_each(n, |piece| match piece {
            Piece::Repeated { value, n } => out.resize(out.len() + n, value as u8),
            Piece::Packed { bytes, first, n } => kernels::unpack_u8(bytes, width, first, n, out),
        })
    }

    /// Appends the next `n` values, which must be of one bit, as bits.
    ///
    /// # Panics
    /// If the width is not 1.
    pub fn decode_bits(&mut self, n: usize, out: &mut Bits) -> Result<()> {
        assert_eq!(self.width, 1);
        self.for_each(n, |piece| match piece {
            Piece::Repeated { value, n } => out.push_run(value != 0, n),
            Piece::Packed { bytes, first, n } => out.push_packed(bytes, first, n),
        })
    }

    /// Passes over the next `n` values.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.for_each(n, |_| ())
    }

    fn for_each(&mut self, n: usize, mut take: impl FnMut(Piece<'_>)) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let piece = self.next(left)?;
            let (Piece::Repeated { n, .. } | Piece::Packed { n, .. }) = piece;
            left -= n;
            take(piece);
        }
        Ok(())
    }

    fn left(&self) -> usize {
        let (Run::Repeated { left, .. } | Run::Packed { left, .. }) = self.run;
        left
    }

    /// Reads headers up to a run that is not empty. Each header consumes a byte, so this ends.
    fn next_run(&mut self) -> Result<()> {
        while self.left() == 0 {
            let mut cursor = Cursor::new(&self.page.as_slice()[self.position..]);
            let header = cursor.uleb128().map_err(|error| error.shifted(self.position as u64))?;
            let count = usize::try_from(header >> 1).unwrap_or(usize::MAX);
            self.run = if header & 1 == 0 {
                // SPEC: the value takes as many whole bytes as its width needs.
                let mut word = [0; 4];
                let bytes = cursor.take(self.width.div_ceil(8) as usize)?;
                word[..bytes.len()].copy_from_slice(bytes);
                let value = u32::from_le_bytes(word);
                if u64::from(value) >> self.width != 0 {
                    let message = format!("RLE value {value} is wider than {} bits", self.width);
                    return Err(Error::corrupt(message));
                }
                Run::Repeated { value, left: count }
            } else {
                let start = self.position + cursor.position();
                let bytes = count.saturating_mul(self.width as usize);
                // QUIRK: writers cut the last group short; what is there can be read, more is missed only when asked for.
                let there = bytes.min(cursor.remaining());
                let _ = cursor.skip(there);
                let left = match self.width {
                    0 => count.saturating_mul(8),
                    width => there * 8 / width as usize,
                };
                if left == 0 && count > 0 {
                    return Err(Error::truncated("packed values end within the first").at(start as u64));
                }
                Run::Packed { start, first: 0, left }
            };
            self.position += cursor.position();
        }
        Ok(())
    }
}

/// Decodes BOOLEAN values: hybrid bytes of width 1 behind a 4-byte length.
#[derive(Debug)]
pub struct Decoder(Hybrid);

impl Decoder {
    /// Checks the length prefix.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let bytes = &page.bytes;
        let len = Cursor::new(bytes.as_slice()).u32_le()? as usize;
        if len > bytes.len() - 4 {
            return Err(Error::truncated(format!("{len} bytes of RLE, {} left", bytes.len() - 4)).at(0));
        }
        Ok(Decoder(Hybrid::new(bytes.slice(4..4 + len), 1)?))
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.0.decode_bits(n, out.as_bits()?)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.skip(n)
    }
}

/// Encodes BOOLEAN values.
#[derive(Debug)]
pub struct Encoder(HybridEncoder);

impl Encoder {
    /// An empty page.
    #[expect(clippy::new_without_default, reason = "encoders are made by the registry, not by default")]
    pub fn new() -> Self {
        Encoder(HybridEncoder::new(1))
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match values {
            Values::Bit(bits) => range.for_each(|i| self.0.push(u32::from(bits.get(i)))),
            other => return Err(crate::values::wrong_shape(crate::Shape::Bit, other)),
        }
        Ok(())
    }

    fn size(&self) -> usize {
        4 + self.0.size()
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        let mut bytes = Vec::new();
        self.0.finish(&mut bytes);
        let len =
            u32::try_from(bytes.len()).map_err(|_| Error::argument("a page of over 4 GiB of booleans"))?;
        page.extend_from_slice(&len.to_le_bytes());
        page.append(&mut bytes);
        Ok(())
    }
}

/// Writes hybrid bytes: a run where eight or more equal values stand together, packed groups elsewhere.
#[derive(Debug)]
pub struct HybridEncoder {
    width: u32,
    bytes: Vec<u8>,
    /// The value seen last, and how often in a row.
    value: u32,
    repeats: usize,
    /// Values of groups that are not written yet; a multiple of eight, except while a group is being filled.
    pending: Vec<u64>,
}

impl HybridEncoder {
    /// An empty stream of values of `width <= 32` bits.
    pub fn new(width: u32) -> Self {
        assert!(width <= 32);
        HybridEncoder { width, bytes: Vec::new(), value: 0, repeats: 0, pending: Vec::new() }
    }

    /// Takes one value.
    pub fn push(&mut self, value: u32) {
        if value == self.value && self.repeats > 0 {
            self.repeats += 1;
            return;
        }
        self.settle();
        self.value = value;
        self.repeats = 1;
    }

    /// Takes `n` times the same value.
    pub fn push_run(&mut self, value: u32, n: usize) {
        if n == 0 {
            return;
        }
        self.push(value);
        self.repeats += n - 1;
    }

    /// About how many bytes [`finish`](Self::finish) would append now; never fewer than it will.
    pub fn size(&self) -> usize {
        let group = self.width as usize;
        self.bytes.len() + (self.pending.len().div_ceil(8) + 1) * group + 3 * MAX_HEADER + 4
    }

    /// Appends the bytes to `out` and starts a new stream.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.settle();
        // The last group is filled up with zeros: the number of values is known from outside.
        self.pending.resize(self.pending.len().next_multiple_of(8), 0);
        self.write_packed();
        self.repeats = 0;
        out.append(&mut self.bytes);
    }

    /// Decides how the repeats of the value seen last are written.
    fn settle(&mut self) {
        let fill = (8 - self.pending.len() % 8) % 8;
        let mut repeats = std::mem::take(&mut self.repeats);
        if repeats.saturating_sub(fill) < MIN_RUN {
            self.pending.extend(std::iter::repeat_n(u64::from(self.value), repeats));
            if self.pending.len() >= MAX_PENDING {
                self.write_packed();
            }
            return;
        }
        self.pending.extend(std::iter::repeat_n(u64::from(self.value), fill));
        self.write_packed();
        repeats -= fill;
        while repeats > 0 {
            let n = repeats.min(MAX_RUN);
            write_uleb128((n as u64) << 1, &mut self.bytes);
            self.bytes.extend_from_slice(&self.value.to_le_bytes()[..self.width.div_ceil(8) as usize]);
            repeats -= n;
        }
    }

    /// Writes the pending groups; a group that is still being filled stays.
    fn write_packed(&mut self) {
        let groups = self.pending.len() / 8;
        if groups > 0 {
            write_uleb128((groups as u64) << 1 | 1, &mut self.bytes);
            kernels::pack(&self.pending[..groups * 8], self.width, &mut self.bytes);
            self.pending.drain(..groups * 8);
        }
    }
}

/// Appends an unsigned varint.
pub(crate) fn write_uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Shorter runs cost more as a run, which also ends the packed groups, than as one more group.
const MIN_RUN: usize = 8;
/// SPEC: run lengths are at most 2^31 - 1.
const MAX_RUN: usize = i32::MAX as usize;
/// Packed values kept back before they are written: 63 groups have a header of one byte, as old readers expect.
const MAX_PENDING: usize = 63 * 8;
/// The longest header: a varint of 32 bits.
const MAX_HEADER: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_by_turns() {
        let bytes = [
            0x14, // 10 << 1: a run of ten
            0x05, // the value
            0x03, // 1 group << 1 | packed
            0x88, // 0 1 and two bits of 2
            0xc6, // the last bit of 2, 3 4 and one bit of 5
            0xfa, // two bits of 5, 6 7
        ];
        let values: Vec<u32> = std::iter::repeat_n(5, 10).chain(0..8).collect();
        assert_eq!(decode(&bytes, 3, 18).unwrap(), values);
        assert_eq!(encode(&values, 3), bytes);
    }

    #[test]
    fn a_last_group_may_be_cut_short() {
        let bytes = [
            0x03, // 1 group << 1 | packed
            0x88, // 0 1 and two bits of 2
            0xc6, // the last bit of 2, 3 4 and one bit of 5
        ];
        assert_eq!(decode(&bytes, 3, 5).unwrap(), [0, 1, 2, 3, 4]);
        assert!(decode(&bytes, 3, 6).is_err());
    }

    #[test]
    fn empty_runs_end() {
        assert_eq!(decode(&[0x00, 0x07, 0x01, 0x02, 0x03], 3, 1).unwrap(), [3]);
        assert!(decode(&[0x00, 0x00, 0x00, 0x00], 3, 1).is_err());
    }

    #[test]
    fn width_zero_needs_no_bytes() {
        assert_eq!(decode(&[0x06], 0, 3).unwrap(), [0, 0, 0]);
        assert_eq!(decode(&[0x03], 0, 8).unwrap(), [0; 8]);
        assert_eq!(encode(&[0; 9], 0), [0x12]);
    }

    #[test]
    fn a_value_wider_than_its_width_is_refused() {
        assert!(decode(&[0x02, 0x08], 3, 1).is_err());
        assert!(Hybrid::new(PageBytes::copy_of(&[]), 33).is_err());
    }
}
