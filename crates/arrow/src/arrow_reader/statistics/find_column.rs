//! Finds the column whose statistics are wanted, by its name.

use crate::arrow_reader::resolved_schema::ResolvedFields;
use crate::schema::element_of;
use arrow_schema::{DataType, Field, FieldRef, Schema as ArrowSchema};
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::{Schema, unknown_column};

/// An Arrow field, and the number of the column that it is read from; `None` if the file lacks it, or if it is not a leaf.
pub(in crate::arrow_reader) type FoundColumn<'a> = (&'a Field, Option<usize>);

/// Returns the field of this name, or of the leaf of this dotted path.
///
/// Fails if neither schema has it.
pub(super) fn find<'a>(name: &str, arrow: &'a ArrowSchema, schema: &Schema) -> Result<FoundColumn<'a>> {
    if let Ok(field) = arrow.field_with_name(name) {
        return Ok((field, root_leaf(name, schema)));
    }
    let number = schema.find(name).ok_or_else(|| unknown_column(schema, name))?;
    let field = field_of_leaf(arrow, schema, number).ok_or_else(|| no_field(name))?;
    Ok((field, Some(number)))
}

/// Like [`find`], among the resolved fields of a file; `None` if the file lacks the column.
///
/// PERF: no list of names is searched, so that looking up all columns is linear.
pub(in crate::arrow_reader) fn find_in_file<'a>(
    name: &str,
    file: &'a ResolvedFields,
    schema: &Schema,
) -> Result<Option<FoundColumn<'a>>> {
    let virtual_columns = &file.schema.fields()[file.fields.len()..];
    if virtual_columns.iter().any(|field| field.name() == name) {
        return find(name, &file.schema, schema).map(Some);
    }
    // Groups without any column have no field.
    let roots = schema.fields_named(name).into_iter().map(|root| schema.columns_of(root));
    if let Some(columns) = roots.into_iter().find(|columns| !columns.is_empty()) {
        let (_, field) = file.of_leaf(columns.start).ok_or_else(|| no_field(name))?;
        return Ok(Some((field, root_leaf(name, schema))));
    }
    let Some(number) = schema.find(name) else { return Ok(None) };
    let found = file.of_leaf(number).and_then(|(root, field)| below(field, root, number));
    Ok(Some((found.ok_or_else(|| no_field(name))?, Some(number))))
}

/// Returns the first leaf of this name that is a field of the root and no list.
fn root_leaf(name: &str, schema: &Schema) -> Option<usize> {
    let roots = schema.fields_named(name).into_iter().map(|root| schema.columns_of(root));
    let mut leaves = roots.filter_map(|columns| columns.into_iter().next());
    leaves.find(|leaf| {
        let leaf = schema.column(*leaf);
        leaf.path().len() == 1 && leaf.max_rep() == 0
    })
}

#[cold]
fn no_field(name: &str) -> Error {
    Error::argument(format!("the Arrow schema has no field of column {name}"))
}

/// The Arrow field of a leaf somewhere below a field of the root.
fn field_of_leaf<'a>(arrow: &'a ArrowSchema, schema: &Schema, leaf: usize) -> Option<&'a Field> {
    let root = NestedField::from_root(schema, schema.column(leaf).root())?;
    below(arrow.field_with_name(&root.name).ok()?, &root, leaf)
}

/// The field of `leaf` at or below `arrow`, which is what `field` is read as: fields of structs are found by name, elements,
/// keys and values by position.
fn below<'a>(arrow: &'a Field, field: &NestedField, leaf: usize) -> Option<&'a Field> {
    match (&field.kind, arrow.data_type()) {
        (FieldKind::Leaf(_), _) => Some(arrow),
        (FieldKind::Struct(fields), DataType::Struct(arrow)) => {
            let place = NestedField::place_of(fields, leaf)?;
            let field = &fields[place];
            let is_it = |arrow: &&FieldRef| **arrow.name() == *field.name;
            let arrow = arrow.get(place).filter(is_it).or_else(|| arrow.iter().find(is_it))?;
            below(arrow, field, leaf)
        }
        (FieldKind::List(element), list) => below(element_of(list)?, element, leaf),
        (FieldKind::Map(entries), DataType::Map(arrow, _)) => {
            let (FieldKind::Struct(parts), DataType::Struct(arrow)) = (&entries.kind, arrow.data_type())
            else {
                return None;
            };
            let place = NestedField::place_of(parts, leaf)?;
            below(arrow.get(place)?, &parts[place], leaf)
        }
        _ => None,
    }
}
