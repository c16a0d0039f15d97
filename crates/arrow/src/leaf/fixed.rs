//! FIXED_LEN_BYTE_ARRAY: bytes of one length, and FLOAT16.

use super::{primitive, shared};
use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::Fixed;

/// The values as they are; nothing is copied. The width may be 0.
pub(super) fn into_array(values: Fixed, nulls: Option<NullBuffer>, width: i32) -> Result<ArrayRef> {
    if usize::try_from(width) != Ok(values.width()) {
        return Err(Error::argument(format!("values of {} bytes are not of {width}", values.width())));
    }
    let len = values.len();
    shared(FixedSizeBinaryArray::try_new_with_len(width, Buffer::from_vec(values.into_bytes()), nulls, len))
}

/// FLOAT16 values: 2 bytes, little-endian. They are copied, because bytes need not be aligned.
pub(super) fn half_floats(values: &Fixed, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let (values, []) = values.as_bytes().as_chunks::<2>() else {
        return Err(Error::argument(format!("values of {} bytes are no FLOAT16", values.width())));
    };
    let bits: Vec<u16> = values.iter().map(|&value| u16::from_le_bytes(value)).collect();
    primitive(Buffer::from_vec(bits), values.len(), nulls, &DataType::Float16)
}
