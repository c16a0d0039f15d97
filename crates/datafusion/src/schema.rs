//! The schema of a table, and the schema that each of its files is read as.

use crate::column_kind::{is_binary, is_same_but_layout, value_type};
use crate::extension_types::{takes_any_layout, with_more, without_extension};
use crate::variant_storage::{below, changed_fields, is_restored, with_type};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::common::config::ParquetOptions;
use std::sync::Arc;

/// The schema of a table whose files have `schema`, changed as the session's options ask.
pub(crate) fn table_schema(schema: &Schema, options: &ParquetOptions) -> Schema {
    let as_wanted = |field: &FieldRef| {
        let text = match field.data_type() {
            DataType::Binary => DataType::Utf8,
            DataType::LargeBinary => DataType::LargeUtf8,
            DataType::BinaryView => DataType::Utf8View,
            other => other.clone(),
        };
        // An extension type of bytes, such as a geometry, does not apply to text.
        let is_text = options.binary_as_string && text != *field.data_type();
        let field = if is_text { with_type(&without_extension(field), text) } else { field.clone() };
        let has_views = options.schema_force_view_types && takes_any_layout(&field);
        match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 if has_views => with_type(&field, DataType::Utf8View),
            DataType::Binary | DataType::LargeBinary if has_views => with_type(&field, DataType::BinaryView),
            _ => field,
        }
    };
    Schema::new_with_metadata(
        schema.fields().iter().map(as_wanted).collect::<Fields>(),
        schema.metadata().clone(),
    )
}

/// The schema to read a file as, for a table: with the table's layout of byte strings, so that nothing has to be
/// converted, and otherwise with the file's own types, VARIANT of other storage included. `None` if that is the file's
/// schema.
pub(crate) fn read_schema(file: &Schema, table: &Schema) -> Option<SchemaRef> {
    let fields = read_fields(file.fields(), table.fields());
    let is_own = fields.iter().zip(file.fields()).all(|(read, own)| read == own);
    (!is_own).then(|| Arc::new(Schema::new_with_metadata(fields, file.metadata().clone())))
}

fn read_fields(file: &Fields, table: &Fields) -> Fields {
    changed_fields(file, table, |field, wanted| with_type(field, read_type(field, wanted)))
}

fn read_type(file: &Field, table: &Field) -> DataType {
    match (file.data_type(), table.data_type()) {
        (stored, wanted) if is_restored(file, wanted) => stored.clone(),
        (stored, wanted) if stored.is_string() && wanted.is_string() => wanted.clone(),
        (stored, wanted) if is_binary(stored) && (is_binary(wanted) || wanted.is_string()) => wanted.clone(),
        (stored, wanted) => parts_like(stored, wanted, &read_type),
    }
}

/// The schemas of files of one table, all with the same layout of byte strings and the same names of the parts of maps:
/// writers name these differently, and a folder of their files stays one table.
pub(crate) fn with_common_layout(schemas: Vec<SchemaRef>) -> Vec<SchemaRef> {
    let Some((first, others)) = schemas.split_first() else { return schemas };
    let mut common = first.fields().clone();
    for fields in others.iter().map(|schema| schema.fields()).filter(|fields| **fields != *first.fields()) {
        common = common_fields(&common, fields);
    }
    let like_common = |schema: SchemaRef| {
        let fields = changed_fields(schema.fields(), &common, |field, common| {
            with_type(field, type_like(field, common))
        });
        match fields == *schema.fields() {
            true => schema,
            false => Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())),
        }
    };
    schemas.into_iter().map(like_common).collect()
}

/// The fields of both, with their common types.
fn common_fields(one: &Fields, other: &Fields) -> Fields {
    let known = changed_fields(one, other, |field, other| with_type(field, common_type(field, other)));
    with_more(known, other)
}

/// The type that both can be read as, if they differ in layout only; a dictionary only if both are the same one.
fn common_type(one: &Field, other: &Field) -> DataType {
    let (one, other) = (one.data_type(), other.data_type());
    if let (DataType::Struct(one), DataType::Struct(other)) = (one, other) {
        return DataType::Struct(common_fields(one, other));
    }
    if one.is_null() {
        return other.clone();
    }
    let is_dictionary = |of: &DataType| matches!(of, DataType::Dictionary(..));
    match is_same_but_layout(one, other) {
        true if is_dictionary(one) && one != other => value_type(one).clone(),
        true => one.clone(),
        false => parts_like(one, other, &common_type),
    }
}

/// The type, in the layout of `common`.
fn type_like(field: &Field, common: &Field) -> DataType {
    let (own, common) = (field.data_type(), common.data_type());
    match is_same_but_layout(own, common) {
        true => common.clone(),
        false => parts_like(own, common, &type_like),
    }
}

/// As [`below`], and gives the parts of maps the names that `other` has for them.
fn parts_like(own: &DataType, other: &DataType, changed: &dyn Fn(&Field, &Field) -> DataType) -> DataType {
    if let (DataType::Map(entries, sorted), DataType::Map(others, is_other_sorted)) = (own, other)
        && let (DataType::Struct(parts), DataType::Struct(other_parts)) =
            (entries.data_type(), others.data_type())
        && parts.len() == other_parts.len()
    {
        // By position, as their names may differ.
        let parts = parts.iter().zip(other_parts).map(|(part, other)| {
            let may_be_null = part.is_nullable() || other.is_nullable();
            Field::clone(other).with_data_type(changed(part, other)).with_nullable(may_be_null)
        });
        let entries = Field::clone(others).with_data_type(DataType::Struct(parts.collect()));
        return DataType::Map(Arc::new(entries), *sorted && *is_other_sorted);
    }
    below(own, other, changed)
}
