//! Finds bytes among eight bytes of a text at a time, by arithmetic on words.

/// Returns a word with `byte` in all eight bytes.
pub(super) const fn eight_of(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns the high bit of each byte that is 0, exactly.
#[inline]
pub(super) const fn zero_bytes(word: u64) -> u64 {
    !(((word & !HIGH_BITS) + !HIGH_BITS) | word | !HIGH_BITS)
}

/// Returns the high bit of the first byte that is less than `byte`, which is at most 128. Bits behind it mean nothing.
#[inline]
pub(super) const fn first_less(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(eight_of(byte)) & !word & HIGH_BITS
}

const HIGH_BITS: u64 = eight_of(0x80);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found() {
        let word = u64::from_le_bytes([1, 0, 0x80, 0xff, 0, 0x20, 0x1f, 2]);
        assert_eq!(zero_bytes(word), u64::from_le_bytes([0, 0x80, 0, 0, 0x80, 0, 0, 0]));
        let word = u64::from_le_bytes(*b"ab\xffc\x1fde ");
        assert_eq!(first_less(word, 0x20).trailing_zeros() / 8, 4);
        assert_eq!(first_less(u64::from_le_bytes(*b"abcdef  "), 0x20), 0);
    }
}
