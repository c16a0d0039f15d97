//! What a path leads to in one row: through `typed_value` as far as it goes, and on in the binary of a `value` from there.

use super::group::{Group, Typed};
use marquetry_base::{Error, Result};
use marquetry_variant::{Path, Step, Value, Variant, Writer};

/// A value that was found.
pub(super) enum Place<'g, 'a> {
    /// In binary.
    Binary(Variant<'a>),
    /// In columns: a row of a group where it is, in part or as a whole.
    Columns(&'g Group<'a>, usize),
}

impl<'a> Place<'_, 'a> {
    /// Calls `with` with the value. Objects and arrays in columns are put together first.
    pub(super) fn with<T>(
        &self,
        metadata: &'a [u8],
        writer: &mut Writer,
        with: &mut dyn FnMut(&Value<'_>, Option<Variant<'_>>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Place::Binary(variant) => with(&variant.value()?, Some(*variant)),
            Place::Columns(group, row) => match (group.typed_at(*row), group.bytes(*row)) {
                (Some(Typed::Primitive(primitive)), None) => with(&primitive.value(*row)?, None),
                (None, Some(bytes)) => {
                    let variant = Variant::new(metadata, bytes)?;
                    with(&variant.value()?, Some(variant))
                }
                _ => {
                    writer.clear();
                    // SPEC: an element cannot be missing; one that is reads as null.
                    if !group.write(*row, metadata, writer)? {
                        writer.write(&Value::Null)?;
                    }
                    let (metadata, value) = writer.finish()?;
                    let variant = Variant::new(&metadata, &value)?;
                    with(&variant.value()?, Some(variant))
                }
            },
        }
    }
}

/// Calls `found` with what `steps` lead to from the row of a group, in order.
pub(super) fn walk<'g, 'a>(
    group: &'g Group<'a>,
    row: usize,
    metadata: &'a [u8],
    steps: &[Step],
    found: &mut dyn FnMut(Place<'g, 'a>) -> Result<()>,
) -> Result<()> {
    let Some((step, rest)) = steps.split_first() else {
        return found(Place::Columns(group, row));
    };
    match (step, group.typed_at(row)) {
        (Step::Field(name), Some(Typed::Object { fields, .. })) => {
            if let Ok(at) = fields.binary_search_by_key(&name.as_str(), |(field, _)| field) {
                let field = &fields[at].1;
                return match field.is_present(row) {
                    true => walk(field, row, metadata, rest, found),
                    false => Ok(()),
                };
            }
        }
        (Step::Element(at), Some(Typed::Array { lists, element })) => {
            return match lists.elements(row).nth(*at) {
                Some(row) => walk(element, row, metadata, rest, found),
                None => Ok(()),
            };
        }
        (Step::AllElements, Some(Typed::Array { lists, element })) => {
            return lists.elements(row).try_for_each(|row| walk(element, row, metadata, rest, found));
        }
        _ => {}
    }
    let Some(bytes) = group.bytes(row) else { return Ok(()) };
    if matches!(group.typed_at(row), Some(Typed::Primitive(_) | Typed::Array { .. })) {
        return Err(Error::corrupt("a VARIANT that is no object stands in value and typed_value both"));
    }
    let path = Path::new(steps.to_vec());
    Variant::new(metadata, bytes)?
        .get_all(&path)?
        .into_iter()
        .try_for_each(|variant| found(Place::Binary(variant)))
}
