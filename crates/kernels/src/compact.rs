//! Null compaction: slots become dense values, the mirror of `expand.rs`.

use crate::bits::word_at;

/// Appends those of `values` whose bit is 1: for value `i` bit `first + i` of `validity`.
///
/// # Panics
/// If `validity` has too few bits.
pub fn compact_u32(values: &[u32], validity: &[u8], first: usize, out: &mut Vec<u32>) {
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
        while valid != 0 {
            out.push(values[valid.trailing_zeros() as usize]);
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
                    let expected = (0..n).filter(|i| pattern(first + i)).map(|i| i as u32);
                    assert!(out.into_iter().eq(std::iter::once(7).chain(expected)), "{n} from {first}");
                }
            }
        }
    }
}
