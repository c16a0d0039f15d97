//! FIXED_LEN_BYTE_ARRAY: bytes of one length, and FLOAT16.

use super::array_builders::{primitive, shared};
use super::conversion_error::{ConversionError, wrong_array};
use super::non_null::NonNullSlots;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::FixedLenBytes;

/// Converts the values without a copy. The width may be 0.
pub(super) fn into_array(values: FixedLenBytes, nulls: Option<NullBuffer>, width: i32) -> Result<ArrayRef> {
    if usize::try_from(width) != Ok(values.width()) {
        return Err(Error::argument(format!("values of {} bytes are not of {width}", values.width())));
    }
    let len = values.len();
    shared(FixedSizeBinaryArray::try_new_with_len(width, Buffer::from_vec(values.into_bytes()), nulls, len))
}

/// Converts FLOAT16 values: 2 bytes, little-endian. Copies them, because bytes need not be aligned.
pub(super) fn half_floats(values: &FixedLenBytes, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let bytes = values.as_bytes();
    let (halves, []) = bytes.as_chunks::<2>() else {
        return Err(Error::argument(format!("values of {} bytes are not FLOAT16", values.width())));
    };
    let bits: Vec<u16> = halves.iter().map(|&value| u16::from_le_bytes(value)).collect();
    primitive(Buffer::from_vec(bits), values.len(), nulls, &DataType::Float16)
}

/// Appends the picked values of an array of the same width.
pub(super) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut FixedLenBytes,
) -> Result<(), ConversionError> {
    let array = array.as_fixed_size_binary_opt().ok_or_else(|| wrong_array(array))?;
    let (bytes, width) = (array.value_data(), out.width());
    out.push_with(picks.len(), |out| {
        out.reserve(picks.len() * width);
        picks.runs(|run| out.extend_from_slice(&bytes[run.start * width..run.end * width]));
    });
    Ok(())
}

/// Appends the picked values of an array of FLOAT16.
pub(super) fn from_half_floats(array: &dyn Array, picks: &NonNullSlots<'_>, out: &mut FixedLenBytes) {
    let data = array.to_data();
    out.push_with(picks.len(), |out| picks.map_bytes(data.buffer::<u16>(0), out, u16::to_le_bytes));
}
