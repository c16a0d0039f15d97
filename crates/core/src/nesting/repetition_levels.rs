//! Repetition levels of a leaf's entries: bits if the leaf is in one list, as most nested leaves are, and bytes if
//! lists nest.

use marquetry_base::{Result, try_reserve_exact};
use marquetry_encoding::levels::Levels;
use marquetry_encoding::{Bitmap, filter_bits, filter_u8, unpack_u8};
use std::borrow::Cow;
use std::ops::Range;

/// Repetition levels, one for each entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepetitionLevels {
    /// The levels 0 and 1.
    Bits(Bitmap),
    /// Any levels.
    Bytes(Vec<u8>),
}

/// Borrowed repetition levels.
#[derive(Debug, Clone, Copy)]
pub enum RepetitionSlice<'a> {
    /// The levels 0 and 1.
    Bits(&'a Bitmap),
    /// Any levels.
    Bytes(&'a [u8]),
}

impl Default for RepetitionLevels {
    fn default() -> Self {
        RepetitionLevels::Bytes(Vec::new())
    }
}

impl RepetitionLevels {
    /// Creates empty levels for a leaf with this maximum repetition level.
    pub fn for_max(max: u8) -> Self {
        if max == 1 { RepetitionLevels::Bits(Bitmap::new()) } else { RepetitionLevels::default() }
    }

    /// The levels.
    pub fn as_slice(&self) -> RepetitionSlice<'_> {
        match self {
            RepetitionLevels::Bits(bits) => RepetitionSlice::Bits(bits),
            RepetitionLevels::Bytes(bytes) => RepetitionSlice::Bytes(bytes),
        }
    }

    /// Returns one byte for each level.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            RepetitionLevels::Bits(_) => self.as_slice().to_bytes().into_owned(),
            RepetitionLevels::Bytes(bytes) => bytes,
        }
    }

    /// The number of levels.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all levels, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        match self {
            RepetitionLevels::Bits(bits) => bits.clear(),
            RepetitionLevels::Bytes(bytes) => bytes.clear(),
        }
    }

    /// Reserves capacity for `n` more levels.
    pub(crate) fn reserve(&mut self, n: usize) {
        match self {
            RepetitionLevels::Bits(bits) => bits.reserve(n),
            RepetitionLevels::Bytes(bytes) => bytes.reserve(n),
        }
    }

    /// Reserves capacity for `n` more levels. Fails if the system has not enough memory.
    pub(crate) fn try_reserve(&mut self, n: usize) -> Result<()> {
        match self {
            RepetitionLevels::Bits(bits) => {
                // A bit for each, like validity. The values are usually many times as large, and their allocation may
                // fail.
                bits.reserve(n);
                Ok(())
            }
            RepetitionLevels::Bytes(bytes) => try_reserve_exact(bytes, n),
        }
    }

    /// Appends the next `n` of `levels`, which must have the same maximum level.
    pub(crate) fn decode(&mut self, levels: &mut Levels, n: usize) -> Result<()> {
        match self {
            RepetitionLevels::Bits(bits) => levels.decode_is_max(n, &mut Vec::new(), bits),
            RepetitionLevels::Bytes(bytes) => levels.decode(n, bytes),
        }
    }

    /// Appends the levels of `range` in `other`.
    pub(crate) fn extend_from(&mut self, other: RepetitionSlice<'_>, range: Range<usize>) {
        match (&mut *self, other) {
            (RepetitionLevels::Bits(ours), RepetitionSlice::Bits(theirs)) => {
                ours.push_packed(theirs.as_bytes(), range.start, range.len());
            }
            _ => self.as_bytes_mut().extend_from_slice(&other.to_bytes()[range]),
        }
    }

    /// Appends the levels of `range` in `other` whose bit in `keep` is 1. `keep` has a bit for each level of the range.
    pub(crate) fn push_filtered(&mut self, other: RepetitionSlice<'_>, range: Range<usize>, keep: &Bitmap) {
        assert_eq!(keep.len(), range.len(), "a bit for each level");
        match (&mut *self, other) {
            (RepetitionLevels::Bits(ours), RepetitionSlice::Bits(theirs)) => {
                filter_bits(theirs.as_bytes(), range.start, keep.as_bytes(), 0, keep.len(), ours);
            }
            _ => filter_u8(&other.to_bytes()[range], keep.as_bytes(), 0, self.as_bytes_mut()),
        }
    }

    /// Returns the levels as bytes, converted if necessary.
    fn as_bytes_mut(&mut self) -> &mut Vec<u8> {
        if let RepetitionLevels::Bits(_) = self {
            *self = RepetitionLevels::Bytes(std::mem::take(self).into_bytes());
        }
        match self {
            RepetitionLevels::Bytes(bytes) => bytes,
            RepetitionLevels::Bits(_) => unreachable!("they became bytes"),
        }
    }
}

