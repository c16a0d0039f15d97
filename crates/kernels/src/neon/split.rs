//! Splitting values into byte streams: every other byte of two vectors makes one of the even bytes and one of the odd; so
//! again for two of the same kind, until each vector belongs to one stream.

use super::{each, fill, load, words};
use crate::split::{split_u32_scalar, split_u64_scalar};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Values that make one vector of each stream.
const VALUES: usize = 16;

#[target_feature(enable = "neon")]
pub(super) fn split_u32(values: &[u32], streams: [&mut [MaybeUninit<u8>]; 4]) {
    let (groups, rest) = values.as_chunks::<VALUES>();
    let mut streams = streams.map(|stream| stream[..values.len()].as_chunks_mut::<VALUES>());
    for (i, group) in groups.iter().enumerate() {
        let bytes = separated(each::<_, 4, 4>(group).map(|values| load(values)));
        for ((stream, _), bytes) in streams.iter_mut().zip(bytes) {
            fill(&mut stream[i], bytes);
        }
    }
    split_u32_scalar(rest, streams.map(|(_, rest)| rest));
}

#[target_feature(enable = "neon")]
pub(super) fn split_u64(values: &[u64], streams: [&mut [MaybeUninit<u8>]; 8]) {
    let (groups, rest) = values.as_chunks::<VALUES>();
    let mut streams = streams.map(|stream| stream[..values.len()].as_chunks_mut::<VALUES>());
    for (i, group) in groups.iter().enumerate() {
        let [a, b, c, d, e, f, g, h] = each::<_, 2, 8>(group).map(|values| words(load(values)));
        // The lower and the upper four bytes of all values.
        let pairs = [(a, b), (c, d), (e, f), (g, h)];
        let low = separated(pairs.map(|(a, b)| vreinterpretq_u8_u32(vuzp1q_u32(a, b))));
        let high = separated(pairs.map(|(a, b)| vreinterpretq_u8_u32(vuzp2q_u32(a, b))));
        for ((stream, _), bytes) in streams.iter_mut().zip(low.into_iter().chain(high)) {
            fill(&mut stream[i], bytes);
        }
    }
    split_u64_scalar(rest, streams.map(|(_, rest)| rest));
}

/// Of sixteen quadruples the first bytes, the second, the third and the fourth.
#[target_feature(enable = "neon")]
#[inline]
fn separated([a, b, c, d]: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
    let (even, odd) = (vuzp1q_u8(a, b), vuzp2q_u8(a, b));
    let (even_2, odd_2) = (vuzp1q_u8(c, d), vuzp2q_u8(c, d));
    [vuzp1q_u8(even, even_2), vuzp1q_u8(odd, odd_2), vuzp2q_u8(even, even_2), vuzp2q_u8(odd, odd_2)]
}
