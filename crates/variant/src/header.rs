//! The first byte of a value: its type and length.
//!
//! Spec: VariantEncoding.md, "Value encoding". The lower two bits are the basic type. The others are the primitive
//! type, the length of a short string, or the widths of the numbers at the start of an object or array.

use crate::number::number;
use marquetry_base::{ByteCursor, Error, Result};

/// The widths of the numbers in an object or array, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Width of the number of elements: 1 or 4.
    pub(crate) len_size: usize,
    /// Width of an id; 0 in arrays.
    pub(crate) id_size: usize,
    pub(crate) offset_size: usize,
}

impl Layout {
    /// Decodes the upper six bits of an object's first byte.
    #[inline]
    pub(crate) fn of_object(header: u8) -> Self {
        Layout {
            len_size: if header >> 4 & 1 == 1 { 4 } else { 1 },
            id_size: usize::from(header >> 2 & 3) + 1,
            offset_size: usize::from(header & 3) + 1,
        }
    }

    /// Decodes the upper six bits of an array's first byte.
    #[inline]
    pub(crate) fn of_array(header: u8) -> Self {
        Layout {
            len_size: if header >> 2 & 1 == 1 { 4 } else { 1 },
            id_size: 0,
            offset_size: usize::from(header & 3) + 1,
        }
    }

    /// Returns the declared length of an object or array after its first byte. There may be fewer bytes.
    #[inline]
    fn byte_len(self, bytes: &[u8]) -> Result<usize> {
        let Layout { len_size, id_size, offset_size } = self;
        let before_values = |len: usize| {
            let ids_and_offsets = len.checked_mul(id_size + offset_size)?;
            ids_and_offsets.checked_add(len_size + offset_size)
        };
        let end = number(bytes, 0, len_size).and_then(before_values).and_then(|start| {
            // The last offset is right before the first value.
            let last = bytes.get(start - offset_size..)?;
            start.checked_add(number(last, 0, offset_size)?)
        });
        end.ok_or_else(ends_early)
    }
}

#[cold]
pub(crate) fn ends_early() -> Error {
    Error::truncated("a variant object or array ends before its values do")
}

/// Returns the declared length of the value at the start of `bytes`. There may be fewer bytes.
#[inline]
pub(crate) fn value_len(bytes: &[u8]) -> Result<usize> {
    let (&first, rest) =
        bytes.split_first().ok_or_else(|| Error::truncated("a variant value of no bytes"))?;
    let header = first >> 2;
    Ok(1 + match first & 3 {
        SHORT_STRING => usize::from(header),
        OBJECT => Layout::of_object(header).byte_len(rest)?,
        ARRAY => Layout::of_array(header).byte_len(rest)?,
        _ => match header {
            NULL | TRUE | FALSE => 0,
            INT8 => 1,
            INT16 => 2,
            INT32 | DATE | FLOAT => 4,
            INT64 | DOUBLE | TIME | TIMESTAMP_MICROS | LOCAL_MICROS | TIMESTAMP_NANOS | LOCAL_NANOS => 8,
            DECIMAL4 => 5,
            DECIMAL8 => 9,
            DECIMAL16 => 17,
            UUID => 16,
            BINARY | STRING => ByteCursor::new(rest).u32_le()? as usize + 4,
            code => return Err(unknown(code)),
        },
    })
}

#[cold]
pub(crate) fn unknown(code: u8) -> Error {
    Error::unsupported(format!("variant of the unknown primitive type {code}"))
}

/// Basic types, the lower two bits of a value's first byte.
pub(crate) const PRIMITIVE: u8 = 0;
pub(crate) const SHORT_STRING: u8 = 1;
pub(crate) const OBJECT: u8 = 2;
pub(crate) const ARRAY: u8 = 3;

/// Primitive types.
pub(crate) const NULL: u8 = 0;
pub(crate) const TRUE: u8 = 1;
pub(crate) const FALSE: u8 = 2;
pub(crate) const INT8: u8 = 3;
pub(crate) const INT16: u8 = 4;
pub(crate) const INT32: u8 = 5;
pub(crate) const INT64: u8 = 6;
pub(crate) const DOUBLE: u8 = 7;
pub(crate) const DECIMAL4: u8 = 8;
pub(crate) const DECIMAL8: u8 = 9;
pub(crate) const DECIMAL16: u8 = 10;
pub(crate) const DATE: u8 = 11;
pub(crate) const TIMESTAMP_MICROS: u8 = 12;
pub(crate) const LOCAL_MICROS: u8 = 13;
pub(crate) const FLOAT: u8 = 14;
pub(crate) const BINARY: u8 = 15;
pub(crate) const STRING: u8 = 16;
pub(crate) const TIME: u8 = 17;
pub(crate) const TIMESTAMP_NANOS: u8 = 18;
pub(crate) const LOCAL_NANOS: u8 = 19;
pub(crate) const UUID: u8 = 20;
