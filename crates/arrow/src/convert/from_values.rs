//! Converts stored values to Arrow arrays, by the Arrow type and the layout of the values.

use super::array_builders::{boolean_buffer, null_array};
use super::{bytes, decimal, fixed, int96, interval, primitive, temporal};
use crate::schema::compatibility::describe;
use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::schema::Leaf;
use marquetry_encoding::Values;
use std::sync::Arc;

/// Converts plain values to an array. `trusted` means that all of them are known to be UTF-8.
pub(super) fn from_values(
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
        (Int8 | UInt8, Values::W32(values)) => primitive::narrow_to_8(&values, nulls, to),
        (Int16 | UInt16, Values::W32(values)) => primitive::narrow_to_16(&values, nulls, to),
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
        (_, Values::W32(values)) if to.primitive_width() == Some(4) => primitive::as_is(values, nulls, to),
        (_, Values::W64(values)) if to.primitive_width() == Some(8) => primitive::as_is(values, nulls, to),
        _ => Err(Error::argument(format!("{} cannot be read as {to}", describe(leaf)))),
    }
}

#[cold]
fn not_utf8(i: usize) -> Error {
    Error::corrupt(format!("value {i} of the batch is not UTF-8; read it as binary"))
}
