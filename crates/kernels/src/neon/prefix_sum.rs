//! Prefix sums in registers: additions of shifted copies, and one addition that depends on the previous vector.

use super::vector::{load, longs, store, words};
use crate::prefix_sum::{prefix_sum_u32_scalar, prefix_sum_u64_scalar};
use std::arch::aarch64::*;

#[target_feature(enable = "neon")]
pub(super) fn prefix_sum_u32(values: &mut [u32], before: u32, least: u32) -> u32 {
    let (zero, least_vector) = (vdupq_n_u32(0), vdupq_n_u32(least));
    // The running sum before the vector, in all lanes.
    let mut carry = vdupq_n_u32(before);
    let (vectors, tail) = values.as_chunks_mut::<4>();
    for values in vectors {
        let mut sums = vaddq_u32(words(load(values)), least_vector);
        sums = vaddq_u32(sums, vextq_u32::<3>(zero, sums));
        sums = vaddq_u32(sums, vextq_u32::<2>(zero, sums));
        store(values, vreinterpretq_u8_u32(vaddq_u32(sums, carry)));
        carry = vaddq_u32(carry, vdupq_laneq_u32::<3>(sums));
    }
    prefix_sum_u32_scalar(tail, vgetq_lane_u32::<0>(carry), least)
}

#[target_feature(enable = "neon")]
pub(super) fn prefix_sum_u64(values: &mut [u64], before: u64, least: u64) -> u64 {
    let (zero, least_vector) = (vdupq_n_u64(0), vdupq_n_u64(least));
    let mut carry = vdupq_n_u64(before);
    let (vectors, tail) = values.as_chunks_mut::<2>();
    for values in vectors {
        let mut sums = vaddq_u64(longs(load(values)), least_vector);
        sums = vaddq_u64(sums, vextq_u64::<1>(zero, sums));
        store(values, vreinterpretq_u8_u64(vaddq_u64(sums, carry)));
        carry = vaddq_u64(carry, vdupq_laneq_u64::<1>(sums));
    }
    prefix_sum_u64_scalar(tail, vgetq_lane_u64::<0>(carry), least)
}
