//! Makes the statistics of a column from what was gathered of it.

use super::column::{ColumnStats, CommonValues, Distinct, Histogram, Lengths, Quartiles};
use super::leaf_stats::{LeafStats, Values};
use super::numbers::Numbers;
use super::strings::{LengthStats, Strings};
use super::value::Number;
use super::value_counts::Frequent;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray,
    LargeStringArray, PrimitiveArray, StringArray, make_array,
};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// Returns the finished statistics of a column, which were flushed.
pub(crate) fn finish(column: &str, field: &Field, stats: LeafStats, most_common: usize) -> ColumnStats {
    let field = field.clone().with_data_type(stats.data_type.clone());
    let mut said = ColumnStats {
        column: column.to_owned(),
        values: Some(stats.count),
        nulls: Some(stats.nulls),
        nans: None,
        distinct: None,
        bounds: None,
        are_bounds_exact: true,
        mean: None,
        deviation: None,
        quartiles: None,
        common: None,
        lengths: None,
        list_lengths: stats.lists.and_then(|lists| lengths(&lists)),
        histogram: None,
        field: Arc::new(field),
    };
    match &stats.values {
        Values::Nothing => {}
        Values::Signed(numbers) => of_numbers(numbers, most_common, &mut said),
        Values::Float(numbers) => {
            of_numbers(numbers, most_common, &mut said);
            said.nans = Some(numbers.nans);
        }
        Values::Wide(numbers) => of_numbers(numbers, most_common, &mut said),
        Values::Widest(numbers) => of_numbers(numbers, most_common, &mut said),
        Values::Strings(strings) => of_strings(strings, most_common, &mut said),
    }
    said
}

fn of_numbers<T: Number>(numbers: &Numbers<T>, most_common: usize, said: &mut ColumnStats) {
    let data_type = said.field.data_type().clone();
    let array = |values: &[T]| numbers_array(&data_type, values);
    said.distinct = Some(distinct(numbers.distinct(), said));
    said.bounds = numbers.bounds.map(|(least, greatest)| array(&[least, greatest]));
    let frequent = numbers.frequent(most_common);
    said.common = common(&frequent, |values| array(&values));
    if data_type == DataType::Boolean {
        return;
    }
    let units = units(&data_type);
    if data_type.is_numeric() {
        let (mean, deviation) = numbers.mean_and_deviation();
        (said.mean, said.deviation) = (mean.map(|mean| mean / units), deviation.map(|it| it / units));
    }
    let (weighted, rank_error) = numbers.weighted();
    said.histogram = histogram(&weighted, numbers.bounds, units);
    said.quartiles = quartiles(&weighted).map(|values| Quartiles { values: array(&values), rank_error });
}

/// Limits an estimate to the number of all values.
fn distinct((estimate, error): (u64, f64), said: &ColumnStats) -> Distinct {
    Distinct { count: estimate.min(said.values.unwrap_or(u64::MAX)), error }
}

fn of_strings(strings: &Strings, most_common: usize, said: &mut ColumnStats) {
    let data_type = said.field.data_type().clone();
    let array = |values: &[&[u8]]| strings_array(&data_type, values);
    said.distinct = Some(distinct(strings.distinct(), said));
    // Intervals have no order.
    if !matches!(data_type, DataType::Interval(_)) {
        said.bounds = strings.bounds.as_ref().map(|(least, greatest)| array(&[least, greatest]));
        said.lengths = lengths(&strings.lengths);
    }
    let frequent = strings.frequent(most_common);
    said.common = common(&frequent, |values| array(&values.iter().map(|value| &**value).collect::<Vec<_>>()));
}

fn common<T: Clone>(
    frequent: &[Frequent<T>],
    array: impl FnOnce(Vec<T>) -> ArrayRef,
) -> Option<CommonValues> {
    let counts: Vec<_> = frequent.iter().map(|value| (value.at_least, value.at_most)).collect();
    let values = frequent.iter().map(|value| value.value.clone()).collect();
    (!frequent.is_empty()).then(|| CommonValues { values: array(values), counts })
}

fn lengths(stats: &LengthStats) -> Option<Lengths> {
    stats.mean().map(|mean| Lengths { least: stats.least, mean, greatest: stats.greatest })
}

/// Returns how many units of the stored number make 1: a power of ten that a float holds exactly up to a scale of 22,
/// so that 39,584 hundredths are 395.84.
fn units(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => 10f64.powi(i32::from(*scale)),
        _ => 1.0,
    }
}

