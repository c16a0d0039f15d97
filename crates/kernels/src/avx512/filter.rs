//! Filtering: the instruction moves the lanes of a mask's ones together. A whole vector is stored, and the next one
//! overwrites the excess, because stores by a mask are slow on some CPUs.

use super::vector::{fill_at, load};
use crate::filter::for_each_word;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u8(values: &[u8], keep: &[u8], first: usize, out: &mut [MaybeUninit<u8>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        fill_at::<_, 64>(out, 0, _mm512_maskz_compress_epi8(word, load(values)));
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u32(values: &[u32], keep: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut at) = (word, 0);
        for group in values.as_chunks::<16>().0 {
            let bits = word as u16;
            fill_at::<_, 16>(out, at, _mm512_maskz_compress_epi32(bits, load(group)));
            at += bits.count_ones() as usize;
            word >>= 16;
        }
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn filter_u64(values: &[u64], keep: &[u8], first: usize, out: &mut [MaybeUninit<u64>]) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| {
        let (mut word, mut at) = (word, 0);
        for group in values.as_chunks::<8>().0 {
            let bits = word as u8;
            fill_at::<_, 8>(out, at, _mm512_maskz_compress_epi64(bits, load(group)));
            at += bits.count_ones() as usize;
            word >>= 8;
        }
    })
}
