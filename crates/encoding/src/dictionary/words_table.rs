//! Finds the index of a number in a dictionary: by direct addressing, or by hashing.
//!
//! ```text
//! direct:  slot = number - base      one for each number: no hash, nothing to compare, and numbers that ascend find
//!                                    theirs side by side
//! hashed:  slot = hash(number) ..    open addressing, a quarter to a half full; what is there is compared with the
//!                                    dictionary
//! ```
//!
//! A table begins hashed. Whenever it grows, it becomes direct if the numbers are dense, as most keys, dates and quantities are.

use super::bytes_table::{MAX_PROBES, NONE, most_values, slots_for};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

/// A value that is compared and hashed as a number.
pub(super) trait Word: Copy + Eq + Hash {
    /// The number that is multiplied to give the hash.
    fn to_u64(self) -> u64;
    /// The value as a signed number, in which values around 0 are close to each other; `None` if it needs over 64 bits.
    fn to_i64(self) -> Option<i64>;
}

impl Word for u32 {
    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn to_i64(self) -> Option<i64> {
        Some(i64::from(self as i32))
    }
}

impl Word for u64 {
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline(always)]
    fn to_i64(self) -> Option<i64> {
        Some(self as i64)
    }
}

impl Word for u128 {
    #[inline(always)]
    fn to_u64(self) -> u64 {
        (self as u64).wrapping_add(((self >> 64) as u64).wrapping_mul(MULTIPLIERS[1]))
    }

    #[inline(always)]
    fn to_i64(self) -> Option<i64> {
        i64::try_from(self as i128).ok()
    }
}

/// The hash table of a dictionary of words. Slots hold only indices: words are compared with the dictionary itself,
/// which is smaller than a table that holds the words too.
#[derive(Debug, Default)]
pub(super) struct WordsTable {
    slots: Vec<u32>,
    way: Method,
}

/// How the slot of a word is found.
#[derive(Debug)]
enum Method {
    /// Each number from `base` on has a slot of its own.
    Direct { base: i64 },
    /// The hash is a 64-bit product; shifted by `shift`, it is the number of the first slot to probe.
    Hashed { shift: u32, multiplier: u64 },
    /// The same with a hash that has a random key.
    Keyed { shift: u32, key: RandomState },
}

impl Default for Method {
    fn default() -> Self {
        Method::Hashed { shift: 0, multiplier: MULTIPLIERS[0] }
    }
}

impl WordsTable {
    /// Appends the index of each of `words` to `indices`, and new words to `dictionary`.
    pub(super) fn intern<T: Word>(&mut self, words: &[T], dictionary: &mut Vec<T>, indices: &mut Vec<u32>) {
        if self.slots.is_empty() {
            self.resize(dictionary);
        }
        indices.reserve(words.len());
        let mut found = [NONE; WORDS_PER_BLOCK];
        for words in words.chunks(WORDS_PER_BLOCK) {
            // PERF: sorted data has runs, which need only a comparison.
            if words[0] == words[words.len() - 1] && words.iter().all(|word| *word == words[0]) {
                let index = self.index_of(words[0], dictionary);
                indices.resize(indices.len() + words.len(), index);
                continue;
            }
            // PERF: first finds all words that are in their first slot, without a branch for each, so that cache misses overlap.
            let found = &mut found[..words.len()];
            self.find_at_once(words, dictionary, found);
            if found.contains(&NONE) {
                let unknown = found.iter_mut().zip(words).filter(|(index, _)| **index == NONE);
                unknown.for_each(|(index, &word)| *index = self.index_of(word, dictionary));
            }
            indices.extend_from_slice(found);
        }
    }

    /// Finds the index of each of `words` that is in its first slot; [`NONE`] for the others.
    #[inline]
    fn find_at_once<T: Word>(&self, words: &[T], dictionary: &[T], found: &mut [u32]) {
        match self.way {
            Method::Direct { base } => {
                for (index, word) in found.iter_mut().zip(words) {
                    *index = self.slots.get(direct(*word, base)).copied().unwrap_or(NONE);
                }
            }
            Method::Hashed { shift, multiplier } => {
                for (index, word) in found.iter_mut().zip(words) {
                    let guess = self.slots[place(word.to_u64().wrapping_mul(multiplier), shift)];
                    *index = if dictionary.get(guess as usize) == Some(word) { guess } else { NONE };
                }
            }
            Method::Keyed { .. } => found.fill(NONE),
        }
    }

