//! Loads and stores of 128-bit vectors through references, which need no pointer arithmetic.

use crate::expand::WINDOW;
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Counts the ones in each group of `N` bits. The counts are numbers of `N` bits.
#[inline]
pub(super) fn counts<const N: usize>(word: u64) -> u64 {
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

/// Cuts `from` into arrays of `N` values.
pub(super) fn each<T, const N: usize, const VECTORS: usize>(from: &[T]) -> [&[T; N]; VECTORS] {
    std::array::from_fn(|i| &from.as_chunks::<N>().0[i])
}

/// Reinterprets the bytes of a vector as lanes of 32 bits.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn words(bytes: uint8x16_t) -> uint32x4_t {
    vreinterpretq_u32_u8(bytes)
}

/// Reinterprets the bytes of a vector as lanes of 64 bits.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn longs(bytes: uint8x16_t) -> uint64x2_t {
    vreinterpretq_u64_u8(bytes)
}

/// Plain data of the size of a vector.
///
/// # Safety
/// Implementers have 16 bytes without padding, and any bits are a valid value.
pub(super) unsafe trait Whole {}
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
pub(super) fn load<T: Whole>(from: &T) -> uint8x16_t {
    // SAFETY: a reference to 16 initialized bytes; the load needs no alignment.
    unsafe { vld1q_u8(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "neon")]
#[inline]
pub(super) fn store<T: Whole>(to: &mut T, vector: uint8x16_t) {
    // SAFETY: a reference to 16 bytes of any bits; the store needs no alignment.
    unsafe { vst1q_u8(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 16 bytes.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: uint8x16_t)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 16 bytes, which may be uninitialized; the store needs no alignment.
    unsafe { vst1q_u8(to.as_mut_ptr().cast(), vector) }
}

/// Loads the values of `window` from index `at` on, which is below 64.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> uint8x16_t
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes a vector of `N` values to `window` from index `at` on, which is below 64.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: uint8x16_t)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
