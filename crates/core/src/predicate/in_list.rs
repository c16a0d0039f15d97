//! The list of values of an `IN` test.

use super::word_key::{key_of, value_of};
use super::word_set::WordSet;
use crate::sort_order::SortOrder;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::hash::BuildHasher;

/// Values in the order of the column, without duplicates, so that bounds can be located among them; and a set for
/// looking up values.
#[derive(Debug, Clone)]
pub(crate) struct InList {
    values: ByteStrings,
    set: Set,
}

/// Byte strings, stored end to end.
#[derive(Debug, Clone, PartialEq, Default)]
struct ByteStrings {
    bytes: Vec<u8>,
    /// Offset and length of each string.
    places: Vec<(usize, usize)>,
}

#[derive(Debug, Clone)]
enum Set {
    /// No set, because values with different bytes may be equal.
    None,
    /// The keys of values that are words, sorted as words, and a set of them if there are many.
    Words(Vec<u64>, Option<WordSet>),
    /// A set of byte strings; `None` if there are few.
    Bytes(Option<ByteStringSet>),
}

/// A hash set of byte strings, by their indices.
#[derive(Debug, Clone)]
struct ByteStringSet {
    numbers: HashTable<u32>,
    hash: RandomState,
}

/// Number of values up to which comparing them one by one is faster than a lookup.
pub(super) const FEW: usize = 8;

impl InList {
    /// Creates the list from PLAIN values, which need not be sorted.
    pub(super) fn new(order: SortOrder, mut values: Vec<Vec<u8>>) -> Self {
        // PERF: words compare faster than the bytes that encode them.
        if let Some(mut keys) = values.iter().map(|value| key_of(order, value)).collect::<Option<Vec<i128>>>()
        {
            keys.sort_unstable();
            keys.dedup();
            let mut words: Vec<u64> = keys.iter().map(|key| word(order, *key)).collect();
            words.sort_unstable();
            let set = (words.len() > FEW).then(|| WordSet::new(&words));
            let mut sorted = ByteStrings::default();
            keys.iter().for_each(|key| sorted.push(value_of(order, *key).as_slice()));
            return InList { values: sorted, set: Set::Words(words, set) };
        }
        values.sort_by(|a, b| order.compare(a, b).unwrap_or(Ordering::Equal));
        values.dedup_by(|a, b| order.compare(a, b) == Some(Ordering::Equal));
        let values: ByteStrings = values.iter().map(Vec::as_slice).collect();
        let set = match order {
            SortOrder::Bytes | SortOrder::FixedLenBytes => Set::Bytes(ByteStringSet::of_many(&values)),
            _ => Set::None,
        };
        InList { values, set }
    }

    /// Iterates over the values, PLAIN, in the order of the column.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.values.iter()
    }

    /// Returns the keys of the values as words, sorted as words, and a set of them if there are many. Keys of 32 bits
    /// have zeros above. Empty if the values are not words.
    pub(super) fn words(&self) -> (&[u64], Option<&WordSet>) {
        match &self.set {
            Set::Words(words, set) => (words, set.as_ref()),
            _ => (&[], None),
        }
    }

    /// Whether a value is in the list.
    pub(super) fn contains(&self, order: SortOrder, value: &[u8]) -> bool {
        match &self.set {
            Set::Bytes(Some(set)) => set.contains(&self.values, value),
            Set::Bytes(None) if self.values.iter().len() <= FEW => {
                self.values.iter().any(|known| known == value)
            }
            _ => self.has_any_within(order, Some(value), Some(value)),
        }
    }

    /// Whether the list has a value between `min` and `max`, both included; `None` is not a bound.
    pub(crate) fn has_any_within(&self, order: SortOrder, min: Option<&[u8]>, max: Option<&[u8]>) -> bool {
        let is_below =
            |value: &[u8]| min.is_some_and(|min| order.compare(value, min) == Some(Ordering::Less));
        let first = self.values.partition_point(is_below);
        let found = self.values.get(first);
        found.is_some_and(|value| max.is_none_or(|max| order.compare(max, value) != Some(Ordering::Less)))
    }
}

impl ByteStrings {
    fn push(&mut self, value: &[u8]) {
        self.places.push((self.bytes.len(), value.len()));
        self.bytes.extend_from_slice(value);
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.places.iter().map(|place| self.at(*place))
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        self.places.get(number).map(|place| self.at(*place))
    }

    fn at(&self, (start, len): (usize, usize)) -> &[u8] {
        &self.bytes[start..start + len]
    }

    /// Returns how many leading strings pass `is_first`.
    fn partition_point(&self, is_first: impl Fn(&[u8]) -> bool) -> usize {
        self.places.partition_point(|place| is_first(self.at(*place)))
    }
}

impl<'a> FromIterator<&'a [u8]> for ByteStrings {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(values: I) -> Self {
        let mut out = ByteStrings::default();
        values.into_iter().for_each(|value| out.push(value));
        out
    }
}

impl PartialEq for InList {
    fn eq(&self, other: &Self) -> bool {
        // The set is made from the values.
        self.values == other.values
    }
}

impl ByteStringSet {
    /// Creates the set; `None` if there are few strings, or more than indices can count.
    fn of_many(values: &ByteStrings) -> Option<Self> {
        let count = values.iter().len();
        if count <= FEW {
            return None;
        }
        let hash = RandomState::default();
        let of = |number: &u32| hash.hash_one(values.get(*number as usize));
        let mut numbers = HashTable::with_capacity(count);
        for number in 0..u32::try_from(count).ok()? {
            numbers.insert_unique(of(&number), number, of);
        }
        Some(ByteStringSet { numbers, hash })
    }

    fn contains(&self, values: &ByteStrings, value: &[u8]) -> bool {
        let is_value = |number: &u32| values.get(*number as usize) == Some(value);
        self.numbers.find(self.hash.hash_one(Some(value)), is_value).is_some()
    }
}

/// Returns a key as a word: its low bits, as many as the values have.
fn word(order: SortOrder, key: i128) -> u64 {
    match order {
        SortOrder::Signed32 | SortOrder::Unsigned32 | SortOrder::TotalFloat | SortOrder::TotalFloat16 => {
            u64::from(key as u32)
        }
        _ => key as u64,
    }
}
