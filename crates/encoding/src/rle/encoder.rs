//! Encodes the RLE / bit-packing hybrid: runs where they take fewer bytes than packed groups.

use super::decoder::VALUES_PER_GROUP;
use crate::varint::write_uleb128;
use marquetry_kernels::{self as kernels, Bitmap};
use std::ops::Range;

/// Appends hybrid bytes of values of `width <= 32` bits.
pub(crate) fn write_words(values: &[u32], width: u32, out: &mut Vec<u8>) {
    write(values, width, kernels::pack_u32, out);
}

/// Appends hybrid bytes of values of `width <= 8` bits.
pub(crate) fn write_bytes(values: &[u8], width: u32, out: &mut Vec<u8>) {
    write(values, width, kernels::pack_u8, out);
}

/// Appends hybrid bytes of `n` times the same value.
pub(crate) fn write_run(value: u32, n: usize, width: u32, out: &mut Vec<u8>) {
    let mut left = n;
    while left > 0 {
        let n = left.min(MAX_VALUES_PER_RUN);
        write_uleb128((n as u64) << 1, out);
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        left -= n;
    }
}

/// Appends hybrid bytes: runs where they are worth it, packed groups elsewhere.
fn write<T: Copy + Eq + Into<u32>>(
    values: &[T],
    width: u32,
    pack: fn(&[T], u32, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    if width == 0 {
        return write_run(0, values.len(), 0, out);
    }
    let packed = |values: &[T], out: &mut Vec<u8>| {
        for values in values.chunks(MAX_PACKED_VALUES) {
            write_uleb128((values.len().div_ceil(VALUES_PER_GROUP) as u64) << 1 | 1, out);
            pack(values, width, out);
            // SPEC: groups are whole; the reader knows the number of values from elsewhere.
            let filled = out.len()
                + (VALUES_PER_GROUP - values.len() % VALUES_PER_GROUP) % VALUES_PER_GROUP * width as usize
                    / 8;
            out.resize(filled, 0);
        }
    };
    let (mut literal, mut at) = (0, 0);
    while let Some(group) = values[at..].first_chunk::<VALUES_PER_GROUP>() {
        if group.iter().any(|value| *value != group[0]) {
            at += VALUES_PER_GROUP;
            continue;
        }
        let n = VALUES_PER_GROUP + equal(&values[at + VALUES_PER_GROUP..], group[0]);
        if n >= shortest_run(width, literal < at) {
            packed(&values[literal..at], out);
            write_run(group[0].into(), n, width, out);
            at += n;
            literal = at;
        } else {
            at += n / VALUES_PER_GROUP * VALUES_PER_GROUP;
        }
    }
    // An incomplete group takes as many bytes as a whole one, unless it is a run.
    match &values[at..] {
        [first, rest @ ..] if literal == at && rest.iter().all(|value| value == first) => {
            write_run((*first).into(), 1 + rest.len(), width, out);
        }
        _ => packed(&values[literal..], out),
    }
}

/// Counts how many values at the front of `values` equal `value`.
fn equal<T: Copy + Eq>(values: &[T], value: T) -> usize {
    let (groups, _) = values.as_chunks::<VALUES_PER_GROUP>();
    let whole = groups.iter().take_while(|group| group.iter().all(|other| *other == value)).count()
        * VALUES_PER_GROUP;
    whole + values[whole..].iter().take_while(|other| **other == value).count()
}

/// Appends hybrid bytes of the bits in `range`.
pub(crate) fn write_bits(bits: &Bitmap, range: Range<usize>, out: &mut Vec<u8>) {
    assert!(range.end <= bits.len(), "bits {range:?} of {}", bits.len());
    let (mut literal, mut at) = (range.start, range.start);
    while at < range.end {
        let word = bits.word(at);
        let same = if word & 1 == 0 { word.trailing_zeros() } else { word.trailing_ones() } as usize;
        let n = if same < 64 { same } else { equal_bits(bits, at, range.end) }.min(range.end - at);
        if n >= shortest_run(1, literal < at) || (n == range.end - at && literal == at) {
            write_packed_bits(bits, literal..at, out);
            write_run((word & 1) as u32, n, 1, out);
            at += n;
            literal = at;
        } else if has_uniform_lane(word) {
            at += VALUES_PER_GROUP.max(n / VALUES_PER_GROUP * VALUES_PER_GROUP);
        } else {
            // Any run long enough to be worth it fills at least one of these lanes.
            at += 64;
        }
    }
    write_packed_bits(bits, literal..range.end, out);
}

/// Whether one of the four 16-bit lanes of `word` is all zeros or all ones.
fn has_uniform_lane(word: u64) -> bool {
    const LOW: u64 = 0x0001_0001_0001_0001;
    let has_zero = |word: u64| word.wrapping_sub(LOW) & !word & LOW << 15;
    has_zero(word) | has_zero(!word) != 0
}

/// Counts how many bits equal bit `first`, from `first` on and before `end`.
fn equal_bits(bits: &Bitmap, first: usize, end: usize) -> usize {
    let flip = if bits.get(first) { u64::MAX } else { 0 };
    let mut at = first;
    while at < end {
        let same = (bits.word(at) ^ flip).trailing_zeros() as usize;
        at += same;
        if same < 64 {
            break;
        }
    }
    at.min(end) - first
}

fn write_packed_bits(bits: &Bitmap, range: Range<usize>, out: &mut Vec<u8>) {
    for first in range.clone().step_by(MAX_PACKED_VALUES) {
        let n = (range.end - first).min(MAX_PACKED_VALUES);
        write_uleb128((n.div_ceil(VALUES_PER_GROUP) as u64) << 1 | 1, out);
        let start = out.len();
        out.reserve(n / 8 + 8);
        (first..first + n).step_by(64).for_each(|at| out.extend_from_slice(&bits.word(at).to_le_bytes()));
        out.truncate(start + n.div_ceil(8));
        if let (Some(last), used @ 1..) = (out.last_mut(), n % 8) {
            *last &= (1 << used) - 1;
        }
    }
}

/// Returns the number of equal values from which on a run takes fewer bytes than packing. A run that interrupts packed
/// groups costs a second header for the groups after it.
fn shortest_run(width: u32, interrupts: bool) -> usize {
    let bytes = 1 + width.div_ceil(8) + u32::from(interrupts) + MIN_BYTES_SAVED;
    (8 * bytes).div_ceil(width) as usize
}

/// SPEC: run lengths are at most 2^31 - 1.
const MAX_VALUES_PER_RUN: usize = i32::MAX as usize;
/// Maximum number of values after one header of packed groups. It is large because each header costs readers time.
const MAX_PACKED_VALUES: usize = 1 << 27;
/// Number of bytes that a run must save, because each end of a run costs readers time.
const MIN_BYTES_SAVED: u32 = 1;
