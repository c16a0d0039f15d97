//! The union of two schemas: one that can hold the rows of both.

use super::MatchBy;
use super::extension_types::shared_metadata;
use super::promotion::common;
use super::variant_storage::is_other_storage;
use crate::schema::{FIELD_ID_KEY, element_of, forget_extension, list_of};
use crate::variant::unshredded_storage;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use marquetry_base::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the fields of `a`, then those that only `b` has. A field that only one has is nullable. A field of both has
/// the narrowest type that holds the values of both, and the extension type if both have the same. Fails if there is no
/// such type.
pub(crate) fn union(a: &Fields, b: &Fields, by: MatchBy) -> Result<Fields> {
    let mut names: HashMap<Name<'_>, usize> = HashMap::new();
    for (i, field) in b.iter().enumerate() {
        names.entry(Name::of(field, by)).or_insert(i);
    }
    let mut is_known = vec![false; b.len()];
    let mut out = Vec::with_capacity(a.len());
    for field in a {
        out.push(match names.get(&Name::of(field, by)) {
            Some(&i) => {
                is_known[i] = true;
                both(field, &b[i], by).map_err(|error| below(field.name(), error))?
            }
            None => nullable(field),
        });
    }
    out.extend(b.iter().zip(is_known).filter(|(_, is_known)| !is_known).map(|(field, _)| nullable(field)));
    Ok(out.into())
}

/// Returns whether fields of two schemas are the same column.
pub(crate) fn is_same_column(a: &Field, b: &Field, by: MatchBy) -> bool {
    Name::of(a, by) == Name::of(b, by)
}

/// The key by which a field is found.
#[derive(PartialEq, Eq, Hash)]
enum Name<'a> {
    Exact(&'a str),
    Lower(String),
    Id(&'a str),
}

impl<'a> Name<'a> {
    fn of(field: &'a Field, by: MatchBy) -> Self {
        match (by, field.metadata().get(FIELD_ID_KEY)) {
            (MatchBy::NameIgnoringCase, _) => Name::Lower(field.name().to_lowercase()),
            (MatchBy::FieldId, Some(id)) => Name::Id(id),
            _ => Name::Exact(field.name()),
        }
    }
}

fn nullable(field: &FieldRef) -> FieldRef {
    match field.is_nullable() {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_nullable(true)),
    }
}

/// Renames a field: if columns are found by id or ignoring case, the same column may have other names.
fn renamed(field: &FieldRef, name: &str) -> FieldRef {
    match field.name() == name {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_name(name)),
    }
}

fn both(a: &FieldRef, b: &FieldRef, by: MatchBy) -> Result<FieldRef> {
    if is_other_storage(a, b) {
        let nullable = a.is_nullable() || b.is_nullable();
        let whole = Field::new(a.name(), unshredded_storage(), nullable);
        return Ok(Arc::new(whole.with_metadata(a.metadata().clone())));
    }
    // A column without values says nothing about their type.
    match (a.data_type(), b.data_type()) {
        (_, DataType::Null) => return Ok(nullable(a)),
        (DataType::Null, _) => return Ok(nullable(&renamed(b, a.name()))),
        _ => {}
    }
    let mut metadata = shared_metadata(a, b)?;
    let data_type = match (a.data_type(), b.data_type()) {
        (same, other) if same == other => same.clone(),
        (DataType::Struct(a), DataType::Struct(b)) => DataType::Struct(union(a, b, by)?),
        (DataType::Map(a, sorted), DataType::Map(b, also)) => {
            DataType::Map(entries(a, b, by)?, *sorted && *also)
        }
        (a, b) => match (element_of(a), element_of(b)) {
            (Some(x), Some(y)) => list(a, b, both(x, y, by)?),
            _ => common(a, b)
                .ok_or_else(|| Error::argument(format!("the column is {b}, and {a} in files before it")))?,
        },
    };
    let nullable = a.is_nullable() || b.is_nullable();
    if data_type == *a.data_type() && nullable == a.is_nullable() && metadata == *a.metadata() {
        return Ok(a.clone());
    }
    // Not cloned, because a field remembers that its dictionary is ordered. An extension type holds only for its own storage type.
    if data_type != *a.data_type() {
        forget_extension(&mut metadata);
    }
    Ok(Arc::new(Field::new(a.name(), data_type, nullable).with_metadata(metadata)))
}

fn list(a: &DataType, b: &DataType, element: FieldRef) -> DataType {
    match (a, b) {
        (DataType::FixedSizeList(_, size), DataType::FixedSizeList(_, same)) if size == same => {
            list_of(a, element)
        }
        (DataType::FixedSizeList(..), _) => DataType::List(element),
        _ => list_of(a, element),
    }
}

/// Combines the entries of maps. Key and value are found by position.
fn entries(a: &FieldRef, b: &FieldRef, by: MatchBy) -> Result<FieldRef> {
    let (DataType::Struct(x), DataType::Struct(y)) = (a.data_type(), b.data_type()) else {
        return Err(Error::argument("the entries of a map are not structs"));
    };
    let parts = x.iter().zip(y).map(|(x, y)| both(x, y, by)).collect::<Result<Fields>>()?;
    Ok(Arc::new(Field::clone(a).with_data_type(DataType::Struct(parts))))
}

/// Puts a name in front of the path in the error.
fn below(name: &str, error: Error) -> Error {
    let path = match &error.place().column {
        Some(below) => format!("{name}.{below}"),
        None => name.to_owned(),
    };
    Error::new(error.kind(), error.message().to_owned()).in_column(path)
}
