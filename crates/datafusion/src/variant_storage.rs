//! VARIANT columns of a table, and files that shred them in another way than the table.
//!
//! A table has one type for a column, but each file may shred a VARIANT in its own way. Where files differ, the table's
//! column is unshredded, and what is read of a file is reassembled.

use crate::column_kind::is_binary;
use crate::error::of;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericListArray, MapArray, OffsetSizeTrait, RecordBatch,
    RecordBatchOptions, StructArray, new_null_array,
};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::arrow::compute::{cast, nullif};
use datafusion::common::exec_err;
use datafusion::error::Result;
use marquetry_arrow::variant::{VariantCast, VariantColumn, is_variant, variant_get_field};
use marquetry_variant::Path;
use std::sync::Arc;

/// Whether a type is a VARIANT's storage: a struct with `metadata`, and `value` or `typed_value`.
pub(crate) fn is_variant_storage(data_type: &DataType) -> bool {
    has_bytes(data_type, "metadata") && (has_bytes(data_type, "value") || has_field(data_type, "typed_value"))
}

fn has_bytes(data_type: &DataType, name: &str) -> bool {
    field_of(data_type, name).is_some_and(|field| is_binary(field.data_type()))
}

fn has_field(data_type: &DataType, name: &str) -> bool {
    field_of(data_type, name).is_some()
}

fn field_of<'a>(data_type: &'a DataType, name: &str) -> Option<&'a FieldRef> {
    let DataType::Struct(fields) = data_type else { return None };
    fields.find(name).map(|(_, field)| field)
}

/// Whether a file has a VARIANT that the table stores in another way, with room for any value.
pub(crate) fn is_restored(file: &Field, table: &DataType) -> bool {
    let stored = file.data_type();
    is_variant(file)
        && has_bytes(table, "metadata")
        && has_bytes(table, "value")
        && stored != table
        && (is_shredded(stored) || is_shredded(table) || may_be_null(stored, table))
}

fn is_shredded(data_type: &DataType) -> bool {
    has_field(data_type, "typed_value")
}

/// Whether a part may be null in the file, but not in the table.
fn may_be_null(stored: &DataType, table: &DataType) -> bool {
    let nullable = |data_type, name| field_of(data_type, name).is_some_and(|field| field.is_nullable());
    ["metadata", "value"].iter().any(|name| nullable(stored, name) && !nullable(table, name))
}

/// The schemas of files, with VARIANTs unshredded that the files do not shred alike.
pub(crate) fn unshredded_where_they_differ(schemas: &[SchemaRef]) -> Vec<SchemaRef> {
    if !schemas.iter().any(|schema| has_variants(schema.fields())) {
        return schemas.to_vec();
    }
    // Many files have few shapes.
    let mut shapes: Vec<&Fields> = Vec::new();
    let shape_of: Vec<usize> = schemas
        .iter()
        .map(|schema| {
            shapes.iter().position(|shape| *shape == schema.fields()).unwrap_or_else(|| {
                shapes.push(schema.fields());
                shapes.len() - 1
            })
        })
        .collect();
    if shapes.len() == 1 {
        return schemas.to_vec();
    }
    let unshredded = |shape: &&Fields| {
        shapes.iter().fold((*shape).clone(), |fields, other| match std::ptr::eq(*shape, *other) {
            true => fields,
            false => unlike(&fields, other),
        })
    };
    let unshredded: Vec<Fields> = shapes.iter().map(unshredded).collect();
    let with_fields = |(schema, shape): (&SchemaRef, usize)| {
        Arc::new(Schema::new_with_metadata(unshredded[shape].clone(), schema.metadata().clone()))
    };
    schemas.iter().zip(shape_of).map(with_fields).collect()
}

fn has_variants(fields: &Fields) -> bool {
    fields.iter().any(|field| is_variant(field) || children(field.data_type()).is_some_and(has_variants))
}

/// The child fields of a type, looking through lists and maps.
fn children(data_type: &DataType) -> Option<&Fields> {
    match data_type {
        DataType::Struct(fields) => Some(fields),
        DataType::List(element) | DataType::LargeList(element) | DataType::Map(element, _) => {
            children(element.data_type())
        }
        _ => None,
    }
}

/// The fields, with VARIANTs unshredded that `other` stores in another way.
fn unlike(fields: &Fields, other: &Fields) -> Fields {
    changed_fields(fields, other, |field, other| with_type(field, unlike_type(field, other)))
}

fn unlike_type(field: &Field, other: &Field) -> DataType {
    let (one, another) = (field.data_type(), other.data_type());
    let is_alike = one == another || !is_shredded(one) && !is_shredded(another);
    if is_variant(field) && is_variant(other) && !is_alike {
        return variant_get_field("", &Path::default(), VariantCast::Variant).data_type().clone();
    }
    below(one, another, &|field, other| unlike_type(field, other))
}

/// The fields of a file after its VARIANTs were converted to the table's storage.
pub(crate) fn restored_fields(file: &Fields, table: &Fields) -> Fields {
    fields_as(file, table, &|_, table| table.clone())
}

/// The fields of a file, with [`DataType::Null`] for VARIANTs that are converted to the table's storage: these are read
/// as a whole.
pub(crate) fn with_wholes(file: &Fields, table: &Fields) -> Fields {
    fields_as(file, table, &|_, _| DataType::Null)
}

fn fields_as(file: &Fields, table: &Fields, restored: &dyn Fn(&Field, &DataType) -> DataType) -> Fields {
    changed_fields(file, table, |field, table| with_type(field, type_as(field, table, restored)))
}

