//! Which values a dictionary has already: hash tables with open addressing and a power of two of slots, at most half
//! full.
//!
//! A hash is a multiplication, and values that were made to collide would make it useless. So a search that takes too
//! long changes the table over to a keyed hash, for good.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A value that is compared and hashed as a number.
pub(super) trait Word: Copy + Eq {
    fn to_u64(self) -> u64;
}

impl Word for u32 {
    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }
}

impl Word for u64 {
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }
}

/// Where in a dictionary of words each of them is. Slots have only the index: what is compared is in the dictionary,
/// which is smaller than a table that has the words too.
#[derive(Debug, Default)]
pub(super) struct Words {
    slots: Vec<u32>,
    /// By how much a 64-bit hash is shifted to be the number of a slot.
    shift: u32,
    keyed: Option<RandomState>,
}

impl Words {
    /// Appends the index of each of `words`, and to `dictionary` those that were not there.
    pub(super) fn intern<T: Word>(&mut self, words: &[T], dictionary: &mut Vec<T>, indices: &mut Vec<u32>) {
        if self.slots.is_empty() {
            self.resize(dictionary);
        }
        indices.reserve(words.len());
        let mut guesses = [NONE; GUESSED];
        for words in words.chunks(GUESSED) {
            // PERF: sorted data has runs, and is as fast as a comparison.
            if words[0] == words[words.len() - 1] && words.iter().all(|word| *word == words[0]) {
                let index = self.index_of(words[0], dictionary);
                indices.resize(indices.len() + words.len(), index);
                continue;
            }
            // PERF: first all slots of a block, then all words, so that the waits for memory overlap.
            for (guess, word) in guesses.iter_mut().zip(words) {
                *guess = self.slots[self.place(*word)];
            }
            indices.extend(words.iter().zip(guesses).map(
                |(&word, guess)| match dictionary.get(guess as usize) == Some(&word) {
                    true => guess,
                    false => self.index_of(word, dictionary),
                },
            ));
        }
    }

    /// Bytes of the table.
    pub(super) fn memory(&self) -> usize {
        4 * self.slots.capacity()
    }

