//! Unpacking integers of 0 to 64 bits, least significant bit first: the packing of RLE, dictionary indices,
//! DELTA_BINARY_PACKED and ALP. Also the deprecated packing with the most significant bit first.
//!
//! ```text
//! width 3, LSB first:   byte 0     byte 1     byte 2
//!   bits 7..0           cbbbaaa c  ...        value i occupies bits [3i, 3i+3) of the little-endian bit string
//! ```
//!
//! PERF: one loop per width, made by a const generic, so that all shifts and byte offsets are constants and a block of
//! 32 values (a whole number of bytes for any width) is straight-line code: one 8-byte load, shift and mask a value.

use std::mem::MaybeUninit;

/// Values in a block: `32 * width` bits are a whole number of bytes, and of words.
const BLOCK: usize = 32;
/// A load of eight bytes may reach this far past the block that it belongs to.
const OVERREAD: usize = 16;

/// Unpacks into bytes `n` values of `width <= 8` bits, beginning with value `first` of `source`, and appends them.
///
/// # Panics
/// If `width > 8` or `source` ends before the last value.
pub fn unpack_u8(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u8>) {
    unpack(source, width, first, n, out, &BLOCKS_U8);
}

/// Unpacks into 32-bit integers `n` values of `width <= 32` bits, beginning with value `first` of `source`, and
/// appends them.
///
/// # Panics
/// If `width > 32` or `source` ends before the last value.
pub fn unpack_u32(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u32>) {
    unpack(source, width, first, n, out, &BLOCKS_U32);
}

/// Unpacks into 64-bit integers `n` values of `width <= 64` bits, beginning with value `first` of `source`, and
/// appends them.
///
/// # Panics
/// If `width > 64` or `source` ends before the last value.
pub fn unpack_u64(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u64>) {
    unpack(source, width, first, n, out, &BLOCKS_U64);
}

/// Value `i` of `source`, packed in `width <= 64` bits; bits past the end of `source` read as 0.
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

/// Unpacks into bytes `n` values of `width <= 8` bits that are packed with the most significant bit first, and appends
/// them.
///
/// # Panics
/// If `width` is 0 or over 8, or `source` ends before the last value.
pub fn unpack_msb_u8(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u8>) {
    assert!(width <= 8);
    unpack_msb(source, width, first, n, out);
}

/// Unpacks into 32-bit integers `n` values of `width <= 32` bits that are packed with the most significant bit first,
/// and appends them.
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
        // Up to 7 + 32 bits are needed: they are in the word.
        T::from_u64(u64::from_be_bytes(word) << (bit % 8) >> (64 - width))
    }));
}

/// Unpacks whole blocks of [`BLOCK`] values.
type Blocks<T> = fn(source: &[u8], out: &mut [MaybeUninit<T>]);

fn unpack<T: Packed>(
    source: &[u8],
    width: u32,
    first: usize,
    n: usize,
    out: &mut Vec<T>,
    table: &[Blocks<T>],
) {
    let blocks = table[width as usize];
    let width = width as usize;
    let bytes_end = (first + n).checked_mul(width).expect("packed size fits").div_ceil(8);
    assert!(source.len() >= bytes_end, "{n} values of {width} bits in {} bytes", source.len());
    if width == 0 {
        out.resize(out.len() + n, T::from_u64(0));
        return;
    }
    out.reserve(n + BLOCK);
    // Eight values fill `width` bytes: single steps up to the next such boundary make the rest start on a byte.
    let head = (first.next_multiple_of(8) - first).min(n);
    out.extend((first..first + head).map(|i| T::from_u64(get_packed(source, width as u32, i))));
    let n = n - head;
    let source = source.get((first + head) / 8 * width..).unwrap_or_default();
    let block_bytes = BLOCK / 8 * width;
    let roomy = source.len().saturating_sub(OVERREAD).checked_div(block_bytes).unwrap_or(usize::MAX);
    let whole = (n / BLOCK).min(roomy);
    append(out, whole * BLOCK, |spare| blocks(source, spare));
    let mut done = whole * BLOCK;
    while done < n {
        // The end of the input, or of the request: one block at a time through a padded copy.
        let rest = source.get(done / 8 * width..).unwrap_or_default();
        let mut padded = [0u8; BLOCK * 8 + OVERREAD];
        let take = rest.len().min(block_bytes);
        padded[..take].copy_from_slice(&rest[..take]);
        let take = (n - done).min(BLOCK);
        append(out, BLOCK, |spare| blocks(&padded, spare));
        out.truncate(out.len() - (BLOCK - take));
        done += take;
    }
}

/// Appends `n` values that `fill` writes into uninitialised memory.
fn append<T: Copy>(out: &mut Vec<T>, n: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) {
    out.reserve(n);
    fill(&mut out.spare_capacity_mut()[..n]);
    // SAFETY: the capacity for `n` more was reserved, and `fill` is one of this file's block loops, which write every
    // element of the slice they are given.
    unsafe { out.set_len(out.len() + n) };
}

/// An integer that packed values are widened to.
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

fn blocks_u8<const W: usize>(source: &[u8], out: &mut [MaybeUninit<u8>]) {
    blocks::<W, u8>(source, out);
}

fn blocks_u32<const W: usize>(source: &[u8], out: &mut [MaybeUninit<u32>]) {
    blocks::<W, u32>(source, out);
}

fn blocks_u64<const W: usize>(source: &[u8], out: &mut [MaybeUninit<u64>]) {
    blocks::<W, u64>(source, out);
}

