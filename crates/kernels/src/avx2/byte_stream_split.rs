//! BYTE_STREAM_SPLIT by interleaving.
//!
//! Splitting: a shuffle groups the bytes of the same position in each half of a vector. Then pairs or quadruples of them are
//! interleaved between vectors, until each vector belongs to one stream. The halves of a vector take values that are 16 apart,
//! so both halves of a stream end up in order.
//!
//! Merging: two streams are interleaved to pairs, two vectors of pairs to quadruples, and so on. The halves of a vector are
//! interleaved separately, so each result has values of both: `0 1 .. | 16 17 ..` for the first.

use super::vector::{fill, load};
use crate::byte_stream_split::{
    merge_streams_u32_scalar, merge_streams_u64_scalar, split_streams_u32_scalar, split_streams_u64_scalar,
};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Number of values that fill one vector of each stream.
const VALUES: usize = 32;

#[target_feature(enable = "avx2")]
pub(super) fn split_streams_u32(values: &[u32], streams: [&mut [MaybeUninit<u8>]; 4]) {
    let (groups, rest) = values.as_chunks::<VALUES>();
    let streams = streams.map(|stream| stream[..values.len()].as_chunks_mut::<VALUES>());
    let order = load(&[[0u8, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]; 2]);
    for (i, group) in groups.iter().enumerate() {
        let parts = group.as_chunks::<4>().0;
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| halves(&parts[k], &parts[k + 4]));
        let (a, b) = (_mm256_shuffle_epi8(a, order), _mm256_shuffle_epi8(b, order));
        let (c, d) = (_mm256_shuffle_epi8(c, order), _mm256_shuffle_epi8(d, order));
        let (ab, ab_2) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd, cd_2) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        fill(&mut streams[0].0[i], _mm256_unpacklo_epi64(ab, cd));
        fill(&mut streams[1].0[i], _mm256_unpackhi_epi64(ab, cd));
        fill(&mut streams[2].0[i], _mm256_unpacklo_epi64(ab_2, cd_2));
        fill(&mut streams[3].0[i], _mm256_unpackhi_epi64(ab_2, cd_2));
    }
    split_streams_u32_scalar(rest, streams.map(|(_, rest)| rest));
}

#[target_feature(enable = "avx2")]
pub(super) fn split_streams_u64(values: &[u64], streams: [&mut [MaybeUninit<u8>]; 8]) {
    let (groups, rest) = values.as_chunks::<VALUES>();
    let streams = streams.map(|stream| stream[..values.len()].as_chunks_mut::<VALUES>());
    let order = load(&[[0u8, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]; 2]);
    for (i, group) in groups.iter().enumerate() {
        let parts = group.as_chunks::<2>().0;
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| halves(&parts[k], &parts[k + 8]));
        let [e, f, g, h] = [4, 5, 6, 7].map(|k| halves(&parts[k], &parts[k + 8]));
        let front = quadruples(order, a, b, c, d);
        let back = quadruples(order, e, f, g, h);
        for (k, (front, back)) in front.into_iter().zip(back).enumerate() {
            fill(&mut streams[2 * k].0[i], _mm256_unpacklo_epi64(front, back));
            fill(&mut streams[2 * k + 1].0[i], _mm256_unpackhi_epi64(front, back));
        }
    }
    split_streams_u64_scalar(rest, streams.map(|(_, rest)| rest));
}

/// Groups the bytes of values by their position. In each half, vector `k` of the result has byte `2 k` of the eight
/// values of that half, then byte `2 k + 1`.
#[target_feature(enable = "avx2")]
#[inline]
fn quadruples(order: __m256i, a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> [__m256i; 4] {
    let (a, b) = (_mm256_shuffle_epi8(a, order), _mm256_shuffle_epi8(b, order));
    let (c, d) = (_mm256_shuffle_epi8(c, order), _mm256_shuffle_epi8(d, order));
    let (ab, ab_2) = (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b));
    let (cd, cd_2) = (_mm256_unpacklo_epi16(c, d), _mm256_unpackhi_epi16(c, d));
    [
        _mm256_unpacklo_epi32(ab, cd),
        _mm256_unpackhi_epi32(ab, cd),
        _mm256_unpacklo_epi32(ab_2, cd_2),
        _mm256_unpackhi_epi32(ab_2, cd_2),
    ]
}

