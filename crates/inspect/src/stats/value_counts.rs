//! Counts how often each value occurs, and how many distinct ones there are: exactly while they are few, within known
//! bounds once they are many.
//!
//! Of many values the frequent ones are kept by the algorithm of Misra and Gries (1982): when there are too many
//! counts, the same number is subtracted from all, so that a count is too small by at most what was subtracted.
//! Distinct values are estimated by HyperLogLog.

use datasketches::hll::{HllSketch, HllType, HllUnion};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// Counts of values, which are told apart by 64-bit hashes.
pub(crate) struct ValueCounts<T> {
    /// Once there are too many, a value is kept only when it occurs for the second time: most never do.
    counts: HashMap<u64, (Option<T>, u64), BuildHasherDefault<ItselfHasher>>,
    /// Set once there were too many.
    many: Option<Many>,
}

struct Many {
    distinct: HllSketch,
    /// Maximum that was subtracted from each count.
    taken: u64,
}

/// A frequent value, and the range of how often it occurs.
pub(crate) struct Frequent<T> {
    pub(crate) value: T,
    pub(crate) at_least: u64,
    pub(crate) at_most: u64,
}

impl<T: Clone> ValueCounts<T> {
    pub(crate) fn new() -> Self {
        ValueCounts { counts: HashMap::default(), many: None }
    }

    /// Whether each value has its own, exact count.
    pub(crate) fn is_exact(&self) -> bool {
        self.many.is_none()
    }

    /// Whether there are more distinct values than are counted exactly; the caller then calls
    /// [`be_approximate`](Self::be_approximate).
    pub(crate) fn is_full(&self) -> bool {
        self.is_exact() && self.counts.len() > MOST_EXACT
    }

    /// Counts a value `times` times.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, times: u64, value: impl FnOnce() -> T) {
        if let Some(many) = &mut self.many {
            many.distinct.update(hash);
        }
        match self.counts.entry(hash) {
            Entry::Occupied(mut entry) => {
                let (known, count) = entry.get_mut();
                known.get_or_insert_with(value);
                *count += times;
            }
            Entry::Vacant(entry) if self.many.is_none() => {
                entry.insert((Some(value()), times));
            }
            Entry::Vacant(entry) => {
                entry.insert(((times > 1).then(value), times));
                if self.counts.len() > MOST_FREQUENT {
                    self.take();
                }
            }
        }
    }

    /// Returns all values with their counts, in no order, while the counts are exact.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&T, u64)> {
        self.counts.values().filter_map(|(value, count)| Some((value.as_ref()?, *count)))
    }

    /// Counts only frequent values from now on.
    pub(crate) fn be_approximate(&mut self) {
        if self.is_exact() {
            let mut distinct = new_sketch();
            self.counts.keys().for_each(|hash| distinct.update(hash));
            self.many = Some(Many { distinct, taken: 0 });
            if self.counts.len() > MOST_FREQUENT {
                self.take();
                self.counts.shrink_to_fit();
            }
        }
    }

    /// Adds the counts of another part. Either both are exact, or neither is.
    pub(crate) fn merge(&mut self, other: ValueCounts<T>) {
        for (hash, (value, count)) in other.counts {
            let (known, counted) = self.counts.entry(hash).or_insert((None, 0));
            *known = known.take().or(value);
            *counted += count;
        }
        if let (Some(many), Some(others)) = (&mut self.many, other.many) {
            many.taken += others.taken;
            let mut union = HllUnion::new(SKETCH_SIZE).expect("a size that there is");
            union.update(&many.distinct);
            union.update(&others.distinct);
            many.distinct = union.to_sketch(HllType::Hll8);
            if self.counts.len() > MOST_FREQUENT {
                self.take();
            }
        }
    }

    /// Returns the number of distinct values and its relative error, which is 0 if it is exact.
    pub(crate) fn distinct(&self) -> (u64, f64) {
        match &self.many {
            None => (self.counts.len() as u64, 0.0),
            Some(many) => (many.distinct.estimate().round() as u64, SKETCH_ERROR),
        }
    }

    /// Returns the `n` most frequent values, most frequent first, and equally frequent ones in the order of `order`.
    /// Leaves out values that may be no more frequent than others.
    pub(crate) fn frequent(
        &self,
        n: usize,
        order: impl Fn(&T, &T) -> std::cmp::Ordering,
    ) -> Vec<Frequent<T>> {
        let taken = self.many.as_ref().map_or(0, |many| many.taken);
        // A value that is more frequent than others occurred more than once, so it was kept.
        let known = self.counts.values().filter(|(_, count)| *count > taken);
        let mut all: Vec<_> = known.filter_map(|(value, count)| Some((value.as_ref()?, *count))).collect();
        all.sort_unstable_by(|(a, more), (b, less)| less.cmp(more).then_with(|| order(a, b)));
        let frequent = |(value, count): (&T, u64)| Frequent {
            value: value.clone(),
            at_least: count,
            at_most: count + taken,
        };
        all.into_iter().take(n).map(frequent).collect()
    }

    /// Subtracts so much from all counts that half of them vanish.
    fn take(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().map(|(_, count)| *count).collect();
        let (_, taken, _) = counts.select_nth_unstable_by(MOST_FREQUENT / 2, |a, b| b.cmp(a));
        let taken = *taken;
        self.counts.retain(|_, (_, count)| {
            *count = count.saturating_sub(taken);
            *count > 0
        });
        if let Some(many) = &mut self.many {
            many.taken += taken;
        }
    }
}

