//! Unpacking by a shuffle. Eight values of `w` bits take `w` bytes, so only the width decides which bytes of a vector each lane
//! takes and how far they are shifted. One loop, with constants from a table, serves all widths that are small enough.
//!
//! ```text
//! 4 w bits for each half: | half 0                  | half 1                  |   two loads of 16 bytes
//! shuffle:                | 4 bytes for each lane   | 4 bytes for each lane   |
//! shift right, mask:      | 4 values of w bits      | 4 values of w bits      |
//! ```

use super::vector::{fill, load};
use crate::shuffle_tables::{LANES_U32, ZERO_LANE, check_groups, in_half};
use crate::uninit::put_chunk;
use crate::unpack::unpack_u64_scalar;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Unpacks eight bytes at a time: deposits the bits of each value in a byte of its own.
#[target_feature(enable = "bmi2")]
pub(super) fn unpack_u8(source: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    check_groups(source, width, out.len());
    assert!((1..=8).contains(&width));
    let lanes = 0x0101_0101_0101_0101 * (0xff >> (8 - width));
    for (i, group) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // SAFETY: `check_groups` checked that there are `width` bytes for each group, and 16 more.
        let packed = unsafe { source.as_ptr().add(i * width as usize).cast::<u64>().read_unaligned() };
        put_chunk(&_pdep_u64(packed, lanes).to_le_bytes(), group);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn unpack_u32(source: &[u8], width: u32, out: &mut [MaybeUninit<u32>]) {
    unpack_u32_as(source, width, out, |values| values);
}

/// Like [`unpack_u32`], but writes what `finish` returns for each group. The groups come in order.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn unpack_u32_as(
    source: &[u8],
    width: u32,
    out: &mut [MaybeUninit<u32>],
    mut finish: impl FnMut(__m256i) -> __m256i,
) {
    check_groups(source, width, out.len());
    let width = width as usize;
    let lanes = &LANES_U32[width];
    let (shuffle, shift) = (load(&lanes.shuffle), load(&lanes.shift));
    let (shuffle_high, shift_high) = (load(&lanes.shuffle_high), load(&lanes.shift_high));
    let mask = _mm256_set1_epi32((u64::MAX >> (64 - width)) as i32);
    let second = width / 2;
    let groups = out.as_chunks_mut::<8>().0.iter_mut().enumerate();
    // SAFETY: of `at`: `check_groups` checked that there are `width` bytes for each group, and 16 more; `second + 16` is no more.
    let at = |i: usize| unsafe { halves(source.as_ptr().add(i * width), 0, second) };
    if width <= 25 {
        for (i, group) in groups {
            let values = _mm256_srlv_epi32(_mm256_shuffle_epi8(at(i), shuffle), shift);
            fill(group, finish(_mm256_and_si256(values, mask)));
        }
    } else {
        // A value may begin in the middle of a byte and end four bytes later. Its fifth byte is shuffled and shifted separately.
        for (i, group) in groups {
            let bytes = at(i);
            let low = _mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, shuffle), shift);
            let high = _mm256_sllv_epi32(_mm256_shuffle_epi8(bytes, shuffle_high), shift_high);
            fill(group, finish(_mm256_and_si256(_mm256_or_si256(low, high), mask)));
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn unpack_u64(source: &[u8], width: u32, out: &mut [MaybeUninit<u64>]) {
    if width > 57 {
        // Two values, with the bits before the first one, do not fit in 16 bytes.
        check_groups(source, width, out.len());
        return unpack_u64_scalar(source, width, out);
    }
    unpack_u64_as(source, width, out, |values| values);
}

/// Like [`unpack_u64`] for `width <= 57`, but writes what `finish` returns for each half of a group. The halves come in order.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn unpack_u64_as(
    source: &[u8],
    width: u32,
    out: &mut [MaybeUninit<u64>],
    mut finish: impl FnMut(__m256i) -> __m256i,
) {
    check_groups(source, width, out.len());
    let width = width as usize;
    let [front, back] = &LANES_U64[width];
    let (front_shuffle, front_shift) = (load(&front.shuffle), load(&front.shift));
    let (back_shuffle, back_shift) = (load(&back.shuffle), load(&back.shift));
    let mask = _mm256_set1_epi64x((u64::MAX >> (64 - width)) as i64);
    let starts = [0, width / 4, width / 2, width * 3 / 4];
    for (i, group) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let (first, last) = group.split_at_mut(4);
        // SAFETY: `check_groups` checked that there are `width` bytes for each group, and 16 more; no start is over `width`.
        let (bytes, more) = unsafe {
            let group = source.as_ptr().add(i * width);
            (halves(group, starts[0], starts[1]), halves(group, starts[2], starts[3]))
        };
        let values = _mm256_srlv_epi64(_mm256_shuffle_epi8(bytes, front_shuffle), front_shift);
        let more = _mm256_srlv_epi64(_mm256_shuffle_epi8(more, back_shuffle), back_shift);
        if let (Some(first), Some(last)) = (first.first_chunk_mut::<4>(), last.first_chunk_mut::<4>()) {
            fill(first, finish(_mm256_and_si256(values, mask)));
            fill(last, finish(_mm256_and_si256(more, mask)));
        }
    }
}

/// Loads 16 bytes from `low` on, and 16 from `high` on.
///
/// # Safety
/// They must be readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn halves(group: *const u8, low: usize, high: usize) -> __m256i {
    // SAFETY: the caller guarantees that the bytes are readable.
    unsafe {
        let low = _mm_loadu_si128(group.add(low).cast());
        _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128(group.add(high).cast()), 1)
    }
}

/// The counterpart of `LANES_U32` for four 64-bit lanes.
struct Lanes64 {
    shuffle: [u8; 32],
    shift: [u64; 4],
}

static LANES_U64: [[Lanes64; 2]; 58] = {
    let mut lanes = [const { [lanes_u64(0, 0), lanes_u64(0, 4)] }; 58];
    let mut width = 0;
    while width < 58 {
        lanes[width] = [lanes_u64(width, 0), lanes_u64(width, 4)];
        width += 1;
    }
    lanes
};

const fn lanes_u64(width: usize, first: usize) -> Lanes64 {
    let mut lanes = Lanes64 { shuffle: [ZERO_LANE; 32], shift: [0; 4] };
    let mut lane = 0;
    while lane < 4 {
        let half_start = (first + lane / 2 * 2) * width / 8 * 8;
        let bit = (first + lane) * width - half_start;
        let mut byte = 0;
        while byte < 8 {
            lanes.shuffle[lane * 8 + byte] = in_half(bit / 8 + byte);
            byte += 1;
        }
        lanes.shift[lane] = (bit % 8) as u64;
        lane += 1;
    }
    lanes
}