    /// The size of the table in bytes.
    pub(super) fn memory(&self) -> usize {
        4 * self.slots.capacity()
    }

    #[inline]
    fn index_of<T: Word>(&mut self, word: T, dictionary: &mut Vec<T>) -> u32 {
        let (hash, shift, limit) = match &self.way {
            Method::Direct { base } => return self.index_direct(word, *base, dictionary),
            Method::Hashed { shift, multiplier } => {
                (word.to_u64().wrapping_mul(*multiplier), *shift, MAX_PROBES)
            }
            Method::Keyed { shift, key } => (key.hash_one(word), *shift, usize::MAX),
        };
        let mut at = place(hash, shift);
        let mut probes = 0;
        while let Some(there) = dictionary.get(self.slots[at] as usize) {
            if *there == word {
                return self.slots[at];
            }
            at = (at + 1) & (self.slots.len() - 1);
            probes += 1;
            if probes > limit {
                self.way = Method::Keyed { shift, key: RandomState::new() };
                self.resize(dictionary);
                return self.index_of(word, dictionary);
            }
        }
        let index = dictionary.len() as u32;
        dictionary.push(word);
        self.slots[at] = index;
        if dictionary.len() > most_values(self.slots.len()) {
            self.resize(dictionary);
        }
        index
    }

    fn index_direct<T: Word>(&mut self, word: T, base: i64, dictionary: &mut Vec<T>) -> u32 {
        let index = dictionary.len() as u32;
        match self.slots.get_mut(direct(word, base)) {
            Some(slot) if *slot != NONE => return *slot,
            Some(slot) => {
                *slot = index;
                dictionary.push(word);
            }
            None => {
                dictionary.push(word);
                self.resize(dictionary);
            }
        }
        index
    }

    /// Rebuilds the table for all of `dictionary`, with room for more.
    #[cold]
    fn resize<T: Word>(&mut self, dictionary: &[T]) {
        let before = match self.way {
            Method::Direct { base } => Some((base, self.slots.len())),
            Method::Hashed { .. } | Method::Keyed { .. } => None,
        };
        if let Some((base, len)) = direct_range(dictionary, before) {
            self.way = Method::Direct { base };
            self.slots = vec![NONE; len];
            for (index, word) in dictionary.iter().enumerate() {
                self.slots[direct(*word, base)] = index as u32;
            }
            return;
        }
        let slots = slots_for(dictionary.len());
        let shift = u64::BITS - slots.trailing_zeros();
        let known = match std::mem::take(&mut self.way) {
            Method::Direct { .. } => MULTIPLIERS[0],
            Method::Hashed { multiplier, .. } => multiplier,
            Method::Keyed { key, .. } => {
                self.fill(slots, dictionary, |word| place(key.hash_one(word), shift));
                self.way = Method::Keyed { shift, key };
                return;
            }
        };
        let multiplied = |multiplier| move |word: T| place(word.to_u64().wrapping_mul(multiplier), shift);
        let tried = if slots <= MAX_SLOTS_TRIED { &MULTIPLIERS[..] } else { &[known] };
        let (mut best, mut fewest, mut last) = (known, usize::MAX, known);
        for &multiplier in tried {
            let displaced = self.fill(slots, dictionary, multiplied(multiplier));
            last = multiplier;
            if displaced < fewest {
                (best, fewest) = (multiplier, displaced);
            }
            if displaced <= dictionary.len() / MAX_DISPLACED_SHARE {
                break;
            }
        }
        if last != best {
            self.fill(slots, dictionary, multiplied(best));
        }
        self.way = Method::Hashed { shift, multiplier: best };
    }

