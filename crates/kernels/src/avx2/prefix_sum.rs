//! Prefix sums in registers: log2(lanes) additions of shifted copies, and one addition that depends on the previous vector.

use super::unpack::{unpack_u32_as, unpack_u64_as};
use super::vector::{load, store};
use crate::prefix_sum::{prefix_sum_u32_scalar, prefix_sum_u64_scalar};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx2")]
pub(super) fn prefix_sum_u32(values: &mut [u32], before: u32, least: u32) -> u32 {
    let mut sums = Sums::of_u32(before, least);
    let (vectors, tail) = values.as_chunks_mut::<8>();
    for values in vectors {
        store(values, sums.up_to_u32(load(values)));
    }
    prefix_sum_u32_scalar(tail, sums.last_u32(), least)
}

#[target_feature(enable = "avx2")]
pub(super) fn prefix_sum_u64(values: &mut [u64], before: u64, least: u64) -> u64 {
    let mut sums = Sums::of_u64(before, least);
    let (vectors, tail) = values.as_chunks_mut::<4>();
    for values in vectors {
        store(values, sums.up_to_u64(load(values)));
    }
    prefix_sum_u64_scalar(tail, sums.last_u64(), least)
}

#[target_feature(enable = "avx2")]
pub(super) fn unpack_sum_u32(
    source: &[u8],
    width: u32,
    before: u32,
    least: u32,
    out: &mut [MaybeUninit<u32>],
) -> u32 {
    let mut sums = Sums::of_u32(before, least);
    unpack_u32_as(source, width, out, |deltas| sums.up_to_u32(deltas));
    sums.last_u32()
}

#[target_feature(enable = "avx2")]
pub(super) fn unpack_sum_u64(
    source: &[u8],
    width: u32,
    before: u64,
    least: u64,
    out: &mut [MaybeUninit<u64>],
) -> u64 {
    let mut sums = Sums::of_u64(before, least);
    unpack_u64_as(source, width, out, |deltas| sums.up_to_u64(deltas));
    sums.last_u64()
}

/// The running sum before a vector in all lanes, and what the least delta adds to each lane (`ramp`) and to the whole vector (`step`).
struct Sums {
    carry: __m256i,
    ramp: __m256i,
    step: __m256i,
}

impl Sums {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_u32(before: u32, least: u32) -> Self {
        let all = _mm256_set1_epi32(least as i32);
        Sums {
            carry: _mm256_set1_epi32(before as i32),
            ramp: _mm256_mullo_epi32(all, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8)),
            step: _mm256_slli_epi32(all, 3),
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_u64(before: u64, least: u64) -> Self {
        let all = _mm256_set1_epi64x(least as i64);
        let twice = _mm256_slli_epi64(all, 1);
        let upper = _mm256_blend_epi32(_mm256_setzero_si256(), twice, 0b1111_0000);
        let odd = _mm256_blend_epi32(_mm256_setzero_si256(), all, 0b1100_1100);
        Sums {
            carry: _mm256_set1_epi64x(before as i64),
            ramp: _mm256_add_epi64(_mm256_add_epi64(all, odd), upper),
            step: _mm256_slli_epi64(all, 2),
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn up_to_u32(&mut self, deltas: __m256i) -> __m256i {
        let mut sums = _mm256_add_epi32(deltas, _mm256_slli_si256(deltas, 4));
        sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8));
        // The last sum of the lower half, which is added to the lanes of the upper half.
        let lower = _mm256_permute2x128_si256(sums, sums, 0x08);
        sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(lower, 0b1111_1111));
        let values = _mm256_add_epi32(_mm256_add_epi32(sums, self.ramp), self.carry);
        let total = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(7));
        self.carry = _mm256_add_epi32(self.carry, _mm256_add_epi32(total, self.step));
        values
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn up_to_u64(&mut self, deltas: __m256i) -> __m256i {
        let mut sums = _mm256_add_epi64(deltas, _mm256_slli_si256(deltas, 8));
        let lower = _mm256_permute2x128_si256(sums, sums, 0x08);
        sums = _mm256_add_epi64(sums, _mm256_unpackhi_epi64(lower, lower));
        let values = _mm256_add_epi64(_mm256_add_epi64(sums, self.ramp), self.carry);
        let total = _mm256_permute4x64_epi64(sums, 0b1111_1111);
        self.carry = _mm256_add_epi64(self.carry, _mm256_add_epi64(total, self.step));
        values
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn last_u32(&self) -> u32 {
        _mm256_cvtsi256_si32(self.carry) as u32
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn last_u64(&self) -> u64 {
        _mm_cvtsi128_si64(_mm256_castsi256_si128(self.carry)) as u64
    }
}
