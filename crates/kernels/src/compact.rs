//! Compaction: slots that are wanted become dense values, the mirror of `expand.rs`. What is left out are nulls, or rows
//! that a filter does not want.

use crate::Bits;
use crate::bits::{low_mask64, word_at};

/// Appends those of `values` whose bit is 1: for value `i` bit `first + i` of `validity`.
///
/// # Panics
/// If `validity` has too few bits.
pub fn compact_u32(values: &[u32], validity: &[u8], first: usize, out: &mut Vec<u32>) {
    compact(values, validity, first, out);
}

/// [`compact_u32`] for levels.
pub fn compact_u8(values: &[u8], validity: &[u8], first: usize, out: &mut Vec<u8>) {
    compact(values, validity, first, out);
}

/// [`compact_u32`] for 64-bit words.
pub fn compact_u64(values: &[u64], validity: &[u8], first: usize, out: &mut Vec<u64>) {
    compact(values, validity, first, out);
}

/// [`compact_u32`] for views, and other values of 16 bytes.
pub fn compact_u128(values: &[u128], validity: &[u8], first: usize, out: &mut Vec<u128>) {
    compact(values, validity, first, out);
}

/// [`compact_u32`] for values of `width` bytes each, end to end.
///
/// # Panics
/// If `validity` has too few bits, or `values` is not a whole number of values.
pub fn compact_fixed(values: &[u8], width: usize, validity: &[u8], first: usize, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    assert!(values.len().is_multiple_of(width), "{} bytes of values of {width}", values.len());
    assert!(first + values.len() / width <= validity.len() * 8, "too few bits from {first}");
    for (i, values) in values.chunks(64 * width).enumerate() {
        let mut valid = word_at(validity, first + 64 * i) & low_mask64(values.len() / width);
        while valid != 0 {
            let at = valid.trailing_zeros() as usize;
            let run = (valid >> at).trailing_ones() as usize;
            out.extend_from_slice(&values[at * width..(at + run) * width]);
            valid &= !(low_mask64(run) << at);
        }
    }
}

/// Appends those of the `n` bits of `values` from bit `at` on whose bit is 1: for the first of them bit `first` of
/// `validity`, and so on.
///
/// # Panics
/// If `values` or `validity` has too few bits.
pub fn compact_bits(values: &[u8], at: usize, validity: &[u8], first: usize, n: usize, out: &mut Bits) {
    assert!(first + n <= validity.len() * 8, "{n} bits from {first}");
    assert!(at + n <= values.len() * 8, "{n} bits from {at}");
    for done in (0..n).step_by(64) {
        let here = (n - done).min(64);
        let mut valid = word_at(validity, first + done) & low_mask64(here);
        // Most words have all or nothing.
        if valid == low_mask64(here) {
            out.push_packed(values, at + done, here);
            continue;
        }
        let bits = word_at(values, at + done);
        let (mut word, mut kept) = (0u64, 0);
        while valid != 0 {
            word |= (bits >> valid.trailing_zeros() & 1) << kept;
            kept += 1;
            valid &= valid - 1;
        }
        out.push_word(word, kept);
    }
}

fn compact<T: Copy>(values: &[T], validity: &[u8], first: usize, out: &mut Vec<T>) {
    assert!(first + values.len() <= validity.len() * 8, "{} bits from {first}", values.len());
    for (i, values) in values.chunks(64).enumerate() {
        let mut valid = word_at(validity, first + 64 * i);
        if values.len() < 64 {
            valid &= (1 << values.len()) - 1;
        }
        // Most columns have no nulls or few, and most of them together.
        if valid.count_ones() as usize == values.len() {
            out.extend_from_slice(values);
            continue;
        }
        // PERF: room is made once for all of a word.
        let start = out.len();
        out.resize(start + valid.count_ones() as usize, values[0]);
        for slot in &mut out[start..] {
            *slot = values[valid.trailing_zeros() as usize];
            valid &= valid - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bits;

    #[test]
    fn the_valid_ones_stay() {
        let values: Vec<u32> = (0..300).collect();
        let patterns: [fn(usize) -> bool; 4] = [|_| true, |_| false, |i| i * i % 3 > 0, |i| i / 70 % 2 == 0];
        for pattern in patterns {
            let validity: Bits = (0..400).map(pattern).collect();
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

                    let odd: Bits = [false; 5].into_iter().chain(values.iter().map(|v| v % 3 == 1)).collect();
                    let mut out: Bits = [true].into_iter().collect();
                    compact_bits(odd.as_bytes(), 5, validity.as_bytes(), first, n, &mut out);
                    assert_eq!(out, expected.iter().map(|v| v % 3 == 1).collect());
                }
            }
        }
    }
}
