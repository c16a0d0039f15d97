//! Gathers the statistics of byte strings: bounds, lengths, frequent ones.

use super::value_counts::{Frequent, ValueCounts};
use twox_hash::XxHash64;

/// The byte strings of a column, text or not.
pub(crate) struct Strings {
    pub(crate) bounds: Option<Bounds>,
    pub(crate) lengths: LengthStats,
    counts: ValueCounts<Box<[u8]>>,
}

/// The least and the greatest string.
type Bounds = (Box<[u8]>, Box<[u8]>);

/// Lengths of strings in bytes, or of lists in elements.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct LengthStats {
    pub(crate) count: u64,
    pub(crate) least: u64,
    pub(crate) greatest: u64,
    total: u128,
}

impl LengthStats {
    pub(crate) fn add(&mut self, length: u64, times: u64) {
        self.merge(LengthStats {
            count: times,
            least: length,
            greatest: length,
            total: u128::from(length) * u128::from(times),
        });
    }

    pub(crate) fn merge(&mut self, other: LengthStats) {
        if other.count > 0 {
            self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
            self.greatest = self.greatest.max(other.greatest);
            self.count += other.count;
            self.total += other.total;
        }
    }

    /// Returns the mean, or `None` if there are no lengths.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }
}

impl Strings {
    pub(crate) fn new() -> Self {
        Strings { bounds: None, lengths: LengthStats::default(), counts: ValueCounts::new() }
    }

    /// Adds strings, each as often as its count.
    pub(crate) fn add<'a>(&mut self, strings: impl Iterator<Item = (&'a [u8], u64)>) {
        let mut bounds: Option<(&[u8], &[u8])> = None;
        for (string, times) in strings {
            self.lengths.add(string.len() as u64, times);
            let (least, greatest) = bounds.get_or_insert((string, string));
            *least = string.min(least);
            *greatest = string.max(greatest);
            let hash = XxHash64::oneshot(0, string);
            self.counts.add(hash, times, || string[..string.len().min(MOST_KEPT)].into());
        }
        if let Some((least, greatest)) = bounds {
            self.add_bounds(least, greatest);
        }
        if self.counts.is_full() {
            self.counts.be_approximate();
        }
    }

    fn add_bounds(&mut self, least: &[u8], greatest: &[u8]) {
        match &mut self.bounds {
            None => self.bounds = Some((least.into(), greatest.into())),
            Some((own_least, own_greatest)) => {
                if *least < **own_least {
                    *own_least = least.into();
                }
                if *greatest > **own_greatest {
                    *own_greatest = greatest.into();
                }
            }
        }
    }

    /// Adds the strings of another part of the column.
    pub(crate) fn merge(&mut self, mut other: Strings) {
        self.lengths.merge(other.lengths);
        if let Some((least, greatest)) = &other.bounds {
            self.add_bounds(least, greatest);
        }
        if !self.counts.is_exact() || !other.counts.is_exact() {
            self.counts.be_approximate();
            other.counts.be_approximate();
        }
        self.counts.merge(other.counts);
        if self.counts.is_full() {
            self.counts.be_approximate();
        }
    }

    /// Returns the number of distinct strings, and its relative error.
    pub(crate) fn distinct(&self) -> (u64, f64) {
        self.counts.distinct()
    }

    /// Returns the most frequent strings, the first [`MOST_KEPT`] bytes of each.
    pub(crate) fn frequent(&self, n: usize) -> Vec<Frequent<Box<[u8]>>> {
        self.counts.frequent(n, Box::<[u8]>::cmp)
    }
}

/// Maximum bytes that are kept of a frequent string.
pub(crate) const MOST_KEPT: usize = 256;
