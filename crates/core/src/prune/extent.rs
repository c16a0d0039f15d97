//! Derives verdicts on conditions from minimum, maximum and null counts: the heart of pruning, which decides where it
//! is sound.

use super::plan::Verdict;
use crate::int96;
use crate::narrow_integer::NarrowInteger;
use crate::predicate::{Condition, Edge, Test};
use crate::schema::{Leaf, Repetition};
use crate::sort_order::SortOrder;
use marquetry_encoding::PhysicalType;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The known bounds and counts of some rows of a column, with one value or null per row.
#[derive(Debug)]
pub(super) struct Extent<'a> {
    /// Number of rows.
    pub(super) rows: u64,
    /// Number of nulls.
    pub(super) nulls: Nulls,
    /// Number of NaNs, if known.
    pub(super) nans: Option<u64>,
    /// Bounds of all values except NaNs.
    pub(super) bounds: Bounds<'a>,
}

/// The minimum and maximum number of nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nulls {
    least: u64,
    most: u64,
}

/// Trusted bounds, in the order of conditions, which is total for floats. They need not be values that occur.
#[derive(Debug, Default)]
pub(super) struct Bounds<'a> {
    min: BoundBytes<'a>,
    max: BoundBytes<'a>,
}

/// A bound, if there is one.
pub(super) type BoundBytes<'a> = Option<Cow<'a, [u8]>>;

impl Nulls {
    /// Derives the number of nulls in `rows` rows from a count and a histogram of definition levels.
    ///
    /// QUIRK: writers differ in whether a value that is absent because the struct around it is null counts as null. So
    /// a count is a minimum, unless the histogram, which is unambiguous, shows more.
    pub(super) fn of(leaf: &Leaf, rows: u64, count: Option<i64>, histogram: Option<&[i64]>) -> Nulls {
        if leaf.max_def() == 0 {
            return Nulls { least: 0, most: 0 };
        }
        let unknown = Nulls { least: 0, most: rows };
        let in_rows = |count: i64| u64::try_from(count).ok().filter(|count| *count <= rows);
        let by_histogram = histogram.and_then(|histogram| {
            let sum = histogram.iter().try_fold(0u64, |sum, count| sum.checked_add(in_rows(*count)?));
            let values = in_rows(*histogram.get(usize::from(leaf.max_def()))?)?;
            let is_right = sum == Some(rows) && histogram.len() == usize::from(leaf.max_def()) + 1;
            is_right.then(|| rows - values)
        });
        let is_below_optional = leaf.max_def() > u8::from(leaf.repetition() == Repetition::Optional);
        let by_count = count.and_then(in_rows).map(|count| match is_below_optional {
            true => Nulls { least: count, most: rows },
            false => Nulls { least: count, most: count },
        });
        match (by_histogram, by_count) {
            (None, by_count) => by_count.unwrap_or(unknown),
            (Some(nulls), None) => Nulls { least: nulls, most: nulls },
            (Some(nulls), Some(count)) if (count.least..=count.most).contains(&nulls) => {
                Nulls { least: nulls, most: nulls }
            }
            // The two contradict each other.
            _ => unknown,
        }
    }

    /// Whether all of `rows` rows may be null.
    pub(super) fn may_be_all(self, rows: u64) -> bool {
        self.most == rows
    }

    /// Whether all of `rows` rows are certainly null.
    pub(super) fn are_all(self, rows: u64) -> bool {
        self.least == rows
    }

    /// Whether any row may be null.
    pub(super) fn may_be_any(self) -> bool {
        self.most > 0
    }

    /// Returns the number of nulls, if it is known.
    pub(super) fn exact(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }

    /// Creates the count for rows that are all null.
    pub(super) fn all(rows: u64) -> Nulls {
        Nulls::exactly(rows)
    }

    /// Creates an exact count.
    pub(super) fn exactly(nulls: u64) -> Nulls {
        Nulls { least: nulls, most: nulls }
    }

    /// Creates the count for `rows` rows of which nothing is known.
    pub(super) fn up_to(rows: u64) -> Nulls {
        Nulls { least: 0, most: rows }
    }
}

