//! Unpacking by a shuffle, as in `avx2/unpack.rs`, with the same tables: a vector here is half of one there.

use super::vector::{fill, load, words};
use crate::shuffle_tables::{LANES_U32, check_groups};
use crate::unpack::{unpack_u8_scalar, unpack_u64_scalar};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Unpacks two groups at a time: the two bytes of each value are moved to a lane of 16 bits and shifted there, and the lower byte is kept.
#[target_feature(enable = "neon")]
pub(super) fn unpack_u8(source: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    check_groups(source, width, out.len());
    assert!((1..=8).contains(&width));
    // For each byte of a lane: its source, and how many bits the lane then has to be shifted down.
    let bit = |byte: usize| byte as u8 / 2 * width as u8;
    let shuffle = load(&std::array::from_fn::<u8, 16, _>(|byte| bit(byte) / 8 + byte as u8 % 2));
    let shuffle_second = vaddq_u8(shuffle, vdupq_n_u8(width as u8));
    let shift = std::array::from_fn::<u8, 16, _>(|byte| if byte % 2 == 0 { bit(byte) % 8 } else { 0 });
    let shift = vnegq_s16(vreinterpretq_s16_u8(load(&shift)));
    let mask = vdupq_n_u8(0xff >> (8 - width));
    let (pairs, last) = out.as_chunks_mut::<16>();
    let bytes = 2 * width as usize;
    for (i, pair) in pairs.iter_mut().enumerate() {
        // SAFETY: `check_groups` checked that there are `width` bytes for each group, and 16 more.
        let packed = unsafe { vld1q_u8(source.as_ptr().add(i * bytes)) };
        let [first, second] = [shuffle, shuffle_second].map(|shuffle| {
            let lanes = vreinterpretq_u16_u8(vqtbl1q_u8(packed, shuffle));
            vreinterpretq_u8_u16(vshlq_u16(lanes, shift))
        });
        fill(pair, vandq_u8(vuzp1q_u8(first, second), mask));
    }
    unpack_u8_scalar(&source[pairs.len() * bytes..], width, last);
}

#[target_feature(enable = "neon")]
pub(super) fn unpack_u32(source: &[u8], width: u32, out: &mut [MaybeUninit<u32>]) {
    if width <= WHOLE {
        groups_u32::<false>(source, width, out)
    } else {
        groups_u32::<true>(source, width, out)
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn groups_u32<const WIDE: bool>(source: &[u8], width: u32, out: &mut [MaybeUninit<u32>]) {
    check_groups(source, width, out.len());
    let halves = [0, 1].map(|half| Lanes::of(width, half));
    for (i, group) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        for (slots, lanes) in group.as_chunks_mut::<4>().0.iter_mut().zip(&halves) {
            // SAFETY: `check_groups` checked that there are `width` bytes for each group, and 16 more.
            let values = unsafe { lanes.values::<WIDE>(source.as_ptr().add(i * width as usize)) };
            fill(slots, vreinterpretq_u8_u32(values));
        }
    }
}

/// Unpacks narrow values to 32 bits and widens them. For wide values, vectors of two lanes do not pay.
#[target_feature(enable = "neon")]
pub(super) fn unpack_u64(source: &[u8], width: u32, out: &mut [MaybeUninit<u64>]) {
    if width > WHOLE {
        return unpack_u64_scalar(source, width, out);
    }
    check_groups(source, width, out.len());
    let halves = [0, 1].map(|half| Lanes::of(width, half));
    for (i, group) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        for (slots, lanes) in group.as_chunks_mut::<4>().0.iter_mut().zip(&halves) {
            // SAFETY: `check_groups` checked that there are `width` bytes for each group, and 16 more.
            let values = unsafe { lanes.values::<false>(source.as_ptr().add(i * width as usize)) };
            let [low, high] = slots.as_chunks_mut::<2>().0 else { unreachable!("two pairs in four") };
            fill(low, vreinterpretq_u8_u64(vmovl_u32(vget_low_u32(values))));
            fill(high, vreinterpretq_u8_u64(vmovl_high_u32(values)));
        }
    }
}

/// The largest width of values that are inside four bytes, wherever they begin.
const WHOLE: u32 = 25;

/// How four of the eight values of a group are extracted.
struct Lanes {
    /// The byte of the group in which the first value begins.
    start: usize,
    shuffle: uint8x16_t,
    /// Shifts are to the left, so these are negative.
    shift: int32x4_t,
    shuffle_high: uint8x16_t,
    shift_high: int32x4_t,
    mask: uint32x4_t,
}

impl Lanes {
    #[target_feature(enable = "neon")]
    #[inline]
    fn of(width: u32, half: usize) -> Self {
        let lanes = &LANES_U32[width as usize];
        let shift = |shifts: &[u32; 8]| vreinterpretq_s32_u8(load(&shifts.as_chunks::<4>().0[half]));
        let shuffle = |bytes: &[u8; 32]| load(&bytes.as_chunks::<16>().0[half]);
        Lanes {
            start: half * width as usize / 2,
            shuffle: shuffle(&lanes.shuffle),
            shift: vnegq_s32(shift(&lanes.shift)),
            shuffle_high: shuffle(&lanes.shuffle_high),
            shift_high: shift(&lanes.shift_high),
            mask: vdupq_n_u32((u64::MAX >> (64 - width)) as u32),
        }
    }

    /// Extracts the four values. If they are `WIDE`, they may have a fifth byte.
    ///
    /// # Safety
    /// 16 bytes more than the group has must be readable.
    #[target_feature(enable = "neon")]
    #[inline]
    unsafe fn values<const WIDE: bool>(&self, group: *const u8) -> uint32x4_t {
        // SAFETY: the caller guarantees it; the start is inside the group.
        let bytes = unsafe { vld1q_u8(group.add(self.start)) };
        let mut values = vshlq_u32(words(vqtbl1q_u8(bytes, self.shuffle)), self.shift);
        if WIDE {
            let high = vshlq_u32(words(vqtbl1q_u8(bytes, self.shuffle_high)), self.shift_high);
            values = vorrq_u32(values, high);
        }
        vandq_u32(values, self.mask)
    }
}
