//! Values of 32 and 64 bits: integers, floats, dates and times in their stored unit; and booleans.

use super::array_builders::primitive;
use super::conversion_error::{ConversionError, wrong_array};
use super::non_null::NonNullSlots;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, UInt8Type, UInt16Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_schema::DataType;
use marquetry_base::Result;
use marquetry_encoding::Bitmap;

/// Converts the values without a copy.
pub(super) fn as_is<T: ArrowNativeType>(
    values: Vec<T>,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    let len = values.len();
    primitive(Buffer::from_vec(values), len, nulls, to)
}

/// Keeps the low 8 bits. SPEC: LogicalTypes.md, "Numeric Types": values beyond the declared width are undefined.
pub(super) fn narrow_to_8(values: &[u32], nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    as_is(values.iter().map(|&value| value as u8).collect(), nulls, to)
}

/// Keeps the low 16 bits.
pub(super) fn narrow_to_16(values: &[u32], nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    as_is(values.iter().map(|&value| value as u16).collect(), nulls, to)
}

/// Appends the picked values of an array with 4 bytes each.
pub(super) fn copied_w32(array: &dyn Array, picks: &NonNullSlots<'_>, out: &mut Vec<u32>) {
    picks.copy_w32(array.to_data().buffer::<u32>(0), out);
}

/// Appends the picked values of an array with 8 bytes each.
pub(super) fn copied_w64(array: &dyn Array, picks: &NonNullSlots<'_>, out: &mut Vec<u64>) {
    picks.copy_w64(array.to_data().buffer::<u64>(0), out);
}

/// Appends the picked values of an array of 8-bit or 16-bit integers.
pub(super) fn widened(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut Vec<u32>,
) -> Result<(), ConversionError> {
    if let Some(array) = array.as_primitive_opt::<Int8Type>() {
        picks.map(array.values(), out, |value| i32::from(value) as u32);
    } else if let Some(array) = array.as_primitive_opt::<Int16Type>() {
        picks.map(array.values(), out, |value| i32::from(value) as u32);
    } else if let Some(array) = array.as_primitive_opt::<UInt8Type>() {
        picks.map(array.values(), out, u32::from);
    } else if let Some(array) = array.as_primitive_opt::<UInt16Type>() {
        picks.map(array.values(), out, u32::from);
    } else {
        return Err(wrong_array(array));
    }
    Ok(())
}

/// Appends the picked bits.
pub(super) fn bits_from(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut Bitmap,
) -> Result<(), ConversionError> {
    let values = array.as_boolean_opt().ok_or_else(|| wrong_array(array))?.values();
    out.reserve(picks.len());
    picks.copy_bits(values.values(), values.offset(), out);
    Ok(())
}
