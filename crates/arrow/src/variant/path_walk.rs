//! Follows a path in one row: through `typed_value` as far as possible, then in the binary of a `value`.

use super::assembler::Assembler;
use super::group::{Group, Typed, in_both};
use super::json_text::write_json;
use marquetry_base::Result;
use marquetry_variant::{Step, Value, Variant, json};

/// The place of a value that was found.
pub(super) enum Place<'g, 'a> {
    /// In a binary value.
    Binary(Variant<'a>),
    /// In columns, in part or as a whole: the group, and its row.
    Columns(&'g Group<'a>, usize),
}

impl<'a> Place<'_, 'a> {
    /// Calls `with` with the value. Objects and arrays in columns are assembled first.
    pub(super) fn with<T>(
        &self,
        metadata: &'a [u8],
        assembler: &mut Assembler<'a>,
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
                    // SPEC: an element cannot be missing; a missing one reads as null.
                    let variant = assembler.value(group, *row, metadata)?;
                    with(&variant.value()?, Some(variant))
                }
            },
        }
    }
}

impl<'a> Place<'_, 'a> {
    /// Appends the value as JSON.
    pub(super) fn write_json(&self, metadata: &'a [u8], out: &mut String) -> Result<()> {
        match self {
            Place::Binary(variant) => json::write_to(*variant, out),
            Place::Columns(group, row) => {
                // SPEC: an element cannot be missing; a missing one reads as null.
                if !write_json(group, *row, metadata, out)? {
                    out.push_str("null");
                }
                Ok(())
            }
        }
    }
}

/// Calls `found` with each value at `steps` from the row of a group, in order.
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
            if let Ok(at) = fields.binary_search_by_key(&name.as_str(), |field| field.name) {
                let field = &fields[at].group;
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
        return Err(in_both());
    }
    let mut outcome = Ok(());
    Variant::new(metadata, bytes)?.visit(steps, &mut |variant| {
        outcome = found(Place::Binary(variant));
        outcome.is_ok()
    })?;
    outcome
}
