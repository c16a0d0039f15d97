//! Null expansion: the instruction takes the next dense lanes for the ones of a mask, and 0 for its zeros.

use super::vector::{fill, from, twice};
use crate::expand::for_each_word;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_u32(dense: &[[u8; 4]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<16>().0 {
            let bits = word as u16;
            fill(group, _mm512_maskz_expand_epi32(bits, from::<_, 16>(dense, at)));
            at += bits.count_ones() as usize;
            word >>= 16;
        }
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_u64(dense: &[[u8; 8]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u64>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<8>().0 {
            let bits = word as u8;
            fill(group, _mm512_maskz_expand_epi64(bits, from::<_, 8>(dense, at)));
            at += bits.count_ones() as usize;
            word >>= 8;
        }
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_u128(dense: &[[u8; 16]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<4>().0 {
            let bits = word as u8 % 16;
            fill(group, _mm512_maskz_expand_epi64(twice(bits), from::<_, 4>(dense, at)));
            at += bits.count_ones() as usize;
            word >>= 4;
        }
    });
}
