//! The leaf columns that an Arrow type becomes, and the bytes that an array has for each.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

/// The number of leaf columns of a type.
pub(crate) fn count(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| count(field.data_type())).sum(),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => count(element.data_type()),
        DataType::Dictionary(_, values) => count(values),
        DataType::RunEndEncoded(_, values) => count(values.data_type()),
        _ => 1,
    }
}

/// Adds the bytes of each leaf column of the batch to `bytes`, which has an element for each.
pub(crate) fn add_bytes(batch: &RecordBatch, bytes: &mut [u64]) {
    let mut leaf = 0;
    for column in batch.columns() {
        add(column, &mut leaf, bytes);
    }
}

/// Adds the bytes of one array, whose first leaf is `leaf`. Offsets and validity of lists and structs count with their
/// first leaf.
fn add(array: &ArrayRef, leaf: &mut usize, bytes: &mut [u64]) {
    let first = *leaf;
    let validity = if array.nulls().is_some() { array.len().div_ceil(8) } else { 0 };
    let own = match array.data_type() {
        DataType::Struct(_) => {
            array.as_struct().columns().iter().for_each(|child| add(child, leaf, bytes));
            validity
        }
        DataType::List(_) => list::<i32>(array, leaf, bytes) + validity,
        DataType::LargeList(_) => list::<i64>(array, leaf, bytes) + validity,
        DataType::Map(..) => {
            let map = array.as_map();
            let (start, end) = ends(map.offsets());
            let entries: ArrayRef = std::sync::Arc::new(map.entries().slice(start, end - start));
            add(&entries, leaf, bytes);
            size_of_val(map.offsets().as_ref()) + validity
        }
        DataType::FixedSizeList(..) => {
            add(array.as_fixed_size_list().values(), leaf, bytes);
            validity
        }
        DataType::Utf8View => {
            *leaf += 1;
            views(array.as_string_view()) + validity
        }
        DataType::BinaryView => {
            *leaf += 1;
            views(array.as_binary_view()) + validity
        }
        other => {
            *leaf += count(other);
            array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_buffer_memory_size())
        }
    };
    if let Some(bytes) = bytes.get_mut(first) {
        *bytes += own as u64;
    }
}

fn list<O: OffsetSizeTrait>(array: &ArrayRef, leaf: &mut usize, bytes: &mut [u64]) -> usize {
    let list = array.as_list::<O>();
    let (start, end) = ends(list.offsets());
    add(&list.values().slice(start, end - start), leaf, bytes);
    size_of_val(list.offsets().as_ref())
}

fn ends<O: OffsetSizeTrait>(offsets: &[O]) -> (usize, usize) {
    let end = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    (end(offsets.first()), end(offsets.last()))
}

fn views<T: ByteViewType + ?Sized>(array: &GenericByteViewArray<T>) -> usize {
    size_of_val(array.views().as_ref()) + array.total_buffer_bytes_used()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, ListArray, StringArray, StringViewArray, StructArray};
    use arrow_schema::{Field, Fields};
    use std::sync::Arc;

    #[test]
    fn bytes_of_slices() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
        let views: ArrayRef =
            Arc::new(StringViewArray::from_iter_values((0..100).map(|i| format!("{i:020}"))));
        let fields = Fields::from(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("v", DataType::Utf8View, true),
        ]);
        let pairs: ArrayRef = Arc::new(StructArray::try_new(fields, vec![numbers, views], None).unwrap());
        let list = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(
            (0..100).map(|i| Some(vec![Some(i); 2])),
        );
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|i| format!("{i:03}"))));
        let batch = RecordBatch::try_from_iter([("p", pairs), ("l", Arc::new(list)), ("t", texts)]).unwrap();
        let leaves: usize = batch.schema().fields().iter().map(|field| count(field.data_type())).sum();
        assert_eq!(leaves, 4);
        let mut bytes = vec![0; leaves];
        add_bytes(&batch.slice(10, 10), &mut bytes);
        assert_eq!(bytes, [80, 10 * 16 + 10 * 20, 11 * 4 + 20 * 4, 11 * 4 + 30]);
    }
}
