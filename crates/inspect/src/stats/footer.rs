//! Statistics of columns from the footer alone.

use super::column::{ColumnStats, Distinct};
use super::finish::{numbers_array, strings_array};
use super::leaf_stats::{LeafStats, Values};
use super::options::StatsOptions;
use crate::columns::{Column, columns};
use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_base::Result;
use std::sync::Arc;

/// Returns what the footer of a file states about its columns: counts, nulls, bounds. Nothing else is read.
///
/// Bounds are those of row groups that are [trusted](marquetry_arrow::arrow_reader::statistics). They are present if
/// all row groups have bounds, or no values at all.
///
/// Fails if a column does not exist, or if the footer has a chunk that cannot be read.
///
/// ```
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_inspect::{StatsOptions, footer_stats};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let bytes = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new())?;
/// let stats = footer_stats(&metadata, &StatsOptions::default().with_columns(["year"]))?;
/// assert!(stats[0].bounds.is_some() && stats[0].are_bounds_exact);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn footer_stats(metadata: &ArrowReaderMetadata, options: &StatsOptions) -> Result<Vec<ColumnStats>> {
    columns(metadata, options.columns.as_deref())?.iter().map(|column| of_column(metadata, column)).collect()
}

fn of_column(metadata: &ArrowReaderMetadata, column: &Column) -> Result<ColumnStats> {
    let groups = || metadata.metadata().row_groups();
    let statistics = metadata.leaf_statistics(column.number, &column.field)?;
    let nulls = statistics.row_group_null_counts(groups())?;
    let nans = statistics.row_group_nan_counts(groups())?;
    let (mut entries, mut entries_with_bounds, mut distinct) = (0, Vec::new(), Vec::new());
    for (i, group) in groups().enumerate() {
        let chunk = group.column(column.number)?;
        let values = u64::try_from(chunk.num_values()).unwrap_or(0);
        entries += values;
        // Chunks of only nulls and NaN have no bounds, and need none.
        let is_nan = if nans.is_valid(i) { nans.value(i) } else { 0 };
        entries_with_bounds.push(nulls.is_null(i) || nulls.value(i).saturating_add(is_nan) < values);
        distinct.push(chunk.statistics().and_then(|statistics| statistics.distinct_count));
    }
    let nulls = known_sum(&nulls);
    let (mins, maxes) = (statistics.row_group_mins(groups())?, statistics.row_group_maxes(groups())?);
    let is_known = |bounds: &ArrayRef| {
        entries_with_bounds.iter().enumerate().all(|(i, is_needed)| !is_needed || bounds.is_valid(i))
    };
    let mut bounds = None;
    let mut data_type = statistics.data_type().clone();
    if is_known(&mins) && is_known(&maxes) {
        let mut both = LeafStats::new(&data_type);
        [&mins, &maxes].into_iter().for_each(|array| both.values.add(array, array.nulls()));
        bounds = least_and_greatest(&both);
        data_type = both.data_type;
    }
    let are_exact = |exact: &BooleanArray| {
        entries_with_bounds
            .iter()
            .enumerate()
            .all(|(i, is_needed)| !is_needed || (exact.is_valid(i) && exact.value(i)))
    };
    let are_bounds_exact = are_exact(&statistics.row_group_is_min_value_exact(groups())?)
        && are_exact(&statistics.row_group_is_max_value_exact(groups())?);
    // Distinct counts of several row groups do not add up.
    let distinct = match distinct.as_slice() {
        [Some(count)] => u64::try_from(*count).ok(),
        _ => None,
    };
    let field = column.field.as_ref().clone().with_data_type(data_type);
    Ok(ColumnStats {
        column: column.path.clone(),
        field: Arc::new(field),
        values: nulls.map(|nulls| entries - nulls.min(entries)),
        nulls,
        nans: known_sum(&nans),
        distinct: distinct.map(|count| Distinct { count, error: 0.0 }),
        bounds,
        are_bounds_exact,
        mean: None,
        deviation: None,
        quartiles: None,
        common: None,
        lengths: None,
        list_lengths: None,
        histogram: None,
    })
}

/// Returns the sum, if all counts are known.
fn known_sum(counts: &UInt64Array) -> Option<u64> {
    (counts.null_count() == 0)
        .then(|| counts.values().iter().fold(0u64, |sum, count| sum.saturating_add(*count)))
}

fn least_and_greatest(stats: &LeafStats) -> Option<ArrayRef> {
    let data_type = &stats.data_type;
    match &stats.values {
        Values::Nothing => None,
        Values::Signed(numbers) => numbers.bounds.map(|(a, b)| numbers_array(data_type, &[a, b])),
        Values::Float(numbers) => numbers.bounds.map(|(a, b)| numbers_array(data_type, &[a, b])),
        Values::Wide(numbers) => numbers.bounds.map(|(a, b)| numbers_array(data_type, &[a, b])),
        Values::Widest(numbers) => numbers.bounds.map(|(a, b)| numbers_array(data_type, &[a, b])),
        Values::Strings(strings) => strings.bounds.as_ref().map(|(a, b)| strings_array(data_type, &[a, b])),
    }
}
