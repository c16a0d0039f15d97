//! Required values in nullable structs.
//!
//! In our arrays such values are null where the struct is, as Arrow allows. pandas converts integers with nulls to
//! floats, which changes large ones; pyarrow refuses to write such values: so those that go to other libraries have no
//! nulls.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType,
    Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, FixedSizeBinaryArray,
    FixedSizeListArray, GenericByteArray, GenericByteViewArray, GenericListArray, GenericListViewArray,
    MapArray, OffsetSizeTrait, PrimitiveArray, RecordBatch, RecordBatchOptions, StructArray,
    downcast_dictionary_array, downcast_primitive_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::sync::Arc;

/// Whether the columns of a schema contain such values.
pub(crate) fn has_required_values(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| has_some(field.data_type()))
}

fn has_some(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.iter().any(|field| is_one(field) || has_some(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => has_some(field.data_type()),
        _ => false,
    }
}

fn is_one(field: &Field) -> bool {
    !field.is_nullable() && !field.data_type().is_nested()
}

/// The batch with zeros and empty bytes in place of their nulls.
pub(crate) fn without_nulls(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(changed).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

fn changed(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if !has_some(array.data_type()) {
        return Ok(array.clone());
    }
    match array.data_type() {
        DataType::Struct(fields) => {
            let array = array.as_struct();
            let columns = fields.iter().zip(array.columns()).map(|(field, column)| match is_one(field) {
                // Values beneath nulls are arbitrary, and may come from others.
                true => Ok(plain(column).unwrap_or_else(|_| column.clone())),
                false => changed(column),
            });
            let columns = columns.collect::<Result<_, _>>()?;
            let nulls = array.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
        }
        DataType::List(_) => list::<i32>(array),
        DataType::LargeList(_) => list::<i64>(array),
        DataType::ListView(_) => list_view::<i32>(array),
        DataType::LargeListView(_) => list_view::<i64>(array),
        DataType::FixedSizeList(..) => {
            let len = array.len();
            let (field, size, values, nulls) = array.as_fixed_size_list().clone().into_parts();
            let values = changed(&values)?;
            Ok(Arc::new(FixedSizeListArray::try_new_with_length(field, size, values, nulls, len)?))
        }
        DataType::Map(..) => {
            let (field, offsets, entries, nulls, sorted) = array.as_map().clone().into_parts();
            let entries = changed(&(Arc::new(entries) as ArrayRef))?.as_struct().clone();
            Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls, sorted)?))
        }
        _ => Ok(array.clone()),
    }
}

fn list<O: OffsetSizeTrait>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let (field, offsets, values, nulls) = array.as_list::<O>().clone().into_parts();
    Ok(Arc::new(GenericListArray::<O>::try_new(field, offsets, changed(&values)?, nulls)?))
}

fn list_view<O: OffsetSizeTrait>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let (field, offsets, sizes, values, nulls) = array.as_list_view::<O>().clone().into_parts();
    Ok(Arc::new(GenericListViewArray::<O>::try_new(field, offsets, sizes, changed(&values)?, nulls)?))
}

/// The values of an array, without its nulls.
fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if array.null_count() == 0 {
        return Ok(array.clone());
    }
    Ok(match array.data_type() {
        DataType::Boolean => Arc::new(BooleanArray::new(array.as_boolean().values().clone(), None)),
        DataType::Utf8 => bytes::<Utf8Type>(array)?,
        DataType::LargeUtf8 => bytes::<LargeUtf8Type>(array)?,
        DataType::Binary => bytes::<BinaryType>(array)?,
        DataType::LargeBinary => bytes::<LargeBinaryType>(array)?,
        DataType::Utf8View => views::<StringViewType>(array)?,
        DataType::BinaryView => views::<BinaryViewType>(array)?,
        DataType::FixedSizeBinary(_) => {
            let (width, values, _) = array.as_fixed_size_binary().clone().into_parts();
            Arc::new(FixedSizeBinaryArray::try_new(width, values, None)?)
        }
        _ => numbers(array)?,
    })
}

fn bytes<T: ByteArrayType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let (offsets, values, _) = array.as_bytes::<T>().clone().into_parts();
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, values, None)?))
}

fn views<T: ByteViewType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let (views, buffers, _) = array.as_byte_view::<T>().clone().into_parts();
    Ok(Arc::new(GenericByteViewArray::<T>::try_new(views, buffers, None)?))
}

fn numbers(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array: &dyn Array = array;
    Ok(downcast_primitive_array!(
        array => Arc::new(all(array)),
        DataType::Dictionary(..) => downcast_dictionary_array!(
            array => Arc::new(DictionaryArray::try_new(all(array.keys()), array.values().clone())?),
            _ => arrow_array::make_array(array.to_data()),
        ),
        _ => arrow_array::make_array(array.to_data()),
    ))
}

fn all<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> PrimitiveArray<T> {
    PrimitiveArray::new(array.values().clone(), None).with_data_type(array.data_type().clone())
}