fn quartiles<T: Number>(weighted: &[(T, u64)]) -> Option<Vec<T>> {
    let total: u128 = weighted.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let (mut seen, mut rest) = (0u128, weighted.iter());
    let mut current = rest.next()?;
    let mut found = Vec::with_capacity(3);
    for quarter in 1..4 {
        // The first value than which as many values are no greater.
        while (seen + u128::from(current.1)) * 4 < total * quarter {
            seen += u128::from(current.1);
            current = rest.next()?;
        }
        found.push(current.0);
    }
    Some(found)
}

fn histogram<T: Number>(weighted: &[(T, u64)], bounds: Option<(T, T)>, units: f64) -> Option<Histogram> {
    let (least, greatest) = bounds?;
    let (lower, upper) = (least.to_f64(), greatest.to_f64());
    let width = (upper - lower) / BINS as f64;
    if !width.is_finite() || width <= 0.0 {
        return None;
    }
    let mut counts = vec![0; BINS];
    for (value, weight) in weighted {
        let bin = ((value.to_f64() - lower) / width) as usize;
        counts[bin.min(BINS - 1)] += weight;
    }
    Some(Histogram { lower: lower / units, upper: upper / units, counts })
}

/// Creates an array of numbers that were widened when they were read.
pub(crate) fn numbers_array<T: Number>(data_type: &DataType, values: &[T]) -> ArrayRef {
    match data_type {
        DataType::Boolean => {
            return Arc::new(BooleanArray::from_iter(values.iter().map(|value| Some(value.to_f64() != 0.0))));
        }
        DataType::Float16 => return narrowed::<Float16Type, T>(values, arrow_f16),
        DataType::Float32 => return narrowed::<Float32Type, T>(values, |v| v as f32),
        DataType::Float64 => return narrowed::<Float64Type, T>(values, |v| v),
        _ => {}
    }
    let width = data_type.primitive_width().unwrap_or(8);
    let bytes: Vec<u8> =
        values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)).collect();
    let data = ArrayData::builder(data_type.clone()).len(values.len()).add_buffer(aligned(&bytes, width));
    make_array(data.build().expect("as many values as bytes for them"))
}

fn arrow_f16(value: f64) -> <Float16Type as ArrowPrimitiveType>::Native {
    <Float16Type as ArrowPrimitiveType>::Native::from_f64(value)
}

fn narrowed<P: ArrowPrimitiveType, T: Number>(values: &[T], narrow: impl Fn(f64) -> P::Native) -> ArrayRef {
    let values = values.iter().map(|value| narrow(value.to_f64()));
    Arc::new(PrimitiveArray::<P>::from_iter_values(values))
}

/// Copies bytes to where numbers of this width may be.
fn aligned(bytes: &[u8], width: usize) -> Buffer {
    match width {
        ..=8 => Buffer::from_slice_ref(bytes),
        // A vector of bytes need not be aligned for 16-byte integers.
        _ => {
            let words =
                bytes.chunks_exact(16).filter_map(|word| word.try_into().ok().map(i128::from_le_bytes));
            Buffer::from_iter(words)
        }
    }
}

/// Creates an array of text, or of bytes for other types.
pub(crate) fn strings_array(data_type: &DataType, values: &[&[u8]]) -> ArrayRef {
    // They may exceed 32-bit offsets; bytes that are not UTF-8 may grow threefold.
    let are_long = values.iter().map(|value| value.len()).sum::<usize>() > i32::MAX as usize / 3;
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            // A frequent value may be cut inside a character.
            let text = |bytes: &&[u8]| String::from_utf8_lossy(whole_characters(bytes)).into_owned();
            match are_long {
                false => Arc::new(StringArray::from_iter_values(values.iter().map(text))),
                true => Arc::new(LargeStringArray::from_iter_values(values.iter().map(text))),
            }
        }
        DataType::FixedSizeBinary(_)
            if values.iter().all(|value| value.len() < super::strings::MOST_KEPT) =>
        {
            match FixedSizeBinaryArray::try_from_iter(values.iter()) {
                Ok(array) => Arc::new(array),
                Err(_) => Arc::new(BinaryArray::from_iter_values(values)),
            }
        }
        DataType::Interval(_) => {
            let bytes: Vec<u8> = values.concat();
            let width = data_type.primitive_width().unwrap_or(16);
            let data = ArrayData::builder(data_type.clone()).len(values.len());
            make_array(data.add_buffer(aligned(&bytes, width)).build().expect("values as they were read"))
        }
        _ if are_long => Arc::new(LargeBinaryArray::from_iter_values(values)),
        _ => Arc::new(BinaryArray::from_iter_values(values)),
    }
}

/// Drops a last character that was cut.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Number of intervals of a histogram.
const BINS: usize = 16;