    #[inline]
    fn index_of<T: Word>(&mut self, word: T, dictionary: &mut Vec<T>) -> u32 {
        let limit = if self.keyed.is_some() { usize::MAX } else { PROBES };
        let mut at = self.place(word);
        let mut probes = 0;
        while let Some(there) = dictionary.get(self.slots[at] as usize) {
            if *there == word {
                return self.slots[at];
            }
            at = (at + 1) & (self.slots.len() - 1);
            probes += 1;
            if probes > limit {
                return self.search_again(word, dictionary);
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

    #[cold]
    fn search_again<T: Word>(&mut self, word: T, dictionary: &mut Vec<T>) -> u32 {
        self.keyed = Some(RandomState::new());
        self.resize(dictionary);
        self.index_of(word, dictionary)
    }

    /// Makes the table anew, for all of `dictionary` and more.
    #[cold]
    fn resize<T: Word>(&mut self, dictionary: &[T]) {
        let slots = slots_for(dictionary.len());
        self.slots.clear();
        self.slots.resize(slots, NONE);
        self.shift = u64::BITS - slots.trailing_zeros();
        for (index, &word) in dictionary.iter().enumerate() {
            let mut at = self.place(word);
            while self.slots[at] != NONE {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = index as u32;
        }
    }

    /// The slot where the search for a word begins.
    #[inline(always)]
    fn place<T: Word>(&self, word: T) -> usize {
        let hash = match &self.keyed {
            None => word.to_u64().wrapping_mul(MULTIPLIER),
            Some(keyed) => keyed.hash_one(word.to_u64()),
        };
        (hash >> (self.shift & 63)) as usize
    }
}

/// Hashes and indices of values that are somewhere else.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    slots: Vec<Hashed>,
    /// By how much a hash is shifted to be the number of a slot.
    shift: u32,
    len: usize,
    keyed: Option<RandomState>,
}

#[derive(Debug, Clone, Copy)]
struct Hashed {
    hash: u32,
    index: u32,
}

/// What a search came to.
pub(super) enum Found {
    /// The value has this index.
    Index(u32),
    /// The value is not there; it belongs into this slot.
    Slot(usize),
    /// Too many values have hashes like this one's: see [`Hashes::rebuild_keyed`].
    Crowd,
}

impl Hashes {
    /// Bytes of the table.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Hashed>()
    }

    /// The hash of a byte string.
    #[inline]
    pub(super) fn of_bytes(&self, bytes: &[u8]) -> u32 {
        match &self.keyed {
            None => hash_bytes(bytes),
            Some(keyed) => keyed.hash_one(bytes) as u32,
        }
    }

    /// The hash of a short byte string by its view. It is not that of its bytes: views are of one length or the other.
    #[inline]
    pub(super) fn of_inline(&self, view: u128) -> u32 {
        match &self.keyed {
            None => (fold(view as u64 ^ SEEDS[0], (view >> 64) as u64 ^ SEEDS[1]) >> 32) as u32,
            Some(keyed) => keyed.hash_one(view) as u32,
        }
    }

    /// The index that the value of this hash has if nothing else is in its place; often [`NONE`].
    #[inline]
    pub(super) fn guess(&self, hash: u32) -> u32 {
        match self.slots.get(self.place(hash)) {
            Some(slot) if slot.hash == hash => slot.index,
            _ => NONE,
        }
    }

    /// Looks for a value of this hash for which `is` says that it is the one.
    #[inline]
    pub(super) fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Found {
        let limit = if self.keyed.is_some() { usize::MAX } else { PROBES };
        let mut at = self.place(hash);
        let mut effort = 0;
        while let Some(slot) = self.slots.get(at) {
            if slot.index == NONE {
                break;
            }
            if slot.hash == hash {
                if is(slot.index) {
                    return Found::Index(slot.index);
                }
                // Values were compared in vain: they may be long.
                effort += PROBES / 8;
            }
            at = (at + 1) & (self.slots.len() - 1);
            effort += 1;
            if effort > limit {
                return Found::Crowd;
            }
        }
        Found::Slot(at)
    }

    /// Puts the next index into a slot that was found for it.
    #[inline]
    pub(super) fn insert(&mut self, at: usize, hash: u32) -> u32 {
        let index = self.len as u32;
        self.len += 1;
        if self.len > most_values(self.slots.len()) {
            self.grow(Hashed { hash, index });
        } else {
            self.slots[at] = Hashed { hash, index };
        }
        index
    }

    /// Begins again with a keyed hash. `hashes_of` gets the table to hash with, and hands over all values in order.
    #[cold]
    pub(super) fn rebuild_keyed(&mut self, hashes_of: impl FnOnce(&Hashes, &mut dyn FnMut(u32))) {
        self.keyed = Some(RandomState::new());
        let mut hashes = Vec::with_capacity(self.len);
        hashes_of(self, &mut |hash| hashes.push(hash));
        self.slots.fill(EMPTY);
        for (index, &hash) in hashes.iter().enumerate() {
            self.put(Hashed { hash, index: index as u32 });
        }
    }

    #[cold]
    fn grow(&mut self, new: Hashed) {
        let slots = slots_for(self.len);
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
        self.shift = u32::BITS - slots.trailing_zeros().min(u32::BITS);
        old.into_iter().chain([new]).filter(|slot| slot.index != NONE).for_each(|slot| self.put(slot));
    }

    fn put(&mut self, new: Hashed) {
        let mut at = self.place(new.hash);
        while self.slots[at].index != NONE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = new;
    }

    #[inline(always)]
    fn place(&self, hash: u32) -> usize {
        (hash >> (self.shift & 31)) as usize
    }
}

/// How many values a table of so many slots has at most: half as many, or, where it fits the caches, a quarter.
fn most_values(slots: usize) -> usize {
    if slots > CACHED_SLOTS { slots / 2 } else { slots / 4 }
}

/// How many slots a table gets that has come to `len` values: at least half as many values again have room.
fn slots_for(len: usize) -> usize {
    let slots = (3 * len).next_power_of_two();
    if slots > CACHED_SLOTS { slots } else { (2 * slots).max(FEWEST_SLOTS) }
}

/// A hash of all bytes: what strings of one column have in common may be anywhere.
#[inline]
fn hash_bytes(bytes: &[u8]) -> u32 {
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let len = bytes.len();
    let seed = len as u64 ^ SEEDS[2];
    let hash = match len {
        16.. => {
            let (chunks, _) = bytes[..len - 1].as_chunks::<16>();
            let state = chunks.iter().fold(seed, |state, chunk| {
                let chunk = u128::from_le_bytes(*chunk);
                fold(chunk as u64 ^ state, (chunk >> 64) as u64 ^ SEEDS[1])
            });
            // The last 16 bytes, some of which may have been there before.
            fold(word(len - 16) ^ state, word(len - 8) ^ SEEDS[0])
        }
        8..16 => fold(word(0) ^ seed, word(len - 8) ^ SEEDS[1]),
        _ => {
            let mut short = [0; 8];
            short[..len].copy_from_slice(bytes);
            fold(u64::from_le_bytes(short) ^ seed, SEEDS[1])
        }
    };
    (hash >> 32) as u32
}

/// Both halves of a product, one over the other.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// An index that no value has.
pub(super) const NONE: u32 = u32::MAX;
const EMPTY: Hashed = Hashed { hash: 0, index: NONE };
const FEWEST_SLOTS: usize = 256;
/// Slots of a table that is in the second-level cache.
const CACHED_SLOTS: usize = 1 << 16;
/// Words that are looked for at a time.
const GUESSED: usize = 32;
/// Slots that are looked at before the hash is given up. In a table that is half full at most, a good hash takes some 70
/// at the worst place of a million values.
const PROBES: usize = 256;
/// 2^64 divided by the golden ratio: multiples of it are spread evenly.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Digits of pi.
const SEEDS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0];
