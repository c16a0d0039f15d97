//! The column that a predicate's path names.
//!
//! A path is that of a column in the file (`tags.list.element`), or that of Arrow, which leaves out what a list is made of
//! (`tags`, and `points.x` for a field of its elements; `attributes.key` and `attributes.value` for those of a map).

use crate::nesting::{FieldKind, NestedField};
use crate::schema::{Leaf, Schema, unknown_column};
use marquetry_base::{Error, Result};

/// Whether a predicate's path names something in a schema: a column, a list, a map or a struct, or a field of their elements.
///
/// ```
/// use marquetry_core::predicate::names_column;
/// use marquetry_core::schema::Schema;
/// let schema = Schema::parse("message m { optional group points (LIST) { repeated group list { optional group element { optional int32 x; } } } }")?;
/// assert!(names_column(&schema, "points.x") && names_column(&schema, "points.list.element.x"));
/// assert!(!names_column(&schema, "points.y"));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn names_column(schema: &Schema, path: &str) -> bool {
    // A name that several columns have is there all the same.
    exact_column(schema, path).map_or(true, |found| found.is_some())
        || field_at(schema, path).map_or(true, |found| found.is_some())
}

/// The column of this path, which has one value a row.
pub(super) fn flat_column(schema: &Schema, path: &str) -> Result<usize> {
    let Some(column) = exact_column(schema, path)? else {
        return Err(match field_at(schema, path)? {
            Some(field) => in_list_or_group(schema, path, &field),
            None => {
                let is_below =
                    |leaf: &&Leaf| leaf.dotted().strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
                match schema.columns().iter().find(is_below) {
                    Some(leaf) => is_group(path, leaf),
                    None => unknown_column(schema, path),
                }
            }
        });
    };
    let leaf = schema.column(column);
    match leaf.max_rep() {
        0 => Ok(column),
        _ => Err(is_in_list(path)),
    }
}

/// The column of this path, which is inside of a list or a map.
pub(super) fn element_column(schema: &Schema, path: &str) -> Result<usize> {
    let column = match exact_column(schema, path)? {
        Some(column) => column,
        None => {
            let Some(mut field) = field_at(schema, path)? else { return Err(unknown_column(schema, path)) };
            loop {
                field = match field.kind {
                    FieldKind::Leaf(column) => break column,
                    FieldKind::List(element) => *element,
                    FieldKind::Map(_) => {
                        let message =
                            format!("it is a map: ask for {path}.key, {path}.value or {path}['a key']");
                        return Err(Error::argument(message).in_column(path));
                    }
                    FieldKind::Struct(fields) => {
                        let name = fields.first().map_or("x", |field| &field.name);
                        let message =
                            format!("an element has fields; ask for one of them, such as {path}.{name}");
                        return Err(Error::argument(message).in_column(path));
                    }
                };
            }
        }
    };
    match schema.column(column).max_rep() {
        0 => {
            let message = "it is in no list: ask for it without any() and all()";
            Err(Error::argument(message).in_column(path))
        }
        _ => Ok(column),
    }
}

/// The columns of the keys and of the values of the map at this path.
pub(super) fn map_at(schema: &Schema, path: &str) -> Result<(usize, usize)> {
    let wrong = |message: &'static str| Err(Error::argument(message).in_column(path));
    let Some(field) = field_at(schema, path)? else { return Err(unknown_column(schema, path)) };
    let FieldKind::Map(entries) = &field.kind else { return wrong("it is no map, and has no keys") };
    let FieldKind::Struct(fields) = &entries.kind else { return wrong("the map has no keys and values") };
    if field.rep > 0 {
        return wrong("the map is inside of a list: a row has any number of maps");
    }
    match fields.as_slice() {
        [
            NestedField { kind: FieldKind::Leaf(key), .. },
            NestedField { kind: FieldKind::Leaf(value), .. },
        ] => Ok((*key, *value)),
        _ => wrong(
            "its keys or values have parts: only a key and a value that are one column each can be asked",
        ),
    }
}

