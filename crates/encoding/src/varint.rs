//! Writes unsigned variable-length integers (ULEB128) and zigzag numbers.

/// Appends an unsigned varint.
pub(crate) fn write_uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zigzag: maps 0, -1, 1, -2, 2 to 0, 1, 2, 3, 4.
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The number of bytes of `value` as a varint.
pub(crate) fn uleb128_size(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}
