//! Table statistics from footers: for join orders, and for `count`, `min` and `max` that need no rows.
//!
//! A number or a bound is *exact* only where it is certain: bounds of byte strings only where the writer says that they occur, and
//! bounds of floats never, since what they leave out is not the same everywhere.

use crate::column_kind::{Kind, is_same_but_layout, kind_of, root_leaf, stores, value_type};
use arrow_array::{Array, BooleanArray};
use arrow_schema::{DataType, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use std::cmp::Ordering;

/// The statistics of a file for the columns of a table. With `loses_rows` all of them are inexact.
pub(crate) fn statistics(footer: &ArrowReaderMetadata, table: &SchemaRef, loses_rows: bool) -> Statistics {
    let metadata = footer.metadata();
    let num_rows = Precision::Exact(usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX));
    let columns = table.fields().iter().map(|field| {
        let found = of_column(footer, field.name(), field.data_type()).unwrap_or_default();
        // Join ordering goes by the size of a column in memory.
        match (field.data_type().primitive_width(), &num_rows) {
            (Some(width), Precision::Exact(rows)) => {
                found.with_byte_size(Precision::Exact(width.saturating_mul(*rows)))
            }
            _ => found,
        }
    });
    let column_statistics = columns.collect();
    let found = Statistics { num_rows, total_byte_size: Precision::Absent, column_statistics };
    if loses_rows { found.to_inexact() } else { found }
}

/// `None` if nothing is known.
fn of_column(footer: &ArrowReaderMetadata, name: &str, wanted: &DataType) -> Option<ColumnStatistics> {
    let leaf = root_leaf(footer.parquet_schema(), name);
    let groups = || footer.metadata().row_groups();
    let mut found = ColumnStatistics::new_unknown();
    let leaf_number = footer
        .parquet_schema()
        .columns()
        .iter()
        .position(|column| leaf.is_some_and(|leaf| std::ptr::eq(leaf, column)))?;
    let sizes = groups().filter_map(|group| Some(group.column(leaf_number).ok()?.uncompressed_size()));
    let size = sizes.fold(0i64, i64::saturating_add);
    found.byte_size = Precision::Inexact(usize::try_from(size).unwrap_or(0));
    let known = footer.statistics(name).ok()?;
    let nulls = known.row_group_null_counts(groups()).ok()?;
    if nulls.null_count() == 0 {
        let count = nulls.values().iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if let Some(count) = count.and_then(|count| usize::try_from(count).ok()) {
            found.null_count = Precision::Exact(count);
        }
    }
    // Bounds mean the same only where values are read as they are stored.
    let read_as = known.data_type();
    if !leaf.is_some_and(|leaf| stores(leaf, read_as)) || !becomes(read_as, wanted) {
        return Some(found);
    }
    let is_all_null = |group: usize| {
        nulls.is_valid(group) && nulls.value(group) == footer.metadata().row_group(group).num_rows()
    };
    let side = |bounds: &dyn Array, exactness: &BooleanArray, wanted_order: Ordering| {
        bound(bounds, exactness, wanted_order, &is_all_null).map_or(Precision::Absent, |(bound, is_exact)| {
            match bound.cast_to(value_type(wanted)) {
                Ok(bound) if is_exact => Precision::Exact(bound),
                Ok(bound) => Precision::Inexact(bound),
                Err(_) => Precision::Absent,
            }
        })
    };
    let (mins, maxes) = (known.row_group_mins(groups()).ok()?, known.row_group_maxes(groups()).ok()?);
    let min_exact = known.row_group_is_min_value_exact(groups()).ok()?;
    let max_exact = known.row_group_is_max_value_exact(groups()).ok()?;
    found.min_value = side(&mins, &min_exact, Ordering::Less);
    found.max_value = side(&maxes, &max_exact, Ordering::Greater);
    if found.min_value.get_value().is_some_and(is_least) {
        found.min_value = Precision::Absent;
    }
    if value_type(wanted).is_floating() {
        found.min_value = wider(&found.min_value, f32::next_down, f64::next_down);
        found.max_value = wider(&found.max_value, f32::next_up, f64::next_up);
    }
    // A bound of a dictionary is one of its values. Beside an unknown bound, DataFusion takes a null of the
    // dictionary's own type, and finds that the two types differ.
    let is_known = |bound: &Precision<ScalarValue>| bound.get_value().is_some();
    if value_type(wanted) != wanted && is_known(&found.min_value) != is_known(&found.max_value) {
        (found.min_value, found.max_value) = (Precision::Absent, Precision::Absent);
    }
    Some(found)
}

