//! Finds the index of a byte string in a dictionary: a hash table with open addressing and a power of two of slots, at most half
//! full.
//!
//! A hash is a multiplication, and values that were made to collide would make it useless. So a search that takes too
//! long changes the table over to a keyed hash, for good.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Hashes and indices of values that are somewhere else.
#[derive(Debug, Default)]
pub(super) struct BytesTable {
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
    /// Too many values have hashes like this one's: see [`BytesTable::rebuild_keyed`].
    Crowd,
}

impl BytesTable {
    /// Bytes of the table.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Hashed>()
    }

    /// The hash of a byte string.
    #[inline]
    pub(super) fn hash_bytes(&self, bytes: &[u8]) -> u32 {
        match &self.keyed {
            None => hash_of(bytes),
            Some(keyed) => keyed.hash_one(bytes) as u32,
        }
    }

    /// The hash of a short byte string by its view. It is not that of its bytes: views are of one length or the other.
    #[inline]
    pub(super) fn hash_inline(&self, view: u128) -> u32 {
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
        let limit = if self.keyed.is_some() { usize::MAX } else { MAX_PROBES };
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
                effort += MAX_PROBES / 8;
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
    pub(super) fn rebuild_keyed(&mut self, hashes_of: impl FnOnce(&BytesTable, &mut dyn FnMut(u32))) {
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

/// The maximum number of values in a table of `slots` slots: half as many, or a quarter if the table fits the caches.
pub(super) fn most_values(slots: usize) -> usize {
    if slots > CACHED_SLOTS { slots / 2 } else { slots / 4 }
}

/// How many slots a table gets that has come to `len` values: at least half as many values again have room.
pub(super) fn slots_for(len: usize) -> usize {
    let slots = (3 * len).next_power_of_two();
    if slots > CACHED_SLOTS { slots } else { (2 * slots).max(MIN_SLOTS) }
}

/// A hash of all bytes: what strings of one column have in common may be anywhere.
#[inline]
fn hash_of(bytes: &[u8]) -> u32 {
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
const MIN_SLOTS: usize = 256;
/// Slots of a table that is in the second-level cache.
const CACHED_SLOTS: usize = 1 << 16;
/// Slots to probe before switching to a keyed hash. In a table that is half full at most, a good hash takes some 70
/// at the worst place of a million values.
pub(super) const MAX_PROBES: usize = 256;
/// Digits of pi.
const SEEDS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0];
