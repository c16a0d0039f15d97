//! BIT_PACKED (4), deprecated: integers of one width back to back, the most significant bit first.
//!
//! Spec: Encodings.md, "Bit-packed (Deprecated)". Legal for levels only, in V1 data pages; old writers used it. The width
//! and the number of values are known from outside.
//!
//! ```text
//! width 3     byte 0     byte 1     byte 2
//!             aaabbbcc   cdddeeef   ffggghhh
//! ```
//!
//! The specification's example, the numbers 0 to 7 in three bits each:
//!
//! ```
//! use marquetry_encoding::bit_packed;
//! let bytes = [
//!     0b0000_0101, // 0 1 and two bits of 2
//!     0b0011_1001, // the last bit of 2, 3 4 and one bit of 5
//!     0b0111_0111, // two bits of 5, 6 7
//! ];
//! assert_eq!(bit_packed::decode(&bytes, 3, 8)?, [0, 1, 2, 3, 4, 5, 6, 7]);
//! assert_eq!(bit_packed::encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3)?, bytes);
//! # Ok::<(), marquetry_base::Error>(())
//! ```

use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::ops::RangeInclusive;

/// Decodes `n` values of `width` bits, 1 to 32.
pub fn decode(bytes: &[u8], width: u32, n: usize) -> Result<Vec<u32>> {
    check_width(width, WIDTHS)?;
    let there = bytes.len().saturating_mul(8) / width as usize;
    if n > there {
        return Err(short(n, there));
    }
    let mut out = Vec::new();
    kernels::unpack_msb_u32(bytes, width, 0, n, &mut out);
    Ok(out)
}

/// Encodes values of `width` bits, 1 to 32; higher bits are dropped.
pub fn encode(values: &[u32], width: u32) -> Result<Vec<u8>> {
    check_width(width, WIDTHS)?;
    let mut out = Vec::new();
    kernels::pack_msb(values, width, &mut out);
    Ok(out)
}

/// Reads levels, front to back. Levels are kept as bytes, so widths over 8 are not needed.
#[derive(Debug, Clone)]
pub struct Reader {
    page: PaddedBytes,
    width: u32,
    /// Index of the next value.
    position: usize,
}

impl Reader {
    /// Creates a reader of levels of `width` bits. Fails unless `width` is 1 to 8.
    pub fn new(page: PaddedBytes, width: u32) -> Result<Self> {
        check_width(width, LEVEL_WIDTHS)?;
        Ok(Reader { page, width, position: 0 })
    }

    /// Appends the next `n` levels.
    pub fn decode(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        // Counts by bits: padding at the end may hold the bits of further levels.
        let left = self.page.len().saturating_mul(8) / self.width as usize - self.position;
        if n > left {
            return Err(short(n, left));
        }
        kernels::unpack_msb_u8(self.page.padded(), self.width, self.position, n, out);
        self.position += n;
        Ok(())
    }

    /// Whether nothing is left but padding of the last byte.
    pub fn is_exhausted(&self) -> bool {
        self.position.saturating_mul(self.width as usize).div_ceil(8) == self.page.len()
    }
}

fn check_width(width: u32, widths: RangeInclusive<u32>) -> Result<()> {
    match widths.contains(&width) {
        true => Ok(()),
        false => Err(Error::corrupt(format!("BIT_PACKED width {width}"))),
    }
}

#[cold]
fn short(n: usize, left: usize) -> Error {
    Error::truncated(format!("{n} BIT_PACKED values wanted, {left} left"))
}

/// The same widths as in the RLE hybrid, which replaced this encoding. Width 0 is missing: if all levels are 0, nothing is stored.
const WIDTHS: RangeInclusive<u32> = 1..=32;
/// Levels are at most 255.
const LEVEL_WIDTHS: RangeInclusive<u32> = 1..=8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_goes_both_ways() {
        for width in WIDTHS {
            let values: Vec<u32> = (0..100u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> (32 - width)).collect();
            let bytes = encode(&values, width).unwrap();
            assert_eq!(bytes.len(), (100 * width as usize).div_ceil(8));
            assert_eq!(decode(&bytes, width, 100).unwrap(), values);
            assert!(decode(&bytes, width, 108).is_err());
        }
        assert!(encode(&[], 0).is_err());
        assert!(decode(&[0; 8], 33, 1).is_err());
        assert!(Reader::new(PaddedBytes::copy_of(&[]), 9).is_err());
    }
}
