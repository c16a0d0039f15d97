//! Prefix sums in registers: log2(lanes) additions of shifted copies, and one addition that depends on the vector before.

use super::{load, store};
use crate::sum::{prefix_sum_u32_scalar, prefix_sum_u64_scalar};
use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
pub(super) fn prefix_sum_u32(values: &mut [u32], before: u32, least: u32) -> u32 {
    let ramp = std::array::from_fn::<u32, 8, _>(|i| least.wrapping_mul(i as u32 + 1));
    let (ramp, step) = (load(&ramp), _mm256_set1_epi32(least.wrapping_mul(8) as i32));
    let last_lane = _mm256_set1_epi32(7);
    // The sum before the vector, in all lanes.
    let mut carry = _mm256_set1_epi32(before as i32);
    let (vectors, tail) = values.as_chunks_mut::<8>();
    for values in vectors {
        let mut sums = load(values);
        sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 4));
        sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8));
        // The last sum of the lower half, added to the lanes of the upper.
        let lower = _mm256_permute2x128_si256(sums, sums, 0x08);
        sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(lower, 0b1111_1111));
        store(values, _mm256_add_epi32(_mm256_add_epi32(sums, ramp), carry));
        let total = _mm256_permutevar8x32_epi32(sums, last_lane);
        carry = _mm256_add_epi32(carry, _mm256_add_epi32(total, step));
    }
    let before = _mm256_cvtsi256_si32(carry) as u32;
    prefix_sum_u32_scalar(tail, before, least)
}

#[target_feature(enable = "avx2")]
pub(super) fn prefix_sum_u64(values: &mut [u64], before: u64, least: u64) -> u64 {
    let ramp = std::array::from_fn::<u64, 4, _>(|i| least.wrapping_mul(i as u64 + 1));
    let (ramp, step) = (load(&ramp), _mm256_set1_epi64x(least.wrapping_mul(4) as i64));
    let mut carry = _mm256_set1_epi64x(before as i64);
    let (vectors, tail) = values.as_chunks_mut::<4>();
    for values in vectors {
        let mut sums = load(values);
        sums = _mm256_add_epi64(sums, _mm256_slli_si256(sums, 8));
        let lower = _mm256_permute2x128_si256(sums, sums, 0x08);
        sums = _mm256_add_epi64(sums, _mm256_unpackhi_epi64(lower, lower));
        store(values, _mm256_add_epi64(_mm256_add_epi64(sums, ramp), carry));
        let total = _mm256_permute4x64_epi64(sums, 0b1111_1111);
        carry = _mm256_add_epi64(carry, _mm256_add_epi64(total, step));
    }
    let before = _mm_cvtsi128_si64(_mm256_castsi256_si128(carry)) as u64;
    prefix_sum_u64_scalar(tail, before, least)
}