fn new_sketch() -> HllSketch {
    HllSketch::new(SKETCH_SIZE, HllType::Hll8).expect("a size that there is")
}

/// Maximum number of distinct values that are counted one by one.
const MOST_EXACT: usize = 1 << 16;
/// Maximum number of counts that are kept beyond that.
const MOST_FREQUENT: usize = 2_048;
/// Base-2 logarithm of the number of registers of a sketch, a byte each.
const SKETCH_SIZE: u8 = 14;
/// Two standard errors of an estimate.
const SKETCH_ERROR: f64 = 2.0 * 0.0082;

/// A hasher that uses a hash as it is.
#[derive(Default)]
pub(crate) struct ItselfHasher(u64);

impl Hasher for ItselfHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys are `u64` only.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::value::Number;

    fn of(values: impl Iterator<Item = i64>) -> ValueCounts<i64> {
        let mut counts = ValueCounts::new();
        for value in values {
            counts.add(value.hash(), 1, || value);
            if counts.is_full() {
                counts.be_approximate();
            }
        }
        counts
    }

    #[test]
    fn few_values_are_exact() {
        let counts = of((0..100_000).map(|i| i % 1000));
        assert_eq!(counts.distinct(), (1000, 0.0));
        let frequent = counts.frequent(2, i64::cmp);
        assert_eq!((frequent[0].value, frequent[0].at_least, frequent[0].at_most), (0, 100, 100));
        assert_eq!(frequent[1].value, 1);
    }

    #[test]
    fn counts_of_many_values_are_within_their_bounds() {
        // One in four is 7, one in eight 8; all others occur once.
        let value = |i: i64| match i % 8 {
            0 | 1 => 7,
            2 => 8,
            _ => 1_000_000 + i,
        };
        let whole = of((0..800_000).map(value));
        let mut merged = of((0..100_000).map(value));
        for part in 1..8 {
            let mut part = of((part * 100_000..(part + 1) * 100_000).map(value));
            part.be_approximate();
            merged.be_approximate();
            merged.merge(part);
        }
        for counts in [whole, merged] {
            let frequent = counts.frequent(3, i64::cmp);
            for (frequent, (value, count)) in frequent.iter().zip([(7, 200_000), (8, 100_000)]) {
                assert_eq!(frequent.value, value);
                assert!((frequent.at_least..=frequent.at_most).contains(&count));
            }
            assert_eq!(frequent.len(), 2);
            let (distinct, error) = counts.distinct();
            assert!((distinct as f64 / 500_002.0 - 1.0).abs() < error, "{distinct}");
        }
    }
}
