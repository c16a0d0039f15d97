//! Prefix sums in registers, as in `avx2/prefix_sum.rs`, over twice as many lanes.

use super::vector::{load, store};
use crate::prefix_sum::{prefix_sum_u32_scalar, prefix_sum_u64_scalar};
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f")]
pub(super) fn prefix_sum_u32(values: &mut [u32], before: u32, least: u32) -> u32 {
    let ramp = std::array::from_fn::<u32, 16, _>(|i| least.wrapping_mul(i as u32 + 1));
    let (ramp, step) = (load(&ramp), _mm512_set1_epi32(least.wrapping_mul(16) as i32));
    let (zero, last_lane) = (_mm512_setzero_si512(), _mm512_set1_epi32(15));
    // The running sum before the vector, in all lanes.
    let mut carry = _mm512_set1_epi32(before as i32);
    let (vectors, tail) = values.as_chunks_mut::<16>();
    for values in vectors {
        let mut sums = load(values);
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
        store(values, _mm512_add_epi32(_mm512_add_epi32(sums, ramp), carry));
        let total = _mm512_permutexvar_epi32(last_lane, sums);
        carry = _mm512_add_epi32(carry, _mm512_add_epi32(total, step));
    }
    let before = _mm512_cvtsi512_si32(carry) as u32;
    prefix_sum_u32_scalar(tail, before, least)
}

#[target_feature(enable = "avx512f")]
pub(super) fn prefix_sum_u64(values: &mut [u64], before: u64, least: u64) -> u64 {
    let ramp = std::array::from_fn::<u64, 8, _>(|i| least.wrapping_mul(i as u64 + 1));
    let (ramp, step) = (load(&ramp), _mm512_set1_epi64(least.wrapping_mul(8) as i64));
    let (zero, last_lane) = (_mm512_setzero_si512(), _mm512_set1_epi64(7));
    let mut carry = _mm512_set1_epi64(before as i64);
    let (vectors, tail) = values.as_chunks_mut::<8>();
    for values in vectors {
        let mut sums = load(values);
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<7>(sums, zero));
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<6>(sums, zero));
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<4>(sums, zero));
        store(values, _mm512_add_epi64(_mm512_add_epi64(sums, ramp), carry));
        let total = _mm512_permutexvar_epi64(last_lane, sums);
        carry = _mm512_add_epi64(carry, _mm512_add_epi64(total, step));
    }
    let mut lanes = [0u64; 8];
    store(&mut lanes, carry);
    prefix_sum_u64_scalar(tail, lanes[0], least)
}
