//! Finds the shredded columns that allow pruning: those whose bounds differ from part to part.
//!
//! Bounds of `typed_value` cover all values only if no value is in `value` beside it.

use super::column::VariantColumn;
use super::group::{Group, Typed};
use super::typed::Primitive;
use marquetry_base::Result;
use marquetry_variant::Value;
use std::cmp::Ordering;

/// Returns the paths of columns whose bounds, in a search for any of their values, rule out half or more of the column's parts.
pub(crate) fn prunable_columns(column: &VariantColumn<'_>) -> Result<Vec<String>> {
    let mut out = Vec::new();
    below(column.group(), "", &mut out)?;
    Ok(out)
}

fn below(group: &Group<'_>, path: &str, out: &mut Vec<String>) -> Result<()> {
    let here = if path.is_empty() { "typed_value".to_owned() } else { format!("{path}.typed_value") };
    match group.typed() {
        None => Ok(()),
        Some(Typed::Primitive(values)) => {
            if !group.has_values() && is_prunable(values)? {
                out.push(here);
            }
            Ok(())
        }
        Some(Typed::Object { fields, .. }) => {
            fields.iter().try_for_each(|field| below(&field.group, &format!("{here}.{}", field.name), out))
        }
        Some(Typed::Array { element, .. }) => below(element, &format!("{here}.list.element"), out),
    }
}

fn is_prunable(values: &Primitive<'_>) -> Result<bool> {
    let len = values.len();
    if len < PARTS {
        return Ok(false);
    }
    let mut bounds: Vec<(Value<'_>, Value<'_>)> = Vec::new();
    for part in 0..PARTS {
        let rows = (len * part / PARTS..len * (part + 1) / PARTS).filter(|row| !values.is_null(*row));
        let mut of_part: Option<(Value<'_>, Value<'_>)> = None;
        for row in rows {
            let value = values.value(row)?;
            of_part = Some(match of_part {
                None => (value, value),
                Some((min, max)) => (
                    if compare(&value, &min) == Some(Ordering::Less) { value } else { min },
                    if compare(&value, &max) == Some(Ordering::Greater) { value } else { max },
                ),
            });
        }
        bounds.extend(of_part);
    }
    let apart = |(min, max): &(Value<'_>, Value<'_>), (other_min, other_max): &(Value<'_>, Value<'_>)| {
        compare(max, other_min) == Some(Ordering::Less) || compare(other_max, min) == Some(Ordering::Less)
    };
    // Parts without values are skipped, too.
    let with_values = bounds.len();
    let met =
        bounds.iter().map(|one| bounds.iter().filter(|other| !apart(one, other)).count()).sum::<usize>();
    Ok(with_values > 0 && 2 * met <= with_values * PARTS)
}

/// Compares two values of one type; `None` if they have no order.
fn compare(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Int8(a), Value::Int8(b)) => Some(a.cmp(b)),
        (Value::Int16(a), Value::Int16(b)) => Some(a.cmp(b)),
        (Value::Int32(a), Value::Int32(b)) | (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Int64(a), Value::Int64(b))
        | (Value::Time(a), Value::Time(b))
        | (Value::TimestampMicros(a), Value::TimestampMicros(b))
        | (Value::LocalTimestampMicros(a), Value::LocalTimestampMicros(b))
        | (Value::TimestampNanos(a), Value::TimestampNanos(b))
        | (Value::LocalTimestampNanos(a), Value::LocalTimestampNanos(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Decimal4(a), Value::Decimal4(b))
        | (Value::Decimal8(a), Value::Decimal8(b))
        | (Value::Decimal16(a), Value::Decimal16(b)) => Some(a.unscaled.cmp(&b.unscaled)),
        (Value::Binary(a), Value::Binary(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Uuid(a), Value::Uuid(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// How many parts a column is divided into.
const PARTS: usize = 8;
