//! Bit unpacking of integers of 0 to 64 bits, least significant bit first: RLE, dictionary indices, DELTA_BINARY_PACKED and
//! ALP. Also the deprecated packing with the most significant bit first.
//!
//! ```text
//! width 3, LSB first:   byte 0     byte 1     byte 2
//!   bits 7..0           cbbbaaa c  ...        value i occupies bits [3i, 3i+3) of the little-endian bit string
//! ```
//!
//! PERF: there is one loop per width, created by a const generic, so that all shifts and byte offsets are constants. A group of
//! eight values, which takes whole bytes at any width, is straight-line code: an 8-byte load, a shift and a mask for each value.

use crate::signatures::{Kernels, Unpack};
use crate::uninit::append;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Number of values in a group. Its `8 * width` bits take whole bytes.
pub(crate) const GROUP: usize = 8;
/// Number of bytes that a load may read past the end of its group.
pub(crate) const OVERREAD_BYTES: usize = 16;

impl Kernels {
    /// `unpack_u8` at this level.
    pub fn unpack_u8(&self, source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u8>) {
        assert!(width <= u8::BITS, "width {width}");
        unpack(self.unpack_u8, source, width, first, n, out);
    }

    /// `unpack_u32` at this level.
    pub fn unpack_u32(&self, source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u32>) {
        assert!(width <= u32::BITS, "width {width}");
        unpack(self.unpack_u32, source, width, first, n, out);
    }

    /// `unpack_u64` at this level.
    pub fn unpack_u64(&self, source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u64>) {
        assert!(width <= u64::BITS, "width {width}");
        unpack(self.unpack_u64, source, width, first, n, out);
    }
}

/// Returns value `i` of `source`, packed in `width <= 64` bits. Bits past the end of `source` read as 0.
#[inline]
pub fn get_packed(source: &[u8], width: u32, i: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    let bit = i * width as usize;
    let mut word = [0u8; 16];
    let rest = source.get(bit / 8..).unwrap_or_default();
    let take = rest.len().min(16);
    word[..take].copy_from_slice(&rest[..take]);
    (u128::from_le_bytes(word) >> (bit % 8)) as u64 & (u64::MAX >> (64 - width))
}

/// Unpacks `n` values of `width <= 8` bits that are packed with the most significant bit first, and appends them as bytes.
///
/// # Panics
/// If `width` is 0 or over 8, or `source` ends before the last value.
pub fn unpack_msb_u8(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u8>) {
    assert!(width <= 8);
    unpack_msb(source, width, first, n, out);
}

/// Unpacks `n` values of `width <= 32` bits that are packed with the most significant bit first, and appends them as 32-bit integers.
///
/// # Panics
/// If `width` is 0 or over 32, or `source` ends before the last value.
pub fn unpack_msb_u32(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u32>) {
    assert!(width <= 32);
    unpack_msb(source, width, first, n, out);
}

fn unpack_msb<T: Packed>(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<T>) {
    assert!(width > 0);
    let bytes_end = (first + n).checked_mul(width as usize).expect("packed size fits").div_ceil(8);
    assert!(source.len() >= bytes_end, "{n} values of {width} bits in {} bytes", source.len());
    out.extend((first..first + n).map(|i| {
        let bit = i * width as usize;
        let mut word = [0u8; 8];
        match source.get(bit / 8..bit / 8 + 8) {
            Some(whole) => word.copy_from_slice(whole),
            None => word[..source.len() - bit / 8].copy_from_slice(&source[bit / 8..]),
        }
        // A value takes up to 7 + 32 bits of the word, so it is always inside.
        T::from_u64(u64::from_be_bytes(word) << (bit % 8) >> (64 - width))
    }));
}

/// Checks the lengths and unpacks whole groups with `kernel`: in place where enough input follows them, and from a padded copy otherwise.
fn unpack<T: Packed>(kernel: Unpack<T>, source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<T>) {
    let bytes_per_group = width as usize;
    let bytes_end = (first + n).checked_mul(bytes_per_group).expect("packed size fits").div_ceil(8);
    assert!(source.len() >= bytes_end, "{n} values of {width} bits in {} bytes", source.len());
    if width == 0 || n == 0 {
        out.resize(out.len() + n, T::from_u64(0));
        return;
    }
    out.reserve(n);
    let mut source = &source[first / GROUP * bytes_per_group..];
    let mut left = n;
    let mut padded = [0; 64 + OVERREAD_BYTES];
    // Unpacks a group of which only some values are needed, or the last group of the input.
    let mut part_of_group = |source: &[u8], skip: usize, take: usize, out: &mut Vec<T>| {
        let roomy = match source.get(..bytes_per_group + OVERREAD_BYTES) {
            Some(roomy) => roomy,
            None => {
                padded[..source.len()].copy_from_slice(source);
                &padded
            }
        };
        let mut group = [MaybeUninit::new(T::from_u64(0)); GROUP];
        // SAFETY: this CPU has the level of `kernel`, see `Kernels`.
        unsafe { kernel(roomy, width, &mut group) };
        // SAFETY: all were initialized, first by the line that created them and then by the kernel.
        out.extend(group[skip..skip + take].iter().map(|value| unsafe { value.assume_init() }));
    };
    if !first.is_multiple_of(GROUP) {
        let take = (GROUP - first % GROUP).min(n);
        part_of_group(source, first % GROUP, take, out);
        source = source.get(bytes_per_group..).unwrap_or_default();
        left -= take;
    }
    let roomy = source.len().saturating_sub(OVERREAD_BYTES) / bytes_per_group;
    let groups = (left / GROUP).min(roomy);
    if groups > 0 {
        // SAFETY: this CPU has the level of `kernel`, which writes all it is given, see `Kernels`.
        unsafe { append(out, groups * GROUP, |spare| kernel(source, width, spare)) };
        source = &source[groups * bytes_per_group..];
        left -= groups * GROUP;
    }
    while left > 0 {
        let take = left.min(GROUP);
        part_of_group(source, 0, take, out);
        source = source.get(bytes_per_group..).unwrap_or_default();
        left -= take;
    }
}

