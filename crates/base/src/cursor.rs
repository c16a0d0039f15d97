//! A forward-only reader over bytes that cannot overrun them.

use crate::{Error, Result};

/// Reads little-endian numbers, varints and slices front to back. Every read checks its bounds; the error carries the
/// byte position counted from the start of the slice.
///
/// ```
/// use marquetry_base::Cursor;
/// let mut cursor = Cursor::new(&[0x2a, 0, 0, 0, 0xac, 0x02]);
/// assert_eq!(cursor.u32_le()?, 42);
/// assert_eq!(cursor.uleb128()?, 300);
/// assert!(cursor.u8().is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, position: 0 }
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Whether every byte was read.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest().get(..n) {
            Some(taken) => {
                self.position += n;
                Ok(taken)
            }
            None => Err(self.short(n)),
        }
    }

    /// Passes over `n` bytes.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.short(N)),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes, little-endian.
    #[inline]
    pub fn u16_le(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn u32_le(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn u64_le(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An unsigned LEB128 varint of at most 64 bits.
    #[inline]
    pub fn uleb128(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("varint longer than 64 bits").at(self.position as u64))
    }

    /// A zigzag varint: 0, -1, 1, -2, 2 are stored as 0, 1, 2, 3, 4.
    #[inline]
    pub fn zigzag(&mut self) -> Result<i64> {
        let value = self.uleb128()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    #[cold]
    fn short(&self, wanted: usize) -> Error {
        Error::truncated(format!("{wanted} bytes wanted, {} left", self.remaining())).at(self.position as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_end_at_64_bits() {
        let mut longest = [0xff; 10];
        longest[9] = 0x01;
        assert_eq!(Cursor::new(&longest).uleb128().unwrap(), u64::MAX);
        longest[9] = 0x02;
        assert!(Cursor::new(&longest).uleb128().is_err());
        assert!(Cursor::new(&[0x80; 11]).uleb128().is_err());
        assert!(Cursor::new(&[0x80]).uleb128().is_err());
    }

    #[test]
    fn zigzag_covers_the_ends() {
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            let mut bytes = Vec::new();
            let mut rest = ((value << 1) ^ (value >> 63)) as u64;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            assert_eq!(Cursor::new(&bytes).zigzag().unwrap(), value);
        }
    }
}
