//! Filtering by a shuffle: for each pattern of wanted bits, a table has the lanes that come first. With two lanes per
//! vector there is nothing to gain.

use super::vector::{counts, fill_at, load};
use crate::filter::for_each_word;
use crate::shuffle_tables::COMPRESS_8;
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "neon")]
pub(super) fn filter_u8(values: &[u8], keep: &[u8], first: usize, out: &mut [MaybeUninit<u8>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut counts, mut at) = (word, counts::<8>(word), 0);
        for group in values.as_chunks::<8>().0 {
            let pattern = vcreate_u8(u64::from_le_bytes(COMPRESS_8[word as usize % 256]));
            let together = vtbl1_u8(vcreate_u8(u64::from_le_bytes(*group)), pattern);
            let together = vget_lane_u64::<0>(vreinterpret_u64_u8(together));
            out[at % 64..][..8].write_copy_of_slice(&together.to_le_bytes());
            at += counts as usize % 256;
            (word, counts) = (word >> 8, counts >> 8);
        }
    })
}

#[target_feature(enable = "neon")]
pub(super) fn filter_u32(values: &[u32], keep: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut counts, mut at) = (word, counts::<4>(word), 0);
        for group in values.as_chunks::<4>().0 {
            let pattern = load(&COMPRESS_4[word as usize % 16]);
            fill_at::<_, 4>(out, at, vqtbl1q_u8(load(group), pattern));
            at += counts as usize % 16;
            (word, counts) = (word >> 4, counts >> 4);
        }
    })
}

/// For each pattern of four bits: the bytes of the lanes of the ones.
static COMPRESS_4: [[u8; 16]; 16] = {
    let mut patterns = [[0; 16]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut byte = 0;
        while byte < 16 {
            patterns[bits][byte] = COMPRESS_8[bits][byte / 4] * 4 + (byte % 4) as u8;
            byte += 1;
        }
        bits += 1;
    }
    patterns
};
