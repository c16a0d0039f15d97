//! Resolves the path in a predicate to a column.
//!
//! A path is that of a column in the file (`tags.list.element`), or that of Arrow, which omits the inner groups of a
//! list (`tags`, and `points.x` for a field of its elements; `attributes.key` and `attributes.value` for those of a
//! map).

use super::name::{is_quoted, names_of, path_of};
use crate::logical_type::LogicalType;
use crate::nesting::{FieldKind, NestedField};
use crate::schema::{Leaf, NodeKind, Schema, unknown_column};
use marquetry_base::{Error, Result};
use std::borrow::Cow;

/// Whether a predicate's path exists in a schema: as a column, a list, a map or a struct, or as a field of their
/// elements.
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
    is_there(schema, Names::Parts(&names_of(path))) || !is_quoted(path) && is_there(schema, Names::Text(path))
}

/// The form in which a path is compared with names.
#[derive(Clone, Copy)]
enum Names<'a> {
    /// A list of names.
    Parts(&'a [String]),
    /// Text with dots between names, which may also contain dots.
    Text(&'a str),
}

impl<'a> Names<'a> {
    /// Returns the rest of the path after a name: `None` if the path does not begin with it, `Some(None)` if nothing
    /// follows.
    fn behind(self, name: &str) -> Option<Option<Names<'a>>> {
        match self {
            Names::Parts(names) => match names.split_first()? {
                (first, rest) if first == name => Some((!rest.is_empty()).then_some(Names::Parts(rest))),
                _ => None,
            },
            Names::Text(path) => match path.strip_prefix(name)? {
                "" => Some(None),
                rest => rest.strip_prefix('.').map(|rest| Some(Names::Text(rest))),
            },
        }
    }

    /// Returns the dotted path.
    fn dotted(self) -> Cow<'a, str> {
        match self {
            Names::Parts([name]) => Cow::Borrowed(name),
            Names::Parts(names) => Cow::Owned(names.join(".")),
            Names::Text(path) => Cow::Borrowed(path),
        }
    }

    /// Returns the fields of the root with whose names the path may begin.
    fn roots(self, schema: &Schema) -> Vec<usize> {
        match self {
            Names::Parts(names) => names.first().map_or_else(Vec::new, |name| schema.fields_named(name)),
            Names::Text(path) => {
                let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
                ends.flat_map(|end| schema.fields_named(&path[..end])).collect()
            }
        }
    }

    fn is_path_of(self, leaf: &Leaf) -> bool {
        match self {
            Names::Parts(names) => {
                names.len() == leaf.path().len() && names.iter().zip(leaf.path()).all(|(a, b)| **a == **b)
            }
            Names::Text(path) => **leaf.dotted() == *path,
        }
    }
}

/// Whether a schema has a column or field with this path, or several.
fn is_there(schema: &Schema, names: Names<'_>) -> bool {
    exact(schema, names).map_or(true, |found| found.is_some())
        || at(schema, names).map_or(true, |found| found.is_some())
}

