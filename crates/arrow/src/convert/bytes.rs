//! BYTE_ARRAY: text and binary, as views or with offsets.

use super::array_builders::shared;
use super::conversion_error::{ConversionError, wrong_array};
use super::non_null::NonNullSlots;
use crate::trusted;
use ::bytes::Bytes;
use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{Array, ArrayRef, GenericBinaryArray, GenericByteViewArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::{OffsetStrings, StringViews};
use std::ops::Range;
use std::sync::Arc;

/// Converts strings, all of which are known to be UTF-8.
pub(super) fn text(views: StringViews, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
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

/// Converts byte strings.
pub(super) fn binary(views: StringViews, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
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

/// Converts strings that are concatenated already, all of which are known to be UTF-8.
pub(super) fn joined_text(
    strings: OffsetStrings,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    Ok(match to {
        DataType::LargeUtf8 => {
            let (offsets, bytes) = large_parts(strings);
            Arc::new(trusted::string(offsets, bytes, nulls)?)
        }
        _ => {
            let (offsets, bytes) = parts(strings)?;
            Arc::new(trusted::string(offsets, bytes, nulls)?)
        }
    })
}

/// Converts byte strings that are concatenated already.
pub(super) fn joined_binary(
    strings: OffsetStrings,
    nulls: Option<NullBuffer>,
    to: &DataType,
) -> Result<ArrayRef> {
    match to {
        DataType::LargeBinary => {
            let (offsets, bytes) = large_parts(strings);
            shared(GenericBinaryArray::try_new(offsets, bytes, nulls))
        }
        _ => {
            let (offsets, bytes) = parts(strings)?;
            shared(GenericBinaryArray::try_new(offsets, bytes, nulls))
        }
    }
}

/// Returns offsets and bytes. Offsets that ascend from 0 to less than 2^31 have the same bits as signed numbers.
fn parts(strings: OffsetStrings) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let (offsets, bytes) = strings.into_parts();
    if i32::try_from(bytes.len()).is_err() {
        return Err(too_many(bytes.len()));
    }
    Ok((trusted::ascending(Buffer::from_vec(offsets).into()), Buffer::from_vec(bytes)))
}

fn large_parts(strings: OffsetStrings) -> (OffsetBuffer<i64>, Buffer) {
    let (offsets, bytes) = strings.into_parts();
    // PERF: into new memory, as the compiler does not vectorise the loop in place.
    let offsets: Vec<i64> = offsets.iter().map(|&offset| i64::from(offset)).collect();
    (trusted::ascending(offsets.into()), Buffer::from_vec(bytes))
}

#[cold]
fn too_many(bytes: usize) -> Error {
    Error::limit(format!(
        "{bytes} bytes of strings in one array; read smaller batches, or with 64-bit offsets or as views"
    ))
}

/// Concatenates the strings. Returns the offset of each, and the bytes.
fn joined<O: OffsetSizeTrait>(views: &StringViews) -> Result<(OffsetBuffer<O>, Buffer)> {
    let total: usize = views.views().iter().map(|&view| view as u32 as usize).sum();
    if O::from_usize(total).is_none() {
        return Err(too_many(total));
    }
    let mut offsets = Vec::with_capacity(views.len() + 1);
    offsets.push(O::usize_as(0));
    let mut bytes = Vec::new();
    // A long string that a dictionary repeats may exceed any memory: an error, not an abort.
    views.join(O::usize_as, &mut offsets, &mut bytes)?;
    Ok((OffsetBuffer::new(offsets.into()), Buffer::from_vec(bytes)))
}

/// Appends views of the picked strings. The bytes stay in the array's buffers.
pub(super) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut StringViews,
) -> Result<(), ConversionError> {
    out.reserve(picks.len());
    match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string_opt::<i32>().ok_or_else(|| wrong_array(array))?;
            from_offsets(array.value_offsets(), array.values(), picks, out)
        }
        DataType::LargeUtf8 => {
            let array = array.as_string_opt::<i64>().ok_or_else(|| wrong_array(array))?;
            from_offsets(array.value_offsets(), array.values(), picks, out)
        }
        DataType::Binary => {
            let array = array.as_binary_opt::<i32>().ok_or_else(|| wrong_array(array))?;
            from_offsets(array.value_offsets(), array.values(), picks, out)
        }
        DataType::LargeBinary => {
            let array = array.as_binary_opt::<i64>().ok_or_else(|| wrong_array(array))?;
            from_offsets(array.value_offsets(), array.values(), picks, out)
        }
        DataType::Utf8View => {
            from_views(array.as_string_view_opt().ok_or_else(|| wrong_array(array))?, picks, out);
            Ok(())
        }
        _ => {
            from_views(array.as_binary_view_opt().ok_or_else(|| wrong_array(array))?, picks, out);
            Ok(())
        }
    }
}

fn from_offsets<O: OffsetSizeTrait>(
    offsets: &[O],
    buffer: &Buffer,
    picks: &NonNullSlots<'_>,
    out: &mut StringViews,
) -> Result<(), ConversionError> {
    let bytes = shared_bytes(buffer);
    if bytes.len() > LONGEST {
        return from_parts(offsets, &bytes, picks, out, u32::MAX as usize);
    }
    let number = out.add_buffer(&bytes);
    picks.runs(|run| {
        let ends = offsets[run.start..=run.end].windows(2);
        out.push_slices(number, ends.map(|pair| pair[0].as_usize()..pair[1].as_usize()));
    });
    Ok(())
}

/// Lengths in pages have 32 bits, and readers treat them as signed.
const LONGEST: usize = i32::MAX as usize;

