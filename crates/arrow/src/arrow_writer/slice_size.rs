//! The memory size of an array slice, without the parts of its buffers before and after it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, GenericListArray, GenericListViewArray, OffsetSizeTrait, RecordBatch, RunArray};
use arrow_schema::DataType;

/// Returns the size of all rows of `batch`, in bytes. Of a slice, only its rows count. Of a dictionary, at most one
/// value of average size counts for each key.
pub(super) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|array| array_bytes(array)).fold(0, usize::saturating_add)
}

/// Returns the size of all rows of `array`, as [`batch_bytes`] counts them.
pub(super) fn array_bytes(array: &dyn Array) -> usize {
    let validity = array.nulls().map_or(0, |nulls| nulls.len().div_ceil(8));
    validity.saturating_add(values_bytes(array))
}

fn values_bytes(array: &dyn Array) -> usize {
    let len = array.len();
    match array.data_type() {
        DataType::Null => 0,
        DataType::Boolean => len.div_ceil(8),
        DataType::FixedSizeBinary(width) => len.saturating_mul(usize::try_from(*width).unwrap_or(0)),
        DataType::Utf8 => offset_bytes(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => offset_bytes(array.as_string::<i64>().value_offsets()),
        DataType::Binary => offset_bytes(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => offset_bytes(array.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => view_bytes(array.as_string_view().views()),
        DataType::BinaryView => view_bytes(array.as_binary_view().views()),
        DataType::List(_) => list_bytes(array.as_list::<i32>()),
        DataType::LargeList(_) => list_bytes(array.as_list::<i64>()),
        DataType::ListView(_) => list_view_bytes(array.as_list_view::<i32>()),
        DataType::LargeListView(_) => list_view_bytes(array.as_list_view::<i64>()),
        DataType::FixedSizeList(..) => array_bytes(array.as_fixed_size_list().values()),
        DataType::Map(..) => {
            let array = array.as_map();
            let entries = range(array.value_offsets());
            let entries = array.entries().slice(entries.start, entries.len());
            offsets_len(array.value_offsets()).saturating_add(array_bytes(&entries))
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|array| array_bytes(array)).fold(0, usize::saturating_add)
        }
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            array_bytes(array.keys()).saturating_add(part_of(array.values(), len))
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => run_bytes(array.as_run::<Int16Type>()),
            DataType::Int32 => run_bytes(array.as_run::<Int32Type>()),
            _ => run_bytes(array.as_run::<Int64Type>()),
        },
        primitive => len.saturating_mul(primitive.primitive_width().unwrap_or(0)),
    }
}

/// Returns the size of `n` values of average size, or of all values, if there are fewer.
fn part_of(values: &dyn Array, n: usize) -> usize {
    let (all, count) = (array_bytes(values), values.len());
    match n < count {
        true => (all as u128 * n as u128 / count as u128) as usize,
        false => all,
    }
}

/// Returns the range of elements that the offsets refer to.
fn range<O: OffsetSizeTrait>(offsets: &[O]) -> std::ops::Range<usize> {
    let at = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    at(offsets.first())..at(offsets.last())
}

fn offsets_len<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    size_of_val(offsets)
}

fn offset_bytes<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    offsets_len(offsets).saturating_add(range(offsets).len())
}

/// Counts views, and the bytes of strings of more than 12 bytes, which are outside their views.
fn view_bytes(views: &[u128]) -> usize {
    // PERF: no branch per view. A sum of 32-bit lengths that overflows would need more views than fit into memory.
    let outside = |&view: &u128| if view as u32 > 12 { u64::from(view as u32) } else { 0 };
    let outside: u64 = views.iter().map(outside).sum();
    size_of_val(views).saturating_add(usize::try_from(outside).unwrap_or(usize::MAX))
}

fn list_bytes<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> usize {
    let elements = range(array.value_offsets());
    let elements = array.values().slice(elements.start, elements.len());
    offsets_len(array.value_offsets()).saturating_add(array_bytes(&elements))
}

fn list_view_bytes<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> usize {
    let elements = array.value_sizes().iter().map(|size| size.as_usize()).fold(0, usize::saturating_add);
    (2 * size_of_val(array.value_sizes())).saturating_add(part_of(array.values(), elements))
}

fn run_bytes<R: RunEndIndexType>(array: &RunArray<R>) -> usize {
    if array.is_empty() {
        return 0;
    }
    let (first, last) = (array.get_physical_index(0), array.get_physical_index(array.len() - 1));
    let values = array.values().slice(first, last + 1 - first);
    (values.len() * size_of::<R::Native>()).saturating_add(array_bytes(&values))
}
