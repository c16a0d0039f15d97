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

/// Packs the lowest `width` bits (1 to 8) of each value, most significant bit first, and appends the bytes; the
/// unused bits of the last byte are 0.
///
/// # Panics
/// If `width` is 0 or over 8.
pub fn pack_msb(values: &[u8], width: u32, out: &mut Vec<u8>) {
    assert!((1..=8).contains(&width));
    let start = out.len();
    out.resize(start + (values.len() * width as usize).div_ceil(8), 0);
    let packed = &mut out[start..];
    for (i, &value) in values.iter().enumerate() {
        let bit = i * width as usize;
        let pair = u16::from(value) << (16 - width) >> (bit % 8);
        packed[bit / 8] |= (pair >> 8) as u8;
        if let Some(next) = packed.get_mut(bit / 8 + 1) {
            *next |= pair as u8;
        }
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
        for width in 1..=8 {
            let mask = (0xffu16 >> (8 - width)) as u8;
            let values: Vec<u8> = (0..37u8).map(|i| i.wrapping_mul(101) & mask).collect();
            let (mut packed, mut out) = (Vec::new(), Vec::new());
            pack_msb(&values, width, &mut packed);
            crate::unpack_msb(&packed, width, 0, values.len(), &mut out);
            assert_eq!(out, values);
        }
    }
}
