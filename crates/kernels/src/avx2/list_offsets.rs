//! Offsets of lists, eight entries at a time.

use super::vector::fill_at;
use crate::bitmap::word_at;
use crate::expand::WINDOW;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Each byte of a word counts the elements before one of eight entries. The counts at entries that begin a list are the offsets.
///
/// PERF: if lists are long, few entries begin one, and these are handled one by one.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn list_offsets(begins: &[u8], elements: Option<&[u8]>, out: &mut [MaybeUninit<i32>]) {
    let (mut out, mut before) = (out, 0_usize);
    for first in (0..begins.len()).step_by(8) {
        let begins = word(begins, first);
        let elements = elements.map_or(u64::MAX, |elements| word(elements, first));
        let lists = begins.count_ones() as usize;
        if lists <= FEW {
            few(begins, elements, before, &mut out[..lists]);
        } else if let Some(room) = out.first_chunk_mut() {
            many(begins, elements, before, room);
        } else {
            let mut room = [const { MaybeUninit::uninit() }; WINDOW];
            many(begins, elements, before, &mut room);
            out[..lists].copy_from_slice(&room[..lists]);
        }
        out = &mut out[lists..];
        before += elements.count_ones() as usize;
    }
    assert!(out.is_empty(), "a list for each slot");
}

/// Returns the word that begins at byte `first`. Bits behind the last byte are 0.
#[inline]
fn word(bytes: &[u8], first: usize) -> u64 {
    let rest = &bytes[first..];
    rest.first_chunk().map_or_else(|| word_at(rest, 0), |word| u64::from_le_bytes(*word))
}

/// A list begins after the elements whose bits are lower than its own.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn few(begins: u64, elements: u64, before: usize, out: &mut [MaybeUninit<i32>]) {
    let mut begins = begins;
    for slot in out {
        let lower = (begins & begins.wrapping_neg()) - 1;
        slot.write((before + (elements & lower).count_ones() as usize) as i32);
        begins &= begins - 1;
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn many(begins: u64, elements: u64, before: usize, out: &mut [MaybeUninit<i32>; WINDOW]) {
    let (mut begins, mut elements, mut before, mut at) = (begins, elements, before, 0);
    for _ in 0..8 {
        let upto = _pdep_u64(elements & 0xff, ONES).wrapping_mul(ONES);
        let of_lists = _pext_u64(upto << 8, _pdep_u64(begins & 0xff, ONES) * 0xff);
        let counts = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(of_lists as i64));
        fill_at(out, at, _mm256_add_epi32(counts, _mm256_set1_epi32(before as i32)));
        at += (begins & 0xff).count_ones() as usize;
        before += (upto >> 56) as usize;
        (begins, elements) = (begins >> 8, elements >> 8);
    }
}

/// Maximum number of lists in 64 entries that are handled one by one.
const FEW: usize = 8;
/// A word with a one in each byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
