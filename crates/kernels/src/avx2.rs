//! The loops for x86-64 CPUs with AVX2 and BMI2: of 2013 and later.
//!
//! Loops that gain by new instructions only are the scalar ones, compiled once more; the others are written out. The
//! functions check their lengths before they use pointers, so they are safe wherever the CPU has the instructions.

mod alp;
mod byte_stream_split;
mod expand;
mod filter;
mod list_offsets;
mod pack;
mod prefix_sum;
mod unpack;
mod vector;

use crate::short_runs::{unpack_bytes, unpack_short_runs_by_width};
use crate::signatures::{Kernels, ViewSummary};
use crate::uninit::put_chunk;
use crate::views::summarize_views_scalar;
use crate::{bitmap, gather, min_max};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use vector::{fill, load, store};

/// Whether this CPU has all instructions that the loops of [`AVX2`] use.
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
    expand_ends: expand::expand_ends,
    expand_word,
    filter_u8: filter::filter_u8,
    filter_u32: filter::filter_u32,
    filter_u64: filter::filter_u64,
    filter_u128,
    filter_word,
    prefix_sum_u32: prefix_sum::prefix_sum_u32,
    prefix_sum_u64: prefix_sum::prefix_sum_u64,
    deltas_u32: Some(prefix_sum::unpack_sum_u32),
    deltas_u64: Some(prefix_sum::unpack_sum_u64),
    alp_decode_f32: Some(alp::alp_decode_f32),
    alp_decode_f64: Some(alp::alp_decode_f64),
    alp_encode_f32: alp::alp_encode_f32,
    alp_encode_f64: alp::alp_encode_f64,
    min_max_i32,
    min_max_i64,
    min_max_u32,
    min_max_u64,
    min_max_f32,
    min_max_f64,
    split_streams_u32: byte_stream_split::split_streams_u32,
    split_streams_u64: byte_stream_split::split_streams_u64,
    gather_small_u32: Some(gather_small_u32),
    unpack_short_runs,
    unpack_short_runs_u8,
    max_u32,
    count_ones,
    levels_ge,
    list_offsets: list_offsets::list_offsets,
    summarize_views,
    merge_streams_u32: byte_stream_split::merge_streams_u32,
    merge_streams_u64: byte_stream_split::merge_streams_u64,
};

#[target_feature(enable = "bmi2")]
fn expand_word(dense: u64, validity: u64) -> u64 {
    _pdep_u64(dense, validity)
}

#[target_feature(enable = "bmi2")]
fn filter_word(bits: u64, wanted: u64) -> u64 {
    _pext_u64(bits, wanted)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn expand_u128(dense: &[[u8; 16]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) {
    crate::expand::expand_scalar(dense, validity, first, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn filter_u128(values: &[u128], keep: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) -> usize {
    crate::filter::filter_scalar(values, keep, first, out)
}

/// Holds the dictionary in four vectors of eight values. Bits 3 and 4 of an index select a vector; for the blends they
/// are shifted to the sign.
#[target_feature(enable = "avx2")]
fn gather_small_u32(dictionary: &[u32; 32], indices: &[u32], out: &mut [MaybeUninit<u32>]) {
    assert_eq!(indices.len(), out.len());
    let [a, b, c, d] = std::array::from_fn(|i| load(&dictionary.as_chunks::<8>().0[i]));
    let either = |zero, one, sign| {
        let [zero, one, sign] = [zero, one, sign].map(|vector| _mm256_castsi256_ps(vector));
        _mm256_castps_si256(_mm256_blendv_ps(zero, one, sign))
    };
    let (indices, rest) = indices.as_chunks::<8>();
    let (slots, last) = out.as_chunks_mut::<8>();
    for (indices, slots) in indices.iter().zip(slots) {
        let indices = load(indices);
        let [a, b, c, d] = [a, b, c, d].map(|values| _mm256_permutevar8x32_epi32(values, indices));
        let (third, fourth) = (_mm256_slli_epi32::<28>(indices), _mm256_slli_epi32::<27>(indices));
        fill(slots, either(either(a, b, third), either(c, d, third), fourth));
    }
    for (index, slot) in rest.iter().zip(last) {
        slot.write(dictionary[*index as usize % 32]);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn unpack_short_runs(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u32>],
) -> (usize, usize) {
    unpack_short_runs_by_width(padded, len, position, width, out)
}

/// Deposits the bits of each value in a byte of its own.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn unpack_short_runs_u8(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let lanes = 0x0101_0101_0101_0101 * (0xff >> (8 - width));
    unpack_bytes(padded, len, position, width, out, |word| _pdep_u64(word, lanes))
}

#[target_feature(enable = "avx2")]
fn max_u32(values: &[u32]) -> u32 {
    gather::max_u32_scalar(values)
}

#[target_feature(enable = "avx2")]
fn min_max_i32(words: &[u32]) -> (i32, i32) {
    min_max::min_max_i32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_i64(words: &[u64]) -> (i64, i64) {
    min_max::min_max_i64_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_u32(words: &[u32]) -> (u32, u32) {
    min_max::min_max_u32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_u64(words: &[u64]) -> (u64, u64) {
    min_max::min_max_u64_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_f32(words: &[u32]) -> (i32, i32, usize) {
    min_max::min_max_f32_scalar(words)
}

#[target_feature(enable = "avx2")]
fn min_max_f64(words: &[u64]) -> (i64, i64, usize) {
    min_max::min_max_f64_scalar(words)
}

#[target_feature(enable = "avx2,popcnt")]
fn count_ones(bytes: &[u8], first: usize, n: usize) -> usize {
    bitmap::count_ones_scalar(bytes, first, n)
}

#[target_feature(enable = "avx2")]
fn levels_ge(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
    let (groups, rest) = levels.as_chunks::<32>();
    assert_eq!(levels.len(), out.len() * 8);
    let (masks, last) = out.split_at_mut(groups.len() * 4);
    let threshold_vector = _mm256_set1_epi8(threshold as i8);
    for (group, mask) in groups.iter().zip(masks.as_chunks_mut::<4>().0) {
        let levels = load(group);
        let at_least = _mm256_cmpeq_epi8(_mm256_max_epu8(levels, threshold_vector), levels);
        put_chunk(&_mm256_movemask_epi8(at_least).to_le_bytes(), mask);
    }
    bitmap::levels_ge_scalar(rest, threshold, last);
}

/// Handles two views at a time, each of four fields: length, prefix, buffer, offset.
#[target_feature(enable = "avx2")]
fn summarize_views(views: &[u128]) -> ViewSummary {
    let (pairs, tail) = views.as_chunks::<2>();
    let longest_inline = _mm256_set1_epi32(12);
    let only_offsets = _mm256_set_epi32(-1, 0, 0, 0, -1, 0, 0, 0);
    let mut inline = _mm256_setzero_si256();
    let (mut least, mut greatest) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
    for pair in pairs {
        let views = load(pair);
        let lengths = _mm256_shuffle_epi32(views, 0);
        // An unsigned comparison: not more than 12.
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
    let rest = summarize_views_scalar(tail);
    let least = |field: usize| leasts[field].min(leasts[field + 4]);
    let greatest = |field: usize| greatests[field].max(greatests[field + 4]);
    ViewSummary {
        inline: inlines[0] | inlines[1] | rest.inline,
        buffers: (least(2).min(rest.buffers.0), greatest(2).max(rest.buffers.1)),
        range: (least(3).min(rest.range.0), greatest(3).max(rest.range.1)),
    }
}
