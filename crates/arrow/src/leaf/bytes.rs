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
    let lengths = || views.views().iter().map(|&view| view as u32 as usize);
    let total: usize = lengths().sum();
    if O::from_usize(total).is_none() {
        return Err(Error::limit(format!(
            "{total} bytes of strings in one array; read smaller batches, or with 64-bit offsets or as views"
        )));
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(total + INLINE);
    for (i, view) in views.views().iter().enumerate() {
        let len = *view as u32 as usize;
        if len <= INLINE {
            // PERF: a copy of known length, of which the excess is taken back, instead of one of variable length.
            let end = bytes.len() + len;
            bytes.extend_from_slice(&view.to_le_bytes()[4..]);
            bytes.truncate(end);
        } else {
            bytes.extend_from_slice(views.get(i));
        }
    }
    Ok((OffsetBuffer::from_lengths(lengths()), Buffer::from_vec(bytes)))
}

/// Strings up to this length are in their view.
const INLINE: usize = 12;
