//! The set of values of an `IN` list.

use super::word_key::{key_of, value_of};
use super::word_set::WordSet;
use crate::sort_order::SortOrder;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::hash::BuildHasher;

/// Values in the order of a column, each once: bounds find their place among them. And a set, that values are looked up in.
#[derive(Debug, Clone)]
pub(crate) struct InList {
    values: ByteStrings,
    set: Set,
}

/// Byte strings end to end.
#[derive(Debug, Clone, PartialEq, Default)]
struct ByteStrings {
    bytes: Vec<u8>,
    /// Where each begins, and how long it is.
    places: Vec<(usize, usize)>,
}

#[derive(Debug, Clone)]
enum Set {
    /// Of values that are equal without being the same bytes.
    None,
    /// The keys of values that are words, sorted as such, and a set of them if there are many.
    Words(Vec<u64>, Option<WordSet>),
    /// Of byte strings; none of few.
    Bytes(Option<ByteStringSet>),
}

/// The numbers of values, by their hashes.
#[derive(Debug, Clone)]
struct ByteStringSet {
    numbers: HashTable<u32>,
    hash: RandomState,
}

/// So few values are compared faster one after the other than they are looked up.
pub(super) const FEW: usize = 8;

impl InList {
    /// PLAIN values, which need not be sorted.
    pub(super) fn new(order: SortOrder, mut values: Vec<Vec<u8>>) -> Self {
        // PERF: words compare faster than what they are made of.
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

    /// The values, PLAIN, in the order of the column.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.values.iter()
    }

    /// Their keys as words, sorted as such; and a set of them if there are many. Those of 32 bits have zeros above. None where
    /// values are no words.
    pub(super) fn words(&self) -> (&[u64], Option<&WordSet>) {
        match &self.set {
            Set::Words(words, set) => (words, set.as_ref()),
            _ => (&[], None),
        }
    }

    /// Whether a value is one of them.
    pub(super) fn contains(&self, order: SortOrder, value: &[u8]) -> bool {
        match &self.set {
            Set::Bytes(Some(set)) => set.contains(&self.values, value),
            Set::Bytes(None) if self.values.iter().len() <= FEW => {
                self.values.iter().any(|known| known == value)
            }
            _ => self.has_any_within(order, Some(value), Some(value)),
        }
    }

    /// Whether one of them is between two values, both included; nothing bounds it where there is `None`.
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

    /// How many come first of which `is_first` is true.
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
        // The set is made of them.
        self.values == other.values
    }
}

impl ByteStringSet {
    /// `None` of few, and of more than can be numbered.
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

/// A key as a word: the low bits of it, as many as values have.
fn word(order: SortOrder, key: i128) -> u64 {
    match order {
        SortOrder::Signed32 | SortOrder::Unsigned32 | SortOrder::TotalFloat | SortOrder::TotalFloat16 => {
            u64::from(key as u32)
        }
        _ => key as u64,
    }
}
