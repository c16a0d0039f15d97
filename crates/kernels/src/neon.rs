//! The loops for 64-bit ARM CPUs, all of which have NEON.
//!
//! The compiler uses NEON for the scalar loops as well, so only those are written out that it makes nothing of, or too much;
//! the other rows of the table are the scalar ones. That they are faster is an estimate, not a measurement: see UNSAFE.md.

mod compact;
mod expand;
mod join;
mod pack;
mod split;
mod sum;
mod unpack;

use crate::bits;
use crate::expand::WINDOW;
use crate::table::{Kernels, SCALAR};
use crate::views::Survey;
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Whether this CPU has NEON: known when this is compiled, but for targets without floating point.
pub(crate) fn is_available() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

pub(crate) const NEON: Kernels = Kernels {
    name: "neon",
    unpack_u8: unpack::unpack_u8,
    unpack_u32: unpack::unpack_u32,
    unpack_u64: unpack::unpack_u64,
    pack_u8: pack::pack_u8,
    expand_u32: expand::expand_u32,
    expand_u64: expand::expand_u64,
    expand_u128: expand::expand_u128,
    compact_u8: compact::compact_u8,
    compact_u32: compact::compact_u32,
    prefix_sum_u32: sum::prefix_sum_u32,
    prefix_sum_u64: sum::prefix_sum_u64,
    split_u32: split::split_u32,
    split_u64: split::split_u64,
    at_least,
    survey,
    join_u32: join::join_u32,
    join_u64: join::join_u64,
    ..SCALAR
};

/// Each level leaves its bit, if it is high enough; sums of neighbours, three times, put eight of them into a byte.
#[target_feature(enable = "neon")]
fn at_least(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
    let (groups, rest) = levels.as_chunks::<128>();
    assert_eq!(levels.len(), out.len() * 8);
    let (masks, last) = out.split_at_mut(groups.len() * 16);
    let threshold_vector = vdupq_n_u8(threshold);
    let bits = load(&[[1u8, 2, 4, 8, 16, 32, 64, 128]; 2]);
    for (group, mask) in groups.iter().zip(masks.as_chunks_mut::<16>().0) {
        let [a, b, c, d, e, f, g, h] =
            each(group).map(|levels| vandq_u8(vcgeq_u8(load(levels), threshold_vector), bits));
        let (ab, cd, ef, gh) = (vpaddq_u8(a, b), vpaddq_u8(c, d), vpaddq_u8(e, f), vpaddq_u8(g, h));
        fill(mask, vpaddq_u8(vpaddq_u8(ab, cd), vpaddq_u8(ef, gh)));
    }
    bits::at_least_scalar(rest, threshold, last);
}

/// A view is a vector: length, prefix, buffer, offset.
#[target_feature(enable = "neon")]
fn survey(views: &[u128]) -> Survey {
    let (longest_inline, only_offsets) = (vdupq_n_u32(12), words(load(&[0u32, 0, 0, u32::MAX])));
    let mut inline = vdupq_n_u32(0);
    let (mut least, mut greatest) = (vdupq_n_u32(u32::MAX), vdupq_n_u32(0));
    for view in views {
        let view = words(load(std::array::from_ref(view)));
        let lengths = vdupq_laneq_u32::<0>(view);
        let is_inline = vcleq_u32(lengths, longest_inline);
        inline = vorrq_u32(inline, vandq_u32(view, is_inline));
        least = vminq_u32(least, vorrq_u32(view, is_inline));
        let ends = vaddq_u32(view, vandq_u32(lengths, only_offsets));
        greatest = vmaxq_u32(greatest, vbicq_u32(ends, is_inline));
    }
    let mut inlines = [0u128];
    store(&mut inlines, vreinterpretq_u8_u32(inline));
    Survey {
        inline: inlines[0],
        buffers: (vgetq_lane_u32::<2>(least), vgetq_lane_u32::<2>(greatest)),
        range: (vgetq_lane_u32::<3>(least), vgetq_lane_u32::<3>(greatest)),
    }
}

/// How many of each `N` bits are 1, as numbers of `N` bits.
#[inline]
fn counts<const N: usize>(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let quadruples = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    match N {
        1 => word,
        2 => pairs,
        4 => quadruples,
        8 => (quadruples + (quadruples >> 4)) & 0x0f0f_0f0f_0f0f_0f0f,
        _ => unreachable!("no vector has {N} lanes"),
    }
}

/// The vectors that `from` consists of, one behind the other.
fn each<T, const N: usize, const VECTORS: usize>(from: &[T]) -> [&[T; N]; VECTORS] {
    std::array::from_fn(|i| &from.as_chunks::<N>().0[i])
}

/// A vector's bytes as lanes of 32 bits.
#[target_feature(enable = "neon")]
#[inline]
fn words(bytes: uint8x16_t) -> uint32x4_t {
    vreinterpretq_u32_u8(bytes)
}

/// A vector's bytes as lanes of 64 bits.
#[target_feature(enable = "neon")]
#[inline]
fn longs(bytes: uint8x16_t) -> uint64x2_t {
    vreinterpretq_u64_u8(bytes)
}

/// Plain old data of a vector's size, in any arrangement.
///
/// # Safety
/// Implementers are of 16 bytes, all of which have a value, whatever bits.
unsafe trait Whole {}
// SAFETY: 16 bytes without padding; any bits are an integer.
unsafe impl Whole for [u8; 16] {}
// SAFETY: as above.
unsafe impl Whole for [u32; 4] {}
// SAFETY: as above.
unsafe impl Whole for [u64; 2] {}
// SAFETY: as above.
unsafe impl Whole for [u128; 1] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 4]; 4] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 8]; 2] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 16]; 1] {}

#[target_feature(enable = "neon")]
#[inline]
fn load<T: Whole>(from: &T) -> uint8x16_t {
    // SAFETY: a reference to 16 bytes that have a value; the load needs no alignment.
    unsafe { vld1q_u8(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "neon")]
#[inline]
fn store<T: Whole>(to: &mut T, vector: uint8x16_t) {
    // SAFETY: a reference to 16 bytes of any bits; the store needs no alignment.
    unsafe { vst1q_u8(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 16 bytes.
#[target_feature(enable = "neon")]
#[inline]
fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: uint8x16_t)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 16 bytes, which need not have had a value; the store needs no alignment.
    unsafe { vst1q_u8(to.as_mut_ptr().cast(), vector) }
}

/// The values of `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "neon")]
#[inline]
fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> uint8x16_t
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes `N` values to `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "neon")]
#[inline]
fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: uint8x16_t)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
