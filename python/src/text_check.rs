//! Checks text in arrays of other libraries: the C data interface requires UTF-8, but nobody has checked that.
//!
//! Rust requires text to be UTF-8, or behaviour is undefined; and no reader accepts other bytes in a STRING column of
//! Parquet. Only text that rows use is checked. Null text is not, but text in a null struct or list is: code that uses
//! the inner array alone does not know of these nulls.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, GenericListArray, GenericListViewArray, GenericStringArray,
    OffsetSizeTrait, RecordBatch, RunArray, StringViewArray, UnionArray,
};
use arrow_data::{ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::{ArrowError, DataType};
use marquetry::errors::Error;
use std::ops::Range;
use std::str::from_utf8;
use std::sync::Arc;

/// Fails if a text of the batch is not UTF-8.
pub(crate) fn check_text(batch: &RecordBatch) -> Result<(), ArrowError> {
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if let Some(bad) = bad_text(column) {
            let message = format!(
                "the text in row {} of the batch is not UTF-8: a column of binary holds such bytes",
                bad.index
            );
            let error = Error::argument(message).in_column(bad.within(field.name()).dotted());
            return Err(ArrowError::ExternalError(Box::new(error)));
        }
    }
    Ok(())
}

/// The place of a text that is not UTF-8.
struct Bad {
    /// Index in the array.
    index: usize,
    /// Names on the path from the array to the text, from the inside to the outside.
    path: Vec<String>,
}

impl Bad {
    fn at(index: usize) -> Self {
        Bad { index, path: Vec::new() }
    }

    fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// The same text, in the array that contains this one.
    fn in_row(self, index: usize) -> Self {
        Bad { index, ..self }
    }

    fn dotted(&self) -> String {
        self.path.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

fn holds_text(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Utf8 | LargeUtf8 | Utf8View => true,
        List(field) | LargeList(field) | ListView(field) | LargeListView(field) => {
            holds_text(field.data_type())
        }
        FixedSizeList(field, _) | Map(field, _) | RunEndEncoded(_, field) => holds_text(field.data_type()),
        Struct(fields) => fields.iter().any(|field| holds_text(field.data_type())),
        Union(fields, _) => fields.iter().any(|(_, field)| holds_text(field.data_type())),
        Dictionary(_, values) => holds_text(values),
        _ => false,
    }
}

/// Finds a text that is not UTF-8.
fn bad_text(array: &ArrayRef) -> Option<Bad> {
    if array.is_empty() || !holds_text(array.data_type()) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => bad_string(array.as_string::<i32>()).map(Bad::at),
        DataType::LargeUtf8 => bad_string(array.as_string::<i64>()).map(Bad::at),
        DataType::Utf8View => bad_view(array.as_string_view()).map(Bad::at),
        DataType::Struct(fields) => {
            let mut columns = fields.iter().zip(array.as_struct().columns());
            columns.find_map(|(field, column)| Some(bad_text(column)?.within(field.name())))
        }
        DataType::List(element) => {
            Some(in_list(array.as_list::<i32>())?.within(element.name()).within("list"))
        }
        DataType::LargeList(element) => {
            Some(in_list(array.as_list::<i64>())?.within(element.name()).within("list"))
        }
        DataType::ListView(element) => {
            Some(in_list_view(array.as_list_view::<i32>())?.within(element.name()).within("list"))
        }
        DataType::LargeListView(element) => {
            Some(in_list_view(array.as_list_view::<i64>())?.within(element.name()).within("list"))
        }
        DataType::FixedSizeList(element, size) => {
            let bad = bad_text(array.as_fixed_size_list().values())?;
            let row = bad.index / usize::try_from(*size).ok()?.max(1);
            Some(bad.in_row(row).within(element.name()).within("list"))
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            Some(between(&entries, map.value_offsets())?.within("key_value"))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, values) = (dictionary.keys(), dictionary.values());
            if values.is_empty() {
                return None;
            }
            in_used(values, array.len(), || {
                let keys_of_values = dictionary.normalized_keys();
                let rows = (0..array.len()).filter(|&row| keys.is_valid(row));
                rows.map(|row| (keys_of_values[row], row)).collect()
            })
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => in_runs(array.as_run::<Int16Type>()),
            DataType::Int32 => in_runs(array.as_run::<Int32Type>()),
            _ => in_runs(array.as_run::<Int64Type>()),
        },
        DataType::Union(fields, _) => {
            let union = array.as_union();
            fields.iter().find_map(|(id, field)| Some(in_union(union, id)?.within(field.name())))
        }
        _ => None,
    }
}