impl<'a> RepetitionSlice<'a> {
    /// The number of levels.
    pub fn len(self) -> usize {
        match self {
            RepetitionSlice::Bits(bits) => bits.len(),
            RepetitionSlice::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns one byte for each level.
    pub fn to_bytes(self) -> Cow<'a, [u8]> {
        match self {
            RepetitionSlice::Bits(bits) => {
                let mut bytes = Vec::new();
                unpack_u8(bits.as_bytes(), 1, 0, bits.len(), &mut bytes);
                Cow::Owned(bytes)
            }
            RepetitionSlice::Bytes(bytes) => Cow::Borrowed(bytes),
        }
    }

    /// Whether entry `i` begins a row.
    ///
    /// # Panics
    /// If there is no entry `i`.
    pub fn begins_row(self, i: usize) -> bool {
        match self {
            RepetitionSlice::Bits(bits) => !bits.get(i),
            RepetitionSlice::Bytes(bytes) => bytes[i] == 0,
        }
    }

    /// Returns how many entries of `range` precede the one that begins the row after `rows` others, and how many rows
    /// begin in them.
    pub fn entries_of_rows(self, range: Range<usize>, rows: usize) -> (usize, usize) {
        // PERF: no more rows begin than there are entries, so most blocks only need a count.
        let (n, mut begun) = (range.len(), 0);
        match self {
            RepetitionSlice::Bits(bits) => {
                let all = n - bits.count_ones(range.clone());
                if all <= rows {
                    return (n, all);
                }
                for at in (0..n).step_by(64) {
                    let mut starts = !bits.word(range.start + at);
                    let count = starts.count_ones() as usize;
                    if begun + count > rows {
                        (begun..rows).for_each(|_| starts &= starts - 1);
                        return (at + starts.trailing_zeros() as usize, rows);
                    }
                    begun += count;
                }
            }
            RepetitionSlice::Bytes(bytes) => {
                for (i, block) in bytes[range].chunks(COUNTED_LEVELS).enumerate() {
                    let count = usize::from(starts_in(block));
                    if begun + count > rows {
                        let mut starts = block.iter().enumerate().filter(|(_, level)| **level == 0);
                        let at = starts.nth(rows - begun).map_or(block.len(), |(at, _)| at);
                        return (i * COUNTED_LEVELS + at, rows);
                    }
                    begun += count;
                }
            }
        }
        (n, begun)
    }

    /// Returns one bit for each level: whether it is at least `level`.
    pub(super) fn at_least(self, level: u8) -> Bitmap {
        let mut out = Bitmap::new();
        match self {
            RepetitionSlice::Bits(bits) if level == 1 => return bits.clone(),
            RepetitionSlice::Bits(bits) => out.push_run(level == 0, bits.len()),
            RepetitionSlice::Bytes(bytes) => out.push_ge(bytes, level),
        }
        out
    }

    /// Returns the levels whose bit in `keep` is 1.
    pub(super) fn filtered(self, keep: &Bitmap) -> RepetitionLevels {
        let mut out = match self {
            RepetitionSlice::Bits(_) => RepetitionLevels::Bits(Bitmap::new()),
            RepetitionSlice::Bytes(_) => RepetitionLevels::default(),
        };
        out.push_filtered(self, 0..self.len(), keep);
        out
    }

    /// Returns the maximum of the levels; 0 if there are none.
    pub(super) fn largest(self) -> u8 {
        match self {
            RepetitionSlice::Bits(bits) => u8::from(bits.count_ones(0..bits.len()) > 0),
            RepetitionSlice::Bytes(bytes) => bytes.iter().fold(0, |most, level| most.max(*level)),
        }
    }
}

impl PartialEq for RepetitionSlice<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (RepetitionSlice::Bits(ours), RepetitionSlice::Bits(theirs)) => ours == theirs,
            _ => self.to_bytes() == other.to_bytes(),
        }
    }
}