/// Unpacks whole groups with `groups` where enough input follows them, and the values before and after them with
/// `apart`. They run in order, and each gets the state that the previous one returned.
///
/// # Safety
/// `groups` must write all it is given.
pub(crate) unsafe fn unpack_in_groups<T: Copy, S: Copy>(
    groups: impl FnOnce(&[u8], S, &mut [MaybeUninit<T>]) -> S,
    apart: impl Fn(Range<usize>, S, &mut Vec<T>) -> S,
    source: &[u8],
    width: u32,
    range: Range<usize>,
    before: S,
    out: &mut Vec<T>,
) -> S {
    let first_group = range.start.div_ceil(GROUP);
    let end_group = (source.len().saturating_sub(OVERREAD_BYTES) / width as usize).min(range.end / GROUP);
    if end_group <= first_group {
        return apart(range, before, out);
    }
    let mut last = before;
    if range.start < first_group * GROUP {
        last = apart(range.start..first_group * GROUP, last, out);
    }
    let source = &source[first_group * width as usize..];
    // SAFETY: the caller guarantees that `groups` writes all it is given.
    unsafe { append(out, (end_group - first_group) * GROUP, |spare| last = groups(source, last, spare)) };
    if end_group * GROUP < range.end {
        last = apart(end_group * GROUP..range.end, last, out);
    }
    last
}

/// The largest width of values that are unpacked to 64 bits in registers.
pub(crate) const MAX_WIDTH_IN_REGISTERS: u32 = 57;

/// An integer type that packed values are widened to.
trait Packed: Copy {
    fn from_u64(value: u64) -> Self;
}

impl Packed for u8 {
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as u8
    }
}

impl Packed for u32 {
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as u32
    }
}

impl Packed for u64 {
    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value
    }
}

/// A loop for one width.
type Groups<T> = fn(source: &[u8], out: &mut [MaybeUninit<T>]);

pub(crate) fn unpack_u8_scalar(source: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    GROUPS_U8[width as usize](source, out);
}

pub(crate) fn unpack_u32_scalar(source: &[u8], width: u32, out: &mut [MaybeUninit<u32>]) {
    GROUPS_U32[width as usize](source, out);
}

pub(crate) fn unpack_u64_scalar(source: &[u8], width: u32, out: &mut [MaybeUninit<u64>]) {
    GROUPS_U64[width as usize](source, out);
}

/// The definition of bit packing: value `i` is bits `[i * W, (i + 1) * W)` of the little-endian bit string.
fn groups<const W: usize, T: Packed>(source: &[u8], out: &mut [MaybeUninit<T>]) {
    let (out, rest) = out.as_chunks_mut::<GROUP>();
    assert!(rest.is_empty());
    for (i, out) in out.iter_mut().enumerate() {
        let group = &source[i * W..][..W + OVERREAD_BYTES];
        for (j, out) in out.iter_mut().enumerate() {
            out.write(T::from_u64(load::<W>(group, j)));
        }
    }
}

#[inline(always)]
fn load<const W: usize>(group: &[u8], i: usize) -> u64 {
    let bit = i * W;
    let low = || u64::from_le_bytes(group[bit / 8..bit / 8 + 8].try_into().expect("8 bytes"));
    match W {
        0 => 0,
        1..=57 => low() >> (bit % 8) & ((1 << W) - 1),
        _ => {
            // Up to 7 + 64 bits: the ninth byte is needed, too.
            let high = u64::from(group[bit / 8 + 8]);
            (low() >> (bit % 8) | high << 1 << (63 - bit % 8)) & (u64::MAX >> (64 - W))
        }
    }
}

static GROUPS_U8: [Groups<u8>; 9] = [
    groups::<0, u8>,
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
    groups::<0, u32>,
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
    groups::<0, u64>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::pack_u64;

    fn values(width: u32, n: usize) -> Vec<u64> {
        let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
        (0..n as u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64) & mask)
            .collect()
    }

    #[test]
    fn every_width_and_every_tail_agrees_with_what_was_packed() {
        for width in 0..=64 {
            let all = values(width, 200);
            let mut packed = Vec::new();
            pack_u64(&all, width, &mut packed);
            for slack in [0, 3, 64] {
                packed.resize((200 * width as usize).div_ceil(8) + slack, 0xaa);
                for first in [0, 1, 7, 8, 9, 31, 33] {
                    for n in [0, 1, 8, 31, 32, 33, 64, 100, 160] {
                        let mut out = vec![1];
                        Kernels::current().unpack_u64(&packed, width, first, n, &mut out);
                        assert_eq!(out[1..], all[first..first + n], "width {width}, {n} from {first}");
                        if width <= 32 {
                            let mut out = Vec::new();
                            Kernels::current().unpack_u32(&packed, width, first, n, &mut out);
                            assert!(
                                out.iter().map(|&v| u64::from(v)).eq(all[first..first + n].iter().copied())
                            );
                        }
                        if width <= 8 {
                            let mut out = Vec::new();
                            Kernels::current().unpack_u8(&packed, width, first, n, &mut out);
                            assert!(
                                out.iter().map(|&v| u64::from(v)).eq(all[first..first + n].iter().copied())
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn most_significant_bit_first() {
        // The example of the specification: 0 to 7 in three bits each.
        let mut out = Vec::new();
        unpack_msb_u8(&[0b0000_0101, 0b0011_1001, 0b0111_0111], 3, 0, 8, &mut out);
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
