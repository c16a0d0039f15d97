//! BYTE_ARRAY: text and binary, as views or with offsets.

use super::shared;
use crate::trusted;
use arrow_array::{ArrayRef, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::Views;
use std::sync::Arc;

/// Strings, all of which are known to be UTF-8.
pub(super) fn text(views: Views, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    Ok(match to {
        DataType::Utf8View => Arc::new(trusted::string_view(views, nulls)?),
        DataType::LargeUtf8 => {
            let (offsets, bytes) = joined::<i64>(&views)?;
            Arc::new(trusted::string(offsets, bytes, nulls)?)
        }
        _ => {
            let (offsets, bytes) = joined::<i32>(&views)?;
            Arc::new(trusted::string(offsets, bytes, nulls)?)
        }
    })
}

/// Byte strings.
pub(super) fn binary(views: Views, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    match to {
        DataType::BinaryView => Ok(Arc::new(trusted::binary_view(views, nulls)?)),
        DataType::LargeBinary => {
            let (offsets, bytes) = joined::<i64>(&views)?;
            shared(GenericBinaryArray::try_new(offsets, bytes, nulls))
        }
        _ => {
            let (offsets, bytes) = joined::<i32>(&views)?;
            shared(GenericBinaryArray::try_new(offsets, bytes, nulls))
        }
    }
}

/// The strings end to end, and where each begins.
fn joined<O: OffsetSizeTrait>(views: &Views) -> Result<(OffsetBuffer<O>, Buffer)> {
    let total: usize = views.views().iter().map(|&view| view as u32 as usize).sum();
    if O::from_usize(total).is_none() {
        return Err(Error::limit(format!(
            "{total} bytes of strings in one array; read smaller batches, or with 64-bit offsets or as views"
        )));
    }
    let mut offsets = Vec::with_capacity(views.len() + 1);
    offsets.push(O::usize_as(0));
    let mut bytes = Vec::new();
    // A long string that a dictionary repeats adds up to more than any memory: an error, not an abort.
    bytes.try_reserve(total).map_err(|_| {
        Error::limit(format!("no memory for {total} bytes of strings; read smaller batches, or as views"))
    })?;
    views.join(O::usize_as, &mut offsets, &mut bytes);
    Ok((OffsetBuffer::new(offsets.into()), Buffer::from_vec(bytes)))
}
