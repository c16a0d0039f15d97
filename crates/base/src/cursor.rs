//! A forward-only reader over bytes that cannot overrun them.

use crate::{Error, Result};

/// Reads little-endian numbers, varints and slices front to back. Every read checks its bounds; the error carries the
/// byte position counted from the start of the slice.
///
/// ```
/// use marquetry_base::ByteCursor;
/// let mut cursor = ByteCursor::new(&[0x2a, 0, 0, 0, 0xac, 0x02]);
/// assert_eq!(cursor.u32_le()?, 42);
/// assert_eq!(cursor.uleb128()?, 300);
/// assert!(cursor.u8().is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ByteCursor<'a> {
    rest: &'a [u8],
    /// The position of the end of the bytes.
    len: usize,
}

impl<'a> ByteCursor<'a> {
    /// Creates a cursor at the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        ByteCursor { rest: bytes, len: bytes.len() }
    }

    /// Creates a cursor at the start of `rest`, whose first byte is at position `base`.
    #[inline]
    pub fn with_base(base: usize, rest: &'a [u8]) -> Self {
        ByteCursor { rest, len: base.saturating_add(rest.len()) }
    }

    /// The number of bytes read, plus the base if there is one.
    #[inline]
    pub fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The number of bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether every byte was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes not yet read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes the next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(short(n, self.remaining(), self.position())),
        }
    }

    /// Skips `n` bytes.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((array, rest)) => {
                self.rest = rest;
                Ok(*array)
            }
            None => Err(short(N, self.remaining(), self.position())),
        }
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads two bytes, little-endian.
    #[inline]
    pub fn u16_le(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads four bytes, little-endian.
    #[inline]
    pub fn u32_le(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads eight bytes, little-endian.
    #[inline]
    pub fn u64_le(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an unsigned LEB128 varint of at most 64 bits.
    ///
    /// PERF: combines up to eight bytes without a branch for each. Only inlined functions get a reference to the
    /// cursor, so that it stays in registers.
    #[inline]
    pub fn uleb128(&mut self) -> Result<u64> {
        if let [byte @ 0..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        if let Some((word, ends)) = self.varint_word() {
            // Keeps all bits up to the first byte that ends the varint.
            let word = word & (ends ^ (ends - 1));
            // Joins 8 groups of 7 bits to 4 groups of 14, 2 groups of 28, and finally 56 bits.
            let pairs = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
            let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
            return Ok((quads & 0x0fff_ffff) | ((quads >> 32 & 0x0fff_ffff) << 28));
        }
        let (value, rest) = bytewise_uleb128(self.rest, self.position())?;
        self.rest = rest;
        Ok(value)
    }

    /// Skips a varint. Fails if [`uleb128`](Self::uleb128) would.
    #[inline]
    pub fn skip_uleb128(&mut self) -> Result<()> {
        if let [0..0x80, rest @ ..] = self.rest {
            self.rest = rest;
        } else if self.varint_word().is_none() {
            (_, self.rest) = bytewise_uleb128(self.rest, self.position())?;
        }
        Ok(())
    }

    /// Skips a varint that ends within the next eight bytes. Returns these bytes, and a word with the top bit of each
    /// byte that ends a varint. Returns `None` if the varint is longer or fewer than eight bytes are left.
    #[inline]
    fn varint_word(&mut self) -> Option<(u64, u64)> {
        let word = u64::from_le_bytes(*self.rest.first_chunk()?);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return None;
        }
        self.rest = &self.rest[ends.trailing_zeros() as usize / 8 + 1..];
        Some((word, ends))
    }

    /// Reads a zigzag varint: 0, -1, 1, -2, 2 are stored as 0, 1, 2, 3, 4.
    #[inline]
    pub fn zigzag(&mut self) -> Result<i64> {
        let value = self.uleb128()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

#[cold]
#[inline(never)]
fn short(wanted: usize, left: usize, position: usize) -> Error {
    Error::truncated(format!("{wanted} bytes wanted, {left} left")).at(position as u64)
}

/// Reads the varint at the start of `bytes`, which is at `position`. Also returns the bytes after it.
#[cold]
#[inline(never)]
fn bytewise_uleb128(bytes: &[u8], position: usize) -> Result<(u64, &[u8])> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if i == 9 && bits > 1 {
            break;
        }
        value |= bits << (7 * i);
        if *byte < 0x80 {
            return Ok((value, &bytes[i + 1..]));
        }
    }
    if bytes.len() < 10 {
        return Err(short(1, 0, position + bytes.len()));
    }
    Err(Error::corrupt("varint longer than 64 bits").at(position as u64 + 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_end_at_64_bits() {
        let mut longest = [0xff; 10];
        longest[9] = 0x01;
        assert_eq!(ByteCursor::new(&longest).uleb128().unwrap(), u64::MAX);
        longest[9] = 0x02;
        assert!(ByteCursor::new(&longest).uleb128().is_err());
        assert!(ByteCursor::new(&[0x80; 11]).uleb128().is_err());
        assert!(ByteCursor::new(&[0x80]).uleb128().is_err());
    }

    #[test]
    fn varints_of_any_length_before_any_bytes() {
        for len in 1..=10 {
            for pattern in [0u64, u64::MAX, 0x0123_4567_89ab_cdef, 0x8000_0000_0000_0001] {
                let value = if len == 10 { pattern | 1 << 63 } else { pattern & ((1 << (7 * len)) - 1) };
                // Padded to `len` bytes, even if fewer are needed.
                let byte = |i: usize| (value >> (7 * i)) as u8 & 0x7f | if i + 1 < len { 0x80 } else { 0 };
                let varint: Vec<u8> = (0..len).map(byte).collect();
                for after in [&[][..], &[0xff; 9], &[0; 9], &[0x7f, 0x80]] {
                    let bytes = [&varint, after].concat();
                    let mut cursor = ByteCursor::new(&bytes);
                    assert_eq!(cursor.uleb128().unwrap(), value);
                    assert_eq!(cursor.position(), len);
                    let mut cursor = ByteCursor::new(&bytes);
                    cursor.skip_uleb128().unwrap();
                    assert_eq!(cursor.position(), len);
                }
                for end in 0..len {
                    assert!(ByteCursor::new(&varint[..end]).uleb128().is_err());
                    assert!(ByteCursor::new(&varint[..end]).skip_uleb128().is_err());
                }
            }
        }
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
            assert_eq!(ByteCursor::new(&bytes).zigzag().unwrap(), value);
        }
    }
}
