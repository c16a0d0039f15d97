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

use crate::{Bitmap, Decode, Encode, EncodedPage, Values};
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use marquetry_kernels::{self as kernels, Appender, Stretch};
use std::ops::Range;

/// Decodes `n` values of `width` bits from hybrid bytes without a length prefix.
pub fn decode(bytes: &[u8], width: u32, n: usize) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    Hybrid::new(PaddedBytes::copy_of(bytes), width)?.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes values of `width` bits as hybrid bytes without a length prefix.
///
/// # Panics
/// If the width is over 32.
pub fn encode(values: &[u32], width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    write_words(values, width, &mut out);
    out
}

/// Reads hybrid bytes piece by piece. Levels, indices and booleans all decode through this.
#[derive(Debug, Clone)]
pub struct Hybrid {
    page: PaddedBytes,
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
    pub fn new(page: PaddedBytes, width: u32) -> Result<Self> {
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

    /// The value that comes next, and how many times at least; 0 times if it is packed among others.
    pub fn run(&mut self) -> Result<(u32, usize)> {
        if self.left() == 0 {
            self.next_run()?;
        }
        match self.run {
            Run::Repeated { value, left } => Ok((value, left)),
            Run::Packed { .. } => Ok((0, 0)),
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
    /// PERF: packed again without headers, a block at a time, and then unpacked at once: runs of levels are short.
    ///
    /// # Panics
    /// If the width is over 8.
    pub fn decode_u8(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let width = self.width;
        assert!(width <= 8);
        let mut packed = Bitmap::new();
        let mut left = n;
        while left > 0 {
            match self.run {
                Run::Repeated { value, left: run } if run >= left.min(BLOCK) => {
                    let n = run.min(left);
                    out.resize(out.len() + n, value as u8);
                    self.run = Run::Repeated { value, left: run - n };
                    left -= n;
                }
                _ => {
                    let block = left.min(BLOCK);
                    packed.clear();
                    self.decode_packed(block, &mut packed)?;
                    kernels::unpack_u8(packed.as_bytes(), width, 0, block, out);
                    left -= block;
                }
            }
        }
        Ok(())
    }

    /// Appends the next `n` values, which must be of one bit, as bits.
    ///
    /// # Panics
    /// If the width is not 1.
    pub fn decode_bits(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        assert_eq!(self.width, 1);
        self.decode_packed(n, out)
    }

    /// Appends the bits of the next `n` values, which must be of at most 8 bits each.
    fn decode_packed(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        let width = self.width as usize;
        let mut out = out.appender();
        let mut left = n;
        while left > 0 {
            if self.left() == 0 {
                left -= self.short_runs(left, &mut out);
            }
            if left > 0 {
                left -= match self.next(left)? {
                    Piece::Repeated { value, n } => {
                        push_repeated(value, n, width, &mut out);
                        n
                    }
                    Piece::Packed { bytes, first, n } => {
                        out.push_packed(bytes, first * width, n * width);
                        n
                    }
                };
            }
        }
        Ok(())
    }

    /// Appends the bits of whole runs that are short and have headers of up to two bytes, and not more than `most` values
    /// together; returns how many values. The run before must be over.
    ///
    /// PERF: scattered nulls make runs of ten or twenty levels, of either kind. There is no branch on the kind, on the header's
    /// size or on the length, which would be mispredicted every other time.
    fn short_runs(&mut self, most: usize, out: &mut Appender<'_>) -> usize {
        let width = self.width as usize;
        let Some(longest_packed) = 64usize.checked_div(width) else { return 0 };
        // Where values do not straddle words, every word of a run is alike.
        let longest_run = if 64 % width == 0 { 256 / width } else { longest_packed };
        let in_every_value = IN_EVERY_VALUE[width];
        let bytes = self.page.as_slice();
        let most = most.min(BLOCK);
        let (mut position, mut left) = (self.position, most);
        out.push_stretches(most * width, || {
            let next = bytes.get(position..)?.first_chunk::<10>()?;
            let has_two = next[0] >> 7;
            let count = usize::from(next[0] & 0x7f) | usize::from(next[1] * has_two) << 7;
            let payload = u64::from_le_bytes(*next[1..].first_chunk()?);
            let behind = u64::from_le_bytes(*next[2..].first_chunk()?);
            let payload = if has_two == 0 { payload } else { behind };
            let is_packed = count & 1 == 1;
            let n = count >> 1 << if is_packed { 3 } else { 0 };
            let longest = if is_packed { longest_packed } else { longest_run };
            let is_value = is_packed | (u32::from(payload as u8) >> width == 0);
            if n > left.min(longest) || !is_value || next[1] & (has_two << 7) != 0 {
                return None;
            }
            left -= n;
            let bits = n * width;
            position += 1 + usize::from(has_two) + if is_packed { bits / 8 } else { 1 };
            let repeated = u64::from(payload as u8).wrapping_mul(in_every_value);
            let word = if is_packed { payload } else { repeated };
            Some(Stretch { bits, word, after: if bits > 64 { repeated } else { 0 } })
        });
        self.position = position;
        most - left
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

    /// Whether nothing is left but the filling of the last group.
    pub fn is_exhausted(&self) -> bool {
        let is_filling = match self.run {
            Run::Repeated { left, .. } => left == 0,
            Run::Packed { left, .. } => left < GROUP,
        };
        is_filling && self.position == self.page.len()
    }

    /// Reads headers up to a run that is not empty. Each header consumes a byte, so this ends.
    fn next_run(&mut self) -> Result<()> {
        while self.left() == 0 {
            let mut cursor = ByteCursor::new(&self.page.as_slice()[self.position..]);
            let header = cursor.uleb128().map_err(|error| error.offset_by(self.position as u64))?;
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
        let len = ByteCursor::new(bytes.as_slice()).u32_le()? as usize;
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

    fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// Encodes BOOLEAN values.
#[derive(Debug)]
pub struct Encoder {
    bits: Bitmap,
    /// About how many bytes they will take.
    estimate: usize,
}

impl Encoder {
    /// An empty page.
    #[expect(clippy::new_without_default, reason = "encoders are made by the registry, not by default")]
    pub fn new() -> Self {
        Encoder { bits: Bitmap::new(), estimate: 0 }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        let Values::Bit(bits) = values else {
            return Err(crate::values::wrong_shape(crate::Shape::Bit, values));
        };
        let start = self.bits.len();
        self.bits.push_packed(bits.as_bytes(), range.start, range.len());
        let words = (start..self.bits.len()).step_by(64).map(|at| self.bits.word(at));
        // Words of both kinds of bits stay as they are, of the others most are in a run that has begun before.
        self.estimate += words.map(|word| if word == 0 || word == u64::MAX { 0 } else { 9 }).sum::<usize>();
        Ok(())
    }

    /// An estimate, which looks at runs of whole words only.
    fn size(&self) -> usize {
        4 + 3 * usize::from(!self.bits.is_empty()) + self.estimate.min(self.bits.len() / 8)
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        let prefix = page.len();
        page.extend_from_slice(&[0; 4]);
        write_bits(&self.bits, 0..self.bits.len(), page);
        let len = u32::try_from(page.len() - prefix - 4)
            .map_err(|_| Error::argument("a page of over 4 GiB of booleans"))?;
        page[prefix..prefix + 4].copy_from_slice(&len.to_le_bytes());
        self.bits.clear();
        self.estimate = 0;
        Ok(())
    }
}

/// Appends hybrid bytes of values of `width <= 32` bits.
pub(crate) fn write_words(values: &[u32], width: u32, out: &mut Vec<u8>) {
    write(values, width, kernels::pack_u32, out);
}

/// Appends hybrid bytes of values of `width <= 8` bits.
pub(crate) fn write_bytes(values: &[u8], width: u32, out: &mut Vec<u8>) {
    write(values, width, kernels::pack_u8, out);
}

/// Appends hybrid bytes of `n` times the same value.
pub(crate) fn write_run(value: u32, n: usize, width: u32, out: &mut Vec<u8>) {
    let mut left = n;
    while left > 0 {
        let n = left.min(MAX_RUN);
        write_uleb128((n as u64) << 1, out);
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        left -= n;
    }
}

/// Appends hybrid bytes: a run where one is worth it, packed groups elsewhere.
fn write<T: Copy + Eq + Into<u32>>(
    values: &[T],
    width: u32,
    pack: fn(&[T], u32, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    if width == 0 {
        return write_run(0, values.len(), 0, out);
    }
    let packed = |values: &[T], out: &mut Vec<u8>| {
        for values in values.chunks(MAX_PACKED) {
            write_uleb128((values.len().div_ceil(GROUP) as u64) << 1 | 1, out);
            pack(values, width, out);
            // SPEC: groups are whole: the number of values is known from outside.
            let filled = out.len() + (GROUP - values.len() % GROUP) % GROUP * width as usize / 8;
            out.resize(filled, 0);
        }
    };
    let (mut literal, mut at) = (0, 0);
    while let Some(group) = values[at..].first_chunk::<GROUP>() {
        if group.iter().any(|value| *value != group[0]) {
            at += GROUP;
            continue;
        }
        let n = GROUP + equal(&values[at + GROUP..], group[0]);
        if n >= shortest_run(width, literal < at) {
            packed(&values[literal..at], out);
            write_run(group[0].into(), n, width, out);
            at += n;
            literal = at;
        } else {
            at += n / GROUP * GROUP;
        }
    }
    // What does not fill a group takes a whole one, unless it is a run.
    match &values[at..] {
        [first, rest @ ..] if literal == at && rest.iter().all(|value| value == first) => {
            write_run((*first).into(), 1 + rest.len(), width, out);
        }
        _ => packed(&values[literal..], out),
    }
}

/// How many values at the front of `values` are `value`.
fn equal<T: Copy + Eq>(values: &[T], value: T) -> usize {
    let (groups, _) = values.as_chunks::<GROUP>();
    let whole = groups.iter().take_while(|group| group.iter().all(|other| *other == value)).count() * GROUP;
    whole + values[whole..].iter().take_while(|other| **other == value).count()
}

/// Appends hybrid bytes of the bits in `range`.
pub(crate) fn write_bits(bits: &Bitmap, range: Range<usize>, out: &mut Vec<u8>) {
    assert!(range.end <= bits.len(), "bits {range:?} of {}", bits.len());
    let (mut literal, mut at) = (range.start, range.start);
    while at < range.end {
        let word = bits.word(at);
        let same = if word & 1 == 0 { word.trailing_zeros() } else { word.trailing_ones() } as usize;
        let n = if same < 64 { same } else { equal_bits(bits, at, range.end) }.min(range.end - at);
        if n >= shortest_run(1, literal < at) || (n == range.end - at && literal == at) {
            write_packed_bits(bits, literal..at, out);
            write_run((word & 1) as u32, n, 1, out);
            at += n;
            literal = at;
        } else if has_uniform_lane(word) {
            at += GROUP.max(n / GROUP * GROUP);
        } else {
            // A run that is long enough has one of these lanes all to itself.
            at += 64;
        }
    }
    write_packed_bits(bits, literal..range.end, out);
}

/// Whether one of the four 16-bit lanes of `word` is all zeros or all ones.
fn has_uniform_lane(word: u64) -> bool {
    const LOW: u64 = 0x0001_0001_0001_0001;
    let has_zero = |word: u64| word.wrapping_sub(LOW) & !word & LOW << 15;
    has_zero(word) | has_zero(!word) != 0
}

/// How many bits from `first` on, but before `end`, are like bit `first`.
fn equal_bits(bits: &Bitmap, first: usize, end: usize) -> usize {
    let flip = if bits.get(first) { u64::MAX } else { 0 };
    let mut at = first;
    while at < end {
        let same = (bits.word(at) ^ flip).trailing_zeros() as usize;
        at += same;
        if same < 64 {
            break;
        }
    }
    at.min(end) - first
}

fn write_packed_bits(bits: &Bitmap, range: Range<usize>, out: &mut Vec<u8>) {
    for first in range.clone().step_by(MAX_PACKED) {
        let n = (range.end - first).min(MAX_PACKED);
        write_uleb128((n.div_ceil(GROUP) as u64) << 1 | 1, out);
        let start = out.len();
        out.reserve(n / 8 + 8);
        (first..first + n).step_by(64).for_each(|at| out.extend_from_slice(&bits.word(at).to_le_bytes()));
        out.truncate(start + n.div_ceil(8));
        if let (Some(last), used @ 1..) = (out.last_mut(), n % 8) {
            *last &= (1 << used) - 1;
        }
    }
}

/// From how many equal values on a run takes fewer bytes than they do packed. A run that interrupts packed groups also
/// makes a second header for those necessary.
fn shortest_run(width: u32, interrupts: bool) -> usize {
    let bytes = 1 + width.div_ceil(8) + u32::from(interrupts) + RUN_GAIN;
    (8 * bytes).div_ceil(width) as usize
}

/// Appends an unsigned varint.
pub(crate) fn write_uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the bits of `n` times `value`, of 1 to 8 bits.
fn push_repeated(value: u32, n: usize, width: usize, out: &mut Appender<'_>) {
    if width == 1 {
        return out.push_run(value != 0, n);
    }
    let Some(longest) = 64usize.checked_div(width) else { return };
    let word = u64::from(value).wrapping_mul(IN_EVERY_VALUE[width]);
    for done in (0..n).step_by(longest) {
        let bits = (n - done).min(longest) * width;
        out.push(word & u64::MAX >> (64 - bits), bits as u32);
    }
}

/// For each width up to 8 a word with a 1 as each value.
static IN_EVERY_VALUE: [u64; 9] = {
    let mut words = [0; 9];
    let mut width = 1;
    while width <= 8 {
        let mut at = 0;
        while at < 64 {
            words[width] |= 1 << at;
            at += width;
        }
        width += 1;
    }
    words
};

/// Values that are packed again at a time.
const BLOCK: usize = 2048;
/// Values in a packed group, which is a whole number of bytes for any width.
const GROUP: usize = 8;
/// SPEC: run lengths are at most 2^31 - 1.
const MAX_RUN: usize = i32::MAX as usize;
/// Values behind one header of packed groups; many, because readers are the faster the longer they go without one.
const MAX_PACKED: usize = 1 << 27;
/// So many bytes must a run save, because each end of one takes readers some time.
const RUN_GAIN: u32 = 1;

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
        for first in 0..70 {
            // Bitmap that fill words at any place, and empty runs of both kinds behind them.
            let mut bytes = Vec::new();
            write_run(1, first, 1, &mut bytes);
            write_run(1, 1, 1, &mut bytes);
            bytes.extend([[0x00, 0x01], [0x01, 0x01]].concat().repeat(8));
            let mut hybrid = Hybrid::new(PaddedBytes::from(bytes), 1).unwrap();
            let mut bits = Bitmap::new();
            hybrid.decode_bits(first + 1, &mut bits).unwrap();
            assert_eq!(bits.count_ones(0..bits.len()), first + 1);
            assert!(hybrid.decode_bits(1, &mut bits).is_err());
        }
    }

    #[test]
    fn width_zero_needs_no_bytes() {
        assert_eq!(decode(&[0x06], 0, 3).unwrap(), [0, 0, 0]);
        assert_eq!(decode(&[0x03], 0, 8).unwrap(), [0; 8]);
        assert_eq!(encode(&[0; 9], 0), [0x12]);
    }

    #[test]
    fn bytes_are_what_words_are() {
        for width in 0..=8 {
            let mask = (1u32 << width) - 1;
            // Runs of all lengths, and packed groups between them.
            let values: Vec<u32> =
                (0..9000u32).map(|i| if i / 97 % 3 == 0 { i * i } else { i / 100 } & mask).collect();
            let bytes = PaddedBytes::from(encode(&values, width));
            for step in [1, 7, 64, 2048, 9000] {
                let (mut hybrid, mut out) = (Hybrid::new(bytes.clone(), width).unwrap(), Vec::new());
                while out.len() + step <= values.len() {
                    hybrid.decode_u8(step, &mut out).unwrap();
                }
                assert!(out.iter().map(|&byte| u32::from(byte)).eq(values[..out.len()].iter().copied()));
            }
        }
    }

    #[test]
    fn a_value_wider_than_its_width_is_refused() {
        assert!(decode(&[0x02, 0x08], 3, 1).is_err());
        assert!(Hybrid::new(PaddedBytes::copy_of(&[]), 33).is_err());
    }
}