/// Finds the first text that is not UTF-8.
fn bad_string<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> Option<usize> {
    let (bytes, offsets) = (array.value_data(), array.value_offsets());
    let (first, last) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    // All texts at once, at some gigabytes per second.
    if let Some(whole) = bytes.get(first..last) {
        if whole.is_ascii() {
            return None;
        }
        let begins = |text: &str| {
            offsets.iter().all(|offset| text.is_char_boundary(offset.as_usize().wrapping_sub(first)))
        };
        if from_utf8(whole).is_ok_and(begins) {
            return None;
        }
    }
    // Values beneath nulls are not text.
    (0..array.len()).find(|&row| {
        let value = bytes.get(offsets[row].as_usize()..offsets[row + 1].as_usize());
        array.is_valid(row) && !value.is_some_and(is_utf8)
    })
}

fn is_utf8(bytes: &[u8]) -> bool {
    from_utf8(bytes).is_ok()
}

/// Maximum bytes that are checked at once for each byte of text: views, or lists, may use little of their buffers.
const SPREAD: usize = 2;

/// Finds the row of a text that is not UTF-8.
fn bad_view(array: &StringViewArray) -> Option<usize> {
    let (views, buffers) = (array.views(), array.data_buffers());
    // The range that long texts use of each buffer.
    let mut used = vec![Range { start: usize::MAX, end: 0 }; buffers.len()];
    let mut bytes_of_texts = 0;
    // PERF: one pass over the views, and no other if everything is ASCII.
    for (row, &view) in views.iter().enumerate() {
        if is_inline_ascii(view) || array.is_null(row) {
            continue;
        }
        let Some((buffer, range)) = place_of(view) else {
            match is_utf8(&view.to_le_bytes()[4..][..view as u32 as usize]) {
                true => continue,
                false => return Some(row),
            }
        };
        let Some(used) = used.get_mut(buffer) else { return Some(row) };
        bytes_of_texts += range.len();
        used.start = used.start.min(range.start);
        used.end = used.end.max(range.end);
    }
    let long = || {
        let rows = (0..array.len()).filter(|&row| !array.is_null(row));
        rows.filter_map(|row| Some((row, place_of(views[row])?)))
    };
    let bytes_used = used.iter().map(|used| used.len()).fold(0, usize::saturating_add);
    if bytes_used <= bytes_of_texts.saturating_mul(SPREAD) {
        let texts = used.iter().zip(buffers).map(|(used, buffer)| match used.is_empty() {
            true => Some(""),
            false => from_utf8(buffer.get(used.clone())?).ok(),
        });
        if let Some(texts) = texts.collect::<Option<Vec<&str>>>() {
            let is_cut = |(_, (buffer, range)): (usize, (usize, Range<usize>))| {
                let is_between = |at: usize| texts[buffer].is_char_boundary(at - used[buffer].start);
                !(is_between(range.start) && is_between(range.end))
            };
            if texts.iter().all(|text| text.is_ascii()) || !long().any(is_cut) {
                return None;
            }
        }
    }
    let of_text = |(_, (buffer, range)): &(usize, (usize, Range<usize>))| {
        buffers[*buffer].get(range.clone()).is_some_and(is_utf8)
    };
    long().find(|text| !of_text(text)).map(|(row, _)| row)
}