/// Loads a vector from two halves of 16 bytes each.
#[target_feature(enable = "avx2")]
#[inline]
fn halves<T: Copy, const N: usize>(low: &[T; N], high: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: references to 16 bytes each, of integers without padding; the loads need no alignment.
    unsafe {
        let low = _mm_loadu_si128(low.as_ptr().cast());
        _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128(high.as_ptr().cast()), 1)
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn merge_streams_u32(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    let (groups, tail) = out.as_chunks_mut::<VALUES>();
    let done = groups.len() * VALUES;
    let [a, b, c, d] = streams.map(|stream| stream.as_chunks::<VALUES>().0);
    for (i, group) in groups.iter_mut().enumerate() {
        let quadruples = interleaved(load(&a[i]), load(&b[i]), load(&c[i]), load(&d[i]));
        let (low, high) = group.split_at_mut(VALUES / 2);
        let (low, high) = (low.as_chunks_mut::<4>().0, high.as_chunks_mut::<4>().0);
        for k in 0..4 {
            fill_halves(&mut low[k], &mut high[k], quadruples[k]);
        }
    }
    merge_streams_u32_scalar(streams.map(|stream| &stream[done..]), tail);
}

#[target_feature(enable = "avx2")]
pub(super) fn merge_streams_u64(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    let (groups, tail) = out.as_chunks_mut::<VALUES>();
    let done = groups.len() * VALUES;
    let [a, b, c, d, e, f, g, h] = streams.map(|stream| stream.as_chunks::<VALUES>().0);
    for (i, group) in groups.iter_mut().enumerate() {
        let front = interleaved(load(&a[i]), load(&b[i]), load(&c[i]), load(&d[i]));
        let back = interleaved(load(&e[i]), load(&f[i]), load(&g[i]), load(&h[i]));
        let (low, high) = group.split_at_mut(VALUES / 2);
        let (low, high) = (low.as_chunks_mut::<2>().0, high.as_chunks_mut::<2>().0);
        for k in 0..4 {
            let (first, second) =
                (_mm256_unpacklo_epi32(front[k], back[k]), _mm256_unpackhi_epi32(front[k], back[k]));
            fill_halves(&mut low[2 * k], &mut high[2 * k], first);
            fill_halves(&mut low[2 * k + 1], &mut high[2 * k + 1], second);
        }
    }
    merge_streams_u64_scalar(streams.map(|stream| &stream[done..]), tail);
}

/// Interleaves the bytes of four streams to quadruples. Vector `k` has those of values `4 k..` and `4 k + 16..`.
#[target_feature(enable = "avx2")]
#[inline]
fn interleaved(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> [__m256i; 4] {
    let (ab, ab_2) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
    let (cd, cd_2) = (_mm256_unpacklo_epi8(c, d), _mm256_unpackhi_epi8(c, d));
    [
        _mm256_unpacklo_epi16(ab, cd),
        _mm256_unpackhi_epi16(ab, cd),
        _mm256_unpacklo_epi16(ab_2, cd_2),
        _mm256_unpackhi_epi16(ab_2, cd_2),
    ]
}

/// Writes the halves of a vector to `low` and `high`, which are 16 bytes each.
#[target_feature(enable = "avx2")]
#[inline]
fn fill_halves<T, const N: usize>(
    low: &mut [MaybeUninit<T>; N],
    high: &mut [MaybeUninit<T>; N],
    vector: __m256i,
) {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: references to 16 bytes each, which may be uninitialized; the stores need no alignment. `T` is an integer,
    // for which any bits are valid.
    unsafe {
        _mm_storeu_si128(low.as_mut_ptr().cast(), _mm256_castsi256_si128(vector));
        _mm_storeu_si128(high.as_mut_ptr().cast(), _mm256_extracti128_si256(vector, 1));
    }
}