/// Counts the rows that begin in up to [`COUNTED_LEVELS`] entries. PERF: sums of bytes use vectors of bytes.
fn starts_in(rep: &[u8]) -> u8 {
    rep.iter().map(|&rep| u8::from(rep == 0)).sum()
}

/// Number of levels to count at a time: the count fits into a byte.
const COUNTED_LEVELS: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn as_bits(levels: &[u8]) -> RepetitionLevels {
        RepetitionLevels::Bits(levels.iter().map(|&level| level == 1).collect())
    }

    fn as_bytes(levels: &[u8]) -> RepetitionLevels {
        RepetitionLevels::Bytes(levels.to_vec())
    }

    /// Levels of columns in one list, with long lists and short ones.
    fn levels() -> impl Strategy<Value = Vec<u8>> {
        let list = prop_oneof![3 => 1..4usize, 1 => 1..300usize];
        let of_list = |n| (0..n).map(|i| u8::from(i > 0)).collect::<Vec<_>>();
        (prop::collection::vec(list.prop_map(of_list), 1..60), 0..3usize)
            .prop_map(|(lists, cut)| lists.concat().split_off(cut.min(1)))
    }

    proptest! {
        #[test]
        fn bits_and_bytes_are_the_same_levels(
            levels in levels(),
            rows in 0..40usize,
            (from, to) in (0.0..1.0, 0.0..1.0),
            seed in any::<u64>(),
        ) {
            let at = |part: f64| (part * levels.len() as f64) as usize;
            let range = at(f64::min(from, to))..at(f64::max(from, to));
            let (bits, bytes) = (as_bits(&levels), as_bytes(&levels));
            let (bits, bytes) = (bits.as_slice(), bytes.as_slice());
            prop_assert!(bits == bytes);
            prop_assert_eq!(bits.to_bytes(), bytes.to_bytes());
            prop_assert_eq!(bits.largest(), bytes.largest());
            (0..levels.len()).for_each(|i| assert_eq!(bits.begins_row(i), bytes.begins_row(i)));
            for level in 0..3 {
                prop_assert_eq!(bits.at_least(level), bytes.at_least(level));
            }

            // Counts one by one the entries before the row that follows `rows` others.
            let starts = range.clone().filter(|&i| levels[i] == 0);
            let counted = match starts.clone().nth(rows) {
                Some(entry) => (entry - range.start, rows),
                None => (range.len(), starts.count()),
            };
            prop_assert_eq!(bits.entries_of_rows(range.clone(), rows), counted);
            prop_assert_eq!(bytes.entries_of_rows(range.clone(), rows), counted);

            let keep: Bitmap = range.clone().map(|i| seed.rotate_left(i as u32) & 1 == 1).collect();
            let kept = range.clone().filter(|i| keep.get(i - range.start)).map(|i| levels[i]);
            let expected: Vec<u8> = levels.iter().copied().chain(kept).chain(levels[range.clone()].to_vec()).collect();
            for (mut ours, theirs) in [
                (as_bits(&levels), bits),
                (as_bits(&levels), bytes),
                (as_bytes(&levels), bits),
                (as_bytes(&levels), bytes),
            ] {
                ours.push_filtered(theirs, range.clone(), &keep);
                ours.extend_from(theirs, range.clone());
                prop_assert_eq!(&*ours.as_slice().to_bytes(), &expected[..]);
            }
        }
    }

    #[test]
    fn levels_of_lists_in_lists_stay_as_they_are() {
        let mut ours = as_bits(&[0, 1]);
        ours.extend_from(RepetitionSlice::Bytes(&[2, 0, 1]), 0..2);
        assert_eq!(ours, as_bytes(&[0, 1, 2, 0]));
        assert_eq!(ours.as_slice().largest(), 2);
        assert!(!ours.is_empty() && RepetitionLevels::for_max(1).is_empty());
    }
}
