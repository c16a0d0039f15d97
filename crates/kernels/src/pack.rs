//! Bit packing of integers into 0 to 64 bits each, the inverse of `unpack.rs`.
//!
//! PERF: as in `unpack.rs`, there is one loop per width, so that a group of eight values is assembled in registers with constant shifts.

use crate::signatures::Kernels;
use crate::uninit::append;
use crate::unpack::GROUP;
use std::mem::MaybeUninit;

/// Packs the lowest `width <= 32` bits of each value, least significant bit first, and appends the bytes. The unused
/// bits of the last byte are 0.
///
/// # Panics
/// If `width > 32`.
pub fn pack_u32(values: &[u32], width: u32, out: &mut Vec<u8>) {
    assert!(width <= u32::BITS, "width {width}");
    // SAFETY: these loops write all they are given.
    unsafe { pack(GROUPS_U32[width as usize], values, width, out) };
}

/// Packs the lowest `width <= 64` bits of each value, least significant bit first, and appends the bytes. The unused
/// bits of the last byte are 0.
///
/// # Panics
/// If `width > 64`.
pub fn pack_u64(values: &[u64], width: u32, out: &mut Vec<u8>) {
    assert!(width <= u64::BITS, "width {width}");
    // SAFETY: these loops write all they are given.
    unsafe { pack(GROUPS_U64[width as usize], values, width, out) };
}

impl Kernels {
    /// `pack_u8` at this level.
    pub fn pack_u8(&self, values: &[u8], width: u32, out: &mut Vec<u8>) {
        assert!(width <= u8::BITS, "width {width}");
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { pack(|values, out| (self.pack_u8)(values, width, out), values, width, out) };
    }
}

/// Packs whole groups with `groups`, and the remaining values as a group padded with zeros.
///
/// # Safety
/// `groups` must write all it is given.
unsafe fn pack<T: Copy + Default>(
    groups: impl Fn(&[T], &mut [MaybeUninit<u8>]),
    values: &[T],
    width: u32,
    out: &mut Vec<u8>,
) {
    let width = width as usize;
    let (whole, rest) = values.as_chunks::<GROUP>();
    let last = usize::from(!rest.is_empty()) * width;
    out.reserve(whole.len() * width + last);
    // SAFETY: the caller guarantees that `groups` writes all it is given.
    unsafe { append(out, whole.len() * width, |spare| groups(whole.as_flattened(), spare)) };
    if !rest.is_empty() {
        let mut group = [T::default(); GROUP];
        group[..rest.len()].copy_from_slice(rest);
        let end = out.len() + (rest.len() * width).div_ceil(8);
        // SAFETY: as above.
        unsafe { append(out, width, |spare| groups(&group, spare)) };
        out.truncate(end);
    }
}

/// A loop for one width.
type Groups<T> = fn(values: &[T], out: &mut [MaybeUninit<u8>]);

#[inline(always)]
pub(crate) fn pack_u8_scalar(values: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    GROUPS_U8[width as usize](values, out);
}

/// The definition of bit packing: value `i` is bits `[i * W, (i + 1) * W)` of the little-endian bit string.
fn groups<const W: usize, T: Copy + Into<u64>>(values: &[T], out: &mut [MaybeUninit<u8>]) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (packed, no_bytes) = out.as_chunks_mut::<W>();
    assert!(rest.is_empty() && no_bytes.is_empty() && groups.len() == packed.len());
    for (group, packed) in groups.iter().zip(packed) {
        let mut words = [0u64; GROUP + 1];
        for (i, &value) in group.iter().enumerate() {
            let value = value.into() & (u64::MAX >> (64 - W));
            let (word, bit) = (i * W / 64, i * W % 64);
            words[word] |= value << bit;
            if bit + W > 64 {
                words[word + 1] |= value >> (64 - bit);
            }
        }
        for (bytes, word) in packed.chunks_mut(8).zip(words) {
            bytes.write_copy_of_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }
}

/// Packs values of width 0, which take no bytes.
fn no_bits<T>(_: &[T], out: &mut [MaybeUninit<u8>]) {
    assert!(out.is_empty());
}

static GROUPS_U8: [Groups<u8>; 9] = [
    no_bits,
    groups::<1, u8>,
    groups::<2, u8>,
    groups::<3, u8>,
    groups::<4, u8>,
    groups::<5, u8>,
    groups::<6, u8>,
    groups::<7, u8>,
    groups::<8, u8>,
];

