//! Fields that some files of a table lack: they are nullable, whatever the other files say.

use crate::variant_storage::with_type;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The merged schema of files with these schemas, with fields nullable that some of them lack.
pub(crate) fn null_where_missing(common: Schema, files: &[Schema]) -> Schema {
    if !common.fields().iter().any(|field| has_required(field)) {
        return common;
    }
    // Most files have the same schema.
    let differing: HashSet<&Fields> = files.iter().map(Schema::fields).collect();
    let differing: Vec<&Fields> = differing.into_iter().collect();
    Schema::new_with_metadata(relaxed(common.fields(), &differing), common.metadata)
}

fn has_required(field: &Field) -> bool {
    let is_below = |fields: &Fields| fields.iter().any(|field| has_required(field));
    !field.is_nullable() || matches!(field.data_type(), DataType::Struct(fields) if is_below(fields))
}

fn relaxed(common: &Fields, files: &[&Fields]) -> Fields {
    // PERF: a table may have thousands of columns, each of which is looked up in each of these.
    let files: Vec<HashMap<&str, &FieldRef>> = files
        .iter()
        .map(|fields| fields.iter().rev().map(|field| (field.name().as_str(), field)).collect())
        .collect();
    let relaxed_field = |field: &FieldRef| {
        if !has_required(field) {
            return field.clone();
        }
        let found: Vec<_> = files.iter().map(|fields| fields.get(field.name().as_str())).collect();
        let is_missing = found.iter().any(Option::is_none);
        let data_type = match field.data_type() {
            DataType::Struct(fields) => {
                let below = found.iter().flatten().filter_map(|field| match field.data_type() {
                    DataType::Struct(fields) => Some(fields),
                    _ => None,
                });
                DataType::Struct(relaxed(fields, &below.collect::<Vec<_>>()))
            }
            other => other.clone(),
        };
        let field = with_type(field, data_type);
        match is_missing && !field.is_nullable() {
            true => Arc::new(Field::clone(&field).with_nullable(true)),
            false => field,
        }
    };
    common.iter().map(relaxed_field).collect()
}
