//! Converts the values of one column to an Arrow array, and back.
//!
//! [`crate::schema::compatibility`] is the table of what a column can become; [`into_array`] makes it so. The pair of
//! stored layout and Arrow type is looked up once per batch. Then one loop runs over all values, or none if the layouts
//! are the same.
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
//! [`from_array()`] converts the arrays of a column whose schema `schema` made for them: to the non-null values, as
//! they are stored. Each file below has both directions.
//!
//! Annotated columns can also be read as their stored types, without the annotation.

mod array_builders;
mod bytes;
mod conversion_error;
mod decimal;
mod dictionary;
mod fixed;
mod from_array;
mod from_values;
mod int96;
mod interval;
mod non_null;
mod primitive;
mod run;
mod take;
mod temporal;

pub(crate) use array_builders::{boolean_buffer, nulls};
pub(crate) use conversion_error::ConversionError;
pub(crate) use dictionary::DictionaryCache;
pub(crate) use from_array::from_array;
pub(crate) use int96::fits as int96_fits;
pub(crate) use non_null::{NonNullSlots, validity};

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use from_values::from_values;
use marquetry_base::Result;
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::Leaf;
use marquetry_encoding::Values;

/// Converts one batch of `leaf` to an array of type `to`.
///
/// Text in `batch` must be UTF-8, as the chunk reader guarantees. `cache` keeps the converted values of the column's
/// dictionary between batches, for dictionary arrays and for timestamps of INT96.
pub(crate) fn into_array(
    batch: ColumnBatch,
    leaf: &Leaf,
    to: &DataType,
    cache: &mut DictionaryCache,
) -> Result<ArrayRef> {
    let result = match to {
        DataType::Dictionary(keys, values) => dictionary::into_array(batch, leaf, keys, values, cache),
        DataType::RunEndEncoded(ends, of) => run::split(batch, ends.data_type())
            .and_then(|(runs, ends)| ends.into_array(&into_array(runs, leaf, of.data_type(), cache)?, to)),
        _ => {
            // PERF: taken apart, because moving a whole batch costs time.
            let ColumnBatch { values, validity, dictionary, .. } = batch;
            let dictionary = match (to, dictionary) {
                (DataType::Timestamp(unit, _), Some(dictionary)) => Some(cache.timestamps(dictionary, *unit)),
                (_, dictionary) => dictionary,
            };
            dictionary::look_up(values, validity.as_ref(), dictionary)
                .and_then(|values| from_values(values, nulls(validity), leaf, to, leaf.is_text()))
        }
    };
    result.map_err(|error| error.in_column(leaf.dotted().clone()))
}

/// Returns how many bytes an array of type `to` takes that it does not share with the batch.
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

#[cfg(test)]
mod tests;
