//! Checks the Arrow schema that a caller supplies against the file.

use super::compatibility::{describe, fits};
use super::lists::element_of;
use arrow_schema::{DataType, Field as ArrowField, Fields, Schema as ArrowSchema};
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::Schema;

/// Returns `wanted`, the Arrow schema that the caller wants for `fields`, if each of its fields can be made from the
/// field at the same position.
///
/// Fields, and fields of structs, must have the file's names and order. List elements and the parts of maps may have
/// any name. A field may be nullable although it is not in the file, but not the other way round. Fails with an
/// argument error that names the first field that cannot be made.
pub fn to_arrow_as(fields: &[NestedField], schema: &Schema, wanted: &ArrowSchema) -> Result<ArrowSchema> {
    check_fields(fields, schema, wanted.fields(), "")?;
    Ok(wanted.clone())
}

fn check_fields(fields: &[NestedField], schema: &Schema, wanted: &Fields, path: &str) -> Result<()> {
    for (i, field) in fields.iter().enumerate() {
        let path = join(path, &field.name);
        let wanted = wanted.get(i).ok_or_else(|| cannot(&path, "the wanted schema does not have it"))?;
        if **wanted.name() != *field.name {
            return Err(cannot(&path, &format!("the wanted schema has {:?} in its place", wanted.name())));
        }
        check(field, schema, wanted, &path)?;
    }
    match wanted.get(fields.len()) {
        None => Ok(()),
        Some(extra) => Err(cannot(&join(path, extra.name()), "the file does not have it")),
    }
}

fn check(field: &NestedField, schema: &Schema, wanted: &ArrowField, path: &str) -> Result<()> {
    if field.nullable && !wanted.is_nullable() {
        return Err(cannot(path, "it may be null in the file"));
    }
    check_type(field, schema, wanted, path)
}

fn check_type(field: &NestedField, schema: &Schema, wanted: &ArrowField, path: &str) -> Result<()> {
    let other = |what: &str| Err(cannot(path, &format!("it is {what}, {} is wanted", wanted.data_type())));
    match (&field.kind, wanted.data_type()) {
        (FieldKind::Leaf(number), data_type) => {
            let column = schema.column(*number);
            if fits(column, data_type) { Ok(()) } else { other(&describe(column)) }
        }
        (FieldKind::Struct(fields), DataType::Struct(wanted)) => check_fields(fields, schema, wanted, path),
        (FieldKind::List(element), list) => match (element_of(list), list) {
            (_, DataType::FixedSizeList(_, ..0)) | (None, _) => other("a list"),
            (Some(wanted), _) => check(element, schema, wanted, &join(path, &element.name)),
        },
        (FieldKind::Map(entries), DataType::Map(wanted, _)) => match (&entries.kind, wanted.data_type()) {
            (FieldKind::Struct(file), DataType::Struct(wanted)) if file.len() == 2 && wanted.len() == 2 => {
                // The key may be declared non-null although the file does not say so.
                check_type(&file[0], schema, &wanted[0], &join(path, &file[0].name))?;
                check(&file[1], schema, &wanted[1], &join(path, &file[1].name))
            }
            _ => other("a map"),
        },
        (FieldKind::Struct(_), _) => other("a struct"),
        (FieldKind::Map(_), _) => other("a map"),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cold]
fn cannot(path: &str, why: &str) -> Error {
    Error::argument(format!("field {path} cannot be read as wanted: {why}"))
}
