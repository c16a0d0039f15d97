//! How many bytes any reader must write to produce an output: what a memcpy is compared with.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType,
    Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

use crate::error::Result;

/// The bytes of all batches.
pub(crate) fn output_size(batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<usize> {
    let mut size = 0;
    for batch in batches {
        for column in batch?.columns() {
            size += array_size(column)?;
        }
    }
    Ok(size)
}

/// Values, offsets or views, and validity. For views, only strings too long to be inline are counted in addition; for
/// dictionaries, only the keys, as their values are few.
fn array_size(array: &ArrayRef) -> Result<usize> {
    let rows = array.len();
    let values = match array.data_type() {
        DataType::Null => 0,
        DataType::Boolean => rows.div_ceil(8),
        DataType::Dictionary(key, _) => rows * key.primitive_width().unwrap_or(0),
        DataType::Utf8 => bytes_size::<Utf8Type>(array),
        DataType::LargeUtf8 => bytes_size::<LargeUtf8Type>(array),
        DataType::Binary => bytes_size::<BinaryType>(array),
        DataType::LargeBinary => bytes_size::<LargeBinaryType>(array),
        DataType::Utf8View => views_size::<StringViewType>(array),
        DataType::BinaryView => views_size::<BinaryViewType>(array),
        DataType::FixedSizeBinary(width) => rows * usize::try_from(*width)?,
        DataType::List(_) => list_size(array.as_list::<i32>())?,
        DataType::LargeList(_) => list_size(array.as_list::<i64>())?,
        DataType::FixedSizeList(..) => array_size(array.as_fixed_size_list().values())?,
        DataType::Struct(_) => sum(array.as_struct().columns())?,
        DataType::Map(..) => {
            let map = array.as_map();
            let offsets = map.value_offsets();
            let (start, end) = span(offsets);
            size_of_val(offsets) + sum(map.entries().slice(start, end - start).columns())?
        }
        other => {
            rows * other.primitive_width().ok_or_else(|| format!("no size known for the type {other}"))?
        }
    };
    Ok(values + array.nulls().map_or(0, |_| rows.div_ceil(8)))
}

fn sum(arrays: &[ArrayRef]) -> Result<usize> {
    arrays.iter().map(array_size).sum()
}

fn bytes_size<T: ByteArrayType>(array: &ArrayRef) -> usize {
    let offsets = array.as_bytes::<T>().offsets();
    let (start, end) = span(offsets);
    size_of_val(&offsets[..]) + end - start
}

fn views_size<T: ByteViewType>(array: &ArrayRef) -> usize {
    const INLINE: u32 = 12;
    let views = array.as_byte_view::<T>().views();
    let lengths = views.iter().map(|&view| view as u32).filter(|&length| length > INLINE);
    size_of_val(&views[..]) + lengths.map(|length| length as usize).sum::<usize>()
}

fn list_size<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<usize> {
    let offsets = list.value_offsets();
    let (start, end) = span(offsets);
    Ok(size_of_val(offsets) + array_size(&list.values().slice(start, end - start))?)
}

/// The first and the last offset.
fn span<O: OffsetSizeTrait>(offsets: &[O]) -> (usize, usize) {
    let at = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    (at(offsets.first()), at(offsets.last()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{FixedSizeListArray, Int64Array, LargeStringArray, ListArray, StringViewArray};

    use super::*;

    fn size(array: impl Array + 'static) -> usize {
        array_size(&(Arc::new(array) as ArrayRef)).unwrap()
    }

    #[test]
    fn slices_count_for_what_they_show() {
        assert_eq!(size(Int64Array::from(vec![Some(1), None, Some(3)])), 24 + 1);
        assert_eq!(size(LargeStringArray::from(vec!["four", "fives", "x"]).slice(1, 2)), 3 * 8 + 6);
        assert_eq!(size(StringViewArray::from(vec!["inline", "longer than inline"])), 2 * 16 + 18);
        let lists = [Some(vec![Some(1), Some(2)]), Some(vec![]), Some(vec![Some(3)])];
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
        assert_eq!(size(lists.slice(1, 2)), 3 * 4 + 4);
        let pairs = [Some(vec![Some(1), Some(2)]), None];
        let pairs = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2);
        assert_eq!(size(pairs), 4 * 4 + 1 + 1);
    }
}
