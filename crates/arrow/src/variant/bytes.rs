//! Byte strings of an array, in any layout.

use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;
use std::sync::Arc;

/// An array of byte strings in any layout.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
}

/// Returns the byte strings of an array; `None` if it has other values.
pub(super) fn bytes_of(array: &ArrayRef) -> Option<Bytes<'_>> {
    Some(match array.data_type() {
        DataType::Binary => Bytes::Binary(array.as_binary()),
        DataType::LargeBinary => Bytes::LargeBinary(array.as_binary()),
        DataType::BinaryView => Bytes::BinaryView(array.as_binary_view()),
        _ => return None,
    })
}

impl<'a> Bytes<'a> {
    /// Returns them as views, with `fill` for nulls. `fill` must be short enough to be inlined in a view.
    pub(super) fn views(&self, fill: &[u8]) -> ArrayRef {
        let views = match self {
            Bytes::Binary(array) => BinaryViewArray::from(*array),
            Bytes::LargeBinary(array) => BinaryViewArray::from(*array),
            Bytes::BinaryView(array) => (*array).clone(),
        };
        let Some(nulls) = views.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Arc::new(views);
        };
        let fill = make_view(fill, 0, 0);
        let filled = views.views().iter().zip(nulls.iter());
        let filled = filled.map(|(view, is_there)| if is_there { *view } else { fill }).collect();
        // These are views of an array, and one that needs no buffer.
        match BinaryViewArray::try_new(filled, views.data_buffers().to_vec(), None) {
            Ok(filled) => Arc::new(filled),
            Err(_) => Arc::new(views),
        }
    }

    #[inline]
    pub(super) fn value(&self, row: usize) -> &'a [u8] {
        match self {
            Bytes::Binary(array) => array.value(row),
            Bytes::LargeBinary(array) => array.value(row),
            Bytes::BinaryView(array) => array.value(row),
        }
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Bytes::Binary(array) => array.is_null(row),
            Bytes::LargeBinary(array) => array.is_null(row),
            Bytes::BinaryView(array) => array.is_null(row),
        }
    }
}
