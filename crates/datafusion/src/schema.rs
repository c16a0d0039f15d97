//! Which schema a table has, and which one its files are read as.

use crate::column_kind::{is_binary, is_same_but_layout, value_type};
use crate::variant_storage::{below, changed_fields, is_restored, with_type};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::common::config::ParquetOptions;
use std::collections::HashMap;
use std::sync::Arc;

/// The schema that a table has of files with this one, as the session's options want it.
pub(crate) fn table_schema(schema: &Schema, options: &ParquetOptions) -> Schema {
    let as_wanted = |data_type: &DataType| {
        let data_type = match data_type {
            DataType::Binary if options.binary_as_string => DataType::Utf8,
            DataType::LargeBinary if options.binary_as_string => DataType::LargeUtf8,
            DataType::BinaryView if options.binary_as_string => DataType::Utf8View,
            other => other.clone(),
        };
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 if options.schema_force_view_types => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary if options.schema_force_view_types => {
                DataType::BinaryView
            }
            other => other,
        }
    };
    let fields = schema.fields().iter().map(|field| with_type(field, as_wanted(field.data_type())));
    Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone())
}

/// The schema without the metadata of fields and of its own.
pub(crate) fn without_metadata(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_metadata(HashMap::new()));
    Schema::new(fields.collect::<Fields>())
}

/// The schema to read a file as, for a table: where only the layout of byte strings differs, that of the table, so that nothing has
/// to be converted; everything else as the file has it, VARIANT of other storage too. `None` if that is the file's own.
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

/// The schemas of files of one table, all with the same layout of byte strings and the same names of the parts of maps: what writers
/// call these says nothing, and what they write one after the other into a folder stays one table.
pub(crate) fn alike(schemas: Vec<SchemaRef>) -> Vec<SchemaRef> {
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

/// The fields of both.
fn common_fields(one: &Fields, other: &Fields) -> Fields {
    let known = changed_fields(one, other, |field, other| with_type(field, common_type(field, other)));
    let is_known = |(place, field): &(usize, &FieldRef)| {
        let same_place = one.get(*place).is_some_and(|known| known.name() == field.name());
        same_place || one.find(field.name()).is_some()
    };
    let more = other.iter().enumerate().filter(|field| !is_known(field)).map(|(_, field)| field);
    known.iter().chain(more).cloned().collect()
}

/// The type that both can be read as, if they differ in their layout alone; a dictionary only where both are one.
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

/// The type in the layout that `common` has.
fn type_like(field: &Field, common: &Field) -> DataType {
    let (own, common) = (field.data_type(), common.data_type());
    match is_same_but_layout(own, common) {
        true => common.clone(),
        false => parts_like(own, common, &type_like),
    }
}

/// As [`below`], and maps with the names that `other` has for their parts.
fn parts_like(own: &DataType, other: &DataType, changed: &dyn Fn(&Field, &Field) -> DataType) -> DataType {
    if let (DataType::Map(entries, sorted), DataType::Map(others, is_other_sorted)) = (own, other)
        && let (DataType::Struct(parts), DataType::Struct(other_parts)) =
            (entries.data_type(), others.data_type())
        && parts.len() == other_parts.len()
    {
        // By position.
        let parts = parts.iter().zip(other_parts).map(|(part, other)| {
            let may_be_null = part.is_nullable() || other.is_nullable();
            Field::clone(other).with_data_type(changed(part, other)).with_nullable(may_be_null)
        });
        let entries = Field::clone(others).with_data_type(DataType::Struct(parts.collect()));
        return DataType::Map(Arc::new(entries), *sorted && *is_other_sorted);
    }
    below(own, other, changed)
}
