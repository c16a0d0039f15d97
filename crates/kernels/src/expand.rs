//! Expansion of dense values to slots: encodings store non-null values only, arrays have a slot for each null.
//!
//! ```text
//! dense     a b c
//! validity  1 0 0 1 1 0
//! slots     a 0 0 b c 0
//! ```

use crate::bitmap::{Bitmap, low_mask64, word_at};
use crate::copy::{LONG_COPY_BYTES, put};
use crate::le_words::Word;
use crate::signatures::{Expand, Kernels};
use crate::uninit::append;
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

impl Kernels {
    /// `expand_u32` at this level. The dense values are given as bytes, so that they can be read from a page.
    ///
    /// # Panics
    /// If there are fewer than `n` bits from `first` on, or if the number of dense values is not the number of ones among them.
    pub fn expand_u32(
        &self,
        dense: &[[u8; 4]],
        validity: &Bitmap,
        first: usize,
        n: usize,
        out: &mut Vec<u32>,
    ) {
        self.check_dense(dense.len(), 1, validity, first, n);
        expand(self.expand_u32, dense, validity, first, n, out);
    }

    /// `expand_u64` at this level. The dense values are given as bytes.
    ///
    /// # Panics
    /// As `expand_u32`.
    pub fn expand_u64(
        &self,
        dense: &[[u8; 8]],
        validity: &Bitmap,
        first: usize,
        n: usize,
        out: &mut Vec<u64>,
    ) {
        self.check_dense(dense.len(), 1, validity, first, n);
        expand(self.expand_u64, dense, validity, first, n, out);
    }

    /// `expand_u128` at this level. The dense values are given as bytes.
    ///
    /// # Panics
    /// As `expand_u32`.
    pub fn expand_u128(
        &self,
        dense: &[[u8; 16]],
        validity: &Bitmap,
        first: usize,
        n: usize,
        out: &mut Vec<u128>,
    ) {
        self.check_dense(dense.len(), 1, validity, first, n);
        expand(self.expand_u128, dense, validity, first, n, out);
    }

    /// `expand_ends` at this level.
    ///
    /// # Panics
    /// If there are fewer than `n` bits from `first` on, or if the number of strings is not the number of ones among them.
    pub fn expand_ends(&self, ends: &[u32], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u32>) {
        let ones = self.count_ones(validity, first..first + n);
        assert_eq!(ones + 1, ends.len(), "a string for each valid slot");
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, n, |out| (self.expand_ends)(ends, validity.as_bytes(), first, out)) };
    }

    /// `expand_fixed` at this level.
    ///
    /// # Panics
    /// As `expand_u32`.
    pub fn expand_fixed(
        &self,
        dense: &[u8],
        width: usize,
        validity: &Bitmap,
        first: usize,
        n: usize,
        out: &mut Vec<u8>,
    ) {
        self.check_dense(dense.len(), width, validity, first, n);
        match width {
            // PERF: with a constant width, each copy is a load and a store.
            2 => expand_const::<2>(dense, validity, first, n, out),
            12 => expand_const::<12>(dense, validity, first, n, out),
            16 => expand_const::<16>(dense, validity, first, n, out),
            _ => expand_any(dense, width, validity, first, n, out),
        }
    }

    /// `expand_bits` at this level.
    pub fn expand_bits(&self, dense: &Bitmap, validity: &Bitmap, first: usize, n: usize, out: &mut Bitmap) {
        self.check_dense(dense.len(), 1, validity, first, n);
        out.reserve(n);
        let mut out = out.appender();
        let mut next = 0;
        for done in (0..n).step_by(64) {
            let take = (n - done).min(64);
            let word = validity.word(first + done) & low_mask64(take);
            // SAFETY: this CPU has the level of this table.
            let expanded = unsafe { (self.expand_word)(dense.word(next), word) };
            next += word.count_ones() as usize;
            out.push(expanded, take as u32);
        }
    }

    fn check_dense(&self, dense: usize, width: usize, validity: &Bitmap, first: usize, n: usize) {
        let ones = self.count_ones(validity, first..first + n);
        assert_eq!(ones.checked_mul(width), Some(dense), "a dense value for each valid slot");
    }
}

