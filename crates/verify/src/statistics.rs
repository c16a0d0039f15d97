//! Checks statistics of chunks and pages: their form, and whether they are true.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::ErrorLocation;
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::{
    GeoBounds, MinMaxStats, ObservedPage, counts_suffixes, display_value, exceeded_axis, inexact_bounds,
    wrong_bounds, wrong_byte_count, wrong_sizes,
};
use marquetry_encoding::PhysicalType;
use marquetry_format::{SizeStatistics, Statistics};
use std::cmp::Ordering;

const FORM: Rule = rule(
    "statistics-form",
    Severity::Invalid,
    Level::Quick,
    "Bounds are values of the column's type, the lower one not above the upper",
    "parquet.thrift, Statistics.min_value, max_value",
);
const NAN: Rule = rule(
    "statistics-nan-bound",
    Severity::Suspicious,
    Level::Quick,
    "No bound is NaN, but under IEEE_754_TOTAL_ORDER",
    "parquet.thrift, ColumnOrder.TYPE_ORDER",
);
const NO_ORDER: Rule = rule(
    "statistics-order",
    Severity::Suspicious,
    Level::Quick,
    "There are bounds only where the footer declares an order that is defined for the column",
    "parquet.thrift, FileMetaData.column_orders, ColumnOrder",
);
const COUNTS: Rule = rule(
    "statistics-counts",
    Severity::Invalid,
    Level::Quick,
    "Counts of nulls, NaNs and different values are possible in the column",
    "parquet.thrift, Statistics.null_count, distinct_count, nan_count",
);
const NULL_COUNT: Rule = rule(
    "statistics-null-count",
    Severity::Invalid,
    Level::Default,
    "The null count is right; what levels tell that are compressed with their values is left to --deep",
    "parquet.thrift, Statistics.null_count",
);
const NAN_COUNT: Rule = rule(
    "statistics-nan-count",
    Severity::Invalid,
    Level::Deep,
    "The NaN count is right",
    "parquet.thrift, Statistics.nan_count",
);
const DISTINCT: Rule = rule(
    "statistics-distinct-count",
    Severity::Suspicious,
    Level::Deep,
    "The distinct count is right, and not an estimate",
    "parquet.thrift, Statistics.distinct_count",
);
const BOUNDS: Rule = rule(
    "statistics-bounds",
    Severity::Invalid,
    Level::Deep,
    "min_value and max_value bound the values",
    "parquet.thrift, Statistics.min_value, max_value",
);
const DEPRECATED: Rule = rule(
    "statistics-deprecated-bounds",
    Severity::Invalid,
    Level::Deep,
    "The deprecated min and max, where readers believe them, bound the values",
    "parquet.thrift, Statistics.min, max",
);
const EXACT: Rule = rule(
    "statistics-exact",
    Severity::Invalid,
    Level::Deep,
    "Bounds that are said to be exact are values that occur",
    "parquet.thrift, Statistics.is_min_value_exact, is_max_value_exact",
);
const SIZES_FORM: Rule = rule(
    "size-statistics-form",
    Severity::Invalid,
    Level::Quick,
    "Histograms have a count for each level, and count all entries; only BYTE_ARRAY has bytes",
    "parquet.thrift, SizeStatistics",
);
const SIZES: Rule = rule(
    "size-statistics",
    Severity::Invalid,
    Level::Default,
    "Histograms of levels, and bytes of byte strings, are right",
    "parquet.thrift, SizeStatistics",
);
pub(crate) const SUFFIXES: Rule = rule(
    "size-statistics-suffixes",
    Severity::Suspicious,
    Level::Deep,
    "Bytes of byte strings are those of whole strings, where parquet-cpp counts the suffixes in DELTA_BYTE_ARRAY pages",
    "parquet.thrift, SizeStatistics.unencoded_byte_array_data_bytes",
);
const GEO: Rule = rule(
    "geospatial-statistics",
    Severity::Invalid,
    Level::Deep,
    "The bounding box bounds the geometries, and the list of types has all of them",
    "Geospatial.md, Statistics",
);

pub(crate) const RULES: &[Rule] = &[
    FORM, NAN, NO_ORDER, COUNTS, NULL_COUNT, NAN_COUNT, DISTINCT, BOUNDS, DEPRECATED, EXACT, SIZES_FORM,
    SIZES, SUFFIXES, GEO,
];

/// Reports bounds in a file without column orders, once for the file.
pub(crate) fn check_orders(metadata: &ParquetMetaData, place: &ErrorLocation, findings: &mut Findings) {
    let has_bounds = |chunk: ColumnChunk<'_>| {
        chunk
            .statistics()
            .is_some_and(|statistics| statistics.min_value.is_some() || statistics.max_value.is_some())
    };
    let chunks = || metadata.row_groups().flat_map(|row_group| row_group.columns().flatten());
    if metadata.column_orders().is_none() && chunks().any(has_bounds) {
        findings.add(&NO_ORDER, place.clone(), || {
            "there are min_value and max_value, and no column_orders for them".to_owned()
        });
    }
}