impl<'a> Bounds<'a> {
    /// Creates bounds from `min` and `max` in `order`. Drops invalid bounds.
    pub(super) fn of(leaf: &Leaf, order: SortOrder, min: Option<&'a [u8]>, max: Option<&'a [u8]>) -> Self {
        let is_value = |bound: &[u8]| match leaf.physical() {
            // Byte strings may be truncated.
            PhysicalType::FixedLenByteArray(width) if order == SortOrder::FixedLenBytes => {
                bound.len() <= width
            }
            PhysicalType::FixedLenByteArray(width) => bound.len() == width,
            PhysicalType::Boolean => bound.len() == 1,
            PhysicalType::Int32 | PhysicalType::Float => bound.len() == 4,
            PhysicalType::Int64 | PhysicalType::Double => bound.len() == 8,
            PhysicalType::Int96 => bound.len() == 12,
            PhysicalType::ByteArray => true,
        };
        // SPEC: "If the min is a NaN, it should be ignored". A writer that got one bound wrong may have lost the other
        // as well.
        let is_wrong = |bound: &[u8]| !is_value(bound) || order.is_nan(bound);
        if min.is_some_and(is_wrong) || max.is_some_and(is_wrong) {
            return Bounds::default();
        }
        // SPEC: "If the min is +0, the row group may contain -0 values as well", and the other way round.
        let zero = |bound: &'a [u8], sign: u8| match !order.is_total() && order.is_zero(bound) {
            true => {
                let mut zero = bound.to_vec();
                zero.iter_mut().next_back().into_iter().for_each(|last| *last = sign);
                Cow::Owned(zero)
            }
            false => Cow::Borrowed(bound),
        };
        // A stored value outside of the type's range means another value. If both bounds are within the range, no
        // stored value is outside of it.
        let is_in_range =
            |bound: Option<&[u8]>, narrow: NarrowInteger| bound.is_some_and(|it| narrow.holds(it));
        if let Some(narrow) = NarrowInteger::of(leaf)
            && !(is_in_range(min, narrow) && is_in_range(max, narrow))
        {
            return Bounds::default();
        }
        // QUIRK: days that wrapped around come first in the order of bytes, and last in that of times. If the minimum
        // day did not wrap around, no day did.
        let is_day = |bound: &[u8]| bound.try_into().is_ok_and(|bound| !int96::is_odd(int96::key(bound)));
        if order == SortOrder::Int96 && !(min.is_some_and(is_day) && max.is_some_and(is_day)) {
            return Bounds::default();
        }
        let (min, max) = (min.map(|min| zero(min, 0x80)), max.map(|max| zero(max, 0)));
        if let (Some(min), Some(max)) = (&min, &max)
            && order.total().compare(min, max).is_none_or(|ordering| ordering == Ordering::Greater)
        {
            return Bounds::default();
        }
        // QUIRK: some writers put an empty value for a missing bound. As a minimum it does no harm.
        Bounds { min, max: max.filter(|max| !max.is_empty()) }
    }
}

/// The outcomes of a test that are possible for some values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcomes {
    /// Some values may pass.
    pub(super) pass: bool,
    /// Some values may fail.
    pub(super) fail: bool,
}

impl Extent<'_> {
    /// Returns the verdict on a condition for these rows.
    pub(super) fn verdict(&self, condition: &Condition) -> Verdict {
        self.verdict_of(condition, self.outcomes(condition))
    }

    /// Returns the verdict if values have these outcomes.
    pub(super) fn verdict_of(&self, condition: &Condition, outcomes: Outcomes) -> Verdict {
        let Nulls { least, most } = self.nulls;
        if condition.test == Test::IsNull {
            let (some, every) = (most > 0, least == self.rows);
            return match condition.is_negated {
                false => Verdict { may: some, all: every },
                true => Verdict { may: !every, all: !some },
            };
        }
        let (wanted, others) = match condition.is_negated {
            false => (outcomes.pass, outcomes.fail),
            true => (outcomes.fail, outcomes.pass),
        };
        Verdict { may: wanted && least < self.rows, all: !others && most == 0 }
    }

    fn outcomes(&self, condition: &Condition) -> Outcomes {
        self.outcomes_within(&self.bounds, condition)
    }

    /// Returns the outcomes of a test for values with these bounds.
    pub(super) fn outcomes_within(&self, bounds: &Bounds<'_>, condition: &Condition) -> Outcomes {
        let Outcomes { pass, fail } = bounds.outcomes(condition);
        if !condition.order.is_float() {
            return Outcomes { pass, fail };
        }
        // NaN fails every numeric test.
        let is_all_nan = self.nans.is_some_and(|nans| nans.saturating_add(self.nulls.least) >= self.rows);
        Outcomes { pass: pass && !is_all_nan, fail: fail || self.nans != Some(0) }
    }
}

