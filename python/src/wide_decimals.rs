//! Decimal types that other libraries read correctly.

use arrow_schema::DataType;

/// The stored type of a column, with decimals widened to at least 128 bits.
///
/// QUIRK: polars takes decimals of 32 and 64 bits that cross Arrow's C interface for 128-bit ones, and reads wrong
/// values, beyond the end of the array.
pub(crate) fn widened(stored: &DataType) -> DataType {
    match stored {
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(widened(values))),
        other => other.clone(),
    }
}
