//! Decimals of at least 128 bits, which all libraries read correctly.

use arrow_schema::DataType;

/// Returns the stored type of a column with decimals of at least 128 bits.
///
/// QUIRK: polars takes decimals of 32 and 64 bits that cross Arrow's C interface for decimals of 128 bits, and reads wrong values, beyond
/// the end of the array.
pub(crate) fn widened(stored: &DataType) -> DataType {
    match stored {
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(widened(values))),
        other => other.clone(),
    }
}
