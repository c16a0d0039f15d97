//! Filtering by a permutation: for each pattern of wanted bits, a table has the lanes that come first.

use super::vector::{fill_at, load};
use crate::filter::for_each_word;
use crate::shuffle_tables::COMPRESS_8;
use crate::uninit::put_chunk;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u8(values: &[u8], keep: &[u8], first: usize, out: &mut [MaybeUninit<u8>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut at) = (word, 0);
        for group in values.as_chunks::<8>().0 {
            let bits = word as u8;
            // Repeats each bit eight times.
            let lanes = _pdep_u64(bits.into(), 0x0101_0101_0101_0101) * 0xff;
            let together = _pext_u64(u64::from_le_bytes(*group), lanes);
            put_chunk(&together.to_le_bytes(), out[at % 64..].first_chunk_mut().expect("a group more"));
            at += bits.count_ones() as usize;
            word >>= 8;
        }
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u32(values: &[u32], keep: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut at) = (word, 0);
        for group in values.as_chunks::<8>().0 {
            let bits = word as u8;
            let pattern = i64::from_le_bytes(COMPRESS_8[bits as usize]);
            let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(pattern));
            fill_at::<_, 8>(out, at, _mm256_permutevar8x32_epi32(load(group), lanes));
            at += bits.count_ones() as usize;
            word >>= 8;
        }
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u64(values: &[u64], keep: &[u8], first: usize, out: &mut [MaybeUninit<u64>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut at) = (word, 0);
        for group in values.as_chunks::<4>().0 {
            let bits = word as usize % 16;
            fill_at::<_, 4>(out, at, _mm256_permutevar8x32_epi32(load(group), load(&COMPRESS_4[bits])));
            at += bits.count_ones() as usize;
            word >>= 4;
        }
    })
}

/// For each pattern of four bits: the pairs of 32-bit lanes of the ones.
static COMPRESS_4: [[u32; 8]; 16] = {
    let mut patterns = [[0; 8]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut at = 0;
        while at < 4 {
            let lane = COMPRESS_8[bits][at] as u32;
            patterns[bits][2 * at] = 2 * lane;
            patterns[bits][2 * at + 1] = 2 * lane + 1;
            at += 1;
        }
        bits += 1;
    }
    patterns
};
