//! BYTE_STREAM_SPLIT by interleaving.
//!
//! Splitting: the even and the odd bytes of two vectors go to a vector each. The same is done again to vectors of the same
//! kind, until each vector belongs to one stream.
//!
//! Merging: two streams are interleaved to pairs, two vectors of pairs to quadruples, and so on.

use super::vector::{each, fill, load, words};
use crate::byte_stream_split::{
    merge_streams_u32_scalar, merge_streams_u64_scalar, split_streams_u32_scalar, split_streams_u64_scalar,
};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Number of values that fill one vector of each stream.
const VALUES: usize = 16;

#[target_feature(enable = "neon")]
pub(super) fn split_streams_u32(values: &[u32], streams: [&mut [MaybeUninit<u8>]; 4]) {
    let (groups, rest) = values.as_chunks::<VALUES>();
    let mut streams = streams.map(|stream| stream[..values.len()].as_chunks_mut::<VALUES>());
    for (i, group) in groups.iter().enumerate() {
        let bytes = separated(each::<_, 4, 4>(group).map(|values| load(values)));
        for ((stream, _), bytes) in streams.iter_mut().zip(bytes) {
            fill(&mut stream[i], bytes);
        }
    }
    split_streams_u32_scalar(rest, streams.map(|(_, rest)| rest));
}

#[target_feature(enable = "neon")]
pub(super) fn split_streams_u64(values: &[u64], streams: [&mut [MaybeUninit<u8>]; 8]) {
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
    split_streams_u64_scalar(rest, streams.map(|(_, rest)| rest));
}

/// Separates the bytes of sixteen quadruples: all first bytes, all second, all third and all fourth.
#[target_feature(enable = "neon")]
#[inline]
fn separated([a, b, c, d]: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
    let (even, odd) = (vuzp1q_u8(a, b), vuzp2q_u8(a, b));
    let (even_2, odd_2) = (vuzp1q_u8(c, d), vuzp2q_u8(c, d));
    [vuzp1q_u8(even, even_2), vuzp1q_u8(odd, odd_2), vuzp2q_u8(even, even_2), vuzp2q_u8(odd, odd_2)]
}

#[target_feature(enable = "neon")]
pub(super) fn merge_streams_u32(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    let (groups, tail) = out.as_chunks_mut::<VALUES>();
    let done = groups.len() * VALUES;
    let [a, b, c, d] = streams.map(|stream| stream.as_chunks::<VALUES>().0);
    for (i, group) in groups.iter_mut().enumerate() {
        let quadruples = interleaved(load(&a[i]), load(&b[i]), load(&c[i]), load(&d[i]));
        for (slots, values) in group.as_chunks_mut::<4>().0.iter_mut().zip(quadruples) {
            fill(slots, vreinterpretq_u8_u16(values));
        }
    }
    merge_streams_u32_scalar(streams.map(|stream| &stream[done..]), tail);
}

#[target_feature(enable = "neon")]
pub(super) fn merge_streams_u64(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    let (groups, tail) = out.as_chunks_mut::<VALUES>();
    let done = groups.len() * VALUES;
    let [a, b, c, d, e, f, g, h] = streams.map(|stream| stream.as_chunks::<VALUES>().0);
    for (i, group) in groups.iter_mut().enumerate() {
        let front = interleaved(load(&a[i]), load(&b[i]), load(&c[i]), load(&d[i]));
        let back = interleaved(load(&e[i]), load(&f[i]), load(&g[i]), load(&h[i]));
        let parts = group.as_chunks_mut::<4>().0.iter_mut();
        for (slots, (front, back)) in parts.zip(front.into_iter().zip(back)) {
            let (front, back) = (vreinterpretq_u32_u16(front), vreinterpretq_u32_u16(back));
            let [low, high] = slots.as_chunks_mut::<2>().0 else { unreachable!("two of four") };
            fill(low, vreinterpretq_u8_u32(vzip1q_u32(front, back)));
            fill(high, vreinterpretq_u8_u32(vzip2q_u32(front, back)));
        }
    }
    merge_streams_u64_scalar(streams.map(|stream| &stream[done..]), tail);
}

/// Interleaves the bytes of four streams to quadruples, in order.
#[target_feature(enable = "neon")]
#[inline]
fn interleaved(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t, d: uint8x16_t) -> [uint16x8_t; 4] {
    let [ab, ab_2] = [vzip1q_u8(a, b), vzip2q_u8(a, b)].map(|pairs| vreinterpretq_u16_u8(pairs));
    let [cd, cd_2] = [vzip1q_u8(c, d), vzip2q_u8(c, d)].map(|pairs| vreinterpretq_u16_u8(pairs));
    [vzip1q_u16(ab, cd), vzip2q_u16(ab, cd), vzip1q_u16(ab_2, cd_2), vzip2q_u16(ab_2, cd_2)]
}
