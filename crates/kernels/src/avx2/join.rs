//! Joining byte streams by interleaving: of two streams pairs, of two streams of pairs quadruples, and so on.
//!
//! A vector's halves are interleaved apart, so each result has values of both: `0 1 .. | 16 17 ..` for the first.

use super::load;
use crate::split::{join_u32_scalar, join_u64_scalar};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Values that one vector of each stream makes.
const VALUES: usize = 32;

#[target_feature(enable = "avx2")]
pub(super) fn join_u32(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
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
    join_u32_scalar(streams.map(|stream| &stream[done..]), tail);
}

#[target_feature(enable = "avx2")]
pub(super) fn join_u64(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
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
    join_u64_scalar(streams.map(|stream| &stream[done..]), tail);
}

/// The bytes of four streams as quadruples; vector `k` has those of values `4 k..` and `4 k + 16..`.
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
    // SAFETY: references to 16 bytes each, which need not have had a value; the stores need no alignment. Any bits are
    // an integer, and `T` is one.
    unsafe {
        _mm_storeu_si128(low.as_mut_ptr().cast(), _mm256_castsi256_si128(vector));
        _mm_storeu_si128(high.as_mut_ptr().cast(), _mm256_extracti128_si256(vector, 1));
    }
}
