//! ALP: decodes integers to floats while they are in registers. Encoding is the scalar loop, which the compiler vectorizes.

use super::unpack::{unpack_u32_as, unpack_u64_as};
use crate::alp::{Float, alp_encode_scalar};
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
    // As in the scalar loop: an integer becomes a float when it is added to the bits of a float with an empty mantissa.
    let least = _mm256_set1_epi64x(least.wrapping_add(f64::MANTISSA.to_bits()).cast_signed());
    let mantissa = _mm256_set1_pd(f64::MANTISSA);
    let (up, down) = (_mm256_set1_pd(up), _mm256_set1_pd(down));
    unpack_u64_as(source, width, out, |integers| {
        let values = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(integers, least)), mantissa);
        _mm256_castpd_si256(_mm256_mul_pd(_mm256_mul_pd(values, up), down))
    });
}

#[target_feature(enable = "avx2")]
pub(super) fn alp_encode_f32(
    values: &[u32],
    to: [f32; 2],
    back: [f32; 2],
    out: &mut [u32],
    exact: &mut [u32],
) -> AlpExactness {
    alp_encode_scalar(values, to, back, out, exact)
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
