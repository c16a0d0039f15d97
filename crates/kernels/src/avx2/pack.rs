//! Packing by `pext`, which takes the bits of eight bytes at once. Wider values are packed by the scalar loops, which
//! were not slower than vectors.

use crate::pack::pack_u8_scalar;
use crate::uninit::put_chunk;
use crate::unpack::GROUP;
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
    // Writes eight bytes for each group. The next group overwrites the excess.
    let whole = out.len().saturating_sub(8 - bytes) / bytes;
    let (now, last) = groups.split_at(whole.min(groups.len()));
    for (i, group) in now.iter().enumerate() {
        let packed = _pext_u64(u64::from_le_bytes(*group), lanes);
        put_chunk(&packed.to_le_bytes(), out[i * bytes..].first_chunk_mut().expect("eight bytes more"));
    }
    pack_u8_scalar(last.as_flattened(), width, &mut out[now.len() * bytes..]);
}
