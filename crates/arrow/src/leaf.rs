//! The values of one column as an Arrow array, and the other way round.
//!
//! [`fits`] is the table of what a column can become; [`into_array`] makes it so. A pair of stored layout and Arrow type
//! is looked at once a batch, and then one loop runs over all values, or none where the layouts are the same.
//!
//! | stored as | becomes, by default | and, where hinted at or wanted |
//! |---|---|---|
//! | BOOLEAN | Boolean | |
//! | INT32, INT64 | Int32, Int64 | Date32, Date64, Time32, Time64, Timestamp, Duration: the same bits |
//! | INTEGER(8 to 64) | Int8 to UInt64: the low bits | |
//! | DATE | Date32 | Date64 |
//! | TIME, TIMESTAMP | Time32, Time64, Timestamp | another unit, if each value is exact in it |
//! | INT96 | Timestamp | any unit, rounded down |
//! | DECIMAL | Decimal128, Decimal256 | any width that holds each value, and more precision |
//! | FLOAT, DOUBLE, FLOAT16 | Float32, Float64, Float16 | |
//! | INTERVAL | IntervalMonthDayNano | IntervalYearMonth, IntervalDayTime |
//! | BYTE_ARRAY, text | Utf8 | LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView |
//! | BYTE_ARRAY, other | Binary | LargeBinary, BinaryView; as text, if it is UTF-8 |
//! | FIXED_LEN_BYTE_ARRAY(n) | FixedSizeBinary(n) | |
//! | NULL | Null | |
//! | any of these | | a dictionary or runs of what it can become |
//!
//! [`from_array`] is for the arrays of a column that `schema` made for them: the values, without nulls, as they are
//! stored. Each file below has both directions.
//!
//! Annotated columns can also be read as what they are stored as, without the annotation.

mod bytes;
mod decimal;
mod dictionary;
mod fixed;
mod from_array;
mod int96;
mod interval;
mod picks;
mod run;
mod take;
mod temporal;
mod words;

pub(crate) use int96::fits as int96_fits;

pub(crate) use dictionary::DictionaryCache;
pub(crate) use from_array::{Unfit, from_array};
pub(crate) use picks::{Picks, validity};

use crate::refused;
use crate::schema::default_types;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, NullArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Leaf;
use marquetry_encoding::{Bitmap, PhysicalType, Values};
use std::sync::Arc;

/// Whether `leaf` can become an array of type `to`. Some of these are tries, whose success depends on the values.
pub(crate) fn fits(leaf: &Leaf, to: &DataType) -> bool {
    fits_as_meant(leaf, to) || as_stored(leaf.physical(), to)
}

/// Whether `leaf` can become an array of type `to` that means the same.
pub(crate) fn fits_as_meant(leaf: &Leaf, to: &DataType) -> bool {
    use DataType::*;
    match to {
        Dictionary(keys, values) => {
            let nested = matches!(**values, Dictionary(..) | RunEndEncoded(..) | Null);
            keys.is_dictionary_key_type() && !nested && fits_as_meant(leaf, values)
        }
        RunEndEncoded(ends, values) => {
            let nested = matches!(values.data_type(), RunEndEncoded(..) | Null);
            ends.data_type().is_run_ends_type() && !nested && fits_as_meant(leaf, values.data_type())
        }
        _ => as_meant(leaf.physical(), leaf.logical(), to),
    }
}

fn as_meant(physical: PhysicalType, logical: Option<&LogicalType>, to: &DataType) -> bool {
    use DataType::*;
    let Some(logical) = logical else {
        return as_stored(physical, to) || as_bits(physical, to);
    };
    match (logical, to) {
        (LogicalType::Null, _) => *to == Null,
        (LogicalType::Integer { bits, signed }, _) => {
            default_types::integer(*bits, *signed).as_ref() == Some(to)
        }
        (LogicalType::Date, _) => matches!(to, Date32 | Date64),
        (LogicalType::Time { .. }, Time32(_)) => physical == PhysicalType::Int32,
        (LogicalType::Time { .. }, Time64(_)) => physical == PhysicalType::Int64,
        (LogicalType::Timestamp { .. }, Timestamp(..)) => true,
        (
            LogicalType::Decimal { precision, scale },
            Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s),
        ) => u32::from(*p) >= *precision && i32::from(*s) == *scale && decimal::is_valid(to),
        (LogicalType::Interval, _) => matches!(to, Interval(_)),
        (LogicalType::Float16, _) => *to == Float16,
        (LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Decimal { .. }, _) => false,
        // Text, documents, geometries, UUIDs: bytes.
        _ => as_stored(physical, to),
    }
}

