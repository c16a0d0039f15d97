//! Values of 32 and 64 bits: integers, floats, and dates and times in the unit they are stored in.

use super::primitive;
use arrow_array::ArrayRef;
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_schema::DataType;
use marquetry_base::Result;

/// The values as they are; nothing is copied.
pub(super) fn as_is<T: ArrowNativeType>(
    values: Vec<T>,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    let len = values.len();
    primitive(Buffer::from_vec(values), len, nulls, to)
}

/// The low 8 bits. SPEC: LogicalTypes.md, "Numeric Types": values beyond the declared width are undefined.
pub(super) fn narrow_to_8(values: &[u32], nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    as_is(values.iter().map(|&value| value as u8).collect(), nulls, to)
}

/// The low 16 bits.
pub(super) fn narrow_to_16(values: &[u32], nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    as_is(values.iter().map(|&value| value as u16).collect(), nulls, to)
}
