//! Decimals that others read right.

use arrow_schema::DataType;

/// The stored type of a column, its decimals with 128 bits at least.
///
/// QUIRK: polars takes those of 32 and 64 bits that cross Arrow's C interface for such of 128, and reads other values, beyond the end of the
/// array.
pub(crate) fn widened(stored: &DataType) -> DataType {
    match stored {
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(widened(values))),
        other => other.clone(),
    }
}