/// Adds a buffer that is longer than `reach`, the range of view offsets, in parts. Each part begins with a string that
/// lies wholly in it.
fn from_parts<O: OffsetSizeTrait>(
    offsets: &[O],
    bytes: &Bytes,
    picks: &NonNullSlots<'_>,
    out: &mut StringViews,
    reach: usize,
) -> Result<(), ConversionError> {
    let (mut part, mut number, mut n, mut too_long) = (0..0, 0, 0, None);
    picks.runs(|run| {
        for pair in offsets[run.start..=run.end].windows(2) {
            let string = pair[0].as_usize()..pair[1].as_usize();
            if string.len() > LONGEST {
                too_long = too_long.or(Some(n));
                continue;
            }
            if part.is_empty() || string.start < part.start || string.end > part.end {
                part = string.start..bytes.len().min(string.start.saturating_add(reach));
                number = out.add_buffer(&bytes.slice(part.clone()));
            }
            out.push_slice(number, string.start - part.start..string.end - part.start);
            n += 1;
        }
    });
    match too_long {
        Some(value) => Err(ConversionError::value(value, "a string of 2 GiB or more")),
        None => Ok(()),
    }
}

/// Appends views of an array, which only differ from ours in buffer numbers. PERF: large arrays have hundreds of
/// buffers, of which a block of rows needs few.
fn from_views<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    picks: &NonNullSlots<'_>,
    out: &mut StringViews,
) {
    let used = match array.data_buffers().len() {
        few @ 0..=FEW_BUFFERS => 0..few,
        _ => used_buffers(array.views(), picks),
    };
    let first_used = used.start as u32;
    let buffers: Vec<_> = array.data_buffers()[used].iter().map(shared_bytes).collect();
    out.push_views(&buffers, |out, first| {
        let start = out.len();
        picks.chunks(array.views(), |views| out.extend_from_slice(views));
        if first != first_used {
            // Short strings are in the view itself.
            for view in out[start..].iter_mut().filter(|view| **view as u32 > 12) {
                let number = u128::from(buffer_of(*view) - first_used + first);
                *view = *view & !(u128::from(u32::MAX) << 64) | number << 64;
            }
        }
    });
}

/// Returns the range of buffers that the picked views refer to.
fn used_buffers(views: &[u128], picks: &NonNullSlots<'_>) -> Range<usize> {
    let (mut first, mut end) = (u32::MAX, 0);
    picks.chunks(views, |views| {
        for &view in views {
            let (number, is_long) = (buffer_of(view), view as u32 > 12);
            first = first.min(if is_long { number } else { u32::MAX });
            end = end.max(if is_long { number + 1 } else { 0 });
        }
    });
    (first.min(end) as usize)..end as usize
}

/// Up to this many buffers, adding all is cheaper than finding the used ones.
const FEW_BUFFERS: usize = 8;

/// Returns the number of the buffer that a view of a long string refers to.
fn buffer_of(view: u128) -> u32 {
    (view >> 64) as u32
}

/// Shares the bytes of a buffer.
fn shared_bytes(buffer: &Buffer) -> Bytes {
    struct Owner(Buffer);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Bytes::from_owner(Owner(buffer.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::non_null::validity;
    use super::*;
    use arrow_array::builder::StringViewBuilder;
    use marquetry_core::nesting::SlotRanges;

    #[test]
    fn views_come_with_the_buffers_that_they_are_into() {
        let text: Vec<Option<String>> =
            (0..300).map(|i| (i % 7 > 0).then(|| format!("{:>1$}", i, i * 11 % 29))).collect();
        let mut builder = StringViewBuilder::new().with_fixed_block_size(64);
        text.iter().for_each(|text| builder.append_option(text.as_ref()));
        let array = builder.finish();
        assert!(array.data_buffers().len() > 50);
        for ranges in [[0..300, 0..0], [120..140, 0..0], [250..300, 3..30], [1..2, 0..0], [0..0, 0..0]] {
            let mut slots = SlotRanges::default();
            ranges.iter().filter(|range| !range.is_empty()).for_each(|range| slots.push(range.clone()));
            let picked = ranges.iter().cloned().flatten().filter_map(|i| text[i].as_deref());
            let mut views = StringViews::from_iter(["a string that was there before"]);
            let valid = validity(array.nulls(), &slots);
            from_views(&array, &NonNullSlots::new(&slots, valid.as_ref()), &mut views);
            let expected = ["a string that was there before"].into_iter().chain(picked.clone());
            assert_eq!(views, StringViews::from_iter(expected), "{ranges:?}");
            // Each buffer has two or three strings.
            assert!(!ranges[1].is_empty() || views.buffers().len() <= 2 + picked.count());
        }
    }

    #[test]
    fn long_buffers_are_given_in_parts() {
        let text: Vec<String> = (0..40).map(|i| "x".repeat(i * 7 % 23) + &i.to_string()).collect();
        let array = arrow_array::LargeStringArray::from(text.clone());
        let mut slots = SlotRanges::default();
        [3..20, 10..15, 25..40, 0..2].into_iter().for_each(|range| slots.push(range));
        let expected: StringViews =
            slots.ranges().iter().cloned().flatten().map(|i| text[i].as_bytes()).collect();
        for reach in [25, 60, 10_000] {
            let mut views = StringViews::new();
            let bytes = shared_bytes(array.values());
            from_parts(array.value_offsets(), &bytes, &NonNullSlots::new(&slots, None), &mut views, reach)
                .unwrap();
            assert_eq!(views, expected);
            assert!(views.buffers().iter().all(|buffer| buffer.len() <= reach));
        }
    }
}
