//! Compaction: slots that are wanted become dense values, the mirror of `expand.rs`. What is left out are nulls, or rows
//! that a filter does not want.

use crate::Bitmap;
use crate::bits::{count_ones_scalar, low_mask64, word_at};
use crate::expand::WINDOW;
use crate::table::{Compact, Kernels};
use std::mem::MaybeUninit;

/// Appends those of `values` whose bit is 1: for value `i` bit `first + i` of `keep`.
///
/// # Panics
/// If `keep` has too few bits.
pub fn compact_u32(values: &[u32], keep: &[u8], first: usize, out: &mut Vec<u32>) {
    Kernels::current().compact_u32(values, keep, first, out);
}

/// [`compact_u32`] for levels.
pub fn compact_u8(values: &[u8], keep: &[u8], first: usize, out: &mut Vec<u8>) {
    Kernels::current().compact_u8(values, keep, first, out);
}

/// [`compact_u32`] for 64-bit words.
pub fn compact_u64(values: &[u64], keep: &[u8], first: usize, out: &mut Vec<u64>) {
    Kernels::current().compact_u64(values, keep, first, out);
}

/// [`compact_u32`] for views, and other values of 16 bytes.
pub fn compact_u128(values: &[u128], keep: &[u8], first: usize, out: &mut Vec<u128>) {
    Kernels::current().compact_u128(values, keep, first, out);
}

/// Appends those of the `n` bits of `values` from bit `at` on whose bit is 1: for the first of them bit `first` of
/// `keep`, and so on.
///
/// # Panics
/// If `values` or `keep` has too few bits.
pub fn compact_bits(values: &[u8], at: usize, keep: &[u8], first: usize, n: usize, out: &mut Bitmap) {
    Kernels::current().compact_bits(values, at, keep, first, n, out);
}

/// [`compact_u32`] for values of `width` bytes each, end to end.
///
/// # Panics
/// If `keep` has too few bits, or `values` is not a whole number of values.
pub fn compact_fixed(values: &[u8], width: usize, keep: &[u8], first: usize, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    assert!(values.len().is_multiple_of(width), "{} bytes of values of {width}", values.len());
    assert!(first + values.len() / width <= keep.len() * 8, "too few bits from {first}");
    for (i, values) in values.chunks(64 * width).enumerate() {
        let mut wanted = word_at(keep, first + 64 * i) & low_mask64(values.len() / width);
        while wanted != 0 {
            let at = wanted.trailing_zeros() as usize;
            let run = (wanted >> at).trailing_ones() as usize;
            out.extend_from_slice(&values[at * width..(at + run) * width]);
            wanted &= !(low_mask64(run) << at);
        }
    }
}

impl Kernels {
    /// [`compact_u8`] at this level.
    pub fn compact_u8(&self, values: &[u8], keep: &[u8], first: usize, out: &mut Vec<u8>) {
        compact(self.compact_u8, values, keep, first, out);
    }

    /// [`compact_u32`] at this level.
    pub fn compact_u32(&self, values: &[u32], keep: &[u8], first: usize, out: &mut Vec<u32>) {
        compact(self.compact_u32, values, keep, first, out);
    }

    /// [`compact_u64`] at this level.
    pub fn compact_u64(&self, values: &[u64], keep: &[u8], first: usize, out: &mut Vec<u64>) {
        compact(self.compact_u64, values, keep, first, out);
    }

    /// [`compact_u128`] at this level.
    pub fn compact_u128(&self, values: &[u128], keep: &[u8], first: usize, out: &mut Vec<u128>) {
        compact(self.compact_u128, values, keep, first, out);
    }

    /// [`compact_bits`] at this level.
    pub fn compact_bits(
        &self,
        values: &[u8],
        at: usize,
        keep: &[u8],
        first: usize,
        n: usize,
        out: &mut Bitmap,
    ) {
        assert!(first + n <= keep.len() * 8, "{n} bits from {first}");
        assert!(at + n <= values.len() * 8, "{n} bits from {at}");
        out.reserve(n);
        let mut out = out.appender();
        for done in (0..n).step_by(64) {
            let wanted = word_at(keep, first + done) & low_mask64(n - done);
            // SAFETY: this CPU has the level of this table.
            let together = unsafe { (self.compact_word)(word_at(values, at + done), wanted) };
            out.push(together, wanted.count_ones());
        }
    }
}

