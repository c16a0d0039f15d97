//! Bounds of row groups, as places between the least and the greatest of all.

use crate::columns::columns;
use crate::value_texts::value_texts;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_base::{Error, ErrorKind, Result};

/// The statistics bounds of a column's row groups.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnBounds {
    /// Dotted path of the column.
    pub column: String,
    /// For each row group, the place of its bounds between the least (0) and the greatest (1) of all. `None` if it has
    /// no bounds, or none that can be [trusted](marquetry_arrow::arrow_reader::statistics).
    pub places: Vec<Option<(f64, f64)>>,
    /// The bounds as text.
    pub texts: Vec<Option<(String, String)>>,
    /// The average number of row groups that may contain a value which is the bound of one. It is 1 if no row groups
    /// overlap, and the number of row groups if bounds rule out nothing. `None` if there are no bounds.
    pub depth: Option<f64>,
    /// Whether each row group begins where the one before it ends, or after it.
    pub is_ascending: bool,
}

/// Returns the bounds of all row groups, for each column. Only the footer is read.
///
/// Places of numbers and times are proportional to their values. Places of strings are proportional to the first bytes
/// that are not the same in all bounds.
///
/// Fails if the footer has a chunk that cannot be read.
pub fn column_bounds(metadata: &ArrowReaderMetadata) -> Result<Vec<ColumnBounds>> {
    let mut out = Vec::new();
    for column in columns(metadata, None)? {
        let statistics = metadata.leaf_statistics(column.number, &column.field)?;
        let groups = || metadata.metadata().row_groups();
        let bounds = [statistics.row_group_mins(groups())?, statistics.row_group_maxes(groups())?];
        out.push(of_column(column.path, &bounds)?);
    }
    Ok(out)
}

fn of_column(column: String, [mins, maxes]: &[ArrayRef; 2]) -> Result<ColumnBounds> {
    let numbers = match mins.data_type() {
        DataType::Utf8View
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Null => strings(mins, maxes)?,
        _ => numbers(mins, maxes),
    };
    let texts = texts(mins, maxes)?;
    let there = || numbers.iter().flatten();
    let least = there().map(|(min, _)| *min).fold(f64::INFINITY, f64::min);
    let greatest = there().map(|(_, max)| *max).fold(f64::NEG_INFINITY, f64::max);
    let place = |number: f64| match greatest > least {
        true => ((number - least) / (greatest - least)).clamp(0.0, 1.0),
        false => 0.0,
    };
    let places: Vec<_> =
        numbers.iter().map(|bounds| bounds.map(|(min, max)| (place(min), place(max)))).collect();
    let all: Vec<(f64, f64)> = there().copied().collect();
    Ok(ColumnBounds {
        column,
        depth: depth(&all),
        is_ascending: all.len() == numbers.len() && all.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        places,
        texts,
    })
}

/// Returns the average number of intervals in which one of their ends lies.
fn depth(intervals: &[(f64, f64)]) -> Option<f64> {
    let sorted = |mut ends: Vec<f64>| {
        ends.sort_unstable_by(f64::total_cmp);
        ends
    };
    let starts = sorted(intervals.iter().map(|interval| interval.0).collect());
    let ends = sorted(intervals.iter().map(|interval| interval.1).collect());
    // Those that have begun, without those that are over.
    let at = |x: f64| starts.partition_point(|start| *start <= x) - ends.partition_point(|end| *end < x);
    let sum: usize = intervals.iter().map(|(min, max)| at(*min) + at(*max)).sum();
    (!intervals.is_empty()).then(|| sum as f64 / (2 * intervals.len()) as f64)
}

/// Converts numbers and times to doubles. Types without an order that a ruler could show have none.
fn numbers(mins: &ArrayRef, maxes: &ArrayRef) -> Vec<Option<(f64, f64)>> {
    let (Some(mins), Some(maxes)) = (doubles(mins), doubles(maxes)) else {
        return vec![None; mins.len()];
    };
    mins.into_iter().zip(maxes).map(|(min, max)| min.zip(max)).collect()
}

fn doubles(array: &ArrayRef) -> Option<Vec<Option<f64>>> {
    let is_time = array.data_type().is_temporal() && !matches!(array.data_type(), DataType::Interval(_));
    if is_time {
        let words = match array.data_type() {
            DataType::Date32 | DataType::Time32(_) => {
                cast(&cast(array, &DataType::Int32).ok()?, &DataType::Int64)
            }
            _ => cast(array, &DataType::Int64),
        };
        let words = words.ok()?;
        return Some(
            words.as_primitive::<Int64Type>().iter().map(|word| word.map(|word| word as f64)).collect(),
        );
    }
    let doubles = cast(array, &DataType::Float64).ok()?;
    let doubles = doubles.as_primitive::<Float64Type>();
    Some(doubles.iter().map(|double| double.filter(|double| double.is_finite())).collect())
}

/// Converts strings to doubles, by the six bytes behind their common prefix: doubles hold that many.
fn strings(mins: &ArrayRef, maxes: &ArrayRef) -> Result<Vec<Option<(f64, f64)>>> {
    let as_bytes = |array: &ArrayRef| {
        cast(array, &DataType::Binary)
            .map_err(|error| Error::caused_by(ErrorKind::Unsupported, "bounds of strings", error))
    };
    let (mins, maxes) = (as_bytes(mins)?, as_bytes(maxes)?);
    let (mins, maxes) = (mins.as_binary::<i32>(), maxes.as_binary::<i32>());
    let all = || mins.iter().chain(maxes).flatten();
    let first = all().next().unwrap_or_default();
    let common =
        all().map(|text| first.iter().zip(text).take_while(|(a, b)| a == b).count()).min().unwrap_or(0);
    let place = |text: &[u8]| {
        (0..6).fold(0.0, |sum, i| sum * 256.0 + f64::from(text.get(common + i).copied().unwrap_or(0)))
    };
    Ok(mins.iter().zip(maxes).map(|(min, max)| Some((place(min?), place(max?)))).collect())
}

fn texts(mins: &ArrayRef, maxes: &ArrayRef) -> Result<Vec<Option<(String, String)>>> {
    let pairs = value_texts(mins)?.into_iter().zip(value_texts(maxes)?);
    Ok(pairs.map(|(min, max)| min.zip(max)).collect())
}
