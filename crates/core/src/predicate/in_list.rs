//! The values that a column is looked for with `in`.

use super::word_key::key_of;
use crate::sort_order::SortOrder;
use std::cmp::Ordering;

/// Values in the order of a column, each once. Of types whose values are words, the words, too.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InList {
    values: Vec<Vec<u8>>,
    words: Words,
}

#[derive(Debug, Clone, PartialEq)]
enum Words {
    None,
    W32(Vec<u32>),
    W64(Vec<u64>),
}

impl InList {
    /// PLAIN values, which need not be sorted.
    pub(super) fn new(order: SortOrder, mut values: Vec<Vec<u8>>) -> Self {
        // PERF: words compare faster than what they are made of.
        match values.iter().map(|value| key_of(order, value)).collect::<Option<Vec<i128>>>() {
            Some(keys) => {
                let mut keyed: Vec<(i128, Vec<u8>)> = keys.into_iter().zip(values).collect();
                keyed.sort_unstable();
                keyed.dedup_by_key(|(key, _)| *key);
                let words = words(order, keyed.iter().map(|(key, _)| *key));
                InList { values: keyed.into_iter().map(|(_, value)| value).collect(), words }
            }
            None => {
                values.sort_by(|a, b| order.compare(a, b).unwrap_or(Ordering::Equal));
                values.dedup_by(|a, b| order.compare(a, b) == Some(Ordering::Equal));
                InList { values, words: Words::None }
            }
        }
    }

    /// The values, PLAIN, in the order of the column.
    pub(crate) fn values(&self) -> &[Vec<u8>] {
        &self.values
    }

    /// Their keys as words of 32 bits, sorted as such; none where values are no such words.
    pub(super) fn words32(&self) -> &[u32] {
        if let Words::W32(words) = &self.words { words } else { &[] }
    }

    /// The same for 64 bits.
    pub(super) fn words64(&self) -> &[u64] {
        if let Words::W64(words) = &self.words { words } else { &[] }
    }

    /// Whether one of them is between two values, both included; nothing bounds it where there is `None`.
    pub(crate) fn has_any_within(&self, order: SortOrder, min: Option<&[u8]>, max: Option<&[u8]>) -> bool {
        let is_below =
            |value: &Vec<u8>| min.is_some_and(|min| order.compare(value, min) == Some(Ordering::Less));
        let first = self.values.partition_point(is_below);
        let found = self.values.get(first);
        found.is_some_and(|value| max.is_none_or(|max| order.compare(max, value) != Some(Ordering::Less)))
    }
}

/// Keys as words, sorted as such.
fn words(order: SortOrder, keys: impl Iterator<Item = i128>) -> Words {
    match order {
        SortOrder::Signed32 | SortOrder::Unsigned32 | SortOrder::TotalFloat | SortOrder::TotalFloat16 => {
            let mut words: Vec<u32> = keys.map(|key| key as u32).collect();
            words.sort_unstable();
            Words::W32(words)
        }
        _ => {
            let mut words: Vec<u64> = keys.map(|key| key as u64).collect();
            words.sort_unstable();
            Words::W64(words)
        }
    }
}
