//! Byte strings of an array, in whatever layout.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;

/// Byte strings of whatever layout.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
}

/// The byte strings of an array; `None` if it has other values.
pub(super) fn bytes_of(array: &ArrayRef) -> Option<Bytes<'_>> {
    Some(match array.data_type() {
        DataType::Binary => Bytes::Binary(array.as_binary()),
        DataType::LargeBinary => Bytes::LargeBinary(array.as_binary()),
        DataType::BinaryView => Bytes::BinaryView(array.as_binary_view()),
        _ => return None,
    })
}

impl<'a> Bytes<'a> {
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