fn expand<T: Copy, const W: usize>(
    kernel: Expand<T, W>,
    dense: &[[u8; W]],
    validity: &Bitmap,
    first: usize,
    n: usize,
    out: &mut Vec<T>,
) {
    // SAFETY: this CPU has the level of `kernel`, which writes all it is given, see `Kernels`.
    unsafe { append(out, n, |spare| kernel(dense, validity.as_bytes(), first, spare)) };
}

/// Goes over the slots in words of 64 validity bits. Handles words of all ones or all zeros itself, and calls `mixed`
/// for the others with the word, the next dense values (more than the word has ones), and the slots of the word.
///
/// PERF: these arguments have constant sizes, so `mixed` needs no bounds checks.
#[inline(always)]
pub(crate) fn for_each_word<T: Word<W>, const W: usize>(
    dense: &[[u8; W]],
    validity: &[u8],
    first: usize,
    out: &mut [MaybeUninit<T>],
    mixed: impl Fn(u64, &[[u8; W]; WINDOW], &mut [MaybeUninit<T>; 64]),
) {
    let mut dense = dense;
    let mut first = first;
    for slots in out.chunks_mut(64) {
        let word = word_at(validity, first) & low_mask64(slots.len());
        let ones = word.count_ones() as usize;
        let (now, later) = dense.split_at(ones);
        if ones == slots.len() {
            T::copy(now, slots);
        } else if ones == 0 {
            slots.fill(MaybeUninit::new(T::default()));
        } else {
            let mut padded = [[0; W]; WINDOW];
            let window = window_of(dense, &mut padded);
            if let Some(whole) = slots.first_chunk_mut() {
                mixed(word, window, whole);
            } else {
                let mut whole = [const { MaybeUninit::uninit() }; 64];
                mixed(word, window, &mut whole);
                slots.copy_from_slice(&whole[..slots.len()]);
            }
        }
        dense = later;
        first += slots.len();
    }
}

/// Returns the first values of `dense`; or if they are too few, all of them, copied to `padded`.
#[inline(always)]
fn window_of<'a, T: Copy>(dense: &'a [T], padded: &'a mut [T; WINDOW]) -> &'a [T; WINDOW] {
    dense.first_chunk().unwrap_or_else(|| {
        padded[..dense.len()].copy_from_slice(dense);
        padded
    })
}

/// Number of dense values that one word of validity can need, plus a vector.
pub(crate) const WINDOW: usize = 80;

#[inline(always)]
pub(crate) fn expand_scalar<T: Word<W>, const W: usize>(
    dense: &[[u8; W]],
    validity: &[u8],
    first: usize,
    out: &mut [MaybeUninit<T>],
) {
    for_each_word(dense, validity, first, out, |word, dense, slots| {
        // No branch per slot: every slot loads the next value and keeps it if its bit is set.
        let mut next = 0;
        for (i, slot) in slots.iter_mut().enumerate() {
            let bit = (word >> i & 1) as usize;
            let value = T::from_bytes(dense[next % 64]);
            slot.write(if bit == 1 { value } else { T::default() });
            next += bit;
        }
    });
}

pub(crate) fn expand_word_scalar(dense: u64, validity: u64) -> u64 {
    let (mut dense, mut validity, mut expanded) = (dense, validity, 0);
    while validity != 0 {
        let lowest = validity & validity.wrapping_neg();
        expanded |= if dense & 1 == 1 { lowest } else { 0 };
        dense >>= 1;
        validity ^= lowest;
    }
    expanded
}

fn expand_const<const W: usize>(dense: &[u8], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u8>) {
    let (mut values, _) = dense.as_chunks::<W>();
    let start = out.len();
    out.resize(start + n * W, 0);
    let (slots, _) = out[start..].as_chunks_mut::<W>();
    for (i, slots) in slots.chunks_mut(64).enumerate() {
        let mut word = validity.word(first + i * 64) & low_mask64(slots.len());
        let (now, later) = values.split_at(word.count_ones() as usize);
        for value in now {
            slots[word.trailing_zeros() as usize] = *value;
            word &= word - 1;
        }
        values = later;
    }
}

