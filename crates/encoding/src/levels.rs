//! Definition and repetition levels: small integers before the values of a page, as RLE or, in old files, BIT_PACKED.
//!
//! Spec: Encodings.md, "RLE" and "BIT_PACKED"; README.md, "Data Pages". A level takes as many bits as the column's
//! largest level needs; where the largest is 0, nothing is stored. Levels are kept as bytes.

use crate::bit_packed;
use crate::code::{BIT_PACKED, RLE};
use crate::rle::{self, RleBitPackedDecoder, RleRun};
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use marquetry_kernels::{self as kernels, Bitmap};
use std::ops::Range;

/// The repetition or the definition levels of one page, front to back.
#[derive(Debug, Clone)]
pub struct Levels {
    stored: Stored,
    max: u8,
}

#[derive(Debug, Clone)]
enum Stored {
    /// The largest level is 0, so all levels are 0 and nothing is stored.
    Zero,
    Rle(RleBitPackedDecoder),
    BitPacked(bit_packed::Reader),
}

/// A run of equal levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelRun {
    /// Whether these are the column's largest level.
    pub is_max: bool,
    /// The number of levels; 0 if the next levels are stored one by one.
    pub n: usize,
}

/// Returns the width in bits of a level in a column whose largest level is `max`.
pub fn width(max: u8) -> u32 {
    u8::BITS - max.leading_zeros()
}

impl Levels {
    /// Creates levels that are not stored because all are 0.
    pub fn zero() -> Self {
        Levels { stored: Stored::Zero, max: 0 }
    }

    /// Opens RLE levels that fill `bytes` without a length prefix, as in data page V2.
    pub fn rle(bytes: PaddedBytes, max: u8) -> Result<Self> {
        if max == 0 {
            return Ok(Levels::zero());
        }
        Ok(Levels { stored: Stored::Rle(RleBitPackedDecoder::new(bytes, width(max))?), max })
    }

    /// Opens the `n` levels at the front of `bytes`, stored in `encoding` as in data page V1. Also returns the number
    /// of bytes that they take.
    pub fn v1(encoding: i32, bytes: &PaddedBytes, max: u8, n: usize) -> Result<(Self, usize)> {
        if max == 0 {
            return Ok((Levels::zero(), 0));
        }
        match encoding {
            RLE => {
                let len = ByteCursor::new(bytes.as_slice()).u32_le()? as usize;
                let left = bytes.len() - 4;
                if len > left {
                    return Err(Error::truncated(format!("{len} bytes of levels, {left} left")));
                }
                Ok((Levels::rle(bytes.slice(4..4 + len), max)?, 4 + len))
            }
            BIT_PACKED => {
                let len = n.saturating_mul(width(max) as usize).div_ceil(8);
                if len > bytes.len() {
                    return Err(Error::truncated(format!("{len} bytes of levels, {} left", bytes.len())));
                }
                let reader = bit_packed::Reader::new(bytes.slice(0..len), width(max))?;
                Ok((Levels { stored: Stored::BitPacked(reader), max }, len))
            }
            other => Err(Error::unsupported(format!("levels in encoding {other}"))),
        }
    }

    /// The largest level of the column.
    pub fn max(&self) -> u8 {
        self.max
    }

    /// Returns the next run of levels, without consuming it.
    pub fn run(&mut self) -> Result<LevelRun> {
        let (level, n) = match &mut self.stored {
            Stored::Zero => (0, usize::MAX),
            Stored::Rle(hybrid) => hybrid.run()?,
            Stored::BitPacked(_) => (0, 0),
        };
        // Leaves a level that is too large to `decode`, which reports it.
        let n = if level > u32::from(self.max) { 0 } else { n };
        Ok(LevelRun { is_max: level == u32::from(self.max), n })
    }

    /// Appends the next `n` levels. Fails if one exceeds the column's largest level.
    pub fn decode(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        match &mut self.stored {
            Stored::Zero => out.resize(start + n, 0),
            Stored::Rle(hybrid) => hybrid.decode_u8(n, out)?,
            Stored::BitPacked(reader) => reader.decode(n, out)?,
        }
        // PERF: no check is needed if every value of this width is a legal level.
        let is_any = u16::from(self.max) + 1 == 1 << width(self.max);
        let largest = if is_any { 0 } else { out[start..].iter().copied().fold(0, u8::max) };
        if largest > self.max {
            return Err(Error::corrupt(format!("level {largest} in a column of levels up to {}", self.max)));
        }
        Ok(())
    }

    /// Appends one bit for each of the next `n` levels: whether it is the largest. If the largest level is 1, the stored bits are copied.
    pub fn decode_is_max(&mut self, n: usize, scratch: &mut Vec<u8>, out: &mut Bitmap) -> Result<()> {
        match &mut self.stored {
            Stored::Zero => out.push_run(true, n),
            Stored::Rle(hybrid) if self.max == 1 => hybrid.decode_bits(n, out)?,
            _ => {
                scratch.clear();
                self.decode(n, scratch)?;
                out.push_ge(scratch, self.max);
            }
        }
        Ok(())
    }

