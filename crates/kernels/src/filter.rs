//! Filtering by a bitmap: copies the selected slots to dense values, the inverse of `expand.rs`. It removes nulls, or
//! rows that a predicate rejects.

use crate::bitmap::{Bitmap, count_ones_scalar, low_mask64, word_at};
use crate::expand::WINDOW;
use crate::signatures::{Filter, Kernels};
use std::mem::MaybeUninit;

/// `filter_u32` for values of `width` bytes each, end to end.
///
/// # Panics
/// If `keep` has too few bits, or `values` is not a whole number of values.
pub fn filter_fixed(values: &[u8], width: usize, keep: &[u8], first: usize, out: &mut Vec<u8>) {
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
    /// `filter_u8` at this level.
    pub fn filter_u8(&self, values: &[u8], keep: &[u8], first: usize, out: &mut Vec<u8>) {
        filter(self.filter_u8, values, keep, first, out);
    }

    /// `filter_u32` at this level.
    pub fn filter_u32(&self, values: &[u32], keep: &[u8], first: usize, out: &mut Vec<u32>) {
        filter(self.filter_u32, values, keep, first, out);
    }

    /// `filter_u64` at this level.
    pub fn filter_u64(&self, values: &[u64], keep: &[u8], first: usize, out: &mut Vec<u64>) {
        filter(self.filter_u64, values, keep, first, out);
    }

    /// `filter_u128` at this level.
    pub fn filter_u128(&self, values: &[u128], keep: &[u8], first: usize, out: &mut Vec<u128>) {
        filter(self.filter_u128, values, keep, first, out);
    }

    /// `filter_bits` at this level.
    pub fn filter_bits(
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
            let filtered = unsafe { (self.filter_word)(word_at(values, at + done), wanted) };
            out.push(filtered, wanted.count_ones());
        }
    }
}

fn filter<T: Copy>(kernel: Filter<T>, values: &[T], keep: &[u8], first: usize, out: &mut Vec<T>) {
    assert!(first + values.len() <= keep.len() * 8, "{} bits from {first}", values.len());
    let ones = count_ones_scalar(keep, first, values.len());
    out.reserve(ones + EXTRA_SLOTS);
    let spare = &mut out.spare_capacity_mut()[..ones + EXTRA_SLOTS];
    // SAFETY: this CPU has the level of `kernel`, which writes as many values as it says, see `Kernels`.
    unsafe {
        let written = kernel(values, keep, first, spare);
        out.set_len(out.len() + written);
    }
}

/// Goes over the values in words of 64 keep bits. Handles words of all ones, or of few, itself, and calls `mixed` for
/// the others with the word, its values, and the output slots, which are a vector more than the word has ones. Writes
/// all selected values and returns their number.
///
/// PERF: these arguments have constant sizes, so `mixed` needs no bounds checks.
#[inline(always)]
pub(crate) fn for_each_word<T: Copy + Default>(
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
        let to = out[at..].first_chunk_mut().expect("extra slots");
        if ones == values.len() {
            to[..ones].write_copy_of_slice(values);
        } else if ones <= MAX_ONE_BY_ONE {
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

/// Maximum number of selected values, out of 64, that are copied one by one.
const MAX_ONE_BY_ONE: usize = 6;

/// Number of slots that a loop may write beyond the selected values.
pub(crate) const EXTRA_SLOTS: usize = WINDOW;

#[inline(always)]
fn one_by_one<T: Copy>(word: u64, values: &[T], out: &mut [MaybeUninit<T>; WINDOW]) {
    let mut word = word;
    for slot in &mut out[..word.count_ones() as usize] {
        slot.write(values[word.trailing_zeros() as usize]);
        word &= word - 1;
    }
}

#[inline(always)]
pub(crate) fn filter_scalar<T: Copy + Default>(
    values: &[T],
    keep: &[u8],
    first: usize,
    out: &mut [MaybeUninit<T>],
) -> usize {
    for_each_word(values, keep, first, out, |word, values, out| one_by_one(word, values, out))
}

pub(crate) fn filter_word_scalar(bits: u64, wanted: u64) -> u64 {
    let (mut wanted, mut filtered, mut at) = (wanted, 0, 0);
    while wanted != 0 {
        filtered |= (bits >> wanted.trailing_zeros() & 1) << at;
        at += 1;
        wanted &= wanted - 1;
    }
    filtered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valid_ones_stay() {
        let values: Vec<u32> = (0..300).collect();
        let patterns: [fn(usize) -> bool; 4] = [|_| true, |_| false, |i| i * i % 3 > 0, |i| i / 70 % 2 == 0];
        for pattern in patterns {
            let validity: Bitmap = (0..400).map(pattern).collect();
            for first in [0, 1, 7, 8, 63, 64, 100] {
                for n in [0, 1, 63, 64, 65, 300] {
                    let mut out = vec![7];
                    Kernels::current().filter_u32(&values[..n], validity.as_bytes(), first, &mut out);
                    let expected: Vec<u32> = std::iter::once(7)
                        .chain((0..n).filter(|i| pattern(first + i)).map(|i| i as u32))
                        .collect();
                    assert_eq!(out, expected, "{n} from {first}");

                    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    let mut out = vec![7, 0, 0];
                    filter_fixed(&bytes[..3 * n], 3, validity.as_bytes(), first, &mut out);
                    let flat: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    assert_eq!(out, flat);

                    let odd: Bitmap =
                        [false; 5].into_iter().chain(values.iter().map(|v| v % 3 == 1)).collect();
                    let mut out: Bitmap = [true].into_iter().collect();
                    Kernels::current().filter_bits(
                        odd.as_bytes(),
                        5,
                        validity.as_bytes(),
                        first,
                        n,
                        &mut out,
                    );
                    assert_eq!(out, expected.iter().map(|v| v % 3 == 1).collect());
                }
            }
        }
    }
}
