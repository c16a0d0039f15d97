//! Builds a dictionary: each value gets an index, in order of first appearance.

use super::bytes_table::{BytesTable, Found, NONE};
use super::entries::{Dictionary, look_up};
use super::fixed_table::FixedTable;
use super::words_table::WordsTable;
use crate::arena::StringArena;
use crate::shape::Shape;
use crate::string_views::StringViews;
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, Result, try_reserve_exact};
use marquetry_kernels::{self as kernels, view_is_inline};
use std::ops::Range;
use std::sync::Arc;

/// The dictionary of one column chunk, as it grows.
///
/// Values are equal if their bits are: -0.0 differs from 0.0, and each NaN bit pattern is a value of its own.
///
/// ```
/// use marquetry_encoding::{dictionary::DictionaryBuilder, Shape, Values, StringViews};
/// let mut builder = DictionaryBuilder::new(Shape::Bytes);
/// let mut indices = Vec::new();
/// builder.intern(&Values::Bytes(StringViews::from_iter(["red", "blue", "red"])), 0..3, &mut indices)?;
/// assert_eq!(indices, [0, 1, 0]);
/// assert_eq!(builder.values(), &Values::Bytes(StringViews::from_iter(["red", "blue"])));
/// assert_eq!(builder.page_bytes(), 4 + 3 + 4 + 4);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug)]
pub struct DictionaryBuilder {
    dictionary: Dictionary,
    table: Table,
    /// Total length of all byte strings.
    string_bytes: usize,
    /// The mapping from the input dictionary that was used last.
    remap: Option<Remap>,
}

#[derive(Debug)]
enum Table {
    W32(WordsTable),
    W64(WordsTable),
    Fixed(FixedTable),
    Strings(BytesTable),
}

/// Maps the keys of an input dictionary to indices of the dictionary being built.
#[derive(Debug)]
struct Remap {
    /// Held so that no other dictionary can be allocated at the same address.
    dictionary: Arc<Values>,
    /// The index of each of its values in the built dictionary, or [`UNKNOWN`].
    indices: Vec<u32>,
}

impl Remap {
    /// Creates a mapping in which all values of `dictionary` are unknown. Fails if there is no memory for the indices.
    fn try_new(dictionary: &Arc<Values>) -> Result<Self> {
        let mut indices = Vec::new();
        try_reserve_exact(&mut indices, dictionary.len())?;
        indices.resize(dictionary.len(), UNKNOWN);
        Ok(Remap { dictionary: dictionary.clone(), indices })
    }
}

impl DictionaryBuilder {
    /// Creates an empty dictionary of values of `shape`.
    pub fn new(shape: Shape) -> Self {
        DictionaryBuilder {
            dictionary: Dictionary::new(Values::empty(shape)),
            table: match shape {
                Shape::W32 => Table::W32(WordsTable::default()),
                Shape::W64 => Table::W64(WordsTable::default()),
                Shape::Fixed(width) => Table::Fixed(FixedTable::new(width)),
                Shape::Bit | Shape::Bytes => Table::Strings(BytesTable::default()),
            },
            string_bytes: 0,
            remap: None,
        }
    }

    /// Appends the index of each value in `range` to `indices`. Values that are new are appended to the dictionary.
    ///
    /// Fails for values of another shape and for BOOLEAN, which is never dictionary-encoded.
    ///
    /// # Panics
    /// If the range is not inside `values`.
    pub fn intern(&mut self, values: &Values, range: Range<usize>, indices: &mut Vec<u32>) -> Result<()> {
        // Two indices are reserved: UNKNOWN and SEEN.
        if self.len() + range.len() > SEEN as usize {
            return Err(Error::limit("a dictionary of over 2^32 values"));
        }
        let shape = self.dictionary.values().shape();
        match (&mut self.table, self.dictionary.values_mut(), values) {
            (Table::W32(table), Values::W32(dictionary), Values::W32(words)) => {
                table.intern(&words[range], dictionary, indices);
            }
            (Table::W64(table), Values::W64(dictionary), Values::W64(words)) => {
                table.intern(&words[range], dictionary, indices);
            }
            (Table::Fixed(table), Values::Fixed(dictionary), Values::Fixed(fixed))
                if dictionary.width() == fixed.width() =>
            {
                table.intern(dictionary, fixed, range, indices)?;
            }
            (Table::Strings(table), Values::Bytes(dictionary), Values::Bytes(views)) => {
                let before = dictionary.len();
                let interned = intern_strings(table, dictionary, views, range, indices);
                self.string_bytes += dictionary.data_bytes(before..dictionary.len());
                interned?;
            }
            _ => return Err(wrong_shape(shape, values)),
        }
        Ok(())
    }

