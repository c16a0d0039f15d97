//! Finds the index of a byte string in a dictionary: a hash table with open addressing and a power of two of slots, at most half
//! full.
//!
//! The hash is a plain multiplication, so values that were chosen to collide could make it useless. If a search takes
//! too long, the table switches to a keyed hash for good.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Hashes and indices of values that are stored elsewhere.
#[derive(Debug, Default)]
pub(super) struct BytesTable {
    slots: Vec<Hashed>,
    /// How far a hash is shifted right to give the number of its slot.
    shift: u32,
    len: usize,
    keyed: Option<RandomState>,
}

#[derive(Debug, Clone, Copy)]
struct Hashed {
    hash: u32,
    index: u32,
}

/// The result of a search.
pub(super) enum Found {
    /// The value has this index.
    Index(u32),
    /// The value is not in the table and belongs in this slot.
    Slot(usize),
    /// Too many values have similar hashes: see [`BytesTable::rebuild_keyed`].
    Crowd,
}

impl BytesTable {
    /// The size of the table in bytes.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Hashed>()
    }

    /// Hashes a byte string.
    #[inline]
    pub(super) fn hash_bytes(&self, bytes: &[u8]) -> u32 {
        match &self.keyed {
            None => hash_of(bytes),
            Some(keyed) => keyed.hash_one(bytes) as u32,
        }
    }

    /// Hashes a short byte string by its view. The result differs from [`hash_bytes`](Self::hash_bytes); that does no
    /// harm, because the length decides whether a string is inline in its view.
    #[inline]
    pub(super) fn hash_inline(&self, view: u128) -> u32 {
        match &self.keyed {
            None => (fold(view as u64 ^ SEEDS[0], (view >> 64) as u64 ^ SEEDS[1]) >> 32) as u32,
            Some(keyed) => keyed.hash_one(view) as u32,
        }
    }

    /// Returns the index in the first slot of this hash if the hashes are equal; [`NONE`] otherwise.
    #[inline]
    pub(super) fn guess(&self, hash: u32) -> u32 {
        match self.slots.get(self.place(hash)) {
            Some(slot) if slot.hash == hash => slot.index,
            _ => NONE,
        }
    }

    /// Searches for the value with this hash for whose index `is` returns true.
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
                // A futile comparison costs more than a probe: the values may be long.
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

    /// Puts the next index into the slot that [`find`](Self::find) returned.
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

    /// Rebuilds the table with a keyed hash. `hashes_of` gets this table to hash with, and passes on the hashes of all values in order.
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

/// The maximum number of values in a table of `slots` slots: half the slots, or a quarter if the table fits the caches.
pub(super) fn most_values(slots: usize) -> usize {
    if slots > CACHED_SLOTS { slots / 2 } else { slots / 4 }
}

/// The number of slots of a new table for `len` values, with room for at least half as many values more.
pub(super) fn slots_for(len: usize) -> usize {
    let slots = (3 * len).next_power_of_two();
    if slots > CACHED_SLOTS { slots } else { (2 * slots).max(MIN_SLOTS) }
}

/// Hashes all bytes, because the strings of a column may have any part in common.
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
            // The last 16 bytes, which may overlap the chunks before.
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

/// XORs both halves of the 128-bit product.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Marks a slot without a value.
pub(super) const NONE: u32 = u32::MAX;
const EMPTY: Hashed = Hashed { hash: 0, index: NONE };
const MIN_SLOTS: usize = 256;
/// Number of slots of the largest table that fits the second-level cache.
const CACHED_SLOTS: usize = 1 << 16;
/// Maximum number of slots to probe before switching to a keyed hash. In a table at most half full, a good hash needs
/// some 70 probes in the worst case among a million values.
pub(super) const MAX_PROBES: usize = 256;
/// Digits of pi.
const SEEDS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0];
