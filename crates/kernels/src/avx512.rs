//! The loops for x86-64 CPUs with AVX-512 and VBMI2: Ice Lake and Zen 4, and later. Older ones with AVX-512 slow their
//! clock down for it.
//!
//! Only what these instructions do better than AVX2 is here: spreading and compacting by a mask, which are one instruction
//! each, sums over longer vectors, and what is full of masks.

mod compact;
mod expand;
mod sum;

use crate::avx2;
use crate::decimals::{self, Exact};
use crate::expand::WINDOW;
use crate::table::Kernels;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Whether this CPU has all that the loops of [`AVX512`] use.
pub(crate) fn is_available() -> bool {
    avx2::is_available()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi2")
}

pub(crate) const AVX512: Kernels = Kernels {
    name: "avx512",
    expand_u32: expand::expand_u32,
    expand_u64: expand::expand_u64,
    expand_u128: expand::expand_u128,
    compact_u8: compact::compact_u8,
    compact_u32: compact::compact_u32,
    compact_u64: compact::compact_u64,
    prefix_sum_u32: sum::prefix_sum_u32,
    prefix_sum_u64: sum::prefix_sum_u64,
    integers_f64,
    ..avx2::AVX2
};

/// The scalar loop, compiled once more: its masks are registers of their own here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn integers_f64(
    values: &[u64],
    to: [f64; 2],
    back: [f64; 2],
    integers: &mut [u64],
    exact: &mut [u64],
) -> Exact {
    decimals::integers(values, to, back, integers, exact)
}

/// Each of the lowest four bits twice: the mask of a 16-byte value as one of its halves.
#[target_feature(enable = "bmi2")]
#[inline]
fn twice(bits: u8) -> u8 {
    (_pdep_u32(bits.into(), 0b0101_0101) * 0b11) as u8
}

/// Plain old data of a vector's size, in any arrangement.
///
/// # Safety
/// Implementers are of 64 bytes, all of which have a value, whatever bits.
unsafe trait Whole {}
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
fn load<T: Whole>(from: &T) -> __m512i {
    // SAFETY: a reference to 64 bytes that have a value; the load needs no alignment.
    unsafe { _mm512_loadu_si512(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store<T: Whole>(to: &mut T, vector: __m512i) {
    // SAFETY: a reference to 64 bytes of any bits; the store needs no alignment.
    unsafe { _mm512_storeu_si512(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 64 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: __m512i)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 64 bytes, which need not have had a value; the store needs no alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) }
}

/// The values of `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "avx512f")]
#[inline]
fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> __m512i
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes `N` values to `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "avx512f")]
#[inline]
fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: __m512i)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
