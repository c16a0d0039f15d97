//! Extension types of Arrow, which are metadata of fields: UUID, JSON, GEOMETRY, VARIANT. This module decides which of
//! them the columns of a table have.

use crate::variant_storage::{changed_fields, fields_below, with_type};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// The name of an extension type, and its parameters, where it has any.
type Extension<'a> = (&'a str, Option<&'a str>);

/// The extension type of a field. Empty parameters count as none: some writers write them, and others do not.
fn extension(field: &Field) -> Option<Extension<'_>> {
    let get = |key| field.metadata().get(key).map(String::as_str);
    Some((get(EXTENSION_TYPE_NAME_KEY)?, get(EXTENSION_TYPE_METADATA_KEY).filter(|text| !text.is_empty())))
}

/// The schema without metadata, its own and that of its fields, except for extension types.
pub(crate) fn with_types_alone(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| match field.metadata().is_empty() {
        true => field.clone(),
        false => with_metadata(field, types_alone(field)),
    });
    Schema::new(fields.collect::<Fields>())
}

/// The metadata of a field's extension type, as Marquetry writes it.
pub(crate) fn types_alone(field: &Field) -> HashMap<String, String> {
    let Some((name, parameters)) = extension(field) else { return HashMap::new() };
    // Readers of JSON expect empty parameters.
    let parameters = parameters.or((name == JSON).then_some(""));
    let mut metadata = HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned())]);
    metadata.extend(parameters.map(|text| (EXTENSION_TYPE_METADATA_KEY.to_owned(), text.to_owned())));
    metadata
}

/// The metadata of a field's extension type, as stored.
pub(crate) fn stated_types(field: &Field) -> HashMap<String, String> {
    let stated = KEYS.iter().filter_map(|key| field.metadata().get_key_value(*key));
    stated.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The schemas of files of one table, with only those extension types that all of them have: what one file says of its
/// column, its coordinate reference system for example, need not be true of the values of another file.
pub(crate) fn with_shared_types(schemas: Vec<SchemaRef>) -> Vec<SchemaRef> {
    let Some((first, others)) = schemas.split_first() else { return schemas };
    let mut shared = first.fields().clone();
    for fields in others.iter().map(|schema| schema.fields()).filter(|fields| **fields != *first.fields()) {
        shared = shared_fields(&shared, fields);
    }
    let like_shared = |schema: SchemaRef| {
        let fields = changed_fields(schema.fields(), &shared, like_shared);
        match fields == *schema.fields() {
            true => schema,
            false => Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())),
        }
    };
    schemas.into_iter().map(like_shared).collect()
}

/// The fields of both, with the extension types that they share.
fn shared_fields(one: &Fields, other: &Fields) -> Fields {
    with_more(changed_fields(one, other, shared_field), other)
}

/// The fields, followed by those that only `others` has.
pub(crate) fn with_more(fields: Fields, others: &Fields) -> Fields {
    let is_known = |(place, other): &(usize, &FieldRef)| {
        let same_place = fields.get(*place).is_some_and(|known| known.name() == other.name());
        same_place || fields.find(other.name()).is_some()
    };
    let more = others.iter().enumerate().filter(|other| !is_known(other)).map(|(_, other)| other);
    fields.iter().chain(more).cloned().collect()
}

fn shared_field(one: &FieldRef, other: &FieldRef) -> FieldRef {
    let data_type = match (one.data_type(), other.data_type()) {
        // A column without values says nothing of their meaning.
        (_, DataType::Null) => return one.clone(),
        (DataType::Null, _) => return other.clone(),
        (DataType::Struct(one), DataType::Struct(other)) => DataType::Struct(shared_fields(one, other)),
        (one, other) => fields_below(one, other, &shared_field),
    };
    let field = with_type(one, data_type);
    if extension(one) == extension(other) { field } else { without_extension(&field) }
}

/// The field, without extension types that `shared` lacks, on the field itself and below it.
fn like_shared(field: &FieldRef, shared: &FieldRef) -> FieldRef {
    let field = with_type(field, fields_below(field.data_type(), shared.data_type(), &like_shared));
    if extension(shared).is_some() { field } else { without_extension(&field) }
}

/// The field without its extension type.
pub(crate) fn without_extension(field: &FieldRef) -> FieldRef {
    if !KEYS.iter().any(|key| field.metadata().contains_key(*key)) {
        return field.clone();
    }
    let mut metadata = field.metadata().clone();
    metadata.retain(|key, _| !KEYS.contains(&key.as_str()));
    with_metadata(field, metadata)
}

fn with_metadata(field: &FieldRef, metadata: HashMap<String, String>) -> FieldRef {
    Arc::new(Field::clone(field).with_metadata(metadata))
}

/// Whether the extension type of a field, if it has one, applies to any layout of text or bytes. Unknown extension
/// types may apply to their own layout only.
pub(crate) fn takes_any_layout(field: &Field) -> bool {
    let known = ["arrow.", "geoarrow.", "marquetry."];
    extension(field).is_none_or(|(name, _)| known.iter().any(|known| name.starts_with(known)))
}

const KEYS: [&str; 2] = [EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY];
const JSON: &str = "arrow.json";