    /// Counts the levels before the row that follows the next `rows` rows, if these are repetition levels: those before
    /// the level 0 that comes after `rows` other zeros. Looks at the next `most` levels only and consumes nothing.
    /// Returns `None` if the levels are not stored as runs.
    pub fn entries_of_rows(&self, rows: usize, most: usize) -> Result<Option<usize>> {
        let Stored::Rle(hybrid) = &self.stored else { return Ok(None) };
        let (mut runs, width) = (hybrid.clone(), hybrid.width());
        let (mut begun, mut entries, mut unpacked) = (0, 0, Vec::new());
        while entries < most {
            match runs.next((most - entries).min(COUNTED_AT_ONCE))? {
                RleRun::Repeated { value: 0, n } if n > rows - begun => {
                    return Ok(Some(entries + rows - begun));
                }
                RleRun::Repeated { value, n } => {
                    begun += if value == 0 { n } else { 0 };
                    entries += n;
                }
                RleRun::Packed { bytes, first, n } => {
                    unpacked.clear();
                    kernels::unpack_u8(bytes, width, first, n, &mut unpacked);
                    let mut zeros = unpacked.iter().enumerate().filter(|(_, level)| **level == 0);
                    if let Some((at, _)) = zeros.nth(rows - begun) {
                        return Ok(Some(entries + at));
                    }
                    begun += unpacked.iter().filter(|level| **level == 0).count();
                    entries += n;
                }
            }
        }
        Ok(Some(entries))
    }

    /// Whether all stored levels were consumed.
    pub fn is_exhausted(&self) -> bool {
        match &self.stored {
            Stored::Zero => true,
            Stored::Rle(hybrid) => hybrid.is_exhausted(),
            Stored::BitPacked(reader) => reader.is_exhausted(),
        }
    }

    /// Skips the next `n` levels and returns how many of them are the largest. In definition levels, these are the
    /// values that are not null.
    pub fn skip(&mut self, n: usize, scratch: &mut Vec<u8>) -> Result<usize> {
        let max = self.max;
        let Stored::Rle(hybrid) = &mut self.stored else {
            scratch.clear();
            self.decode(n, scratch)?;
            return Ok(scratch.iter().filter(|&&level| level == max).count());
        };
        let (mut left, mut values) = (n, 0);
        while left > 0 {
            let width = hybrid.width();
            match hybrid.next(left)? {
                RleRun::Repeated { value, n } => {
                    left -= n;
                    values += if value == u32::from(max) { n } else { 0 };
                }
                RleRun::Packed { bytes, first, n } => {
                    left -= n;
                    scratch.clear();
                    kernels::unpack_u8(bytes, width, first, n, scratch);
                    values += scratch.iter().filter(|&&level| level == max).count();
                }
            }
        }
        Ok(values)
    }
}

/// Maximum number of packed levels that are unpacked at once to be counted.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// Levels to encode, in the most compact form.
#[derive(Debug, Clone)]
pub enum LevelSlice<'a> {
    /// Equal levels.
    Run {
        /// The level.
        level: u8,
        /// The number of levels.
        n: usize,
    },
    /// The levels 0 and 1, as bits.
    Bitmap {
        /// The bits.
        bits: &'a Bitmap,
        /// The range of bits to encode.
        range: Range<usize>,
    },
    /// Levels one by one.
    Levels(&'a [u8]),
}

