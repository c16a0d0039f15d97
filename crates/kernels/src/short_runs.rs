//! Short runs of the RLE / bit-packing hybrid, unpacked together.
//!
//! In columns whose neighbours are often equal, runs of some ten equal values alternate with one or two packed groups. The CPU
//! can predict neither the kind of the next run nor its length. So each run is unpacked as both kinds, without a branch.

use crate::signatures::{Kernels, UnpackShortRuns};
use crate::uninit::put_chunk;
use std::array::from_fn;
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

impl Kernels {
    /// `unpack_short_runs_u8` at this level.
    pub fn unpack_short_runs_u8(
        &self,
        padded: &[u8],
        len: usize,
        position: usize,
        width: u32,
        most: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        assert!((1..=8).contains(&width), "width {width}");
        append_short_runs(self.unpack_short_runs_u8, padded, len, position, width, most, out)
    }

    /// `unpack_short_runs` at this level.
    pub fn unpack_short_runs(
        &self,
        padded: &[u8],
        len: usize,
        position: usize,
        width: u32,
        most: usize,
        out: &mut Vec<u32>,
    ) -> usize {
        assert!((1..=MAX_SHORT_RUN_WIDTH).contains(&width), "width {width}");
        append_short_runs(self.unpack_short_runs, padded, len, position, width, most, out)
    }
}

fn append_short_runs<T>(
    unpack: UnpackShortRuns<T>,
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    most: usize,
    out: &mut Vec<T>,
) -> usize {
    assert!(len <= padded.len());
    out.reserve(most + VALUES_PER_RUN);
    let room = &mut out.spare_capacity_mut()[..most + VALUES_PER_RUN];
    // SAFETY: this CPU has the level of the table that contains the loop.
    let (position, n) = unsafe { unpack(padded, len, position, width, room) };
    assert!(n <= most);
    // SAFETY: the loop wrote `n` values.
    unsafe { out.set_len(out.len() + n) };
    position
}

pub(crate) fn unpack_short_runs_scalar(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u32>],
) -> (usize, usize) {
    unpack(width as usize, padded, len, position, out)
}

/// The scalar loop, compiled once for each width.
///
/// PERF: the width is constant, and so are all shifts. That takes 15 kB of code, so only the level that nearly all CPUs use has it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn unpack_short_runs_by_width(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u32>],
) -> (usize, usize) {
    match width {
        1 => unpack(1, padded, len, position, out),
        2 => unpack(2, padded, len, position, out),
        3 => unpack(3, padded, len, position, out),
        4 => unpack(4, padded, len, position, out),
        5 => unpack(5, padded, len, position, out),
        6 => unpack(6, padded, len, position, out),
        7 => unpack(7, padded, len, position, out),
        8 => unpack(8, padded, len, position, out),
        9 => unpack(9, padded, len, position, out),
        10 => unpack(10, padded, len, position, out),
        11 => unpack(11, padded, len, position, out),
        12 => unpack(12, padded, len, position, out),
        13 => unpack(13, padded, len, position, out),
        14 => unpack(14, padded, len, position, out),
        15 => unpack(15, padded, len, position, out),
        16 => unpack(16, padded, len, position, out),
        _ => (position, 0),
    }
}

#[inline(always)]
fn unpack(
    width: usize,
    padded: &[u8],
    len: usize,
    position: usize,
    out: &mut [MaybeUninit<u32>],
) -> (usize, usize) {
    for_each_short_run(width, padded, len, position, out, Words { width })
}

pub(crate) fn unpack_short_runs_u8_scalar(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let mask = 0xff >> (8 - width);
    let spread = |word: u64| u64::from_le_bytes(from_fn(|i| (word >> (i * width as usize)) as u8 & mask));
    unpack_bytes(padded, len, position, width, out, spread)
}

/// The loop for bytes. `spread` moves the lowest eight values of a word to the bytes of the result.
#[inline(always)]
pub(crate) fn unpack_bytes(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u8>],
    spread: impl Fn(u64) -> u64,
) -> (usize, usize) {
    let width = width as usize;
    for_each_short_run(width, padded, len, position, out, Bytes { width, spread })
}

/// A short run.
struct ShortRun<'a> {
    is_packed: bool,
    /// The packed values and whatever follows them.
    payload: &'a [u8; PAYLOAD_BYTES],
    /// The value of a repeated run.
    value: u32,
}

