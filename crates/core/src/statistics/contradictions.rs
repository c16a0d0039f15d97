//! Compares statistics in a file with counts and bounds of its pages.

use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use crate::statistics::column_index::boundary_order;
use crate::statistics::display::display_value;
use crate::statistics::min_max::MinMaxStats;
use crate::statistics::observed_page::ObservedPage;
use marquetry_format::{BoundaryOrder, BoundingBox, ColumnIndex, Encoding, SizeStatistics, Statistics};
use std::cmp::Ordering;

/// A bound that contradicts the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongBound<'a> {
    /// `min` or `max`.
    pub name: &'static str,
    /// The stated bound, PLAIN.
    pub said: &'a [u8],
    /// The actual minimum or maximum, PLAIN.
    pub actual: &'a [u8],
}

impl WrongBound<'_> {
    /// Describes the bound and the value.
    pub fn describe(&self, leaf: &Leaf) -> String {
        let [said, actual] = [self.said, self.actual].map(|value| display_value(leaf, value));
        format!("{} is {said}, there is {actual}", self.name)
    }
}

/// Returns the stated bounds that do not bound the values.
///
/// ```
/// use marquetry_core::sort_order::SortOrder;
/// use marquetry_core::statistics::{MinMaxStats, wrong_bounds};
/// use marquetry_encoding::Values;
/// let mut seen = MinMaxStats::new(SortOrder::Signed32);
/// seen.update(&Values::W32(vec![3, 9]), 0..2);
/// let (min, max) = (3i32.to_le_bytes(), 8i32.to_le_bytes());
/// let wrong = wrong_bounds(&seen, Some(&min), Some(&max));
/// assert_eq!((wrong.len(), wrong[0].name), (1, "max"));
/// ```
pub fn wrong_bounds<'a>(
    bounds: &'a MinMaxStats,
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
) -> Vec<WrongBound<'a>> {
    let sides = [("min", min, bounds.min(), Ordering::Greater), ("max", max, bounds.max(), Ordering::Less)];
    differing(bounds.order(), sides)
}

/// Returns the bounds that are stated to be exact, but are further out than all values.
pub fn inexact_bounds<'a>(bounds: &'a MinMaxStats, statistics: &'a Statistics) -> Vec<WrongBound<'a>> {
    let exact = |is_exact: Option<bool>, bound: &'a Option<Vec<u8>>| {
        bound.as_deref().filter(|_| is_exact == Some(true))
    };
    let min = exact(statistics.is_min_value_exact, &statistics.min_value);
    let max = exact(statistics.is_max_value_exact, &statistics.max_value);
    let sides = [("min", min, bounds.min(), Ordering::Less), ("max", max, bounds.max(), Ordering::Greater)];
    differing(bounds.order(), sides)
}

type Side<'a> = (&'static str, Option<&'a [u8]>, Option<&'a [u8]>, Ordering);

fn differing<'a>(order: SortOrder, sides: [Side<'a>; 2]) -> Vec<WrongBound<'a>> {
    let wrong = sides.into_iter().filter_map(|(name, said, actual, wrong)| {
        let (said, actual) = (said?, actual?);
        (order.compare(said, actual) == Some(wrong)).then_some(WrongBound { name, said, actual })
    });
    wrong.collect()
}

/// Returns a message for each statement of a column index on the nulls, NaNs and levels of a page that is wrong.
pub fn wrong_page_counts(index: &ColumnIndex, page: usize, leaf: &Leaf, seen: &ObservedPage) -> Vec<String> {
    let mut wrong = Vec::new();
    let is_null_page = index.null_pages.get(page).copied();
    if let (Some(levels), Some(is_null_page)) = (&seen.levels, is_null_page) {
        if is_null_page != (levels.values() == 0) {
            return vec![format!("null page: {is_null_page}, there are {} values", levels.values())];
        }
        let nulls = index.null_counts.as_ref().and_then(|counts| counts.get(page));
        if let Some(nulls) = nulls.filter(|nulls| !seen.nulls().is_some_and(|range| range.contains(*nulls))) {
            wrong.push(format!("null count {nulls}, there are {}", levels.nulls()));
        }
        let histograms = [
            ("definition", index.definition_level_histograms.as_ref(), levels.def(), leaf.max_def()),
            ("repetition", index.repetition_level_histograms.as_ref(), levels.rep(), leaf.max_rep()),
        ];
        for (name, histograms, counted, max) in histograms {
            let width = usize::from(max) + 1;
            let said = histograms.and_then(|all| all.chunks_exact(width).nth(page));
            if let Some(said) = said.filter(|said| *said != counted) {
                wrong.push(format!("histogram of {name} levels {said:?}, counted {counted:?}"));
            }
        }
    }
    let nans = index.nan_counts.as_ref().and_then(|counts| counts.get(page));
    if let (Some(nans), Some(counted)) = (nans, seen.bounds.as_ref().and_then(MinMaxStats::nan_count))
        && u64::try_from(*nans) != Ok(counted)
    {
        wrong.push(format!("NaN count {nans}, there are {counted}"));
    }
    wrong
}

