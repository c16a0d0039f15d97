//! The loops for x86-64 CPUs with AVX2 and BMI2: of 2013 and later.
//!
//! Loops that gain by new instructions only are the scalar ones, compiled once more; the others are written out. The
//! functions check their lengths before they use pointers, so they are safe wherever the CPU has the instructions.

mod compact;
mod decimals;
mod expand;
mod join;
mod pack;
mod split;
mod sum;
mod unpack;

use crate::expand::WINDOW;
use crate::table::Kernels;
use crate::views::{Survey, survey_scalar};
use crate::words::put_chunk;
use crate::{bits, gather, range};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Whether this CPU has all that the loops of [`AVX2`] use.
pub(crate) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

pub(crate) const AVX2: Kernels = Kernels {
    name: "avx2",
    unpack_u8: unpack::unpack_u8,
    unpack_u32: unpack::unpack_u32,
    unpack_u64: unpack::unpack_u64,
    pack_u8: pack::pack_u8,
    expand_u32: expand::expand_u32,
    expand_u64: expand::expand_u64,
    expand_u128,
    expand_word,
    compact_u8: compact::compact_u8,
    compact_u32: compact::compact_u32,
    compact_u64: compact::compact_u64,
    compact_u128,
    compact_word,
    prefix_sum_u32: sum::prefix_sum_u32,
    prefix_sum_u64: sum::prefix_sum_u64,
    deltas_u32: Some(sum::unpack_sum_u32),
    deltas_u64: Some(sum::unpack_sum_u64),
    decimals_f32: Some(decimals::unpack_decimals_f32),
    decimals_f64: Some(decimals::unpack_decimals_f64),
    integers_f32: decimals::integers_f32,
    integers_f64: decimals::integers_f64,
    min_max_i32,
    min_max_i64,
    min_max_u32,
    min_max_u64,
    min_max_f32,
    min_max_f64,
    split_u32: split::split_u32,
    split_u64: split::split_u64,
    max_u32,
    count_ones,
    at_least,
    survey,
    join_u32: join::join_u32,
    join_u64: join::join_u64,
};

#[target_feature(enable = "bmi2")]
fn expand_word(dense: u64, validity: u64) -> u64 {
    _pdep_u64(dense, validity)
}