impl LevelSlice<'_> {
    /// The number of levels.
    pub fn len(&self) -> usize {
        match self {
            LevelSlice::Run { n, .. } => *n,
            LevelSlice::Bitmap { range, .. } => range.len(),
            LevelSlice::Levels(levels) => levels.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Appends RLE levels without a length prefix, as in data page V2. `max` is the column's largest level; if it is 0, nothing is appended.
///
/// # Panics
/// If the range of a bitmap is out of bounds.
pub fn encode(slice: LevelSlice<'_>, max: u8, out: &mut Vec<u8>) {
    let width = width(max);
    match slice {
        _ if width == 0 => {}
        LevelSlice::Run { level, n } => rle::write_run(u32::from(level), n, width, out),
        LevelSlice::Bitmap { bits, range } if width == 1 => rle::write_bits(bits, range, out),
        LevelSlice::Bitmap { bits, range } => {
            let levels: Vec<u8> = range.map(|i| u8::from(bits.get(i))).collect();
            rle::write_bytes(&levels, width, out);
        }
        LevelSlice::Levels(levels) => rle::write_bytes(levels, width, out),
    }
}

/// Appends the length of the RLE levels, then the levels, as in data page V1. Appends nothing, not even a length, if
/// the largest level is 0.
///
/// # Panics
/// If the range of a bitmap is out of bounds, or the levels take over 4 GiB.
pub fn encode_v1(slice: LevelSlice<'_>, max: u8, out: &mut Vec<u8>) {
    if max == 0 {
        return;
    }
    let prefix = out.len();
    out.extend_from_slice(&[0; 4]);
    encode(slice, max, out);
    let len = u32::try_from(out.len() - prefix - 4).expect("levels of at most 4 GiB");
    out[prefix..prefix + 4].copy_from_slice(&len.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_rows_are_counted() {
        let bytes = [
            0x02,
            0, // a run of 1: 0
            0x0a,
            1, // a run of 5: 1
            0x04,
            0, // a run of 2: 0
            0x03,
            0b0000_0110, // 8 packed: 0 1 1 0 0 0 0 0
        ];
        let mut levels = Levels::rle(PaddedBytes::copy_of(&bytes), 1).unwrap();
        let counted = |levels: &Levels| -> Vec<_> {
            (0..10).map(|rows| levels.entries_of_rows(rows, 16).unwrap().unwrap()).collect()
        };
        assert_eq!(counted(&levels), [0, 6, 7, 8, 11, 12, 13, 14, 15, 16]);
        assert_eq!(levels.entries_of_rows(9, 10).unwrap(), Some(10));
        assert!(levels.entries_of_rows(9, 17).is_err());
        // In the middle of a row, the rest of this row is counted first.
        let mut taken = Vec::new();
        levels.decode(2, &mut taken).unwrap();
        assert_eq!(levels.entries_of_rows(0, 14).unwrap(), Some(4));
        assert_eq!(levels.entries_of_rows(2, 14).unwrap(), Some(6));
        assert_eq!(Levels::zero().entries_of_rows(3, 5).unwrap(), None);
    }

    #[test]
    fn v1_levels_have_a_length_before_them() {
        let bytes = [
            0x02, 0x00, 0x00, 0x00, // 2 bytes
            0x06, // a run of 3
            0x02, // level 2
            0xff, // not a level
        ];
        let (mut levels, taken) = Levels::v1(RLE, &PaddedBytes::copy_of(&bytes), 2, 3).unwrap();
        assert_eq!(taken, 6);
        let mut out = Vec::new();
        levels.decode(3, &mut out).unwrap();
        assert_eq!(out, [2, 2, 2]);
        assert!(levels.decode(1, &mut out).is_err());
        assert!(Levels::v1(RLE, &PaddedBytes::copy_of(&bytes[..5]), 2, 3).is_err());
    }

    #[test]
    fn a_level_over_the_largest_is_refused() {
        let bytes = PaddedBytes::from(rle::encode(&[0, 1, 3], 2));
        assert!(Levels::rle(bytes, 2).unwrap().decode(3, &mut Vec::new()).is_err());
    }

    #[test]
    fn runs_are_seen_before_they_are_read() {
        let bytes = [
            0x08, // a run of 4
            0x02, // level 2
            0x03, // one group
            0x24, // 0 1 2 0
            0x24, // 0 1 2 0
            0x06, // a run of 3
            0x01, // level 1
            0x02, // a run of 1
            0x03, // level 3
        ];
        let mut levels = Levels::rle(PaddedBytes::copy_of(&bytes), 2).unwrap();
        let mut out = Vec::new();
        for (n, run) in [
            (1, LevelRun { is_max: true, n: 4 }),
            (3, LevelRun { is_max: true, n: 3 }),
            (8, LevelRun { is_max: false, n: 0 }),
            (3, LevelRun { is_max: false, n: 3 }),
        ] {
            assert_eq!(levels.run().unwrap(), run);
            levels.decode(n, &mut out).unwrap();
        }
        assert_eq!(out, [2, 2, 2, 2, 0, 1, 2, 0, 0, 1, 2, 0, 1, 1, 1]);
        assert_eq!(levels.run().unwrap().n, 0);
        assert!(levels.decode(1, &mut out).is_err());
        assert_eq!(Levels::zero().run().unwrap(), LevelRun { is_max: true, n: usize::MAX });
    }

    #[test]
    fn skipping_counts_values() {
        let all: Vec<u32> = (0..500).map(|i| if i < 100 { 2 } else { i * i % 3 }).collect();
        let bytes = PaddedBytes::from(rle::encode(&all, 2));
        for n in [0, 1, 50, 150, 500] {
            let mut levels = Levels::rle(bytes.clone(), 2).unwrap();
            let values = levels.skip(n, &mut Vec::new()).unwrap();
            assert_eq!(values, all[..n].iter().filter(|&&level| level == 2).count());
            let (mut rest, mut bits) = (Vec::new(), Bitmap::new());
            levels.decode_is_max(500 - n, &mut rest, &mut bits).unwrap();
            assert_eq!(bits, all[n..].iter().map(|&level| level == 2).collect());
        }
    }
}