fn expand_any(dense: &[u8], width: usize, validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u8>) {
    let (total, zeros) = (n * width, vec![0; width + LONG_COPY_BYTES]);
    out.reserve(total + LONG_COPY_BYTES);
    let to = out.spare_capacity_mut();
    let (mut next, mut at) = (0, 0);
    for done in (0..n).step_by(64) {
        let word = validity.word(first + done);
        for i in 0..(n - done).min(64) {
            // PERF: no branch; the next copy overwrites the excess of this one.
            let is_valid = word >> i & 1 == 1;
            put(select_unpredictable(is_valid, &dense[next..], &zeros), width, &mut to[at..]);
            next += select_unpredictable(is_valid, width, 0);
            at += width;
        }
    }
    // SAFETY: `total` bytes were written, slot by slot without a gap.
    unsafe { out.set_len(out.len() + total) };
}

/// Goes over the slots of strings in words of 64 validity bits. Calls `mixed` with the word, the ends from the one
/// before the word's first slot on, and the slots of the word.
#[inline(always)]
pub(crate) fn for_each_word_of_ends(
    ends: &[u32],
    validity: &[u8],
    first: usize,
    out: &mut [MaybeUninit<u32>],
    mixed: impl Fn(u64, &[u32; WINDOW], &mut [MaybeUninit<u32>; 64]),
) {
    let (mut ends, mut first) = (ends, first);
    for slots in out.chunks_mut(64) {
        let word = word_at(validity, first) & low_mask64(slots.len());
        let mut padded = [0; WINDOW];
        // PERF: the window has a constant size, so that no bounds checks are needed.
        let window = window_of(ends, &mut padded);
        if let Some(whole) = slots.first_chunk_mut() {
            mixed(word, window, whole);
        } else {
            let mut whole = [const { MaybeUninit::uninit() }; 64];
            mixed(word, window, &mut whole);
            slots.copy_from_slice(&whole[..slots.len()]);
        }
        ends = &ends[word.count_ones() as usize..];
        first += slots.len();
    }
}

pub(crate) fn expand_ends_scalar(ends: &[u32], validity: &[u8], first: usize, out: &mut [MaybeUninit<u32>]) {
    for_each_word_of_ends(ends, validity, first, out, |word, ends, slots| {
        // PERF: counts the strings before each slot, so that no slot waits for the end of another one.
        let (mut word, mut strings) = (word, 0);
        for slot in slots {
            strings += (word & 1) as usize;
            word >>= 1;
            slot.write(ends[strings % WINDOW]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::le_words::bytes_of;

    #[test]
    fn every_density_and_offset() {
        for density in [0, 1, 3, 7, 10] {
            let validity: Bitmap = (0..300).map(|i| (i * 7 + i / 10) % 10 < density).collect();
            for first in [0, 1, 63, 65] {
                for n in [0, 1, 63, 64, 65, 200] {
                    let ones = Kernels::current().count_ones(&validity, first..first + n);
                    let dense: Vec<u32> = (1..=ones as u32).collect();
                    let mut next = dense.iter();
                    let expected: Vec<u32> = (first..first + n)
                        .map(|i| if validity.get(i) { *next.next().unwrap() } else { 0 })
                        .collect();

                    let mut out = vec![9];
                    Kernels::current().expand_u32(bytes_of(&dense), &validity, first, n, &mut out);
                    assert_eq!(out[1..], expected);

                    let ends: Vec<u32> = (0..=ones as u32).map(|i| 100 + i * i).collect();
                    let expected_ends = (first..first + n)
                        .map(|i| ends[(first..=i).filter(|&slot| validity.get(slot)).count()]);
                    for kernels in Kernels::all_available() {
                        let mut out = vec![9];
                        kernels.expand_ends(&ends, &validity, first, n, &mut out);
                        assert!(out[1..].iter().copied().eq(expected_ends.clone()), "{kernels:?}");
                    }

                    let bytes: Vec<u8> = dense.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    let mut out = Vec::new();
                    Kernels::current().expand_fixed(&bytes, 3, &validity, first, n, &mut out);
                    let flat: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    assert_eq!(out, flat);

                    let bits: Bitmap = dense.iter().map(|v| v % 3 == 1).collect();
                    let mut out = Bitmap::new();
                    Kernels::current().expand_bits(&bits, &validity, first, n, &mut out);
                    assert_eq!(out, expected.iter().map(|v| v % 3 == 1).collect());
                }
            }
        }
    }
}
