//! Spreading dense values over their slots: encodings hold non-null values only, arrays have a slot for each null.
//!
//! ```text
//! dense     a b c
//! validity  1 0 0 1 1 0
//! slots     a 0 0 b c 0
//! ```

use crate::Bits;
use crate::bits::low_mask64;

/// Appends one value for each of the `n` validity bits from bit `first` on: the next dense value for a 1, the default
/// for a 0.
///
/// # Panics
/// If there are fewer than `n` bits from `first` on, or not as many dense values as ones among them.
pub fn expand<T: Copy + Default>(dense: &[T], validity: &Bits, first: usize, n: usize, out: &mut Vec<T>) {
    assert_eq!(validity.count_ones(first..first + n), dense.len(), "a dense value for each valid slot");
    out.reserve(n);
    let Some(&last) = dense.last() else {
        out.resize(out.len() + n, T::default());
        return;
    };
    let mut next = 0;
    let mut done = 0;
    while done < n {
        let take = (n - done).min(64);
        let word = validity.word(first + done) & low_mask64(take);
        match word.count_ones() as usize {
            0 => out.resize(out.len() + take, T::default()),
            ones if ones == take => out.extend_from_slice(&dense[next..next + take]),
            // Without a branch per slot: every slot loads the value that is next, and keeps it if its bit is set.
            _ => out.extend((0..take).map(|i| {
                let bit = (word >> i & 1) as usize;
                let value = *dense.get(next).unwrap_or(&last);
                next += bit;
                if bit == 1 { value } else { T::default() }
            })),
        }
        if word.count_ones() as usize == take {
            next += take;
        }
        done += take;
    }
}

/// [`expand`] for values of `width` bytes each.
///
/// # Panics
/// As [`expand`].
pub fn expand_fixed(dense: &[u8], width: usize, validity: &Bits, first: usize, n: usize, out: &mut Vec<u8>) {
    let ones = validity.count_ones(first..first + n);
    assert_eq!(ones * width, dense.len(), "a dense value for each valid slot");
    out.reserve(n * width);
    let mut next = 0;
    for i in first..first + n {
        if validity.get(i) {
            out.extend_from_slice(&dense[next..next + width]);
            next += width;
        } else {
            out.resize(out.len() + width, 0);
        }
    }
}

/// [`expand`] for booleans.
///
/// # Panics
/// As [`expand`].
pub fn expand_bits(dense: &Bits, validity: &Bits, first: usize, n: usize, out: &mut Bits) {
    assert_eq!(validity.count_ones(first..first + n), dense.len(), "a dense value for each valid slot");
    out.reserve(n);
    let mut next = 0;
    let mut done = 0;
    while done < n {
        let take = (n - done).min(64);
        let mut word = validity.word(first + done) & low_mask64(take);
        let mut source = dense.word(next);
        next += word.count_ones() as usize;
        // Deposit the dense bits at the positions of the ones, lowest first.
        let mut spread = 0u64;
        while word != 0 {
            let position = word.trailing_zeros();
            spread |= (source & 1) << position;
            source >>= 1;
            word &= word - 1;
        }
        out.push_packed(&spread.to_le_bytes(), 0, take);
        done += take;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_density_and_offset() {
        for density in [0, 1, 3, 7, 10] {
            let validity: Bits = (0..300).map(|i| (i * 7 + i / 10) % 10 < density).collect();
            for first in [0, 1, 63, 65] {
                for n in [0, 1, 63, 64, 65, 200] {
                    let ones = validity.count_ones(first..first + n);
                    let dense: Vec<u32> = (1..=ones as u32).collect();
                    let mut next = dense.iter();
                    let expected: Vec<u32> = (first..first + n)
                        .map(|i| if validity.get(i) { *next.next().unwrap() } else { 0 })
                        .collect();

                    let mut out = vec![9];
                    expand(&dense, &validity, first, n, &mut out);
                    assert_eq!(out[1..], expected);

                    let bytes: Vec<u8> = dense.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    let mut out = Vec::new();
                    expand_fixed(&bytes, 3, &validity, first, n, &mut out);
                    let flat: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
                    assert_eq!(out, flat);

                    let bits: Bits = dense.iter().map(|v| v % 3 == 1).collect();
                    let mut out = Bits::new();
                    expand_bits(&bits, &validity, first, n, &mut out);
                    assert_eq!(out, expected.iter().map(|v| v % 3 == 1).collect());
                }
            }
        }
    }
}