/// The types whose arrays hold exactly what is stored.
fn as_stored(physical: PhysicalType, to: &DataType) -> bool {
    use DataType::*;
    match physical {
        PhysicalType::Boolean => *to == Boolean,
        PhysicalType::Int32 => *to == Int32,
        PhysicalType::Int64 => *to == Int64,
        PhysicalType::Float => *to == Float32,
        PhysicalType::Double => *to == Float64,
        PhysicalType::Int96 => matches!(to, Timestamp(..)),
        PhysicalType::ByteArray => {
            matches!(to, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
        }
        PhysicalType::FixedLenByteArray(width) => *to == default_types::fixed(width),
    }
}

/// What writers store as bare integers because Parquet has no name for it, seconds for example.
fn as_bits(physical: PhysicalType, to: &DataType) -> bool {
    use DataType::*;
    match physical {
        PhysicalType::Int32 => {
            matches!(to, Date32 | Time32(TimeUnit::Second | TimeUnit::Millisecond))
        }
        PhysicalType::Int64 => matches!(
            to,
            Date64 | Timestamp(..) | Duration(_) | Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)
        ),
        _ => false,
    }
}

/// The array of type `to` of one batch of `leaf`.
///
/// Text in `batch` must be UTF-8, as the chunk reader guarantees. `cache` keeps the values of the column's dictionary
/// between batches, as dictionary arrays and timestamps of INT96 have them.
pub(crate) fn into_array(
    batch: ColumnBatch,
    leaf: &Leaf,
    to: &DataType,
    cache: &mut DictionaryCache,
) -> Result<ArrayRef> {
    let result = match to {
        DataType::Dictionary(keys, values) => dictionary::into_array(batch, leaf, keys, values, cache),
        DataType::RunEndEncoded(ends, _) => run::into_array(batch, leaf, ends.data_type(), to, cache),
        _ => {
            // PERF: a batch is not moved about as a whole.
            let ColumnBatch { values, validity, dictionary, .. } = batch;
            let dictionary = match (to, dictionary) {
                (DataType::Timestamp(unit, _), Some(dictionary)) => Some(cache.timestamps(dictionary, *unit)),
                (_, dictionary) => dictionary,
            };
            dictionary::look_up(values, validity.as_ref(), dictionary)
                .and_then(|values| from_values(values, nulls(validity), leaf, to, is_text(leaf)))
        }
    };
    result.map_err(|error| error.in_column(leaf.dotted().clone()))
}

/// How many bytes an array of type `to` takes that are not those of the batch.
pub(crate) fn copied_bytes(batch: &ColumnBatch, to: &DataType) -> usize {
    match (&batch.values, to) {
        (
            Values::Bytes(views),
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary,
        ) => {
            let lengths = views.views().iter().map(|&view| view as u32 as usize);
            lengths.fold(8 * (views.len() + 1), usize::saturating_add)
        }
        (Values::Fixed(values), _) => values.len() * values.width().max(16),
        _ => 0,
    }
}