/// Checks the form of the statistics of a chunk.
pub(crate) fn check_chunk(
    file: &VerifyContext,
    column: usize,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let leaf = chunk.leaf();
    if let Some(statistics) = chunk.statistics() {
        let statistics = statistics.map(<[u8]>::to_vec);
        check_form(file, column, &statistics, chunk.num_values(), place, findings);
    }
    let Some(sizes) = size_statistics(chunk) else { return };
    let histograms = [
        ("definition", &sizes.definition_level_histogram, leaf.max_def()),
        ("repetition", &sizes.repetition_level_histogram, leaf.max_rep()),
    ];
    for (name, histogram, max) in histograms {
        // QUIRK: some writers leave histograms empty that they do not use.
        let Some(histogram) = histogram.as_ref().filter(|histogram| !histogram.is_empty()) else { continue };
        let sum = histogram.iter().try_fold(0i64, |sum, count| sum.checked_add(*count));
        if histogram.len() != usize::from(max) + 1 || sum != Some(chunk.num_values()) {
            findings.add(&SIZES_FORM, place.clone(), || {
                let shown = &histogram[..histogram.len().min(16)];
                format!("{name} levels up to {max} of {} entries: {shown:?}", chunk.num_values())
            });
        }
    }
    if sizes.unencoded_byte_array_data_bytes.is_some() && leaf.physical() != PhysicalType::ByteArray {
        findings.add(&SIZES_FORM, place.clone(), || format!("bytes of byte strings for {}", leaf.physical()));
    }
}

/// Checks the form of statistics of `entries` entries.
pub(crate) fn check_form(
    file: &VerifyContext,
    column: usize,
    statistics: &Statistics,
    entries: i64,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let (leaf, order) = (file.leaf(column), file.order(column));
    let bounds = (statistics.min_value.as_deref(), statistics.max_value.as_deref());
    let deprecated = (statistics.min.as_deref(), statistics.max.as_deref());
    match order {
        Some(order) => {
            check_pair(&FORM, leaf, order, bounds, String::new, place, findings);
        }
        None if bounds.0.is_some() || bounds.1.is_some() => {
            no_order(file, leaf, "min_value and max_value", place, findings)
        }
        None => {}
    }
    // Equal bounds are checked once.
    if let Some(order) = SortOrder::for_deprecated(leaf).filter(|_| deprecated != bounds || order.is_none()) {
        check_pair(&FORM, leaf, order, deprecated, || "deprecated ".to_owned(), place, findings);
    }
    let is_float = SortOrder::of(leaf).is_float();
    let counts = [
        ("null_count", statistics.null_count, true),
        // Some writers estimate it, and may exceed the number of entries: another rule reports that.
        ("distinct_count", statistics.distinct_count.map(|count| count.min(0)), true),
        ("nan_count", statistics.nan_count, is_float),
    ];
    for (name, count, is_legal) in counts {
        if let Some(count) = count.filter(|count| !is_legal || *count < 0 || *count > entries.max(0)) {
            findings.add(&COUNTS, place.clone(), || {
                format!("{name} is {count} for {entries} entries of {}", leaf.physical())
            });
        }
    }
}

/// Reports bounds in an unknown order.
pub(crate) fn no_order(
    file: &VerifyContext,
    leaf: &Leaf,
    what: &str,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    if file.metadata.column_orders().is_none() {
        // This is reported once for all columns.
        return;
    }
    findings.add(&NO_ORDER, place.clone(), || match leaf.logical() {
        Some(logical) => format!("{what} of {} ({logical})", leaf.physical()),
        None => format!("{what} of {}", leaf.physical()),
    });
}

/// Checks the form of two bounds. Returns whether they are valid.
pub(crate) fn check_pair(
    rule: &Rule,
    leaf: &Leaf,
    order: SortOrder,
    (min, max): (Option<&[u8]>, Option<&[u8]>),
    whose: impl Fn() -> String,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    for (name, bound) in [("min", min), ("max", max)] {
        let Some(bound) = bound else { continue };
        if width(leaf.physical()).is_some_and(|width| width != bound.len()) {
            findings.add(rule, place.clone(), || {
                format!("{}{name} has {} bytes, the type is {}", whose(), bound.len(), leaf.physical())
            });
            return false;
        }
        if !order.is_total() && order.is_nan(bound) {
            findings.add(&NAN, place.clone(), || format!("{}{name} is NaN", whose()));
            return false;
        }
    }
    let (Some(min), Some(max)) = (min, max) else { return true };
    if order.compare(min, max) == Some(Ordering::Greater) {
        findings.add(rule, place.clone(), || {
            format!("{}min is {}, max is {}", whose(), display_value(leaf, min), display_value(leaf, max))
        });
        return false;
    }
    true
}

