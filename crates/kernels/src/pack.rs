//! Packing integers into 0 to 64 bits each, the mirror of `unpack.rs`.

/// Packs the lowest `width <= 64` bits of each value, least significant bit first, and appends the bytes; the unused
/// bits of the last byte are 0.
///
/// # Panics
/// If `width > 64`.
pub fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    assert!(width <= 64);
    if width == 0 {
        return;
    }
    out.reserve((values.len() * width as usize).div_ceil(8));
    let mask = u64::MAX >> (64 - width);
    let (mut buffer, mut used) = (0u128, 0);
    for &value in values {
        buffer |= u128::from(value & mask) << used;
        used += width;
        if used >= 64 {
            out.extend_from_slice(&(buffer as u64).to_le_bytes());
            buffer >>= 64;
            used -= 64;
        }
    }
    out.extend_from_slice(&(buffer as u64).to_le_bytes()[..used.div_ceil(8) as usize]);
}

/// Packs the lowest `width` bits (1 to 32) of each value, most significant bit first, and appends the bytes; the
/// unused bits of the last byte are 0.
///
/// # Panics
/// If `width` is 0 or over 32.
pub fn pack_msb(values: &[u32], width: u32, out: &mut Vec<u8>) {
    assert!((1..=32).contains(&width));
    out.reserve((values.len() * width as usize).div_ceil(8));
    let mask = u64::MAX >> (64 - width);
    let (mut buffer, mut used) = (0u64, 0);
    for &value in values {
        buffer = buffer << width | u64::from(value) & mask;
        used += width;
        while used >= 8 {
            used -= 8;
            out.push((buffer >> used) as u8);
        }
    }
    if used > 0 {
        out.push((buffer << (8 - used)) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_significant_bit_first() {
        // The example of the specification: 0 to 7 in three bits each.
        let mut out = Vec::new();
        pack(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
        assert_eq!(out, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn most_significant_bit_first() {
        for width in 1..=32 {
            let values: Vec<u32> = (0..37u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> (32 - width)).collect();
            let (mut packed, mut out) = (Vec::new(), Vec::new());
            pack_msb(&values, width, &mut packed);
            crate::unpack_msb_u32(&packed, width, 0, 5, &mut out);
            crate::unpack_msb_u32(&packed, width, 5, 32, &mut out);
            assert_eq!(out, values);
            if width <= 8 {
                let mut bytes = Vec::new();
                crate::unpack_msb_u8(&packed, width, 0, 37, &mut bytes);
                assert!(bytes.iter().map(|&byte| u32::from(byte)).eq(values));
            }
        }
    }
}