impl<'a> Bounds<'a> {
    /// Whether byte strings within the bounds may begin with `prefix`.
    fn reach(&self, prefix: &[u8]) -> bool {
        let is_below = |min: &[u8]| min <= prefix || min.starts_with(prefix);
        self.max.as_deref().is_none_or(|max| max >= prefix) && self.min.as_deref().is_none_or(is_below)
    }

    /// Returns the lower bound: at most the minimum.
    pub(super) fn min(&self) -> Option<&[u8]> {
        self.min.as_deref()
    }

    /// Returns the upper bound: at least the maximum.
    pub(super) fn max(&self) -> Option<&[u8]> {
        self.max.as_deref()
    }

    /// Returns both bounds.
    pub(super) fn into_parts(self) -> (BoundBytes<'a>, BoundBytes<'a>) {
        (self.min, self.max)
    }

    /// Whether both bounds are known.
    pub(super) fn are_known(&self) -> bool {
        self.min.is_some() && self.max.is_some()
    }

    /// Returns the outcomes of a test for values within the bounds.
    fn outcomes(&self, condition: &Condition) -> Outcomes {
        let (min, max) = (self.min.as_deref(), self.max.as_deref());
        match &condition.test {
            // Geometries have no order.
            Test::IsNull | Test::Box(_) | Test::Geometry(_) => Outcomes { pass: true, fail: true },
            Test::Range(lower, upper) => {
                let is_above = |value: &[u8]| lower.is_before(condition.order, value);
                let is_below = |value: &[u8]| upper.is_after(condition.order, value);
                let reaches = max.is_none_or(is_above) && min.is_none_or(is_below);
                let is_inside = (*lower == Edge::Open || min.is_some_and(is_above))
                    && (*upper == Edge::Open || max.is_some_and(is_below));
                Outcomes { pass: reaches, fail: !is_inside }
            }
            Test::In(list) => {
                let is_one = min.is_some() && min == max;
                let is_found = list.has_any_within(condition.order, min, max);
                Outcomes { pass: is_found, fail: !(is_one && is_found) }
            }
            Test::Pattern(matcher) => Outcomes { pass: self.reach(matcher.prefix()), fail: true },
            Test::Prefix(prefix) => {
                let reaches = self.reach(prefix);
                // Strings between two strings with the same prefix have it as well.
                let is_inside = min.is_some_and(|min| min.starts_with(prefix))
                    && max.is_some_and(|max| max.starts_with(prefix));
                Outcomes { pass: reaches, fail: !is_inside }
            }
        }
    }
}

impl Edge {
    /// Whether a range with this beginning may contain `value`. Values that do not compare may be in it.
    fn is_before(&self, order: SortOrder, value: &[u8]) -> bool {
        match self {
            Edge::Open => true,
            Edge::Included(edge) => order.compare(edge, value) != Some(Ordering::Greater),
            Edge::Excluded(edge) => {
                !matches!(order.compare(edge, value), Some(Ordering::Greater | Ordering::Equal))
            }
        }
    }

    /// Whether a range with this end may contain `value`.
    fn is_after(&self, order: SortOrder, value: &[u8]) -> bool {
        match self {
            Edge::Open => true,
            Edge::Included(edge) => order.compare(edge, value) != Some(Ordering::Less),
            Edge::Excluded(edge) => {
                !matches!(order.compare(edge, value), Some(Ordering::Less | Ordering::Equal))
            }
        }
    }
}