/// The definition: value `i` is bits `[i * W, (i + 1) * W)` of the little-endian bit string.
#[inline(always)]
fn blocks<const W: usize, T: Packed>(source: &[u8], out: &mut [MaybeUninit<T>]) {
    let (out, rest) = out.as_chunks_mut::<BLOCK>();
    debug_assert!(rest.is_empty());
    for (i, out) in out.iter_mut().enumerate() {
        let from = i * (BLOCK / 8 * W);
        let block = &source[from..from + BLOCK / 8 * W + OVERREAD];
        for (j, out) in out.iter_mut().enumerate() {
            out.write(T::from_u64(load::<W>(block, j)));
        }
    }
}

#[inline(always)]
fn load<const W: usize>(block: &[u8], i: usize) -> u64 {
    let bit = i * W;
    let low = || u64::from_le_bytes(block[bit / 8..bit / 8 + 8].try_into().expect("8 bytes"));
    match W {
        0 => 0,
        1..=57 => low() >> (bit % 8) & ((1 << W) - 1),
        _ => {
            // Up to 7 + 64 bits: the ninth byte is needed too.
            let high = u64::from(block[bit / 8 + 8]);
            (low() >> (bit % 8) | high << 1 << (63 - bit % 8)) & (u64::MAX >> (64 - W))
        }
    }
}

static BLOCKS_U8: [Blocks<u8>; 9] = [
    blocks_u8::<0>,
    blocks_u8::<1>,
    blocks_u8::<2>,
    blocks_u8::<3>,
    blocks_u8::<4>,
    blocks_u8::<5>,
    blocks_u8::<6>,
    blocks_u8::<7>,
    blocks_u8::<8>,
];

static BLOCKS_U32: [Blocks<u32>; 33] = [
    blocks_u32::<0>,
    blocks_u32::<1>,
    blocks_u32::<2>,
    blocks_u32::<3>,
    blocks_u32::<4>,
    blocks_u32::<5>,
    blocks_u32::<6>,
    blocks_u32::<7>,
    blocks_u32::<8>,
    blocks_u32::<9>,
    blocks_u32::<10>,
    blocks_u32::<11>,
    blocks_u32::<12>,
    blocks_u32::<13>,
    blocks_u32::<14>,
    blocks_u32::<15>,
    blocks_u32::<16>,
    blocks_u32::<17>,
    blocks_u32::<18>,
    blocks_u32::<19>,
    blocks_u32::<20>,
    blocks_u32::<21>,
    blocks_u32::<22>,
    blocks_u32::<23>,
    blocks_u32::<24>,
    blocks_u32::<25>,
    blocks_u32::<26>,
    blocks_u32::<27>,
    blocks_u32::<28>,
    blocks_u32::<29>,
    blocks_u32::<30>,
    blocks_u32::<31>,
    blocks_u32::<32>,
];

static BLOCKS_U64: [Blocks<u64>; 65] = [
    blocks_u64::<0>,
    blocks_u64::<1>,
    blocks_u64::<2>,
    blocks_u64::<3>,
    blocks_u64::<4>,
    blocks_u64::<5>,
    blocks_u64::<6>,
    blocks_u64::<7>,
    blocks_u64::<8>,
    blocks_u64::<9>,
    blocks_u64::<10>,
    blocks_u64::<11>,
    blocks_u64::<12>,
    blocks_u64::<13>,
    blocks_u64::<14>,
    blocks_u64::<15>,
    blocks_u64::<16>,
    blocks_u64::<17>,
    blocks_u64::<18>,
    blocks_u64::<19>,
    blocks_u64::<20>,
    blocks_u64::<21>,
    blocks_u64::<22>,
    blocks_u64::<23>,
    blocks_u64::<24>,
    blocks_u64::<25>,
    blocks_u64::<26>,
    blocks_u64::<27>,
    blocks_u64::<28>,
    blocks_u64::<29>,
    blocks_u64::<30>,
    blocks_u64::<31>,
    blocks_u64::<32>,
    blocks_u64::<33>,
    blocks_u64::<34>,
    blocks_u64::<35>,
    blocks_u64::<36>,
    blocks_u64::<37>,
    blocks_u64::<38>,
    blocks_u64::<39>,
    blocks_u64::<40>,
    blocks_u64::<41>,
    blocks_u64::<42>,
    blocks_u64::<43>,
    blocks_u64::<44>,
    blocks_u64::<45>,
    blocks_u64::<46>,
    blocks_u64::<47>,
    blocks_u64::<48>,
    blocks_u64::<49>,
    blocks_u64::<50>,
    blocks_u64::<51>,
    blocks_u64::<52>,
    blocks_u64::<53>,
    blocks_u64::<54>,
    blocks_u64::<55>,
    blocks_u64::<56>,
    blocks_u64::<57>,
    blocks_u64::<58>,
    blocks_u64::<59>,
    blocks_u64::<60>,
    blocks_u64::<61>,
    blocks_u64::<62>,
    blocks_u64::<63>,
    blocks_u64::<64>,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::pack;

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
            pack(&all, width, &mut packed);
            for slack in [0, 3, 64] {
                packed.resize((200 * width as usize).div_ceil(8) + slack, 0xaa);
                for first in [0, 1, 7, 8, 9, 31, 33] {
                    for n in [0, 1, 8, 31, 32, 33, 64, 100, 160] {
                        let mut out = vec![1];
                        unpack_u64(&packed, width, first, n, &mut out);
                        assert_eq!(out[1..], all[first..first + n], "width {width}, {n} from {first}");
                        if width <= 32 {
                            let mut out = Vec::new();
                            unpack_u32(&packed, width, first, n, &mut out);
                            assert!(
                                out.iter().map(|&v| u64::from(v)).eq(all[first..first + n].iter().copied())
                            );
                        }
                        if width <= 8 {
                            let mut out = Vec::new();
                            unpack_u8(&packed, width, first, n, &mut out);
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