/// Returns a message for each level histogram that is wrong for a chunk of `entries` entries. Histograms that are
/// impossible whatever the chunk contains are ignored.
pub fn wrong_sizes(said: &SizeStatistics, entries: i64, seen: &ObservedPage) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(levels) = &seen.levels {
        let histograms = [
            ("definition", &said.definition_level_histogram, levels.def()),
            ("repetition", &said.repetition_level_histogram, levels.rep()),
        ];
        for (name, said, counted) in histograms {
            let sum = |said: &[i64]| said.iter().try_fold(0i64, |sum, count| sum.checked_add(*count));
            let is_possible = |said: &[i64]| said.len() == counted.len() && sum(said) == Some(entries);
            if let Some(said) = said.as_ref().filter(|said| is_possible(said) && said[..] != *counted) {
                wrong.push(format!("{name} levels {said:?} are said, {counted:?} are counted"));
            }
        }
    }
    wrong
}

/// Returns a message if the stated number of bytes of byte strings is wrong.
pub fn wrong_byte_count(said: Option<i64>, seen: &ObservedPage) -> Option<String> {
    let (said, bytes) = (said?, seen.byte_array_bytes?);
    let is_wrong = u64::try_from(said) != Ok(bytes);
    is_wrong.then(|| format!("{said} bytes of byte strings are said, {bytes} are there"))
}

/// Whether a count of string bytes, in pages with these encodings, may count suffixes only.
///
/// QUIRK: parquet-cpp, which has these counts from version 19 on, counts the stored bytes here: of each string the
/// suffix after the prefix that it shares with the one before.
pub fn counts_suffixes(
    created_by: Option<&str>,
    encodings: impl IntoIterator<Item = Encoding>,
    said: Option<i64>,
    seen: &ObservedPage,
) -> bool {
    let is_less = |said: i64, bytes: u64| u64::try_from(said).is_ok_and(|said| said < bytes);
    may_count_suffixes(created_by, encodings)
        && said.zip(seen.byte_array_bytes).is_some_and(|(said, bytes)| is_less(said, bytes))
}

/// Whether a writer counts suffixes in pages with these encodings, if it counts at all.
pub(crate) fn may_count_suffixes(
    created_by: Option<&str>,
    encodings: impl IntoIterator<Item = Encoding>,
) -> bool {
    created_by.is_some_and(|name| name.trim_start().starts_with("parquet-cpp"))
        && encodings.into_iter().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
}

/// Returns the actual boundary order of a column index, if it differs from the stated one.
pub fn wrong_boundary_order(index: &ColumnIndex, order: SortOrder) -> Option<BoundaryOrder> {
    let sorted = boundary_order(order, &index.null_pages, &index.min_values, &index.max_values);
    // `boundary_order` returns ascending for lists that have both orders.
    let is_constant = || {
        let values = || index.null_pages.iter().zip(&index.min_values).filter(|(is_null, _)| !**is_null);
        values().zip(values().skip(1)).all(|(a, b)| order.compare(a.1, b.1) == Some(Ordering::Equal))
    };
    let holds = match index.boundary_order {
        BoundaryOrder::UNORDERED => true,
        BoundaryOrder::ASCENDING => sorted == BoundaryOrder::ASCENDING,
        BoundaryOrder::DESCENDING => {
            sorted == BoundaryOrder::DESCENDING || sorted == BoundaryOrder::ASCENDING && is_constant()
        }
        _ => false,
    };
    (!holds).then_some(sorted)
}

/// The range of a box on an axis: minimum and maximum.
pub type AxisRange = (f64, f64);

/// Returns the first axis on which `actual` exceeds the box `said`, and both ranges on it.
pub fn exceeded_axis(
    said: &BoundingBox,
    actual: &BoundingBox,
) -> Option<(&'static str, AxisRange, AxisRange)> {
    let both = |min: Option<f64>, max: Option<f64>| Some((min?, max?));
    let axes = [
        ("x", Some((said.xmin, said.xmax)), Some((actual.xmin, actual.xmax))),
        ("y", Some((said.ymin, said.ymax)), Some((actual.ymin, actual.ymax))),
        ("z", both(said.zmin, said.zmax), both(actual.zmin, actual.zmax)),
        ("m", both(said.mmin, said.mmax), both(actual.mmin, actual.mmax)),
    ];
    axes.into_iter().find_map(|(axis, said, actual)| {
        let (said, actual) = (said?, actual?);
        // SPEC: xmin above xmax is a box across the antimeridian. Such boxes, stated or actual, are not checked on this
        // axis.
        let is_wrapped = axis == "x" && (said.0 > said.1 || actual.0 > actual.1);
        (!is_wrapped && (said.0 > actual.0 || said.1 < actual.1)).then_some((axis, said, actual))
    })
}
