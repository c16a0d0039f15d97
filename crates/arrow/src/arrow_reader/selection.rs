//! Row selection, under the names that the `parquet` crate's users know.

use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;
use marquetry_core::row_mask::RowMask;
use marquetry_encoding::Bitmap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;

/// A run of consecutive rows, to be read or skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSelector {
    /// Number of rows.
    pub row_count: usize,
    /// Whether the rows are skipped.
    pub skip: bool,
}

impl RowSelector {
    /// Creates a run of `row_count` rows to read.
    pub fn select(row_count: usize) -> Self {
        RowSelector { row_count, skip: false }
    }

    /// Creates a run of `row_count` rows to skip.
    pub fn skip(row_count: usize) -> Self {
        RowSelector { row_count, skip: true }
    }
}

/// A selection of rows, out of all rows of the row groups that are read. Rows past its end are not read.
///
/// ```
/// use marquetry_arrow::arrow_reader::{RowSelection, RowSelector};
/// let selection = RowSelection::from(vec![RowSelector::skip(5), RowSelector::select(3), RowSelector::select(2)]);
/// let selectors: Vec<RowSelector> = selection.clone().into();
/// assert_eq!(selectors, [RowSelector::skip(5), RowSelector::select(5)]);
/// assert_eq!(selection.row_count(), 5);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RowSelection {
    rows: RowMask,
}

impl RowSelection {
    /// Selects the rows for which the arrays, which follow each other, are true.
    ///
    /// # Panics
    /// If an array has a null.
    pub fn from_filters(filters: &[BooleanArray]) -> Self {
        let mut rows = RowMask::new();
        for filter in filters {
            assert_eq!(filter.null_count(), 0, "a filter without nulls");
            rows.push_bits(bits(filter.values()));
        }
        RowSelection { rows }
    }

    /// Selects the rows whose bit is 1.
    pub fn from_boolean_buffer(mask: BooleanBuffer) -> Self {
        let mut rows = RowMask::new();
        rows.push_bits(bits(&mask));
        RowSelection { rows }
    }

    /// Selects the rows in `ranges`, out of `total_rows`.
    ///
    /// # Panics
    /// If the ranges are not sorted, overlap, or end behind the last row.
    pub fn from_consecutive_ranges(ranges: impl Iterator<Item = Range<usize>>, total_rows: usize) -> Self {
        let mut rows = RowMask::new();
        for range in ranges.filter(|range| !range.is_empty()) {
            let end = rows.rows() as usize;
            assert!(range.start >= end && range.end <= total_rows, "{range:?} after {end} of {total_rows}");
            rows.push_run(false, (range.start - end) as u64);
            rows.push_run(true, range.len() as u64);
        }
        rows.push_run(false, total_rows as u64 - rows.rows());
        RowSelection { rows }
    }

    /// Splits off and returns the first `row_count` rows.
    pub fn split_off(&mut self, row_count: usize) -> Self {
        let first = self.rows.slice(0..row_count as u64);
        self.rows = self.rows.slice(row_count as u64..u64::MAX);
        RowSelection { rows: first }
    }

    /// Selects, of the rows that this one selects, those that `other` selects. `other` has one row for each selected row.
    ///
    /// # Panics
    /// If the numbers differ.
    #[must_use]
    pub fn and_then(&self, other: &Self) -> Self {
        let (selected, rows) = (self.rows.selected(), other.rows.rows());
        assert_eq!(selected, rows, "a row for each that is selected");
        RowSelection { rows: self.rows.and_then(&other.rows) }
    }