fn type_as(file: &Field, table: &Field, restored: &dyn Fn(&Field, &DataType) -> DataType) -> DataType {
    match is_restored(file, table.data_type()) {
        true => restored(file, table.data_type()),
        false => below(file.data_type(), table.data_type(), &|file, table| type_as(file, table, restored)),
    }
}

/// The fields, changed where `others` has a field of the same name.
pub(crate) fn changed_fields(
    fields: &Fields,
    others: &Fields,
    changed: impl Fn(&FieldRef, &FieldRef) -> FieldRef,
) -> Fields {
    let changed = |(place, field): (usize, &FieldRef)| {
        // PERF: it usually has the same index. Files have thousands of columns, and are opened again and again.
        let same_place = others.get(place).filter(|other| other.name() == field.name());
        match same_place.or_else(|| others.find(field.name()).map(|(_, other)| other)) {
            Some(other) => changed(field, other),
            None => field.clone(),
        }
    };
    fields.iter().enumerate().map(changed).collect()
}

/// A type, with the types of the fields below it changed where `other` has them too.
pub(crate) fn below(
    of: &DataType,
    other: &DataType,
    changed: &dyn Fn(&Field, &Field) -> DataType,
) -> DataType {
    fields_below(of, other, &|field, other| with_type(field, changed(field, other)))
}

/// A type, with the fields right below it changed where `other` has them too.
pub(crate) fn fields_below(
    of: &DataType,
    other: &DataType,
    changed: &dyn Fn(&FieldRef, &FieldRef) -> FieldRef,
) -> DataType {
    match (of, other) {
        (DataType::Struct(fields), DataType::Struct(others)) => {
            DataType::Struct(changed_fields(fields, others, changed))
        }
        (DataType::List(element), DataType::List(other)) => DataType::List(changed(element, other)),
        (DataType::LargeList(element), DataType::LargeList(other)) => {
            DataType::LargeList(changed(element, other))
        }
        (DataType::Map(entries, sorted), DataType::Map(other, _)) => {
            DataType::Map(changed(entries, other), *sorted)
        }
        (of, _) => of.clone(),
    }
}

/// The field, with this type.
pub(crate) fn with_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    match *field.data_type() == data_type {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_data_type(data_type)),
    }
}

/// Converts the VARIANTs of a batch to the storage that they have in `restored`, the [fields](restored_fields) of the
/// whole file. The batch may have only some of the columns.
pub(crate) fn restored_batch(batch: RecordBatch, restored: &Schema) -> Result<RecordBatch> {
    let (schema, columns, rows) = batch.into_parts();
    let (fields, columns) = restored_columns(schema.fields(), &columns, restored.fields())?;
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

fn restored_columns(
    fields: &Fields,
    columns: &[ArrayRef],
    wanted: &Fields,
) -> Result<(Fields, Vec<ArrayRef>)> {
    let column = |(field, column): (&FieldRef, &ArrayRef)| {
        let column = match wanted.find(field.name()) {
            Some((_, wanted)) => restored_array(field, column, wanted.data_type())?,
            None => column.clone(),
        };
        Ok((with_type(field, column.data_type().clone()), column))
    };
    let made = fields.iter().zip(columns).map(column).collect::<Result<Vec<_>>>()?;
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = made.into_iter().unzip();
    Ok((fields.into(), columns))
}

fn restored_array(field: &Field, array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    if is_restored(field, wanted) {
        return stored_as(array, wanted);
    }
    match (array.data_type(), wanted) {
        (stored, wanted) if stored == wanted => Ok(array.clone()),
        (DataType::Struct(fields), DataType::Struct(wanted)) => {
            let array = array.as_struct();
            let (fields, columns) = restored_columns(fields, array.columns(), wanted)?;
            let nulls = array.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, array.len())?))
        }
        (DataType::List(element), DataType::List(wanted)) => restored_list::<i32>(array, element, wanted),
        (DataType::LargeList(element), DataType::LargeList(wanted)) => {
            restored_list::<i64>(array, element, wanted)
        }
        (DataType::Map(entries, sorted), DataType::Map(wanted, _)) => {
            let array = array.as_map();
            let pairs: ArrayRef = Arc::new(array.entries().clone());
            let pairs = restored_array(entries, &pairs, wanted.data_type())?;
            let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
            let entries = with_type(entries, pairs.data_type().clone());
            let pairs = pairs.as_struct().clone();
            Ok(Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, *sorted)?))
        }
        _ => Ok(array.clone()),
    }
}

fn restored_list<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    wanted: &Field,
) -> Result<ArrayRef> {
    let array = array.as_list::<O>();
    let values = restored_array(element, array.values(), wanted.data_type())?;
    let element = with_type(element, values.data_type().clone());
    let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
    Ok(Arc::new(GenericListArray::<O>::try_new(element, offsets, values, nulls)?))
}

/// The values of a VARIANT, however it is shredded, in another storage, where none of them is shredded.
///
/// SPEC: a place may have any value in `value`, whatever the type of `typed_value` is.
fn stored_as(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let DataType::Struct(fields) = wanted else { return exec_err!("a VARIANT is not stored as {wanted}") };
    let whole = VariantColumn::try_new(array).and_then(|column| column.unshredded()).map_err(of)?;
    let nulls = whole.nulls().cloned();
    // QUIRK: DataFusion takes a field out of a struct without checking whether the struct is null.
    let is_null = nulls.as_ref().map(|nulls| BooleanArray::new(!nulls.inner(), None));
    let column = |field: &FieldRef| match (whole.column_by_name(field.name()), &is_null) {
        (Some(column), None) => Ok(cast(column, field.data_type())?),
        (Some(column), Some(is_null)) => Ok(nullif(&cast(column, field.data_type())?, is_null)?),
        (None, _) => Ok(new_null_array(field.data_type(), whole.len())),
    };
    let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, whole.len())?))
}