/// Unpacks a run as both kinds.
///
/// PERF: a trait, because a closure would not be compiled with the instructions of the level.
trait UnpackRun<T> {
    /// Writes the values of `run`, and arbitrary values after them.
    fn unpack(&self, run: ShortRun<'_>, room: &mut [MaybeUninit<T>; VALUES_PER_RUN]);
}

/// Unpacks values of up to 16 bits to words.
struct Words {
    width: usize,
}

impl UnpackRun<u32> for Words {
    #[inline(always)]
    fn unpack(&self, run: ShortRun<'_>, room: &mut [MaybeUninit<u32>; VALUES_PER_RUN]) {
        let width = self.width;
        let mask = (1_u32 << width) - 1;
        // Half a group in which all values are 1.
        let ones = 1 | 1_u64 << width | 1 << (2 * width) | 1 << (3 * width);
        let equal = ones * u64::from(run.value & mask);
        let (groups, rest) = room.as_chunks_mut::<GROUP>().0.split_at_mut(PACKED_GROUPS);
        for (i, group) in groups.iter_mut().enumerate() {
            // The second half begins in the middle of a byte if the width is odd.
            let halves =
                [word(run.payload, i * width), word(run.payload, i * width + width / 2) >> (width % 2 * 4)];
            let halves = halves.map(|half| select_unpredictable(run.is_packed, half, equal));
            put_chunk(&from_fn(|i| (halves[i / 4] >> (i % 4 * width)) as u32 & mask), group);
        }
        rest.iter_mut().for_each(|group| put_chunk(&[run.value; GROUP], group));
    }
}

/// Unpacks values of up to 8 bits to bytes.
struct Bytes<F> {
    width: usize,
    spread: F,
}

impl<F: Fn(u64) -> u64> UnpackRun<u8> for Bytes<F> {
    #[inline(always)]
    fn unpack(&self, run: ShortRun<'_>, room: &mut [MaybeUninit<u8>; VALUES_PER_RUN]) {
        let equal = [run.value as u8; GROUP];
        let (groups, rest) = room.as_chunks_mut::<GROUP>().0.split_at_mut(PACKED_GROUPS);
        for (i, group) in groups.iter_mut().enumerate() {
            let packed = (self.spread)(word(run.payload, i * self.width));
            let values = select_unpredictable(run.is_packed, packed, u64::from_le_bytes(equal));
            put_chunk(&values.to_le_bytes(), group);
        }
        rest.iter_mut().for_each(|group| put_chunk(&equal, group));
    }
}

/// Unpacks runs until one is not short or might not fit. Returns the position of that run, and the number of values before it.
#[inline(always)]
fn for_each_short_run<T>(
    width: usize,
    padded: &[u8],
    len: usize,
    position: usize,
    out: &mut [MaybeUninit<T>],
    values_of: impl UnpackRun<T>,
) -> (usize, usize) {
    let bytes_of_value = width.div_ceil(8);
    let most = out.len().saturating_sub(VALUES_PER_RUN);
    let (mut position, mut n) = (position, 0);
    while let Some(run) = padded.get(position..).and_then(<[u8]>::first_chunk::<BYTES_PER_RUN>)
        && let Some(room) = out[n..].first_chunk_mut::<VALUES_PER_RUN>()
    {
        let has_two = usize::from(run[0] >> 7);
        let header = usize::from(run[0] & 0x7f) | (usize::from(run[1]) * has_two) << 7;
        let (count, is_packed) = (header >> 1, header & 1 == 1);
        let payload = run[1 + has_two..].first_chunk().expect("behind a header of up to two bytes");
        let value = u32::from(payload[0]) | if width > 8 { u32::from(payload[1]) << 8 } else { 0 };
        let values = select_unpredictable(is_packed, GROUP * count, count);
        let longest = select_unpredictable(is_packed, PACKED_GROUPS * GROUP, VALUES_PER_RUN);
        let bytes = select_unpredictable(is_packed, width * count, bytes_of_value);
        let end = position + 1 + has_two + bytes;
        let is_longer = has_two == 1 && run[1] >> 7 == 1;
        let is_wide = !is_packed && value > (1 << width) - 1;
        if count == 0 || values > longest.min(most - n) || end > len || is_longer || is_wide {
            break;
        }
        values_of.unpack(ShortRun { is_packed, payload, value }, room);
        (position, n) = (end, n + values);
    }
    (position, n)
}

#[inline(always)]
fn word(payload: &[u8; PAYLOAD_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(*payload[at..].first_chunk().expect("in the payload"))
}

/// Number of values in a packed group.
const GROUP: usize = 8;
/// Maximum number of groups in a short packed run.
const PACKED_GROUPS: usize = 4;
/// Maximum number of values in a short run. This many values are written for each run, whatever its length. So
/// `unpack_short_runs` needs room for this many more than it appends, and reserves it if it is missing.
pub const VALUES_PER_RUN: usize = 64;
/// Maximum width of the values of short runs: half a group fits in a word.
pub const MAX_SHORT_RUN_WIDTH: u32 = 16;
/// Number of bytes that are loaded for each run: a header of up to two bytes, and the longest groups.
const BYTES_PER_RUN: usize = 2 + PAYLOAD_BYTES;
const PAYLOAD_BYTES: usize = MAX_SHORT_RUN_WIDTH as usize * PACKED_GROUPS;

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates encoded runs and the values that they stand for.
    fn runs(width: u32) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        let mut state = 7_u32 + width;
        let mut next = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for _ in 0..200 {
            if next(2) == 0 {
                let (count, value) = (1 + next(VALUES_PER_RUN as u32), next(1 << width));
                // The header takes two bytes from 64 values on.
                match count << 1 {
                    short @ ..0x80 => bytes.push(short as u8),
                    long => bytes.extend([long as u8 | 0x80, (long >> 7) as u8]),
                }
                bytes.extend(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
                values.extend(vec![value; count as usize]);
            } else {
                let groups = 1 + next(PACKED_GROUPS as u32);
                let packed: Vec<u64> = (0..groups * 8).map(|_| next(1 << width).into()).collect();
                bytes.push((groups << 1 | 1) as u8);
                crate::pack_u64(&packed, width, &mut bytes);
                values.extend(packed.iter().map(|&value| value as u32));
            }
        }
        (bytes, values)
    }

    #[test]
    fn all_levels_unpack_runs_of_both_kinds() {
        for width in 1..=MAX_SHORT_RUN_WIDTH {
            let (bytes, values) = runs(width);
            let padded = [&bytes[..], &[0xff; 70]].concat();
            for kernels in Kernels::all_available() {
                let mut out = vec![77];
                let end = kernels.unpack_short_runs(&padded, bytes.len(), 0, width, values.len(), &mut out);
                assert_eq!((end, &out[1..]), (bytes.len(), &values[..]), "width {width}, {kernels:?}");
                if width <= 8 {
                    let mut out = vec![77];
                    let n = values.len();
                    let end = kernels.unpack_short_runs_u8(&padded, bytes.len(), 0, width, n, &mut out);
                    assert_eq!(end, bytes.len());
                    assert!(out[1..].iter().map(|&value| u32::from(value)).eq(values.iter().copied()));
                }
                // Runs are only unpacked as a whole.
                for most in [0, 1, 20, 100, 101, 102, 103] {
                    let mut out = Vec::new();
                    let end = kernels.unpack_short_runs(&padded, bytes.len(), 0, width, most, &mut out);
                    assert!(out.len() <= most && out[..] == values[..out.len()]);
                    let mut rest = Vec::new();
                    kernels.unpack_short_runs(&padded, bytes.len(), end, width, values.len(), &mut rest);
                    assert_eq!([out, rest].concat(), values);
                }
            }
        }
    }

    #[test]
    fn what_is_no_short_run_is_left() {
        for kernels in Kernels::all_available() {
            for (bytes, len) in [
                (vec![0, 1], 2),                      // no values
                (vec![1, 1], 2),                      // no groups
                (vec![0x82, 0x81, 0x00, 1], 4),       // a header of three bytes
                (vec![0x82, 0x01, 1], 3),             // 65 equal values
                (vec![5 << 1 | 1, 1, 1, 1, 1, 1], 6), // five groups
                (vec![2 << 1, 2], 2),                 // wider than a bit
                (vec![2 << 1], 1),                    // the value is missing
                (vec![2 << 1 | 1, 1], 2),             // the second group is missing
            ] {
                let padded = [&bytes[..], &[0; 70]].concat();
                let mut out = Vec::new();
                assert_eq!(kernels.unpack_short_runs(&padded, len, 0, 1, 100, &mut out), 0, "{bytes:?}");
                assert!(out.is_empty());
                let mut out = Vec::new();
                assert_eq!(kernels.unpack_short_runs_u8(&padded, len, 0, 1, 100, &mut out), 0, "{bytes:?}");
                assert!(out.is_empty());
            }
            assert_eq!(kernels.unpack_short_runs(&[2 << 1, 1], 2, 0, 1, 100, &mut Vec::new()), 0);
        }
    }
}