fn compact<T: Copy>(kernel: Compact<T>, values: &[T], keep: &[u8], first: usize, out: &mut Vec<T>) {
    assert!(first + values.len() <= keep.len() * 8, "{} bits from {first}", values.len());
    let ones = count_ones_scalar(keep, first, values.len());
    out.reserve(ones + SLACK);
    let spare = &mut out.spare_capacity_mut()[..ones + SLACK];
    // SAFETY: this CPU has the level of `kernel`, which writes as many values as it says, see `Kernels`.
    unsafe {
        let written = kernel(values, keep, first, spare);
        out.set_len(out.len() + written);
    }
}

/// Goes over the values by words of wanted bits, of which often all are or none is, or few; `mixed` does the others: it gets
/// the word, its values, and where to write, with room for a vector more than it has ones. Returns how many values are
/// wanted; all of them are written.
///
/// PERF: all of these are of a size that the compiler knows, so what `mixed` does needs no checks.
#[inline(always)]
pub(crate) fn by_words<T: Copy + Default>(
    values: &[T],
    keep: &[u8],
    first: usize,
    out: &mut [MaybeUninit<T>],
    mixed: impl Fn(u64, &[T; 64], &mut [MaybeUninit<T>; WINDOW]),
) -> usize {
    let (mut at, mut first) = (0, first);
    for values in values.chunks(64) {
        let word = word_at(keep, first) & low_mask64(values.len());
        let ones = word.count_ones() as usize;
        let to = out[at..].first_chunk_mut().expect("slack");
        if ones == values.len() {
            to[..ones].write_copy_of_slice(values);
        } else if ones <= FEW {
            one_by_one(word, values, to);
        } else if let Some(whole) = values.first_chunk() {
            mixed(word, whole, to);
        } else {
            let mut padded = [T::default(); 64];
            padded[..values.len()].copy_from_slice(values);
            mixed(word, &padded, to);
        }
        at += ones;
        first += values.len();
    }
    at
}

/// So many of 64 values are taken one by one.
const FEW: usize = 6;

/// So many values more than are wanted may be written.
pub(crate) const SLACK: usize = WINDOW;

#[inline(always)]
fn one_by_one<T: Copy>(word: u64, values: &[T], out: &mut [MaybeUninit<T>; WINDOW]) {
    let mut word = word;
    for slot in &mut out[..word.count_ones() as usize] {
        slot.write(values[word.trailing_zeros() as usize]);
        word &= word - 1;
    }
}

#[inline(always)]
pub(crate) fn compact_scalar<T: Copy + Default>(
    values: &[T],
    keep: &[u8],
    first: usize,
    out: &mut [MaybeUninit<T>],
) -> usize {
    by_words(values, keep, first, out, |word, values, out| one_by_one(word, values, out))
}

pub(crate) fn compact_word_scalar(bits: u64, wanted: u64) -> u64 {
    let (mut wanted, mut together, mut at) = (wanted, 0, 0);
    while wanted != 0 {
        together |= (bits >> wanted.trailing_zeros() & 1) << at;
        at += 1;
        wanted &= wanted - 1;
    }
    together
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bitmap;

    #[test]
    fn the_valid_ones_stay() {
        let values: Vec<u32> = (0..300).collect();
        let patterns: [fn(usize) -> bool; 4] = [|_| true, |_| false, |i| i * i % 3 > 0, |i| i / 70 % 2 == 0];
        for pattern in patterns {
            let validity: Bitmap = (0..400).map(pattern).collect();
            for first in [0, 1, 7, 8, 63, 64, 100] {
                for n in [0, 1, 63, 64, 65, 300] {
                    let mut out = vec![7];
                    compact_u32(&values[..n], validity.as_bytes(), first, &mut out);
                    let expected: Vec<u32> = std::iter::once(7)
                        .chain((0..n).filter(|i| pattern(first + i)).map(|i| i as u32))
                        .collect();
                    assert_eq!(out, expected, "{n} from {first}");

                    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    let mut out = vec![7, 0, 0];
                    compact_fixed(&bytes[..3 * n], 3, validity.as_bytes(), first, &mut out);
                    let flat: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    assert_eq!(out, flat);

                    let odd: Bitmap =
                        [false; 5].into_iter().chain(values.iter().map(|v| v % 3 == 1)).collect();
                    let mut out: Bitmap = [true].into_iter().collect();
                    compact_bits(odd.as_bytes(), 5, validity.as_bytes(), first, n, &mut out);
                    assert_eq!(out, expected.iter().map(|v| v % 3 == 1).collect());
                }
            }
        }
    }
}