/// Whether a text is short enough to be in the view itself, and ASCII.
fn is_inline_ascii(view: u128) -> bool {
    const NOT_ASCII: u128 = 0x8080_8080_8080_8080_8080_8080 << 32;
    view as u32 <= MAX_INLINE_VIEW_LEN && view & NOT_ASCII == 0
}

/// The buffer of a long text, and its bytes there.
fn place_of(view: u128) -> Option<(usize, Range<usize>)> {
    let ByteView { length, buffer_index, offset, .. } = ByteView::from(view);
    let start = offset as usize;
    (length > MAX_INLINE_VIEW_LEN).then(|| (buffer_index as usize, start..start + length as usize))
}

fn in_list<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Option<Bad> {
    between(array.values(), array.value_offsets())
}

/// Checks values from the first offset to the last.
fn between<O: OffsetSizeTrait>(values: &ArrayRef, offsets: &[O]) -> Option<Bad> {
    let (first, last) = (offsets.first()?.as_usize(), offsets.last()?.as_usize());
    let bad = bad_text(&values.slice(first, last - first))?;
    let begun = offsets.partition_point(|offset| offset.as_usize() <= first + bad.index);
    Some(bad.in_row(begun - 1))
}

fn in_list_view<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> Option<Bad> {
    let range = |row: usize| {
        let (start, len) = (array.value_offset(row).as_usize(), array.value_size(row).as_usize());
        (array.is_valid(row) && len > 0).then_some((row, start, len))
    };
    let lists = || (0..array.len()).filter_map(range);
    let first = lists().map(|(_, start, _)| start).min()?;
    let end = lists().map(|(_, start, len)| start + len).max()?;
    let used = lists().map(|(_, _, len)| len).fold(0, usize::saturating_add);
    if end - first <= used.saturating_mul(SPREAD)
        && bad_text(&array.values().slice(first, end - first)).is_none()
    {
        return None;
    }
    lists().find_map(|(row, start, len)| Some(bad_text(&array.values().slice(start, len))?.in_row(row)))
}

fn in_runs<R: RunEndIndexType>(array: &RunArray<R>) -> Option<Bad> {
    let ends = array.run_ends();
    let (first, last) = (ends.get_start_physical_index(), ends.get_end_physical_index());
    let bad = bad_text(&array.values().slice(first, last + 1 - first))?;
    // Earlier runs end where it begins, counted from the beginning of the runs.
    let end_of = |run: usize| number(ends.values()[run]);
    let row = match bad.index {
        0 => 0,
        index => end_of(first + index - 1) - ends.offset(),
    };
    Some(bad.in_row(row))
}

fn number<N: ArrowNativeTypeOp>(end: N) -> usize {
    end.as_usize()
}

/// Checks values that rows refer to by index: all of them, if there are no more than rows; only the used ones, if there
/// are more, or if one of all is not UTF-8. `numbers` returns pairs of a value's index and its row.
fn in_used(values: &ArrayRef, rows: usize, numbers: impl FnOnce() -> Vec<(usize, usize)>) -> Option<Bad> {
    if values.len() <= rows && bad_text(values).is_none() {
        return None;
    }
    let mut used = numbers();
    used.sort_unstable();
    used.dedup_by_key(|(number, _)| *number);
    used.chunk_by(|(one, _), (next, _)| one + 1 == *next).find_map(|part| {
        let bad = bad_text(&values.slice(part[0].0, part.len()))?;
        let row = part[bad.index].1;
        Some(bad.in_row(row))
    })
}

fn in_union(array: &UnionArray, id: i8) -> Option<Bad> {
    let of_id = || (0..array.len()).filter(|&row| array.type_id(row) == id);
    in_used(array.child(id), array.len(), || of_id().map(|row| (array.value_offset(row), row)).collect())
}