    /// Like [`intern`](Self::intern), for values given as keys into an input dictionary. Each dictionary value is interned once,
    /// however many keys refer to it. The mapping of a dictionary is kept until another dictionary is used.
    ///
    /// Fails for a dictionary of another shape, and for a key that is out of range.
    pub fn intern_keys(
        &mut self,
        keys: &[u32],
        dictionary: &Arc<Values>,
        indices: &mut Vec<u32>,
    ) -> Result<()> {
        if dictionary.shape() != self.dictionary.values().shape() {
            return Err(wrong_shape(self.dictionary.values().shape(), dictionary));
        }
        let max = kernels::max_u32(keys);
        if !keys.is_empty() && max as usize >= dictionary.len() {
            let len = dictionary.len();
            return Err(Error::argument(format!("key {max} into a dictionary of {len} values")));
        }
        // An error drops the mapping, which may be incomplete.
        let mut remap = match self.remap.take() {
            Some(remap) if Arc::ptr_eq(&remap.dictionary, dictionary) => remap,
            _ => Remap::try_new(dictionary)?,
        };
        for keys in keys.chunks(KEYS_PER_BLOCK) {
            let start = indices.len();
            let mut known = kernels::gather(&remap.indices, keys, indices).is_ok();
            if kernels::max_u32(&indices[start..]) == UNKNOWN {
                indices.truncate(start);
                self.learn(&mut remap, keys)?;
                known = kernels::gather(&remap.indices, keys, indices).is_ok();
            }
            debug_assert!(known, "keys were held against the dictionary");
        }
        self.remap = Some(remap);
        Ok(())
    }