/// A bound of floats, moved one step beyond all values. Where a condition leaves one value between the bounds,
/// DataFusion takes the column to have no other; but NaN may pass `<` or `>`, too, and bounds do not cover it. Of the
/// two zeros a bound has one.
fn wider(
    bound: &Precision<ScalarValue>,
    of_float: fn(f32) -> f32,
    of_double: fn(f64) -> f64,
) -> Precision<ScalarValue> {
    use ScalarValue::{Float32, Float64};
    match bound.get_value() {
        Some(Float32(Some(value))) if value.is_finite() => {
            Precision::Inexact(Float32(Some(of_float(*value))))
        }
        Some(Float64(Some(value))) if value.is_finite() => {
            Precision::Inexact(Float64(Some(of_double(*value))))
        }
        _ => Precision::Absent,
    }
}

/// Whether a value is the least integer of its type. As a bound it rules nothing out, and DataFusion's arithmetic of
/// bounds fails at `-x`, which overflows the type.
fn is_least(value: &ScalarValue) -> bool {
    use ScalarValue::{Int8, Int16, Int32, Int64};
    matches!(
        value,
        Int8(Some(i8::MIN)) | Int16(Some(i16::MIN)) | Int32(Some(i32::MIN)) | Int64(Some(i64::MIN))
    )
}

/// The least or greatest bound of all row groups with values, and whether it is a value that occurs.
fn bound(
    bounds: &dyn Array,
    exactness: &BooleanArray,
    wanted: Ordering,
    is_all_null: &dyn Fn(usize) -> bool,
) -> Option<(ScalarValue, bool)> {
    let kind = kind_of(bounds.data_type())?;
    let has_lengths = !bounds.data_type().is_primitive() && *bounds.data_type() != DataType::Boolean;
    let mut found: Option<(ScalarValue, bool)> = None;
    for group in (0..bounds.len()).filter(|group| !is_all_null(*group)) {
        if bounds.is_null(group) {
            return None;
        }
        let value = ScalarValue::try_from_array(bounds, group).ok()?;
        // Bounds of fixed-length types are not truncated, so they are exact unless the writer says otherwise.
        let said = exactness.is_valid(group).then(|| exactness.value(group));
        let is_exact = kind == Kind::Same && said.unwrap_or(!has_lengths);
        found = match found {
            Some((so_far, was_exact)) => match value.partial_cmp(&so_far)? {
                order if order == wanted => Some((value, is_exact)),
                Ordering::Equal => Some((so_far, was_exact || is_exact)),
                _ => Some((so_far, was_exact)),
            },
            None => Some((value, is_exact)),
        };
    }
    found
}

/// Whether a cast from one type to another keeps all values, and their order.
pub(crate) fn becomes(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    is_same_but_layout(from, to)
        || matches!(
            (value_type(from), value_type(to)),
            (Int8, Int16 | Int32 | Int64)
                | (Int16, Int32 | Int64)
                | (Int32, Int64)
                | (UInt8, UInt16 | UInt32 | UInt64 | Int16 | Int32 | Int64)
                | (UInt16, UInt32 | UInt64 | Int32 | Int64)
                | (UInt32, UInt64 | Int64)
        )
}
