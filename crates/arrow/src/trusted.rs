//! Arrays from parts that were validated when they were decoded. All of the crate's `unsafe` is here.
//!
//! Arrow's checked constructors would check every view and every character a second time. What they check holds:
//!
//! - INVARIANT: each view of a [`StringViews`] is inline, or refers to one of its buffers, a range inside that buffer,
//!   and that range's first four bytes. Inline views are padded with zeros. The decoders of `marquetry-encoding` build
//!   them so.
//! - INVARIANT: the offsets of a [`OffsetStrings`](marquetry_encoding::OffsetStrings) ascend from 0. Only its methods
//!   append to them, and they append lengths. The same holds for [`ListOffsets`](marquetry_core::nesting::ListOffsets),
//!   which are made of a column's levels only.
//! - INVARIANT: text is UTF-8. The chunk reader of `marquetry-core` validates columns whose logical type is text;
//!   `crate::convert` validates all others before it gets here.
//!
//! Debug builds check them, so tests and fuzzing would notice.

use crate::arrow_error;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{
    ArrayRef, BinaryViewArray, DictionaryArray, GenericStringArray, OffsetSizeTrait, PrimitiveArray,
    StringViewArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use marquetry_base::Result;
use marquetry_encoding::{StringViews, max_u32};

/// Creates an array of the strings in `views`, all UTF-8. Copies nothing.
pub(crate) fn string_view(views: StringViews, nulls: Option<NullBuffer>) -> Result<StringViewArray> {
    let (views, buffers) = parts(views);
    check_len(views.len(), nulls.as_ref())?;
    debug_assert!(StringViewArray::try_new(views.clone(), buffers.clone(), nulls.clone()).is_ok());
    // SAFETY: views are valid and text is UTF-8, see the module's invariants; `nulls` is as long as `views`.
    Ok(unsafe { StringViewArray::new_unchecked(views, buffers, nulls) })
}

/// Creates an array of the byte strings in `views`. Copies nothing.
pub(crate) fn binary_view(views: StringViews, nulls: Option<NullBuffer>) -> Result<BinaryViewArray> {
    let (views, buffers) = parts(views);
    check_len(views.len(), nulls.as_ref())?;
    debug_assert!(BinaryViewArray::try_new(views.clone(), buffers.clone(), nulls.clone()).is_ok());
    // SAFETY: views are valid, see the module's invariants; `nulls` is as long as `views`.
    Ok(unsafe { BinaryViewArray::new_unchecked(views, buffers, nulls) })
}

/// Creates an array of strings, each of which was valid UTF-8 before they were concatenated into `bytes`. `offsets` are
/// where they begin.
pub(crate) fn string<O: OffsetSizeTrait>(
    offsets: OffsetBuffer<O>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<GenericStringArray<O>> {
    check_len(offsets.len() - 1, nulls.as_ref())?;
    if offsets.last().is_none_or(|last| last.as_usize() > bytes.len()) {
        return Err(arrow_error(ArrowError::InvalidArgumentError("offsets beyond the bytes".to_owned())));
    }
    debug_assert!(GenericStringArray::try_new(offsets.clone(), bytes.clone(), nulls.clone()).is_ok());
    // SAFETY: an `OffsetBuffer` ascends from 0 or more, and its last offset is inside `bytes`; text is UTF-8 between any
    // two offsets, see the module's invariants; `nulls` is as long as there are strings.
    Ok(unsafe { GenericStringArray::new_unchecked(offsets, bytes, nulls) })
}

/// Converts the offsets of a [`OffsetStrings`](marquetry_encoding::OffsetStrings), or of a
/// [`ListOffsets`](marquetry_core::nesting::ListOffsets), of the width that an array needs.
pub(crate) fn ascending<O: OffsetSizeTrait>(offsets: ScalarBuffer<O>) -> OffsetBuffer<O> {
    debug_assert!(offsets.first() == Some(&O::usize_as(0)) && offsets.is_sorted());
    // SAFETY: the offsets ascend from 0, see the module's invariants.
    unsafe { OffsetBuffer::new_unchecked(offsets) }
}

/// Creates a dictionary array from 32-bit keys, signed or not. Fails if a key has no value: checks only the largest
/// key, where Arrow checks each.
pub(crate) fn dictionary<K: ArrowDictionaryKeyType>(
    keys: Vec<u32>,
    nulls: Option<NullBuffer>,
    values: ArrayRef,
) -> Result<DictionaryArray<K>> {
    assert_eq!(size_of::<K::Native>(), size_of::<u32>());
    let all_null = nulls.as_ref().is_some_and(|nulls| nulls.null_count() == keys.len());
    let largest = max_u32(&keys);
    if !keys.is_empty() && !all_null && (largest as usize >= values.len() || i32::try_from(largest).is_err())
    {
        let message = format!("key {largest} among {} values", values.len());
        return Err(arrow_error(ArrowError::InvalidArgumentError(message)));
    }
    let keys = ScalarBuffer::<K::Native>::from(Buffer::from_vec(keys));
    let keys = PrimitiveArray::<K>::try_new(keys, nulls).map_err(arrow_error)?;
    debug_assert!(DictionaryArray::try_new(keys.clone(), values.clone()).is_ok());
    // SAFETY: the largest key has a value, and is not a negative number for a signed type, so every key has; or all are
    // null.
    Ok(unsafe { DictionaryArray::new_unchecked(keys, values) })
}

fn parts(views: StringViews) -> (ScalarBuffer<u128>, Vec<Buffer>) {
    let (views, buffers) = views.into_parts();
    (ScalarBuffer::from(views), buffers.into_iter().map(Buffer::from).collect())
}

fn check_len(len: usize, nulls: Option<&NullBuffer>) -> Result<()> {
    match nulls {
        Some(nulls) if nulls.len() != len => {
            let message = format!("{len} strings, {} validity bits", nulls.len());
            Err(arrow_error(ArrowError::InvalidArgumentError(message)))
        }
        _ => Ok(()),
    }
}