#[target_feature(enable = "bmi2")]
fn compact_word(bits: u64, wanted: u64) -> u64 {
    _pext_u64(bits, wanted)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn expand_u128(dense: &[[u8; 16]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) {
    crate::expand::expand_scalar(dense, validity, first, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn compact_u128(values: &[u128], keep: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) -> usize {
    crate::compact::compact_scalar(values, keep, first, out)
}

#[target_feature(enable = "avx2")]
fn max_u32(values: &[u32]) -> u32 {
    gather::max_u32_scalar(values)
}

#[target_feature(enable = "avx2")]
fn min_max_i32(words: &[u32]) -> (i32, i32) {
    range::min_max_i32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_i64(words: &[u64]) -> (i64, i64) {
    range::min_max_i64_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_u32(words: &[u32]) -> (u32, u32) {
    range::min_max_u32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_u64(words: &[u64]) -> (u64, u64) {
    range::min_max_u64_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_f32(words: &[u32]) -> (i32, i32, usize) {
    range::min_max_f32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_f64(words: &[u64]) -> (i64, i64, usize) {
    range::min_max_f64_scalar(words)
}

#[target_feature(enable = "avx2,popcnt")]
fn count_ones(bytes: &[u8], first: usize, n: usize) -> usize {
    bits::count_ones_scalar(bytes, first, n)
}

#[target_feature(enable = "avx2")]
fn at_least(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
    let (groups, rest) = levels.as_chunks::<32>();
    assert_eq!(levels.len(), out.len() * 8);
    let (masks, last) = out.split_at_mut(groups.len() * 4);
    let threshold_vector = _mm256_set1_epi8(threshold as i8);
    for (group, mask) in groups.iter().zip(masks.as_chunks_mut::<4>().0) {
        let levels = load(group);
        let at_least = _mm256_cmpeq_epi8(_mm256_max_epu8(levels, threshold_vector), levels);
        put_chunk(&_mm256_movemask_epi8(at_least).to_le_bytes(), mask);
    }
    bits::at_least_scalar(rest, threshold, last);
}

/// The fields of two views at a time: length, prefix, buffer, offset.
#[target_feature(enable = "avx2")]
fn survey(views: &[u128]) -> Survey {
    let (pairs, tail) = views.as_chunks::<2>();
    let longest_inline = _mm256_set1_epi32(12);
    let only_offsets = _mm256_set_epi32(-1, 0, 0, 0, -1, 0, 0, 0);
    let mut inline = _mm256_setzero_si256();
    let (mut least, mut greatest) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
    for pair in pairs {
        let views = load(pair);
        let lengths = _mm256_shuffle_epi32(views, 0);
        // Unsigned: not more than 12.
        let is_inline = _mm256_cmpeq_epi32(_mm256_max_epu32(lengths, longest_inline), longest_inline);
        inline = _mm256_or_si256(inline, _mm256_and_si256(views, is_inline));
        least = _mm256_min_epu32(least, _mm256_or_si256(views, is_inline));
        let ends = _mm256_add_epi32(views, _mm256_and_si256(lengths, only_offsets));
        greatest = _mm256_max_epu32(greatest, _mm256_andnot_si256(is_inline, ends));
    }
    let (mut inlines, mut leasts, mut greatests) = ([0u128; 2], [0u32; 8], [0u32; 8]);
    store(&mut inlines, inline);
    store(&mut leasts, least);
    store(&mut greatests, greatest);
    let rest = survey_scalar(tail);
    let least = |field: usize| leasts[field].min(leasts[field + 4]);
    let greatest = |field: usize| greatests[field].max(greatests[field + 4]);
    Survey {
        inline: inlines[0] | inlines[1] | rest.inline,
        buffers: (least(2).min(rest.buffers.0), greatest(2).max(rest.buffers.1)),
        range: (least(3).min(rest.range.0), greatest(3).max(rest.range.1)),
    }
}

/// Plain old data of a vector's size, in any arrangement.
///
/// # Safety
/// Implementers are of 32 bytes, all of which have a value, whatever bits.
unsafe trait Whole {}
// SAFETY: 32 bytes without padding; any bits are an integer.
unsafe impl Whole for [u8; 32] {}
// SAFETY: as above.
unsafe impl Whole for [[u8; 16]; 2] {}
// SAFETY: as above.
unsafe impl Whole for [u32; 8] {}
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
fn load<T: Whole>(from: &T) -> __m256i {
    // SAFETY: a reference to 32 bytes that have a value; the load needs no alignment.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store<T: Whole>(to: &mut T, vector: __m256i) {
    // SAFETY: a reference to 32 bytes of any bits; the store needs no alignment.
    unsafe { _mm256_storeu_si256(std::ptr::from_mut(to).cast(), vector) }
}

/// Writes all elements of `to`, `N` of which take 32 bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn fill<T, const N: usize>(to: &mut [MaybeUninit<T>; N], vector: __m256i)
where
    [T; N]: Whole,
{
    // SAFETY: a reference to 32 bytes, which need not have had a value; the store needs no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) }
}

/// The values of `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "avx2")]
#[inline]
fn from<T, const N: usize>(window: &[T; WINDOW], at: usize) -> __m256i
where
    [T; N]: Whole,
{
    load(window[at % 64..].first_chunk::<N>().expect("a vector more than 64"))
}

/// Writes `N` values to `window` from the one `at` on, which is one of the first 64.
#[target_feature(enable = "avx2")]
#[inline]
fn fill_at<T, const N: usize>(window: &mut [MaybeUninit<T>; WINDOW], at: usize, vector: __m256i)
where
    [T; N]: Whole,
{
    fill(window[at % 64..].first_chunk_mut::<N>().expect("a vector more than 64"), vector);
}
