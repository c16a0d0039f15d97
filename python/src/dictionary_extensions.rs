//! Dictionaries of an extension type, such as UUIDs: they are converted to plain values of that type.
//!
//! In Arrow's C interface, the extension type belongs to the dictionary, for which Arrow's crates have no place; and
//! pyarrow opens no file whose stored schema has such a dictionary.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::sync::Arc;

const EXTENSION: &str = "ARROW:extension:";

/// The schema with plain values in place of dictionaries of an extension type; `None` if there are none. `exported` is
/// the C schema that it was read from.
pub(crate) fn without_dictionaries(
    schema: &Schema,
    exported: &FFI_ArrowSchema,
) -> Result<Option<SchemaRef>, ArrowError> {
    let Some(fields) = plain_fields(schema.fields(), exported)? else { return Ok(None) };
    Ok(Some(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))))
}

/// The batch with this schema, which has plain values in place of some dictionaries.
pub(crate) fn with_values(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(array, field)| {
        match array.data_type() == field.data_type() {
            true => Ok(array.clone()),
            false => cast(array, field.data_type()),
        }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &options)
}

/// `None` if nothing changes.
fn plain_fields(fields: &Fields, exported: &FFI_ArrowSchema) -> Result<Option<Fields>, ArrowError> {
    let mut changed = None;
    for (place, (field, exported)) in fields.iter().zip(exported.children()).enumerate() {
        if let Some(plain) = plain_field(field, exported)? {
            changed.get_or_insert_with(|| fields.to_vec())[place] = plain;
        }
    }
    Ok(changed.map(Fields::from))
}

fn plain_field(field: &FieldRef, exported: &FFI_ArrowSchema) -> Result<Option<FieldRef>, ArrowError> {
    let of_child = |child: &FieldRef| match exported.children().next() {
        Some(exported) => plain_field(child, exported),
        None => Ok(None),
    };
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => {
            let Some(dictionary) = exported.dictionary() else { return Ok(None) };
            let pairs = dictionary.metadata()?.into_iter().filter(|(key, _)| key.starts_with(EXTENSION));
            let pairs: Vec<(String, String)> = pairs.collect();
            if pairs.is_empty() {
                return Ok(None);
            }
            let mut metadata = field.metadata().clone();
            metadata.extend(pairs);
            // Built from scratch: a field remembers that its dictionary is ordered.
            let plain = Field::new(field.name(), values.as_ref().clone(), field.is_nullable());
            return Ok(Some(Arc::new(plain.with_metadata(metadata))));
        }
        DataType::List(child) => of_child(child)?.map(DataType::List),
        DataType::LargeList(child) => of_child(child)?.map(DataType::LargeList),
        DataType::ListView(child) => of_child(child)?.map(DataType::ListView),
        DataType::LargeListView(child) => of_child(child)?.map(DataType::LargeListView),
        DataType::FixedSizeList(child, size) => {
            of_child(child)?.map(|child| DataType::FixedSizeList(child, *size))
        }
        DataType::Map(child, is_sorted) => of_child(child)?.map(|child| DataType::Map(child, *is_sorted)),
        DataType::Struct(fields) => plain_fields(fields, exported)?.map(DataType::Struct),
        _ => None,
    };
    Ok(data_type.map(|data_type| Arc::new(Field::clone(field).with_data_type(data_type))))
}
