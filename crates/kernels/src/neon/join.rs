//! Joining byte streams by interleaving: of two streams pairs, of two streams of pairs quadruples, and so on.

use super::{fill, load};
use crate::split::{join_u32_scalar, join_u64_scalar};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

/// Values that one vector of each stream makes.
const VALUES: usize = 16;

#[target_feature(enable = "neon")]
pub(super) fn join_u32(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
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
    join_u32_scalar(streams.map(|stream| &stream[done..]), tail);
}

#[target_feature(enable = "neon")]
pub(super) fn join_u64(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
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
    join_u64_scalar(streams.map(|stream| &stream[done..]), tail);
}

/// The bytes of four streams as quadruples, in order.
#[target_feature(enable = "neon")]
#[inline]
fn interleaved(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t, d: uint8x16_t) -> [uint16x8_t; 4] {
    let [ab, ab_2] = [vzip1q_u8(a, b), vzip2q_u8(a, b)].map(|pairs| vreinterpretq_u16_u8(pairs));
    let [cd, cd_2] = [vzip1q_u8(c, d), vzip2q_u8(c, d)].map(|pairs| vreinterpretq_u16_u8(pairs));
    [vzip1q_u16(ab, cd), vzip2q_u16(ab, cd), vzip1q_u16(ab_2, cd_2), vzip2q_u16(ab_2, cd_2)]
}
