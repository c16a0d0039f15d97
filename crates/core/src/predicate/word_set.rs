//! A set of 32-bit or 64-bit values, for `IN` lists.

use super::blocks::of_blocks;
use foldhash::fast::RandomState;
use marquetry_encoding::Bitmap;
use std::collections::HashSet;

/// A set of words. PERF: close words are stored as bits, where a lookup is one load. Others are first looked up in a
/// filter of a few bits per word, which stays in the cache and needs no branch; only words that pass it are hashed.
#[derive(Debug, Clone)]
pub(super) enum WordSet {
    /// A bit for each word from `first` on.
    Dense { first: u64, bits: Vec<u64> },
    /// A hash set, and a filter with a bit for each value of a product's highest bits.
    Sparse { filter: Vec<u64>, shift: u32, words: HashSet<u64, RandomState> },
}

impl WordSet {
    /// Creates the set of these words, which must be sorted.
    pub(super) fn new(words: &[u64]) -> Self {
        let (first, last) = match words {
            [] => return WordSet::Dense { first: 0, bits: Vec::new() },
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
        };
        let span = last - first;
        if span / DENSE <= words.len() as u64 {
            let mut bits = vec![0; (span / 64) as usize + 1];
            words.iter().for_each(|word| set(&mut bits, word - first));
            return WordSet::Dense { first, bits };
        }
        let width = (words.len() * BITS_PER_WORD).next_power_of_two().trailing_zeros().max(6);
        let shift = u64::BITS - width;
        let mut filter = vec![0; 1 << (width - 6)];
        words.iter().for_each(|word| set(&mut filter, spread(*word) >> shift));
        WordSet::Sparse { filter, shift, words: words.iter().copied().collect() }
    }

    /// Returns which of `values` are in the set, by the word that `word` returns for each.
    pub(super) fn contains_each<T>(&self, values: &[T], word: impl Fn(&T) -> u64) -> Bitmap {
        of_blocks(values.len(), |start, block| {
            let values = &values[start..start + block.len()];
            match self {
                WordSet::Dense { first, bits } => {
                    for (found, value) in block.iter_mut().zip(values) {
                        *found = bit(bits, word(value).wrapping_sub(*first));
                    }
                }
                WordSet::Sparse { filter, shift, words } => {
                    for (found, value) in block.iter_mut().zip(values) {
                        *found = bit(filter, spread(word(value)) >> shift);
                    }
                    for (found, value) in block.iter_mut().zip(values).filter(|(found, _)| **found != 0) {
                        *found = u8::from(words.contains(&word(value)));
                    }
                }
            }
        })
    }
}

/// Maximum bits per word of a dense set: they take no more memory than the words and their hashes would.
const DENSE: u64 = 128;

/// Bits per word of the filter: one of 8 to 16 words that are not in the set passes.
const BITS_PER_WORD: usize = 8;

/// Moves the bits in which words differ to the top: multiplies by the golden ratio as a fraction of 64 bits.
fn spread(word: u64) -> u64 {
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn set(bits: &mut [u64], at: u64) {
    bits[(at / 64) as usize] |= 1 << (at % 64);
}

fn bit(bits: &[u64], at: u64) -> u8 {
    (bits.get((at / 64) as usize).copied().unwrap_or(0) >> (at % 64)) as u8 & 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words() -> impl Strategy<Value = Vec<u64>> {
        let near = prop::collection::vec(1_000u64..3_000, 0..200);
        let far = prop::collection::vec(any::<u64>(), 0..200);
        let spaced = prop::collection::vec((0u64..300).prop_map(|n| n << 40), 0..200);
        let edges = prop::collection::vec(prop::sample::select(vec![0, 1, u64::MAX - 1, u64::MAX]), 0..4);
        prop_oneof![near, far, spaced, edges]
    }

    proptest! {
        #[test]
        fn it_has_what_was_put_in(mut words in words(), others in words()) {
            words.sort_unstable();
            words.dedup();
            let set = WordSet::new(&words);
            let asked: Vec<u64> = words.iter().chain(&others).flat_map(|&w| [w, w.wrapping_add(1), w ^ (1 << 63)]).collect();
            let found = set.contains_each(&asked, |word| *word);
            let expected: Bitmap = asked.iter().map(|word| words.binary_search(word).is_ok()).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn words_that_are_close_are_bits() {
        let close: Vec<u64> = (0..1_000).map(|n| n * 100 + 7).collect();
        assert!(matches!(WordSet::new(&close), WordSet::Dense { .. }));
        let far: Vec<u64> = (0..1_000).map(|n| n * 1_000 + 7).collect();
        assert!(matches!(WordSet::new(&far), WordSet::Sparse { .. }));
    }
}