/// The array of plain values. `trusted` says that all of them are known to be UTF-8.
fn from_values(
    values: Values,
    nulls: Option<NullBuffer>,
    leaf: &Leaf,
    to: &DataType,
    trusted: bool,
) -> Result<ArrayRef> {
    use DataType::*;
    if nulls.as_ref().is_some_and(|nulls| nulls.len() != values.len()) {
        return Err(Error::corrupt(format!("{} values, but not as many validity bits", values.len())));
    }
    match (to, values) {
        (Null, values) => null_array(&values, nulls),
        (Boolean, Values::Bit(bits)) => Ok(Arc::new(BooleanArray::new(boolean_buffer(bits), nulls))),
        (Int8 | UInt8, Values::W32(values)) => words::narrow_to_8(&values, nulls, to),
        (Int16 | UInt16, Values::W32(values)) => words::narrow_to_16(&values, nulls, to),
        (Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..), values) => {
            decimal::into_array(values, nulls, to)
        }
        (Timestamp(unit, _), Values::Fixed(values)) => int96::into_array(&values, nulls, *unit, to),
        (Time32(_) | Time64(_) | Timestamp(..) | Date64, values @ (Values::W32(_) | Values::W64(_))) => {
            temporal::into_array(values, nulls, leaf.logical(), to)
        }
        (Interval(unit), Values::Fixed(values)) => interval::into_array(&values, nulls, *unit),
        (Float16, Values::Fixed(values)) => fixed::half_floats(&values, nulls),
        (FixedSizeBinary(width), Values::Fixed(values)) => fixed::into_array(values, nulls, *width),
        (Utf8 | LargeUtf8 | Utf8View, Values::Bytes(views)) => {
            if !trusted && let Some(i) = views.first_not_utf8(0..views.len()) {
                return Err(not_utf8(i));
            }
            bytes::text(views, nulls, to)
        }
        (Utf8 | LargeUtf8, values @ Values::Offsets(_))
            if !trusted && let Some(i) = values.first_not_utf8(0..values.len()) =>
        {
            Err(not_utf8(i))
        }
        (Utf8 | LargeUtf8, Values::Offsets(strings)) => bytes::joined_text(strings, nulls, to),
        (Binary | LargeBinary, Values::Offsets(strings)) => bytes::joined_binary(strings, nulls, to),
        (Binary | LargeBinary | BinaryView, Values::Bytes(views)) => bytes::binary(views, nulls, to),
        (_, Values::W32(values)) if to.primitive_width() == Some(4) => words::as_is(values, nulls, to),
        (_, Values::W64(values)) if to.primitive_width() == Some(8) => words::as_is(values, nulls, to),
        _ => Err(Error::argument(format!("{} cannot be read as {to}", describe(leaf)))),
    }
}

#[cold]
fn not_utf8(i: usize) -> Error {
    Error::corrupt(format!("value {i} of the batch is not UTF-8; read it as binary"))
}

/// The column's types, for messages.
pub(crate) fn describe(leaf: &Leaf) -> String {
    match leaf.logical() {
        Some(logical) => format!("{} ({logical:?})", leaf.physical()),
        None => leaf.physical().to_string(),
    }
}

/// Whether the chunk reader has seen to it that the values are UTF-8.
fn is_text(leaf: &Leaf) -> bool {
    leaf.logical().is_some_and(LogicalType::is_text)
}

pub(crate) fn boolean_buffer(bits: Bitmap) -> BooleanBuffer {
    let len = bits.len();
    BooleanBuffer::new(Buffer::from_vec(bits.into_bytes()), 0, len)
}

pub(crate) fn nulls(validity: Option<Bitmap>) -> Option<NullBuffer> {
    validity.map(|bits| NullBuffer::new(boolean_buffer(bits)))
}

fn null_array(values: &Values, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let null_count = nulls.map_or(0, |nulls| nulls.null_count());
    if null_count < values.len() {
        let count = values.len() - null_count;
        return Err(Error::corrupt(format!("{count} values in a column that is declared to have none")));
    }
    Ok(Arc::new(NullArray::new(values.len())))
}

/// An array of primitive type `to` over `buffer`, which holds `len` values of it, from where such may begin.
///
/// PERF: not by way of `ArrayData`, which is moved about and looked through for longer than a small batch takes to decode.
fn primitive(buffer: Buffer, len: usize, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    macro_rules! array_of {
        ($type:ty) => {
            primitive_of::<$type>(buffer, len, nulls, to)
        };
    }
    arrow_array::downcast_primitive! {
        to => (array_of),
        _ => Err(Error::argument(format!("{to} is no primitive type")))
    }
}

fn primitive_of<T: ArrowPrimitiveType>(
    buffer: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    if buffer.len() != len * size_of::<T::Native>() {
        return Err(Error::argument(format!("{} bytes are not {len} values of {to}", buffer.len())));
    }
    let values = ScalarBuffer::<T::Native>::from(buffer);
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    shared(PrimitiveArray::<T>::try_new(values, nulls).map(|array| array.with_data_type(to.clone())))
}

/// `array` behind a pointer, or Arrow's complaint as ours.
fn shared<A: Array + 'static>(array: Result<A, arrow_schema::ArrowError>) -> Result<ArrayRef> {
    array.map(|array| Arc::new(array) as ArrayRef).map_err(refused)
}

#[cfg(test)]
mod tests;