/// Returns the size in bytes of a value, if all values of the type have the same.
fn width(physical: PhysicalType) -> Option<usize> {
    match physical {
        PhysicalType::Boolean => Some(1),
        PhysicalType::Int32 | PhysicalType::Float => Some(4),
        PhysicalType::Int64 | PhysicalType::Double => Some(8),
        PhysicalType::Int96 => Some(12),
        PhysicalType::FixedLenByteArray(width) => Some(width),
        PhysicalType::ByteArray => None,
    }
}

/// Compares stated bounds with those of the values.
pub(crate) fn check_bounds(
    rule: &Rule,
    leaf: &Leaf,
    bounds: &MinMaxStats,
    (min, max): (Option<&[u8]>, Option<&[u8]>),
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    for wrong in wrong_bounds(bounds, min, max) {
        findings.add(rule, place.clone(), || wrong.describe(leaf));
    }
}

/// Compares the statistics of a page or a chunk with its contents. `distinct` is the number of different values, if all
/// were counted.
pub(crate) fn check_truth(
    leaf: &Leaf,
    order: Option<SortOrder>,
    statistics: &Statistics,
    seen: &ObservedPage,
    distinct: Option<u64>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let nulls = statistics.null_count;
    if let (Some(nulls), Some(counted)) = (nulls, seen.nulls())
        && !counted.contains(&nulls)
    {
        findings.add(&NULL_COUNT, place.clone(), || {
            format!("null_count is {nulls}, there are {}", counted.end())
        });
    }
    if let (Some(said), Some(counted)) = (statistics.distinct_count, distinct)
        && u64::try_from(said) != Ok(counted)
    {
        findings.add(&DISTINCT, place.clone(), || format!("distinct_count is {said}, there are {counted}"));
    }
    let Some(bounds) = &seen.bounds else { return };
    if let (Some(said), Some(counted)) = (statistics.nan_count, bounds.nan_count())
        && u64::try_from(said) != Ok(counted)
    {
        findings.add(&NAN_COUNT, place.clone(), || format!("nan_count is {said}, there are {counted}"));
    }
    let pair = (statistics.min_value.as_deref(), statistics.max_value.as_deref());
    if order.is_some() {
        check_bounds(&BOUNDS, leaf, bounds, pair, place, findings);
        check_exact(leaf, bounds, statistics, place, findings);
    }
    // The values were compared in the order of the deprecated bounds, or in totalOrder, which is finer.
    if SortOrder::for_deprecated(leaf).is_some_and(|order| order == bounds.order()) {
        let deprecated = (statistics.min.as_deref(), statistics.max.as_deref());
        if deprecated != pair || order.is_none() {
            check_bounds(&DEPRECATED, leaf, bounds, deprecated, place, findings);
        }
    }
}

fn check_exact(
    leaf: &Leaf,
    bounds: &MinMaxStats,
    statistics: &Statistics,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    // Another rule reports a bound that does not even bound the values.
    for wrong in inexact_bounds(bounds, statistics) {
        findings.add(&EXACT, place.clone(), || {
            let [said, actual] = [wrong.said, wrong.actual].map(|value| display_value(leaf, value));
            format!("{} is {said} and said to be exact, it is {actual}", wrong.name)
        });
    }
}

/// Returns the size statistics of a chunk in the footer.
fn size_statistics(chunk: ColumnChunk<'_>) -> Option<SizeStatistics> {
    chunk.size_statistics().map(|sizes| sizes.map(|counts| counts.iter().collect()))
}

/// Compares size statistics and geospatial statistics with the contents of a chunk.
pub(crate) fn check_sizes(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    seen: &ObservedPage,
    geo: Option<&GeoBounds>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    if let Some(sizes) = size_statistics(chunk) {
        for message in wrong_sizes(&sizes, chunk.num_values(), seen) {
            findings.add(&SIZES, place.clone(), || message);
        }
        let said = sizes.unencoded_byte_array_data_bytes;
        if let Some(message) = wrong_byte_count(said, seen) {
            let encodings = chunk.encodings();
            let is_quirk = counts_suffixes(file.metadata.created_by(), encodings.iter(), said, seen);
            findings.add(if is_quirk { &SUFFIXES } else { &SIZES }, place.clone(), || message);
        }
    }
    let said = chunk.meta_data().ok().and_then(|meta| meta.geospatial_statistics);
    let (Some(said), Some(actual)) = (said, geo.and_then(GeoBounds::finish)) else { return };
    if let (Some(said), Some(actual)) = (&said.bbox, &actual.bbox)
        && let Some((axis, said, actual)) = exceeded_axis(said, actual)
    {
        findings.add(&GEO, place.clone(), || {
            format!("{axis} from {} to {}, there are {} to {}", said.0, said.1, actual.0, actual.1)
        });
    }
    let types = |types: &Option<Vec<i32>>| types.clone().filter(|types| !types.is_empty());
    if let (Some(said), Some(actual)) = (types(&said.geospatial_types), types(&actual.geospatial_types))
        && let Some(missing) = actual.iter().find(|code| !said.contains(code))
    {
        findings.add(&GEO, place.clone(), || format!("geometry type {missing} is not in the list"));
    }
}
