//! ALP: decodes integers to floats while they are in registers. Encoding of DOUBLE is the scalar loop, which the
//! compiler vectorizes.

use super::unpack::{unpack_u32_as, unpack_u64_as};
use super::vector::{load, store};
use crate::alp::{END_F32, MANTISSA_F64, alp_encode_scalar};
use crate::signatures::AlpExactness;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx2")]
pub(super) fn alp_decode_f32(
    source: &[u8],
    width: u32,
    least: u32,
    [up, down]: [f32; 2],
    out: &mut [MaybeUninit<u32>],
) {
    let least = _mm256_set1_epi32(least.cast_signed());
    let (up, down) = (_mm256_set1_ps(up), _mm256_set1_ps(down));
    unpack_u32_as(source, width, out, |integers| {
        let values = _mm256_cvtepi32_ps(_mm256_add_epi32(integers, least));
        _mm256_castps_si256(_mm256_mul_ps(_mm256_mul_ps(values, up), down))
    });
}

#[target_feature(enable = "avx2")]
pub(super) fn alp_decode_f64(
    source: &[u8],
    width: u32,
    least: u64,
    [up, down]: [f64; 2],
    out: &mut [MaybeUninit<u64>],
) {
    // As in the scalar loop, an integer becomes a float when it is added to the bits of a float with an empty mantissa.
    let least = _mm256_set1_epi64x(least.wrapping_add(MANTISSA_F64.to_bits()).cast_signed());
    let mantissa = _mm256_set1_pd(MANTISSA_F64);
    let (up, down) = (_mm256_set1_pd(up), _mm256_set1_pd(down));
    unpack_u64_as(source, width, out, |integers| {
        let values = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(integers, least)), mantissa);
        _mm256_castpd_si256(_mm256_mul_pd(_mm256_mul_pd(values, up), down))
    });
}

/// PERF: one instruction rounds and converts. Integers that do not fit in 32 bits are masked.
#[target_feature(enable = "avx2")]
pub(super) fn alp_encode_f32(
    values: &[u32],
    to: [f32; 2],
    back: [f32; 2],
    integers: &mut [u32],
    exact: &mut [u32],
) -> AlpExactness {
    assert!(values.len() == integers.len() && values.len() == exact.len());
    let ((groups, rest), (out, rest_out), (all_exact, rest_exact)) =
        (values.as_chunks::<8>(), integers.as_chunks_mut::<8>(), exact.as_chunks_mut::<8>());
    let [first, second] = to.map(|power| _mm256_set1_ps(power));
    let [up, down] = back.map(|power| _mm256_set1_ps(power));
    let (sign, end) = (_mm256_set1_ps(-0.0), _mm256_set1_ps(END_F32));
    let (none_least, none_greatest) = (_mm256_set1_epi32(i32::MAX), _mm256_set1_epi32(i32::MIN));
    let (mut least, mut greatest, mut count) = (none_least, none_greatest, _mm256_setzero_si256());
    for ((group, integers), exact) in groups.iter().zip(out).zip(all_exact) {
        let bits = load(group);
        let scaled = _mm256_mul_ps(_mm256_mul_ps(_mm256_castsi256_ps(bits), first), second);
        // False for NaN.
        let in_range = _mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_andnot_ps(sign, scaled), end);
        let in_range = _mm256_castps_si256(in_range);
        let integer = _mm256_and_si256(_mm256_cvtps_epi32(scaled), in_range);
        let decoded = _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(integer), up), down);
        let comes_back = _mm256_cmpeq_epi32(_mm256_castps_si256(decoded), bits);
        let is_exact = _mm256_and_si256(comes_back, in_range);
        least = _mm256_min_epi32(least, _mm256_blendv_epi8(none_least, integer, is_exact));
        greatest = _mm256_max_epi32(greatest, _mm256_blendv_epi8(none_greatest, integer, is_exact));
        count = _mm256_sub_epi32(count, is_exact);
        store(integers, integer);
        store(exact, is_exact);
    }
    let (mut leasts, mut greatests, mut counts) = ([0u32; 8], [0u32; 8], [0u32; 8]);
    store(&mut leasts, least);
    store(&mut greatests, greatest);
    store(&mut counts, count);
    let rest = alp_encode_scalar(rest, to, back, rest_out, rest_exact);
    let count = rest.count + counts.iter().sum::<u32>() as usize;
    if count == rest.count {
        return rest;
    }
    let signed = |lanes: [u32; 8]| lanes.map(|lane| i64::from(lane.cast_signed()));
    AlpExactness {
        count,
        range: (
            signed(leasts).into_iter().fold(rest.range.0, i64::min),
            signed(greatests).into_iter().fold(rest.range.1, i64::max),
        ),
        any_large: false,
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn alp_encode_f64(
    values: &[u64],
    to: [f64; 2],
    back: [f64; 2],
    out: &mut [u64],
    exact: &mut [u64],
) -> AlpExactness {
    alp_encode_scalar(values, to, back, out, exact)
}