/// Returns what `find` finds by the names of a path, if these exist. Otherwise, unless there are quotes in the path, by
/// the path as the dotted name of a column.
fn found<T>(
    schema: &Schema,
    path: &str,
    find: impl Fn(&Schema, Names<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    // PERF: without dots both searches are the same.
    let is_text =
        !is_quoted(path) && (!path.contains('.') || !is_there(schema, Names::Parts(&names_of(path))));
    match is_text {
        true => find(schema, Names::Text(path)),
        false => find(schema, Names::Parts(&names_of(path))),
    }
}

/// Returns the column with this path, which must have one value per row.
pub(super) fn flat_column(schema: &Schema, path: &str) -> Result<usize> {
    let Some(column) = exact_column(schema, path)? else {
        return Err(match field_at(schema, path)? {
            Some(field) => in_list_or_group(schema, path, &field),
            None => {
                let is_below =
                    |leaf: &&Leaf| leaf.dotted().strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
                let mut below = schema.columns().iter().filter(is_below);
                match below.clone().find(|leaf| is_in_group(path, leaf)).or_else(|| below.next()) {
                    Some(leaf) if is_in_group(path, leaf) => is_group(schema, path, leaf),
                    Some(leaf) => has_dots(path, leaf),
                    None => unknown_or_in_variant(schema, path),
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

/// Returns the column with this path, which must be inside a list or a map.
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

/// Returns the columns of the keys and of the values of the map at this path.
pub(super) fn map_at(schema: &Schema, path: &str) -> Result<(usize, usize)> {
    let wrong = |message: &'static str| Err(Error::argument(message).in_column(path));
    let Some(field) = field_at(schema, path)? else { return Err(unknown_column(schema, path)) };
    let FieldKind::Map(entries) = &field.kind else { return wrong("it is not a map, and has no keys") };
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

/// Returns the list or map at this path, outside of other lists; `None` if there is none.
pub(super) fn list_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    let found = list_or_group_at(schema, path)?;
    Ok(found.filter(|field| matches!(field.kind, FieldKind::List(_) | FieldKind::Map(_))))
}

/// Returns the list, map or struct at this path, outside of lists; `None` if there is none, or the path is that of a
/// column with one value per row.
pub(super) fn list_or_group_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    let is_flat = |column: usize| schema.column(column).max_rep() == 0;
    if exact_column(schema, path)?.is_some_and(is_flat) {
        return Ok(None);
    }
    let field = field_at(schema, path)?;
    Ok(field.filter(|field| field.rep == 0 && !matches!(field.kind, FieldKind::Leaf(_))))
}

/// Returns the column with exactly this path in the file.
fn exact_column(schema: &Schema, path: &str) -> Result<Option<usize>> {
    found(schema, path, exact).map_err(|error| error.in_column(path))
}

fn exact(schema: &Schema, names: Names<'_>) -> Result<Option<usize>> {
    let mut columns = schema.columns_at(&names.dotted());
    columns.retain(|column| names.is_path_of(schema.column(*column)));
    match columns.as_slice() {
        [] => Ok(None),
        [column] => Ok(Some(*column)),
        _ => Err(ambiguous()),
    }
}

/// Returns the field at a path in Arrow's form.
fn field_at(schema: &Schema, path: &str) -> Result<Option<NestedField>> {
    found(schema, path, at).map_err(|error| error.in_column(path))
}

fn at(schema: &Schema, names: Names<'_>) -> Result<Option<NestedField>> {
    let mut found = None;
    // PERF: searches only the field with which the path begins.
    for root in names.roots(schema) {
        let Some(field) = NestedField::from_root(schema, root) else { continue };
        let here = below(std::slice::from_ref(&field), names)?;
        if here.is_some() && found.is_some() {
            return Err(ambiguous());
        }
        found = found.or_else(|| here.cloned());
    }
    Ok(found)
}

fn below<'a>(fields: &'a [NestedField], names: Names<'_>) -> Result<Option<&'a NestedField>> {
    let mut found = None;
    for field in fields {
        let here = match names.behind(&field.name) {
            Some(None) => Some(field),
            Some(Some(rest)) => below(fields_of(field), rest)?,
            None => None,
        };
        if here.is_some() && found.is_some() {
            return Err(ambiguous());
        }
        found = found.or(here);
    }
    Ok(found)
}

/// Returns the fields of a struct, or of the elements of a list.
fn fields_of(field: &NestedField) -> &[NestedField] {
    match &field.kind {
        FieldKind::Leaf(_) => &[],
        FieldKind::Struct(fields) => fields,
        FieldKind::List(inner) | FieldKind::Map(inner) => fields_of(inner),
    }
}

#[cold]
fn ambiguous() -> Error {
    Error::argument("several columns have this name")
}

#[cold]
fn in_list_or_group(schema: &Schema, path: &str, field: &NestedField) -> Error {
    match &field.kind {
        FieldKind::Struct(_) if field.rep == 0 => is_group(schema, path, schema.column(field.first_leaf())),
        FieldKind::Map(_) => {
            let message = "it is a map, so that a row has any number of entries; \
                           write [key] behind its name, or any(..) or all(..) of its .key or .value";
            Error::argument(message).in_column(path)
        }
        _ => is_in_list(path),
    }
}

#[cold]
fn is_group(schema: &Schema, path: &str, leaf: &Leaf) -> Error {
    if variant_of(schema, leaf).as_deref() == Some(path) {
        let message = format!(
            "it is a VARIANT, which is not compared as a whole; ask for a value in it by the path behind a colon, as in \
             {path}:name = 'x', {path}:[0] > 5 or {path}:size::bigint > 5, or for the value itself by {path}:$ = 'x' or {path}::bigint > 5"
        );
        return Error::argument(message).in_column(path);
    }
    let message =
        format!("{path} is a group; a predicate asks for one of its leaves, such as {}", leaf.dotted());
    Error::argument(message)
}

/// Returns the path of the VARIANT that contains the column.
fn variant_of(schema: &Schema, leaf: &Leaf) -> Option<String> {
    let mut nodes = schema.fields();
    for (depth, name) in leaf.path().iter().enumerate() {
        let node = nodes.iter().find(|node| node.name() == &**name)?;
        if matches!(node.logical(), Some(LogicalType::Variant { .. })) {
            return Some(leaf.path()[..=depth].join("."));
        }
        let NodeKind::Group(fields) = node.kind() else { return None };
        nodes = fields;
    }
    None
}

#[cold]
fn unknown_or_in_variant(schema: &Schema, path: &str) -> Error {
    let variants = schema.columns().iter().filter_map(|leaf| variant_of(schema, leaf));
    let behind = |variant: String| {
        let rest = path.strip_prefix(&variant)?.strip_prefix('.')?;
        Some(format!("no column {path}; {variant} is a VARIANT, into which a path leads: {variant}:{rest}"))
    };
    match variants.filter_map(behind).next() {
        Some(message) => Error::argument(message),
        None => unknown_column(schema, path),
    }
}

/// Whether a group around the column has this path; if none has, the dots are part of names.
#[cold]
fn is_in_group(path: &str, leaf: &Leaf) -> bool {
    let names = leaf.path();
    (1..names.len()).any(|depth| names[..depth].join(".") == path)
}

#[cold]
fn has_dots(path: &str, leaf: &Leaf) -> Error {
    let leaf = path_of(leaf.path());
    Error::argument(format!(
        "no column {path}; {leaf} has a dot in its name, which is written in double quotes"
    ))
}

#[cold]
fn is_in_list(path: &str) -> Error {
    let message = "it is inside a list or a map, so that a row has any number of values of it; \
                   write any(..) or all(..) around its name";
    Error::argument(message).in_column(path)
}
