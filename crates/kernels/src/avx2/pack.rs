//! Packing by `pext`, which takes the bits of eight bytes, or of four 16-bit values, at once. Wider values are packed by the scalar loops, which
//! were not slower than vectors.

use crate::pack::{pack_u8_scalar, pack_u16_scalar};
use crate::unpack::GROUP;
use crate::words::{bytes_of, put_chunk};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "bmi2")]
pub(super) fn pack_u8(values: &[u8], width: u32, out: &mut [MaybeUninit<u8>]) {
    if width == 0 || width >= 8 {
        return pack_u8_scalar(values, width, out);
    }
    let (groups, rest) = values.as_chunks::<GROUP>();
    let bytes = width as usize;
    assert!(rest.is_empty() && out.len() == groups.len() * bytes);
    let lanes = 0x0101_0101_0101_0101 * (0xff >> (8 - width));
    // Eight bytes are written for each group: what is too much is overwritten by the next ones.
    let whole = out.len().saturating_sub(8 - bytes) / bytes;
    let (now, last) = groups.split_at(whole.min(groups.len()));
    for (i, group) in now.iter().enumerate() {
        let packed = _pext_u64(u64::from_le_bytes(*group), lanes);
        put_chunk(&packed.to_le_bytes(), out[i * bytes..].first_chunk_mut().expect("eight bytes more"));
    }
    pack_u8_scalar(last.as_flattened(), width, &mut out[now.len() * bytes..]);
}

#[target_feature(enable = "bmi2")]
pub(super) fn pack_u16(values: &[u16], width: u32, out: &mut [MaybeUninit<u8>]) {
    if width == 0 || width >= 16 {
        return pack_u16_scalar(values, width, out);
    }
    let (groups, rest) = bytes_of(values).as_flattened().as_chunks::<{ 2 * GROUP }>();
    let bytes = width as usize;
    assert!(rest.is_empty() && out.len() == groups.len() * bytes);
    let lanes = 0x0001_0001_0001_0001 * (0xffff >> (16 - width));
    // An odd width has the second four values begin in the middle of a byte.
    let (second, shift) = (bytes / 2, width % 2 * 4);
    // More bytes are written for each group than it has: what is too much is overwritten by the next ones.
    let whole = (out.len().saturating_sub(second + 8 - bytes) / bytes).min(groups.len());
    for (i, group) in groups[..whole].iter().enumerate() {
        let group = u128::from_le_bytes(*group);
        let [low, high] = [group, group >> 64].map(|half| _pext_u64(half as u64, lanes));
        let high = high << shift | low >> (4 * width - shift);
        let out = &mut out[i * bytes..][..second + 8];
        put_chunk(&low.to_le_bytes(), out.first_chunk_mut().expect("eight bytes and more"));
        put_chunk(&high.to_le_bytes(), out.last_chunk_mut().expect("eight bytes and more"));
    }
    pack_u16_scalar(&values[whole * GROUP..], width, &mut out[whole * bytes..]);
}
