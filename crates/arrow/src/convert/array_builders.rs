//! Builds Arrow arrays from finished buffers.

use crate::arrow_error;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, NullArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, Values};
use std::sync::Arc;

pub(crate) fn boolean_buffer(bits: Bitmap) -> BooleanBuffer {
    let len = bits.len();
    BooleanBuffer::new(Buffer::from_vec(bits.into_bytes()), 0, len)
}

pub(crate) fn nulls(validity: Option<Bitmap>) -> Option<NullBuffer> {
    validity.map(|bits| NullBuffer::new(boolean_buffer(bits)))
}

pub(super) fn null_array(values: &Values, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let null_count = nulls.map_or(0, |nulls| nulls.null_count());
    if null_count < values.len() {
        let count = values.len() - null_count;
        return Err(Error::corrupt(format!("{count} values in a column that is declared to have none")));
    }
    Ok(Arc::new(NullArray::new(values.len())))
}

/// Creates an array of primitive type `to` over `buffer`, which holds `len` values and is aligned for them.
///
/// PERF: avoids `ArrayData`: moving and checking that takes longer than decoding a small batch.
pub(super) fn primitive(
    buffer: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    macro_rules! array_of {
        ($type:ty) => {
            primitive_of::<$type>(buffer, len, nulls, to)
        };
    }
    arrow_array::downcast_primitive! {
        to => (array_of),
        _ => Err(Error::argument(format!("{to} is not a primitive type")))
    }
}

fn primitive_of<T: ArrowPrimitiveType>(
    buffer: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    if buffer.len() != len * size_of::<T::Native>() {
        return Err(Error::argument(format!("{} bytes are not {len} values of {to}", buffer.len())));
    }
    let values = ScalarBuffer::<T::Native>::from(buffer);
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    shared(PrimitiveArray::<T>::try_new(values, nulls).map(|array| array.with_data_type(to.clone())))
}

/// Wraps `array` in a pointer, and Arrow's error in ours.
pub(super) fn shared<A: Array + 'static>(array: Result<A, arrow_schema::ArrowError>) -> Result<ArrayRef> {
    array.map(|array| Arc::new(array) as ArrayRef).map_err(arrow_error)
}