    /// Interns the values of those keys that are still unknown, in order of first appearance.
    fn learn(&mut self, remap: &mut Remap, keys: &[u32]) -> Result<()> {
        let mut new = Vec::new();
        for &key in keys {
            let index = &mut remap.indices[key as usize];
            if *index == UNKNOWN {
                *index = SEEN;
                new.push(key);
            }
        }
        let mut values = Values::empty(remap.dictionary.shape());
        look_up(&remap.dictionary, &new, &mut values)?;
        let mut indices = Vec::with_capacity(new.len());
        self.intern(&values, 0..new.len(), &mut indices)?;
        new.iter().zip(indices).for_each(|(&key, index)| remap.indices[key as usize] = index);
        Ok(())
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.dictionary.values().len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values so far, by index.
    pub fn values(&self) -> &Values {
        self.dictionary.values()
    }

    /// The dictionary so far.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the finished dictionary.
    pub fn finish(self) -> Dictionary {
        self.dictionary
    }

    /// The size of the dictionary page in bytes so far, uncompressed and without its header.
    pub fn page_bytes(&self) -> usize {
        match self.dictionary.values() {
            Values::Bytes(views) => 4 * views.len() + self.string_bytes,
            values => values.data_bytes(0..values.len()),
        }
    }

    /// The approximate memory of this builder in bytes.
    pub fn memory(&self) -> usize {
        let table = match &self.table {
            Table::W32(table) => table.memory(),
            Table::W64(table) => table.memory(),
            Table::Fixed(table) => table.memory(),
            Table::Strings(table) => table.memory(),
        };
        let values = match self.dictionary.values() {
            Values::Bytes(views) => 16 * views.len() + self.string_bytes,
            values => values.data_bytes(0..values.len()),
        };
        table + values + self.remap.as_ref().map_or(0, |remap| 4 * remap.indices.len())
    }
}

fn intern_strings(
    table: &mut BytesTable,
    dictionary: &mut StringViews,
    strings: &StringViews,
    range: Range<usize>,
    indices: &mut Vec<u32>,
) -> Result<()> {
    indices.reserve(range.len());
    let views = &strings.views()[range];
    let mut arena = dictionary.arena();
    let (mut hashes, mut known) = ([0; STRINGS_PER_BLOCK], [NONE; STRINGS_PER_BLOCK]);
    let mut done = 0;
    while done < views.len() {
        // PERF: works in blocks, first computing all hashes and then probing their slots, so that cache misses overlap.
        let block = &views[done..views.len().min(done + STRINGS_PER_BLOCK)];
        if block.iter().all(|view| view_is_inline(*view)) {
            for ((&view, hash), index) in block.iter().zip(&mut hashes).zip(&mut known) {
                *hash = table.hash_inline(view);
                let guess = table.guess(*hash);
                *index = if arena.view(guess) == Some(view) { guess } else { NONE };
            }
        } else {
            guess_mixed(table, strings, &arena, block, &mut hashes, &mut known);
        }
        if !known[..block.len()].contains(&NONE) {
            indices.extend_from_slice(&known[..block.len()]);
            done += block.len();
            continue;
        }
        for (view, (&hash, &known)) in block.iter().zip(hashes.iter().zip(&known)) {
            if known != NONE {
                indices.push(known);
                done += 1;
                continue;
            }
            let string = strings.resolve(view);
            let is = |index| arena.view(index).is_some_and(|there| arena.is(there, *view, string));
            match table.find(hash, is) {
                Found::Index(index) => indices.push(index),
                Found::Slot(at) => {
                    if let Err(error) = arena.push(*view, string) {
                        arena.close();
                        return Err(error);
                    }
                    indices.push(table.insert(at, hash));
                }
                Found::Crowd => {
                    table.rebuild_keyed(|table, put| {
                        arena.for_each(|view, string| put(hash_view(table, view, string)));
                    });
                    // The rest of the block must be hashed again.
                    break;
                }
            }
            done += 1;
        }
    }
    arena.close();
    Ok(())
}

/// Computes the hash of each string of a block, and its index if its first slot has it; [`NONE`] otherwise.
fn guess_mixed(
    table: &BytesTable,
    strings: &StringViews,
    arena: &StringArena<'_>,
    block: &[u128],
    hashes: &mut [u32; STRINGS_PER_BLOCK],
    known: &mut [u32; STRINGS_PER_BLOCK],
) {
    let kinds = Kinds::new(block);
    for (at, view) in kinds.inline(block) {
        hashes[at] = table.hash_inline(view);
    }
    for (at, view) in kinds.long(block) {
        hashes[at] = table.hash_bytes(strings.resolve(&view));
    }
    for (index, &hash) in known.iter_mut().zip(&hashes[..block.len()]) {
        *index = table.guess(hash);
    }
    for (at, view) in kinds.inline(block) {
        let is_it = arena.view(known[at]) == Some(view);
        known[at] = if is_it { known[at] } else { NONE };
    }
    for (at, view) in kinds.long(block) {
        let there = arena.view(known[at]);
        let is_it = there.is_some_and(|there| arena.is(there, view, strings.resolve(&view)));
        known[at] = if is_it { known[at] } else { NONE };
    }
}

/// The positions of inline and long strings in a block. PERF: each kind gets a loop of its own, because a branch on the
/// kind would be mispredicted where the kinds mix.
struct Kinds {
    /// The positions of the inline strings, then those of the others.
    places: [u8; STRINGS_PER_BLOCK],
    inline: usize,
    len: usize,
}

impl Kinds {
    fn new(block: &[u128]) -> Self {
        let (mut places, mut long) = ([0; STRINGS_PER_BLOCK], [0; STRINGS_PER_BLOCK]);
        let (mut inline, mut longs) = (0, 0);
        for (at, view) in block.iter().enumerate() {
            (places[inline % STRINGS_PER_BLOCK], long[longs % STRINGS_PER_BLOCK]) = (at as u8, at as u8);
            let is_inline = usize::from(view_is_inline(*view));
            (inline, longs) = (inline + is_inline, longs + 1 - is_inline);
        }
        places[inline..inline + longs].copy_from_slice(&long[..longs]);
        Kinds { places, inline, len: block.len() }
    }

    fn inline<'a>(&'a self, block: &'a [u128]) -> impl Iterator<Item = (usize, u128)> {
        self.each(0..self.inline, block)
    }

    fn long<'a>(&'a self, block: &'a [u128]) -> impl Iterator<Item = (usize, u128)> {
        self.each(self.inline..self.len, block)
    }

    fn each<'a>(&'a self, range: Range<usize>, block: &'a [u128]) -> impl Iterator<Item = (usize, u128)> {
        self.places[range].iter().map(|&at| (usize::from(at) % STRINGS_PER_BLOCK, block[usize::from(at)]))
    }
}

#[inline(always)]
fn hash_view(table: &BytesTable, view: u128, string: &[u8]) -> u32 {
    match view_is_inline(view) {
        true => table.hash_inline(view),
        false => table.hash_bytes(string),
    }
}

/// Marks a value that was not interned yet; not an index.
const UNKNOWN: u32 = u32::MAX;
/// Marks a value that is about to be interned; not an index.
const SEEN: u32 = u32::MAX - 1;
/// Number of keys that are looked up at once: 4 KiB.
const KEYS_PER_BLOCK: usize = 1024;
/// Number of strings that are hashed at once.
const STRINGS_PER_BLOCK: usize = 64;
