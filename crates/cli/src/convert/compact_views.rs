//! Compacts string views: buffers without the bytes that no view refers to.
//!
//! The arrays of a batch point into whole pages and dictionaries. An Arrow file would store all of these once for each
//! batch, so strings are copied together if most bytes of their buffers are not theirs.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericByteViewArray, GenericListArray, GenericListViewArray,
    MapArray, OffsetSizeTrait, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// The batch with compact views.
pub(crate) fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(array).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

/// The array with compact views.
pub(crate) fn compact_array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    self::array(array)
}

fn array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8View => views(array.as_string_view(), array),
        DataType::BinaryView => views(array.as_binary_view(), array),
        _ => with_children(array, &mut self::array)?,
    })
}

/// A function that changes the children of an array.
pub(super) type Change<'a> = dyn FnMut(&ArrayRef) -> Result<ArrayRef, ArrowError> + 'a;

/// The nested array with changed children of the same types; other arrays themselves.
pub(super) fn with_children(array: &ArrayRef, change: &mut Change<'_>) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Struct(_) => Arc::new(structure(array.as_struct(), change)?),
        DataType::List(_) => list::<i32>(array, change)?,
        DataType::LargeList(_) => list::<i64>(array, change)?,
        DataType::ListView(_) => list_view::<i32>(array, change)?,
        DataType::LargeListView(_) => list_view::<i64>(array, change)?,
        DataType::FixedSizeList(element, n) => {
            let list = array.as_fixed_size_list();
            let values = change(list.values())?;
            let (element, nulls) = (element.clone(), list.nulls().cloned());
            Arc::new(FixedSizeListArray::try_new_with_length(element, *n, values, nulls, list.len())?)
        }
        DataType::Map(entries, sorted) => {
            let map = array.as_map();
            let values = structure(map.entries(), change)?;
            let (entries, offsets) = (entries.clone(), map.offsets().clone());
            Arc::new(MapArray::try_new(entries, offsets, values, map.nulls().cloned(), *sorted)?)
        }
        _ => array.clone(),
    })
}

fn views<T: ByteViewType + ?Sized>(views: &GenericByteViewArray<T>, array: &ArrayRef) -> ArrayRef {
    let held: usize = views.data_buffers().iter().map(Buffer::len).sum();
    if held <= SMALL || held / 2 <= views.total_buffer_bytes_used() {
        return array.clone();
    }
    Arc::new(views.gc())
}

fn structure(array: &StructArray, change: &mut Change<'_>) -> Result<StructArray, ArrowError> {
    let columns = array.columns().iter().map(change).collect::<Result<_, _>>()?;
    StructArray::try_new_with_length(array.fields().clone(), columns, array.nulls().cloned(), array.len())
}

fn list<O: OffsetSizeTrait>(array: &ArrayRef, change: &mut Change<'_>) -> Result<ArrayRef, ArrowError> {
    let list = array.as_list::<O>();
    let (DataType::List(element) | DataType::LargeList(element)) = array.data_type() else {
        return Ok(array.clone());
    };
    let values = change(list.values())?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(GenericListArray::<O>::try_new(element.clone(), offsets, values, nulls)?))
}

fn list_view<O: OffsetSizeTrait>(array: &ArrayRef, change: &mut Change<'_>) -> Result<ArrayRef, ArrowError> {
    let list = array.as_list_view::<O>();
    let (DataType::ListView(element) | DataType::LargeListView(element)) = array.data_type() else {
        return Ok(array.clone());
    };
    let values = change(list.values())?;
    let (offsets, sizes, nulls) = (list.offsets().clone(), list.sizes().clone(), list.nulls().cloned());
    Ok(Arc::new(GenericListViewArray::<O>::try_new(element.clone(), offsets, sizes, values, nulls)?))
}

/// Buffers with fewer bytes in total are left as they are.
const SMALL: usize = 4 << 10;
