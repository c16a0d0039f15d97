//! Null expansion by a shuffle: for each pattern of validity bits, a table has the dense lane that each slot takes.

use super::vector::{Whole, counts, fill, from, load};
use crate::expand::{WINDOW, for_each_word};
use crate::shuffle_tables::{EXPAND_8, ZERO_LANE};
use std::arch::aarch64::*;
use std::mem::MaybeUninit;

#[target_feature(enable = "neon")]
pub(super) fn expand_u32(dense: &[[u8; 4]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        spread::<_, 4, 4, 16>(word, &EXPAND_4, dense, slots);
    });
}

#[target_feature(enable = "neon")]
pub(super) fn expand_u64(dense: &[[u8; 8]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u64>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        spread::<_, 8, 2, 4>(word, &EXPAND_2, dense, slots);
    });
}

#[target_feature(enable = "neon")]
pub(super) fn expand_u128(dense: &[[u8; 16]], validity: &[u8], first: usize, out: &mut [MaybeUninit<u128>]) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        spread::<_, 16, 1, 2>(word, &EXPAND_1, dense, slots);
    });
}

/// Fills the slots, `N` per vector, with the pattern for each `N` bits of `word`.
#[target_feature(enable = "neon")]
#[inline]
fn spread<T, const W: usize, const N: usize, const PATTERNS: usize>(
    word: u64,
    patterns: &[[u8; 16]; PATTERNS],
    dense: &[[u8; W]; WINDOW],
    slots: &mut [MaybeUninit<T>; 64],
) where
    [T; N]: Whole,
    [[u8; W]; N]: Whole,
{
    let (mut word, mut counts, mut at) = (word, counts::<N>(word), 0);
    // PERF: two nested loops, because the compiler does not unroll a loop of 32 or 64 steps.
    for slots in slots.as_chunks_mut::<16>().0 {
        for vector in slots.as_chunks_mut::<N>().0 {
            let pattern = load(&patterns[word as usize % PATTERNS]);
            fill(vector, vqtbl1q_u8(from::<_, N>(dense, at), pattern));
            at += counts as usize % (1 << N);
            (word, counts) = (word >> N, counts >> N);
        }
    }
}

/// For each pattern of four bits: the bytes of the dense 4-byte lanes that the slots of the ones take.
static EXPAND_4: [[u8; 16]; 16] = bytes_of::<16, 4>();

/// For each pattern of two bits: the bytes of the dense 8-byte lanes that the slots of the ones take.
static EXPAND_2: [[u8; 16]; 4] = bytes_of::<4, 8>();

/// For each bit: all bytes of a dense value, or none.
static EXPAND_1: [[u8; 16]; 2] = bytes_of::<2, 16>();

const fn bytes_of<const PATTERNS: usize, const BYTES: usize>() -> [[u8; 16]; PATTERNS] {
    let mut patterns = [[ZERO_LANE; 16]; PATTERNS];
    let mut bits = 0;
    while bits < PATTERNS {
        let mut byte = 0;
        while byte < 16 {
            let lane = EXPAND_8[bits][byte / BYTES];
            if lane != ZERO_LANE {
                patterns[bits][byte] = lane * BYTES as u8 + (byte % BYTES) as u8;
            }
            byte += 1;
        }
        bits += 1;
    }
    patterns
}