    /// Puts all of `dictionary` into a new table and returns how many words are not in their first slot.
    fn fill<T: Word>(&mut self, slots: usize, dictionary: &[T], place: impl Fn(T) -> usize) -> usize {
        self.slots.clear();
        self.slots.resize(slots, NONE);
        let mut displaced = 0;
        for (index, &word) in dictionary.iter().enumerate() {
            let mut at = place(word);
            displaced += usize::from(self.slots[at] != NONE);
            while self.slots[at] != NONE {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = index as u32;
        }
        displaced
    }
}

/// Returns the first slot to probe for a hash.
#[inline(always)]
fn place(hash: u64, shift: u32) -> usize {
    (hash >> (shift & 63)) as usize
}

/// Returns the slot of `word` in a direct table that begins at `base`. If it has none, returns a number larger than any table.
#[inline(always)]
fn direct<T: Word>(word: T, base: i64) -> usize {
    word.to_i64().and_then(|number| usize::try_from(distance(number, base)).ok()).unwrap_or(usize::MAX)
}

/// Returns the distance from `base` up to `word`. If `word` is below, returns a number larger than any table.
#[inline(always)]
fn distance(word: i64, base: i64) -> u64 {
    word.wrapping_sub(base) as u64
}

/// Returns the base and the number of slots of a direct table, if the numbers are so dense that it does not take much more memory
/// than a hashed one. `before` has the base and the length of the direct table that has become too short. The new table gets room
/// on the side where numbers were added and keeps the space on the other side, so that tables seldom grow.
fn direct_range<T: Word>(dictionary: &[T], before: Option<(i64, usize)>) -> Option<(i64, usize)> {
    if dictionary.len() < MIN_DIRECT_NUMBERS {
        return None;
    }
    let ends = |(least, greatest): (i64, i64), number| (least.min(number), greatest.max(number));
    let (least, greatest) = dictionary
        .iter()
        .try_fold((i64::MAX, i64::MIN), |so_far, word| Some(ends(so_far, word.to_i64()?)))?;
    let span = distance(greatest, least);
    if span >= (MAX_SLOTS_PER_NUMBER * dictionary.len()) as u64 {
        return None;
    }
    let room = span + 1;
    let (first, last) = match before {
        Some((base, len)) if least < base => {
            (least.saturating_sub_unsigned(room), base.saturating_add_unsigned(len as u64 - 1).max(greatest))
        }
        _ => (before.map_or(least, |(base, _)| base), greatest.saturating_add_unsigned(room)),
    };
    Some((first, distance(last, first) as usize + 1))
}

/// Number of words that are looked up at once.
const WORDS_PER_BLOCK: usize = 32;
/// The first is 2^64 divided by the golden ratio, whose multiples are spread evenly. The others are random. PERF: one
/// of the others often spreads better neighbouring floats and other values with a step that does not suit the first.
const MULTIPLIERS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0x5822_cb77_f4de_2c09, 0xb774_eb52_48db_40af, 0x153e_7c2a_26a2_c0bd];
/// At most one of this many words may be displaced before the next multiplier is tried. With a random hash, one of
/// sixteen is displaced in a table that was just built.
const MAX_DISPLACED_SHARE: usize = 32;
/// Number of slots of the largest table that is filled several times to find the best multiplier. It stays in the second-level cache.
const MAX_SLOTS_TRIED: usize = 1 << 14;
/// The maximum number of slots for each number in a direct table. A hashed table has 2 to 6.
const MAX_SLOTS_PER_NUMBER: usize = 8;
/// Number of words below which a table stays hashed: it stays in the first-level cache.
const MIN_DIRECT_NUMBERS: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_step_are_found_at_the_first_look() {
        let floats = (0..1_000).map(|i| u64::from((i as f32 * 1.003).to_bits())).collect();
        let doubles = (0..1_000).map(|i| (f64::from(i) / 100.0).to_bits()).collect();
        let integers = (0..1_000).map(|i| i * 1_000_003).collect();
        for all in [floats, doubles, integers] as [Vec<u64>; 3] {
            let (mut words, mut dictionary, mut indices) = (WordsTable::default(), Vec::new(), Vec::new());
            words.intern(&all, &mut dictionary, &mut indices);
            assert!(indices.iter().copied().eq(0..1_000));
            words.find_at_once(&all, &dictionary, &mut indices);
            let missed = indices.iter().filter(|index| **index == NONE).count();
            assert!(missed < 100, "{missed}");
        }
    }
}
