//! Words of 64 bits out of packed bits, and masks of their lowest bits.

/// Returns 64 bits of `bytes` from bit `first` on. Bits past the end are 0.
#[inline]
pub(crate) fn word_at(bytes: &[u8], first: usize) -> u64 {
    let (byte, shift) = (first / 8, first % 8);
    if let Some(nine) = bytes.get(byte..byte + 9) {
        let low = u64::from_le_bytes(nine[..8].try_into().expect("8 of 9 bytes"));
        // `<< 1 << (63 - shift)` because a shift by 64 is not defined when `shift` is 0.
        return low >> shift | u64::from(nine[8]) << 1 << (63 - shift);
    }
    let mut padded = [0u8; 16];
    let rest = bytes.get(byte..).unwrap_or_default();
    padded[..rest.len()].copy_from_slice(rest);
    (u128::from_le_bytes(padded) >> shift) as u64
}

/// Returns eight bits of `bytes` from bit `first` on. Bits past the end are 0.
pub(super) fn byte_at(bytes: &[u8], first: usize) -> u8 {
    let (byte, shift) = (first / 8, first % 8);
    let next = bytes.get(byte + 1).copied().unwrap_or(0);
    ((u16::from(bytes[byte]) | u16::from(next) << 8) >> shift) as u8
}

/// A mask of the lowest `n` bits, `n <= 8`.
pub(super) fn low_mask(n: usize) -> u8 {
    if n >= 8 { 0xff } else { (1 << n) - 1 }
}

/// A mask of the lowest `n` bits, `n <= 64`.
#[inline]
pub(crate) fn low_mask64(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}
