//! What min, max and null counts say of a condition: the heart of pruning, and where it is sound or not.

use super::plan::Verdict;
use crate::int96;
use crate::narrow_integer::NarrowInteger;
use crate::predicate::{Condition, Edge, Test};
use crate::schema::{Leaf, Repetition};
use crate::sort_order::SortOrder;
use marquetry_encoding::PhysicalType;
use std::borrow::Cow;
use std::cmp::Ordering;

/// What is known of the values of some rows of a column, one value or null a row.
#[derive(Debug)]
pub(super) struct Extent<'a> {
    /// How many rows.
    pub(super) rows: u64,
    /// How many nulls.
    pub(super) nulls: Nulls,
    /// How many NaNs, if known.
    pub(super) nans: Option<u64>,
    /// Bounds of all values but NaNs.
    pub(super) bounds: Bounds<'a>,
}

/// At least and at most so many nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nulls {
    least: u64,
    most: u64,
}

/// Bounds that are believed, in the order of conditions: total for floats. They need not be values that occur.
#[derive(Debug, Default)]
pub(super) struct Bounds<'a> {
    min: BoundBytes<'a>,
    max: BoundBytes<'a>,
}

/// A bound, if there is one.
pub(super) type BoundBytes<'a> = Option<Cow<'a, [u8]>>;

impl Nulls {
    /// What a count and a histogram of definition levels say of `rows` rows.
    ///
    /// QUIRK: whether a value that is absent with the struct around it counts as null differs by writer. So a count is
    /// the least there are, unless the histogram, which leaves no doubt, says more.
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
            // They contradict each other.
            _ => unknown,
        }
    }

    /// Whether it can be that all of `rows` rows are null.
    pub(super) fn may_be_all(self, rows: u64) -> bool {
        self.most == rows
    }

    /// Whether it is certain that all of `rows` rows are null.
    pub(super) fn are_all(self, rows: u64) -> bool {
        self.least == rows
    }

    /// Whether there may be any.
    pub(super) fn may_be_any(self) -> bool {
        self.most > 0
    }

    /// How many, if that is known.
    pub(super) fn exact(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }

    /// All rows are null.
    pub(super) fn all(rows: u64) -> Nulls {
        Nulls::exactly(rows)
    }

    /// Neither fewer nor more.
    pub(super) fn exactly(nulls: u64) -> Nulls {
        Nulls { least: nulls, most: nulls }
    }

    /// Nothing is known of `rows` rows.
    pub(super) fn up_to(rows: u64) -> Nulls {
        Nulls { least: 0, most: rows }
    }
}

impl<'a> Bounds<'a> {
    /// What `min` and `max` say if they are in `order`. Bounds that cannot be such are dropped.
    pub(super) fn of(leaf: &Leaf, order: SortOrder, min: Option<&'a [u8]>, max: Option<&'a [u8]>) -> Self {
        let is_value = |bound: &[u8]| match leaf.physical() {
            // Byte strings may be cut.
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
        // SPEC: "If the min is a NaN, it should be ignored". A writer that got one bound wrong may have lost the other.
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
        // A value out of the type's range means another one: of bounds that are within it, no value is out of it.
        let is_in_range =
            |bound: Option<&[u8]>, narrow: NarrowInteger| bound.is_some_and(|it| narrow.holds(it));
        if let Some(narrow) = NarrowInteger::of(leaf)
            && !(is_in_range(min, narrow) && is_in_range(max, narrow))
        {
            return Bounds::default();
        }
        // QUIRK: days that wrapped are the least by their bytes, and the last as times. Where the least day is none of these, no day is.
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
        // QUIRK: nothing at all is what some writers put where they have no bound. As a lower one it does no harm.
        Bounds { min, max: max.filter(|max| !max.is_empty()) }
    }
}

/// Which outcomes of a test there may be among values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcomes {
    /// Some may pass.
    pub(super) pass: bool,
    /// Some may fail.
    pub(super) fail: bool,
}

impl Extent<'_> {
    /// What is known of a condition for these rows.
    pub(super) fn verdict(&self, condition: &Condition) -> Verdict {
        self.verdict_of(condition, self.outcomes(condition))
    }

    /// What is known if values have these outcomes.
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

    /// The outcomes of a test where `bounds` are known.
    pub(super) fn outcomes_within(&self, bounds: &Bounds<'_>, condition: &Condition) -> Outcomes {
        let Outcomes { pass, fail } = bounds.outcomes(condition);
        if !condition.order.is_float() {
            return Outcomes { pass, fail };
        }
        // NaN fails every test of a number.
        let is_all_nan = self.nans.is_some_and(|nans| nans.saturating_add(self.nulls.least) >= self.rows);
        Outcomes { pass: pass && !is_all_nan, fail: fail || self.nans != Some(0) }
    }
}

impl<'a> Bounds<'a> {
    /// Whether there may be byte strings that begin with `prefix`.
    fn reach(&self, prefix: &[u8]) -> bool {
        let is_below = |min: &[u8]| min <= prefix || min.starts_with(prefix);
        self.max.as_deref().is_none_or(|max| max >= prefix) && self.min.as_deref().is_none_or(is_below)
    }

    /// At most the least value.
    pub(super) fn min(&self) -> Option<&[u8]> {
        self.min.as_deref()
    }

    /// At least the greatest value.
    pub(super) fn max(&self) -> Option<&[u8]> {
        self.max.as_deref()
    }

    /// Both.
    pub(super) fn into_parts(self) -> (BoundBytes<'a>, BoundBytes<'a>) {
        (self.min, self.max)
    }

    /// Whether there are both.
    pub(super) fn are_known(&self) -> bool {
        self.min.is_some() && self.max.is_some()
    }

    /// The outcomes of a test on values within the bounds.
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
                // What is between two strings that begin alike begins so too.
                let is_inside = min.is_some_and(|min| min.starts_with(prefix))
                    && max.is_some_and(|max| max.starts_with(prefix));
                Outcomes { pass: reaches, fail: !is_inside }
            }
        }
    }
}

impl Edge {
    /// Whether a range that begins here may have `value`. What does not compare may.
    fn is_before(&self, order: SortOrder, value: &[u8]) -> bool {
        match self {
            Edge::Open => true,
            Edge::Included(edge) => order.compare(edge, value) != Some(Ordering::Greater),
            Edge::Excluded(edge) => {
                !matches!(order.compare(edge, value), Some(Ordering::Greater | Ordering::Equal))
            }
        }
    }

    /// Whether a range that ends here may have `value`.
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