    /// Selects the rows that both select. If one is longer, its last rows are kept as they are.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        RowSelection { rows: self.rows.and(&other.rows) }
    }

    /// Selects the rows that either selects. If one is longer, its last rows are kept as they are.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        RowSelection { rows: self.rows.or(&other.rows) }
    }

    /// Returns whether any row is selected.
    pub fn selects_any(&self) -> bool {
        self.rows.selected() > 0
    }

    /// Drops the rows after the last selected one.
    #[must_use]
    pub fn trim(self) -> Self {
        let end = self.rows.runs().last().map_or(0, |run| run.end);
        RowSelection { rows: self.rows.slice(0..end) }
    }

    /// Deselects the first `offset` selected rows.
    #[must_use]
    pub fn offset(self, offset: usize) -> Self {
        RowSelection { rows: self.rows.offset(offset as u64) }
    }

    /// Keeps at most the first `limit` selected rows.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        RowSelection { rows: self.rows.limit(limit as u64) }
    }

    /// Iterates over the runs of rows, selected and skipped in turn.
    pub fn iter(&self) -> impl Iterator<Item = RowSelector> {
        let mut at = 0;
        let runs = self.rows.runs().flat_map(move |run| {
            let skipped = (run.start - at) as usize;
            at = run.end;
            [RowSelector::skip(skipped), RowSelector::select((run.end - run.start) as usize)]
        });
        let end = self.rows.runs().last().map_or(0, |run| run.end);
        let rest = RowSelector::skip((self.rows.rows() - end) as usize);
        runs.chain([rest]).filter(|selector| selector.row_count > 0)
    }

    /// Returns how many rows are selected.
    pub fn row_count(&self) -> usize {
        self.rows.selected() as usize
    }

    /// Returns how many rows are skipped.
    pub fn skipped_row_count(&self) -> usize {
        (self.rows.rows() - self.rows.selected()) as usize
    }

    /// Returns how many rows there are in all.
    pub fn total_row_count(&self) -> usize {
        self.rows.rows() as usize
    }

    /// Returns the selection of `rows`, a range in the selection's own numbering. Rows past its end are not selected.
    pub(crate) fn of(&self, rows: Range<u64>) -> RowMask {
        let len = rows.end - rows.start;
        let mut of = self.rows.slice(rows);
        of.push_run(false, len - of.rows());
        of
    }
}

fn bits(mask: &BooleanBuffer) -> Bitmap {
    let mut bits = Bitmap::new();
    bits.push_packed(mask.values(), mask.offset(), mask.len());
    bits
}

impl FromIterator<RowSelector> for RowSelection {
    fn from_iter<I: IntoIterator<Item = RowSelector>>(selectors: I) -> Self {
        let mut rows = RowMask::new();
        selectors.into_iter().for_each(|selector| rows.push_run(!selector.skip, selector.row_count as u64));
        RowSelection { rows }
    }
}

impl From<Vec<RowSelector>> for RowSelection {
    fn from(selectors: Vec<RowSelector>) -> Self {
        selectors.into_iter().collect()
    }
}

impl From<RowSelection> for Vec<RowSelector> {
    fn from(selection: RowSelection) -> Self {
        selection.iter().collect()
    }
}

impl From<RowMask> for RowSelection {
    fn from(rows: RowMask) -> Self {
        RowSelection { rows }
    }
}

impl Debug for RowSelection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_parquet_crate_has_it() {
        let (skip, select) = (RowSelector::skip, RowSelector::select);
        let selection = RowSelection::from_consecutive_ranges([5..10, 10..15, 17..17].into_iter(), 20);
        assert_eq!(Vec::from(selection.clone()), [skip(5), select(10), skip(5)]);
        assert_eq!(Vec::from(selection.clone().trim()), [skip(5), select(10)]);
        assert_eq!(Vec::from(selection.clone().offset(3).limit(2)), [skip(8), select(2), skip(10)]);
        assert_eq!((selection.row_count(), selection.skipped_row_count()), (10, 10));
        let filters = [BooleanArray::from(vec![true, false]), BooleanArray::from(vec![false, true, true])];
        let filtered = RowSelection::from_filters(&filters);
        assert_eq!(Vec::from(filtered.clone()), [select(1), skip(2), select(2)]);
        assert_eq!(RowSelection::from_boolean_buffer(filters[1].slice(1, 2).values().clone()).row_count(), 2);
        let third = RowSelection::from(vec![skip(2), select(1)]);
        assert_eq!(Vec::from(filtered.and_then(&third)), [skip(4), select(1)]);
        assert_eq!(Vec::from(filtered.intersection(&third)), [skip(3), select(2)]);
        assert_eq!(Vec::from(filtered.union(&third)), [select(1), skip(1), select(3)]);
        let mut rest = selection;
        assert_eq!(Vec::from(rest.split_off(7)), [skip(5), select(2)]);
        assert_eq!(Vec::from(rest), [select(8), skip(5)]);
        assert!(!RowSelection::default().selects_any());
    }
}
