//! Packing by folding: the upper one of two neighbours moves down to the lower one, first for bytes, then for pairs,
//! then for quadruples. Wider values are packed by the scalar loops.

use super::vector::{fill, load, longs, words};
use crate::pack::pack_u8_scalar;
use crate::shuffle_tables::ZERO_LANE;
use crate::unpack::GROUP;
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "neon")]
pub(super) fn pack_u8(values: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    if width == 0 || width >= 8 {
        return pack_u8_scalar(values, width, out);
    }
    let (pairs, _) = values.as_chunks::<{ 2 * GROUP }>();
    assert!(values.len().is_multiple_of(GROUP) && out.len() == values.len() / GROUP * width as usize);
    let bits = width as i32;
    let mask = vdupq_n_u8(0xff >> (8 - bits));
    let (low_16, down_16) = (vdupq_n_u16((1 << bits) - 1), vdupq_n_s16(bits as i16 - 8));
    let (low_32, down_32) = (vdupq_n_u32((1 << (2 * bits)) - 1), vdupq_n_s32(2 * bits - 16));
    let (low_64, down_64) = (vdupq_n_u64((1 << (4 * bits)) - 1), vdupq_n_s64(4 * i64::from(bits) - 32));
    // The bytes of both groups, then zeros.
    let bytes = width as usize;
    let together = load(&std::array::from_fn::<u8, 16, _>(|i| {
        let byte = if i < bytes { i } else { i - bytes + GROUP };
        if i < 2 * bytes { byte as u8 } else { ZERO_LANE }
    }));
    // Writes 16 bytes for each pair of groups. The next pair overwrites the excess.
    let whole = out.len().saturating_sub(16 - 2 * bytes) / (2 * bytes);
    let now = &pairs[..whole.min(pairs.len())];
    for (i, pair) in now.iter().enumerate() {
        let values = vreinterpretq_u16_u8(vandq_u8(load(pair), mask));
        let values = vbslq_u16(low_16, values, vshlq_u16(values, down_16));
        let values = words(vreinterpretq_u8_u16(values));
        let values = vbslq_u32(low_32, values, vshlq_u32(values, down_32));
        let values = longs(vreinterpretq_u8_u32(values));
        let values = vbslq_u64(low_64, values, vshlq_u64(values, down_64));
        let packed = vqtbl1q_u8(vreinterpretq_u8_u64(values), together);
        fill(out[i * 2 * bytes..].first_chunk_mut::<16>().expect("room for a vector"), packed);
    }
    pack_u8_scalar(&values[now.len() * 2 * GROUP..], width, &mut out[now.len() * 2 * bytes..]);
}