static GROUPS_U32: [Groups<u32>; 33] = [
    no_bits,
    groups::<1, u32>,
    groups::<2, u32>,
    groups::<3, u32>,
    groups::<4, u32>,
    groups::<5, u32>,
    groups::<6, u32>,
    groups::<7, u32>,
    groups::<8, u32>,
    groups::<9, u32>,
    groups::<10, u32>,
    groups::<11, u32>,
    groups::<12, u32>,
    groups::<13, u32>,
    groups::<14, u32>,
    groups::<15, u32>,
    groups::<16, u32>,
    groups::<17, u32>,
    groups::<18, u32>,
    groups::<19, u32>,
    groups::<20, u32>,
    groups::<21, u32>,
    groups::<22, u32>,
    groups::<23, u32>,
    groups::<24, u32>,
    groups::<25, u32>,
    groups::<26, u32>,
    groups::<27, u32>,
    groups::<28, u32>,
    groups::<29, u32>,
    groups::<30, u32>,
    groups::<31, u32>,
    groups::<32, u32>,
];

static GROUPS_U64: [Groups<u64>; 65] = [
    no_bits,
    groups::<1, u64>,
    groups::<2, u64>,
    groups::<3, u64>,
    groups::<4, u64>,
    groups::<5, u64>,
    groups::<6, u64>,
    groups::<7, u64>,
    groups::<8, u64>,
    groups::<9, u64>,
    groups::<10, u64>,
    groups::<11, u64>,
    groups::<12, u64>,
    groups::<13, u64>,
    groups::<14, u64>,
    groups::<15, u64>,
    groups::<16, u64>,
    groups::<17, u64>,
    groups::<18, u64>,
    groups::<19, u64>,
    groups::<20, u64>,
    groups::<21, u64>,
    groups::<22, u64>,
    groups::<23, u64>,
    groups::<24, u64>,
    groups::<25, u64>,
    groups::<26, u64>,
    groups::<27, u64>,
    groups::<28, u64>,
    groups::<29, u64>,
    groups::<30, u64>,
    groups::<31, u64>,
    groups::<32, u64>,
    groups::<33, u64>,
    groups::<34, u64>,
    groups::<35, u64>,
    groups::<36, u64>,
    groups::<37, u64>,
    groups::<38, u64>,
    groups::<39, u64>,
    groups::<40, u64>,
    groups::<41, u64>,
    groups::<42, u64>,
    groups::<43, u64>,
    groups::<44, u64>,
    groups::<45, u64>,
    groups::<46, u64>,
    groups::<47, u64>,
    groups::<48, u64>,
    groups::<49, u64>,
    groups::<50, u64>,
    groups::<51, u64>,
    groups::<52, u64>,
    groups::<53, u64>,
    groups::<54, u64>,
    groups::<55, u64>,
    groups::<56, u64>,
    groups::<57, u64>,
    groups::<58, u64>,
    groups::<59, u64>,
    groups::<60, u64>,
    groups::<61, u64>,
    groups::<62, u64>,
    groups::<63, u64>,
    groups::<64, u64>,
];

/// Packs the lowest `width` bits (1 to 32) of each value, most significant bit first, and appends the bytes. The unused
/// bits of the last byte are 0.
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
        pack_u64(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
        assert_eq!(out, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn higher_bits_are_dropped() {
        let mut out = vec![9];
        pack_u64(&[u64::MAX, 0, u64::MAX], 3, &mut out);
        pack_u32(&[u32::MAX, 0], 5, &mut out);
        Kernels::current().pack_u8(&[0xff; 11], 1, &mut out);
        assert_eq!(out, [9, 0b1100_0111, 0b1, 0b0001_1111, 0, 0xff, 0b111]);
    }

    #[test]
    fn most_significant_bit_first() {
        for width in 1..=32 {
            let values: Vec<u32> = (0..37u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> (32 - width)).collect();
            let (mut packed, mut out) = (Vec::new(), Vec::new());
            pack_msb(&values, width, &mut packed);
            crate::unpack::unpack_msb_u32(&packed, width, 0, 5, &mut out);
            crate::unpack::unpack_msb_u32(&packed, width, 5, 32, &mut out);
            assert_eq!(out, values);
            if width <= 8 {
                let mut bytes = Vec::new();
                crate::unpack::unpack_msb_u8(&packed, width, 0, 37, &mut bytes);
                assert!(bytes.iter().map(|&byte| u32::from(byte)).eq(values));
            }
        }
    }
}
