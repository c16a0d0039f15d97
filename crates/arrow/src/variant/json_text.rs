//! Writes rows of a column as JSON, straight from the columns that hold them, without assembling values first.

use super::group::{Group, ObjectField, Typed, in_both, rest_of, shredded_too};
use marquetry_base::Result;
use marquetry_variant::{Variant, json};

/// Appends the value of a row of a group as JSON. Returns whether there is one.
pub(super) fn write_json<'a>(
    group: &Group<'a>,
    row: usize,
    metadata: &'a [u8],
    out: &mut String,
) -> Result<bool> {
    match (group.bytes(row), group.typed_at(row)) {
        (None, None) => return Ok(false),
        (Some(bytes), None) => json::write_to(Variant::new(metadata, bytes)?, out)?,
        (bytes, Some(Typed::Object { fields, .. })) => object(fields, row, bytes, metadata, out)?,
        (Some(_), Some(_)) => return Err(in_both()),
        (None, Some(Typed::Primitive(primitive))) => json::write_value_to(&primitive.value(row)?, out)?,
        (None, Some(Typed::Array { lists, element })) => {
            out.push('[');
            for (i, row) in lists.elements(row).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                // SPEC: elements cannot be missing; a missing one reads as null.
                if !write_json(element, row, metadata, out)? {
                    out.push_str("null");
                }
            }
            out.push(']');
        }
    }
    Ok(true)
}

/// Appends the shredded fields and those in `value`, sorted by name.
fn object<'a>(
    fields: &[ObjectField<'a>],
    row: usize,
    value: Option<&'a [u8]>,
    metadata: &'a [u8],
    out: &mut String,
) -> Result<()> {
    out.push('{');
    let start = out.len();
    let mut next = 0;
    if let Some(bytes) = value {
        for field in rest_of(Variant::new(metadata, bytes)?)?.iter() {
            let (name, value) = field?;
            while let Some(shredded) = fields.get(next).filter(|shredded| shredded.name <= name) {
                if shredded.name == name {
                    return Err(shredded_too(name));
                }
                write_field(shredded, row, metadata, start, out)?;
                next += 1;
            }
            if out.len() > start {
                out.push(',');
            }
            json::write_text_to(name, out);
            out.push(':');
            json::write_to(value, out)?;
        }
    }
    fields[next..].iter().try_for_each(|field| write_field(field, row, metadata, start, out))?;
    out.push('}');
    Ok(())
}

/// Appends a shredded field, if the row has it. `start` is the position of the first field.
fn write_field<'a>(
    field: &ObjectField<'a>,
    row: usize,
    metadata: &'a [u8],
    start: usize,
    out: &mut String,
) -> Result<()> {
    if !field.group.is_present(row) {
        return Ok(());
    }
    if out.len() > start {
        out.push(',');
    }
    out.push_str(&field.quoted);
    out.push(':');
    write_json(&field.group, row, metadata, out).map(drop)
}
