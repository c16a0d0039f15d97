//! Loads and stores of 256-bit vectors through references, which need no pointer arithmetic.

use crate::expand::WINDOW;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Plain data of the size of a vector.
///
/// # Safety
/// Implementers have 32 bytes without padding, and any bits are a valid value.
pub(super) unsafe trait Whole {}
// SAFETY: 32 bytes without padding; any bits are an integer.
unsafe impl Whole for [u8; 32] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 16]; 2] {}
// SAFETY: as above.
unsafe impl Whole for [u32; 8] {}
// SAFETY: as above.
unsafe impl Whole for [i32; 8] {}
// SAFETY: as above.
unsafe impl Whole for [u64; 4] {}
// SAFETY: as above.
unsafe impl Whole for [u128; 2] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 4]; 8] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 8]; 4] {}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load<T: Whole>(from: &T) -> __m256i {
    // SAFETY: a reference to 32 initialized bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store<T: Whole>(to: &mut T, vector: __m256i) {
    // SAFETY: a reference to 32 bytes of any bits; the store needs no alignment.
    unsafe { _mm256_storeu_si256(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 32 bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: __m256i)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 32 bytes, which may be uninitialized; the store needs no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) }
}

/// Loads the values of `window` from index `at` on, which is below 64.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> __m256i
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes a vector of `N` values to `window` from index `at` on, which is below 64.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: __m256i)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
