//! Null expansion by a permutation: for each pattern of validity bits, a table has the dense lane that each slot takes.

use super::list_offsets::ONES;
use super::vector::{fill, from, load};
use crate::expand::{WINDOW, for_each_word, for_each_word_of_ends};
use crate::shuffle_tables::{EXPAND_8, ZERO_LANE};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_u32(dense: &[[u8; 4]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<8>().0 {
            let bits = word as u8;
            let pattern = i64::from_le_bytes(EXPAND_8[bits as usize]);
            let lanes = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(pattern));
            fill(group, permuted(from::<_, 8>(dense, at), lanes));
            at += bits.count_ones() as usize;
            word >>= 8;
        }
    });
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_u64(dense: &[[u8; 8]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u64>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<4>().0 {
            let bits = word as usize % 16;
            fill(group, permuted(from::<_, 4>(dense, at), load(&EXPAND_4[bits])));
            at += bits.count_ones() as usize;
            word >>= 4;
        }
    });
}

/// Slot `i` of eight takes the end whose index is the number of ones up to `i`. A product with ones in all bytes counts them.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn expand_ends(ends: &[u32], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) {
    for_each_word_of_ends(ends, validity, first, out, |word, ends, slots| {
        let (mut word, mut at) = (word, 0);
        for group in slots.as_chunks_mut::<8>().0 {
            let bits = word & 0xff;
            let counts = _pdep_u64(bits, ONES).wrapping_mul(ONES);
            let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(counts as i64));
            fill(group, _mm256_permutevar8x32_epi32(from::<_, 8>(ends, at), lanes));
            at += bits.count_ones() as usize;
            // Eight ones lead to a lane behind the last one.
            group[7].write(ends[at % WINDOW]);
            word >>= 8;
        }
    });
}

/// Moves to each 32-bit lane the lane of `dense` that `pattern` names; 0 where it is [`ZERO_LANE`].
#[target_feature(enable = "avx2")]
#[inline]
fn permuted(dense: __m256i, pattern: __m256i) -> __m256i {
    let lanes = _mm256_permutevar8x32_epi32(dense, pattern);
    _mm256_andnot_si256(_mm256_srai_epi32(pattern, 31), lanes)
}

/// For each pattern of four bits: the pairs of 32-bit lanes for four slots.
static EXPAND_4: [[u32; 8]; 16] = {
    let mut patterns = [[u32::MAX; 8]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut slot = 0;
        while slot < 4 {
            let lane = EXPAND_8[bits][slot];
            if lane != ZERO_LANE {
                patterns[bits][2 * slot] = 2 * lane as u32;
                patterns[bits][2 * slot + 1] = 2 * lane as u32 + 1;
            }
            slot += 1;
        }
        bits += 1;
    }
    patterns
};
