//! Loads and stores of 512-bit vectors through references, which need no pointer arithmetic.

use crate::expand::WINDOW;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Repeats each of the lowest four bits: turns a mask of 16-byte values into a mask of their 8-byte halves.
#[target_feature(enable = "bmi2")]
#[inline]
pub(super) fn twice(bits: u8) -> u8 {
    (_pdep_u32(bits.into(), 0b0101_0101) * 0b11) as u8
}

/// Plain data of the size of a vector.
///
/// # Safety
/// Implementers have 64 bytes without padding, and any bits are a valid value.
pub(super) unsafe trait Whole {}
// SAFETY: 64 bytes without padding; any bits are an integer.
unsafe impl Whole for [u8; 64] {}
// SAFETY: as above.
unsafe impl Whole for [u32; 16] {}
// SAFETY: as above.
unsafe impl Whole for [u64; 8] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 4]; 16] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 8]; 8] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 16]; 4] {}
// SAFETY: as above.
unsafe impl Whole for [u128; 4] {}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load<T: Whole>(from: &T) -> __m512i {
    // SAFETY: a reference to 64 initialized bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store<T: Whole>(to: &mut T, vector: __m512i) {
    // SAFETY: a reference to 64 bytes of any bits; the store needs no alignment.
    unsafe { _mm512_storeu_si512(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 64 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: __m512i)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 64 bytes, which may be uninitialized; the store needs no alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
}

/// Loads the values of `window` from index `at` on, which is below 64.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> __m512i
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes a vector of `N` values to `window` from index `at` on, which is below 64.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: __m512i)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
