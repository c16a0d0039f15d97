//! Widens dictionary keys if several dictionaries together have too many values for them.
//!
//! Writers give a dictionary the narrowest keys that suffice: pandas' categories have 8-bit keys. Where rows of several
//! such dictionaries are combined, in a row group or in a batch, the keys must count the values of all; and readers,
//! which rely on the stored Arrow schema, must know that.

use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::Error;
use marquetry::file::page::PageOptions;
use marquetry::internals::arrow::schema::narrow_key_capacity;
use marquetry_core::read::most_distinct_values;
use std::sync::Arc;

/// The schema with 32-bit keys in place of narrower dictionary keys.
pub(crate) fn wide_schema(schema: &Schema) -> Schema {
    Schema::new_with_metadata(wide_fields(schema.fields()), schema.metadata().clone())
}

/// The type with 32-bit keys in place of narrower dictionary keys.
pub(super) fn wide_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(keys, values) if narrow_key_capacity(keys).is_some() => {
            DataType::Dictionary(Box::new(DataType::Int32), values.clone())
        }
        DataType::Struct(children) => DataType::Struct(wide_fields(children)),
        DataType::List(element) => DataType::List(wide_field(element)),
        DataType::LargeList(element) => DataType::LargeList(wide_field(element)),
        DataType::ListView(element) => DataType::ListView(wide_field(element)),
        DataType::LargeListView(element) => DataType::LargeListView(wide_field(element)),
        DataType::FixedSizeList(element, n) => DataType::FixedSizeList(wide_field(element), *n),
        DataType::Map(entries, sorted) => DataType::Map(wide_field(entries), *sorted),
        other => other.clone(),
    }
}

fn wide_fields(fields: &Fields) -> Fields {
    fields.iter().map(wide_field).collect()
}

fn wide_field(field: &FieldRef) -> FieldRef {
    let wide = wide_type(field.data_type());
    match wide == *field.data_type() {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_data_type(wide)),
    }
}

/// A batch converted to its [`wide_schema`].
pub(super) fn wide_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| wide_array(column, field.data_type()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &options)
}

/// The array converted to `to`, which differs only in dictionary keys.
fn wide_array(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    if let DataType::Dictionary(keys, _) = to {
        let dictionary = array.as_any_dictionary();
        let keys = cast(dictionary.keys(), keys)?.to_data().into_builder();
        let built = keys.data_type(to.clone()).child_data(vec![dictionary.values().to_data()]);
        return Ok(make_array(built.build()?));
    }
    let data = array.to_data();
    let children = data.child_data().iter().zip(child_types(to));
    let children = children.map(|(child, to)| Ok(wide_array(&make_array(child.clone()), to)?.to_data()));
    let children = children.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(make_array(data.into_builder().data_type(to.clone()).child_data(children).build()?))
}

fn child_types(nested: &DataType) -> Vec<&DataType> {
    match nested {
        DataType::Struct(children) => children.iter().map(|child| child.data_type()).collect(),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => vec![child.data_type()],
        _ => Vec::new(),
    }
}

/// Whether narrow keys suffice for the dictionaries of all row groups together. `schema` is that of the whole file.
///
/// Values that occur in several dictionaries are counted repeatedly.
pub(super) fn have_room(file: &OpenFile, schema: &Schema) -> bool {
    let (mut leaf, mut narrow) = (0, Vec::new());
    schema.fields().iter().for_each(|field| add_leaves(field.data_type(), &mut leaf, &mut narrow));
    narrow.iter().all(|(leaf, capacity)| {
        let groups = 0..file.metadata().num_row_groups();
        let values = groups.map(|group| most_values(file, group, *leaf));
        // An unknown number may be too large.
        values.sum::<Result<u64, Failure>>().is_ok_and(|values| values <= *capacity)
    })
}

/// The indices of the leaves with narrow keys, and their capacities; `next` is the index of the next leaf.
fn add_leaves(data_type: &DataType, next: &mut usize, narrow: &mut Vec<(usize, u64)>) {
    if let DataType::Dictionary(keys, _) = data_type {
        narrow.extend(narrow_key_capacity(keys).map(|capacity| (*next, capacity)));
    }
    let children = child_types(data_type);
    match children.is_empty() {
        true => *next += 1,
        false => children.into_iter().for_each(|child| add_leaves(child, next, narrow)),
    }
}

/// The maximum number of distinct values in a chunk.
fn most_values(file: &OpenFile, row_group: usize, leaf: usize) -> Result<u64, Failure> {
    let group = file.metadata().row_group(row_group);
    if leaf >= group.num_columns() {
        return Err(Error::argument("no such column").into());
    }
    let options = PageOptions::for_writer(file.metadata().created_by());
    Ok(most_distinct_values(&file.clone().into_source()?, group.column(leaf)?, options)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::{Int8Type, UInt16Type};
    use arrow_array::{DictionaryArray, Int32Array, StructArray};

    #[test]
    fn keys_grow_and_nothing_else() {
        let words: DictionaryArray<Int8Type> = [Some("a"), None, Some("b"), Some("a")].into_iter().collect();
        let others: DictionaryArray<UInt16Type> = ["x", "y", "y", "x"].into_iter().collect();
        let nested = StructArray::try_from(vec![("d", Arc::new(others) as ArrayRef)]).unwrap();
        let columns: [(&str, ArrayRef); 3] = [
            ("w", Arc::new(words)),
            ("s", Arc::new(nested)),
            ("n", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap().slice(1, 3);
        let schema = Arc::new(wide_schema(&batch.schema()));
        let wide = wide_batch(&batch, &schema).unwrap();
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        assert_eq!(wide.column(0).data_type(), &text);
        assert_eq!(wide.column(1).as_struct().column(0).data_type(), &text);
        assert_eq!(wide.column(2), batch.column(2));
        for at in [0, 1] {
            let plain = |batch: &RecordBatch| match at {
                0 => cast(batch.column(0), &DataType::Utf8).unwrap(),
                _ => cast(batch.column(1).as_struct().column(0), &DataType::Utf8).unwrap(),
            };
            assert_eq!(&plain(&wide), &plain(&batch));
        }
        assert_eq!(wide_schema(&schema), *schema, "what is wide stays");
    }
}
