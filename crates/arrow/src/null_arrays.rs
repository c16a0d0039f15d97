//! Arrays of nulls, with a check of their size: widths and lengths of types are only what metadata claims.

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};

/// Creates an array of `len` nulls. Fails if it takes more than [`MAX_NULL_BYTES`].
pub(crate) fn null_array(data_type: &DataType, len: usize) -> Result<ArrayRef> {
    check_nulls(data_type, len, MAX_NULL_BYTES)?;
    Ok(new_null_array(data_type, len))
}

/// Returns how many bytes `len` nulls take. Fails if that is more than `limit`.
pub(crate) fn check_nulls(data_type: &DataType, len: usize, limit: usize) -> Result<usize> {
    let bytes = len.saturating_mul(null_bytes(data_type));
    if bytes <= limit {
        return Ok(bytes);
    }
    Err(Error::limit(format!(
        "{bytes} bytes of {len} nulls of {data_type} in one batch; read smaller batches"
    )))
}

/// Returns the maximum size of a null, in bytes; at least 1.
fn null_bytes(data_type: &DataType) -> usize {
    let bytes = match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0),
        DataType::FixedSizeList(element, size) => {
            usize::try_from(*size).unwrap_or(0).saturating_mul(null_bytes(element.data_type()))
        }
        DataType::Struct(fields) => {
            fields.iter().fold(0, |sum: usize, field| sum.saturating_add(null_bytes(field.data_type())))
        }
        DataType::RunEndEncoded(_, values) => null_bytes(values.data_type()),
        other => other.primitive_width().unwrap_or(16),
    };
    bytes.saturating_add(1)
}

/// Maximum size of an array of nulls that no page stores, in bytes: enough for 128 Ki vectors of 1,536 floats.
pub(crate) const MAX_NULL_BYTES: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_schema::Field;
    use std::sync::Arc;

    fn lists_of(size: i32, element: DataType) -> DataType {
        DataType::FixedSizeList(Arc::new(Field::new("e", element, true)), size)
    }

    #[test]
    fn widths_and_lengths_multiply() {
        let wide = DataType::FixedSizeBinary(1 << 20);
        assert_eq!(null_array(&wide, 3).unwrap().len(), 3);
        assert!(null_array(&wide, 1 << 20).is_err());
        assert!(null_array(&lists_of(1 << 26, wide), 1).is_err());
        let nested = lists_of(i32::MAX, lists_of(i32::MAX, lists_of(i32::MAX, DataType::FixedSizeBinary(0))));
        assert!(null_array(&nested, 1).is_err());
        let empty = DataType::Struct(arrow_schema::Fields::empty());
        assert!(null_array(&lists_of(i32::MAX, empty), 1 << 20).is_err());
    }
}