/// The list or map at this path, which is in no other; `None` if something else is there, or nothing.
pub(super) fn list_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    let found = list_or_group_at(schema, path)?;
    Ok(found.filter(|field| matches!(field.kind, FieldKind::List(_) | FieldKind::Map(_))))
}

/// The list, map or struct at this path, which is in no list; `None` if a column is there that has one value a row, or
/// nothing.
pub(super) fn list_or_group_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    let is_flat = |column: usize| schema.column(column).max_rep() == 0;
    if exact_column(schema, path)?.is_some_and(is_flat) {
        return Ok(None);
    }
    let field = field_at(schema, path)?;
    Ok(field.filter(|field| field.rep == 0 && !matches!(field.kind, FieldKind::Leaf(_))))
}

/// The column that has this very path in the file.
fn exact_column(schema: &Schema, path: &str) -> Result<Option<usize>> {
    let is_path = |leaf: &Leaf| &**leaf.dotted() == path;
    let Some(column) = schema.columns().iter().position(is_path) else { return Ok(None) };
    match schema.columns()[column + 1..].iter().any(is_path) {
        true => Err(ambiguous(path)),
        false => Ok(Some(column)),
    }
}

/// The field at a path of Arrow's.
fn field_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    let mut found = None;
    for root in 0..schema.fields().len() {
        // PERF: only the field that the path begins with is looked into.
        if path
            .strip_prefix(schema.fields()[root].name())
            .is_none_or(|rest| !rest.is_empty() && !rest.starts_with('.'))
        {
            continue;
        }
        let Some(field) = NestedField::from_root(schema, root) else { continue };
        let here = below(std::slice::from_ref(&field), path)?;
        if here.is_some() && found.is_some() {
            return Err(ambiguous(path));
        }
        found = found.or_else(|| here.cloned());
    }
    Ok(found)
}

fn below<'a>(fields: &'a [NestedField], path: &str) -> Result<Option<&'a NestedField>> {
    let mut found = None;
    for field in fields {
        let here = match path.strip_prefix(&*field.name) {
            Some("") => Some(field),
            Some(rest) => match rest.strip_prefix('.') {
                Some(rest) => below(fields_of(field), rest)?,
                None => None,
            },
            None => None,
        };
        if here.is_some() && found.is_some() {
            return Err(ambiguous(path));
        }
        found = found.or(here);
    }
    Ok(found)
}

/// The fields of a struct, or of the elements of a list.
fn fields_of(field: &NestedField) -> &[NestedField] {
    match &field.kind {
        FieldKind::Leaf(_) => &[],
        FieldKind::Struct(fields) => fields,
        FieldKind::List(inner) | FieldKind::Map(inner) => fields_of(inner),
    }
}

#[cold]
fn ambiguous(path: &str) -> Error {
    Error::argument("several columns have this name").in_column(path)
}

#[cold]
fn in_list_or_group(schema: &Schema, path: &str, field: &NestedField) -> Error {
    match &field.kind {
        FieldKind::Struct(_) if field.rep == 0 => is_group(path, schema.column(field.first_leaf())),
        FieldKind::Map(_) => {
            let message = "it is a map, so that a row has any number of entries; \
                           write [key] behind its name, or any(..) or all(..) of its .key or .value";
            Error::argument(message).in_column(path)
        }
        _ => is_in_list(path),
    }
}

#[cold]
fn is_group(path: &str, leaf: &Leaf) -> Error {
    let message =
        format!("{path} is a group; a predicate asks for one of its leaves, such as {}", leaf.dotted());
    Error::argument(message)
}

#[cold]
fn is_in_list(path: &str) -> Error {
    let message = "it is inside a list or a map, so that a row has any number of values of it; \
                   write any(..) or all(..) around its name";
    Error::argument(message).in_column(path)
}
