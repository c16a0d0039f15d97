//! The values in statistics, indexes and dictionaries: bytes of a physical type, shown by their logical type.
//!
//! They look like values of rows, see [`format`](marquetry_text::format).

use crate::output::Output;
use crate::terminal;
use crate::text_table::shortened;
use arrow_array::ArrowPrimitiveType;
use arrow_array::types::Float16Type;
use arrow_buffer::i256;
use arrow_schema::TimeUnit as ArrowUnit;
use marquetry::internals::encoding::{PhysicalType, Values};
use marquetry::schema::Leaf;
use marquetry_base::{Printable, push_hex, push_uuid, steers_terminal};
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_text::format::scalar::{self, Form};
use marquetry_text::format::{json_text, time};
use serde_json::Value;
use std::io::{self, Write};

/// A value in PLAIN encoding as JSON; byte strings have no length before them. Bytes that are not a value of the column
/// are shown as hexadecimal digits.
pub(crate) fn json(bytes: &[u8], leaf: &Leaf) -> Value {
    let mut text = String::new();
    match write(bytes, leaf, &mut text) {
        Some(Form::Bare) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Some(Form::Text) => Value::String(text),
        None => {
            text.clear();
            push_hex(bytes, &mut text);
            Value::String(text)
        }
    }
}

/// The values of a column, one after the other.
pub(crate) fn all<'a>(values: &'a Values, leaf: &'a Leaf) -> impl Iterator<Item = ShownValue<'a>> + 'a {
    (0..values.len()).map(move |i| match values {
        Values::Bit(bits) => ShownValue::Whole(Value::Bool(bits.get(i))),
        Values::W32(words) => ShownValue::Whole(json(&words[i].to_le_bytes(), leaf)),
        Values::W64(words) => ShownValue::Whole(json(&words[i].to_le_bytes(), leaf)),
        Values::Fixed(fixed) => ShownValue::new(fixed.get(i), leaf),
        Values::Bytes(views) => ShownValue::new(views.get(i), leaf),
        Values::Offsets(strings) => ShownValue::new(strings.get(i), leaf),
    })
}

/// A value as JSON. A long one is formatted piece by piece while it is written.
pub(crate) enum ShownValue<'a> {
    Whole(Value),
    /// Bytes that are shown as text, and the function that formats them.
    Long(&'a [u8], fn(&[u8], &mut String)),
}

impl<'a> ShownValue<'a> {
    fn new(bytes: &'a [u8], leaf: &Leaf) -> Self {
        if bytes.len() <= PIECE {
            return ShownValue::Whole(json(bytes, leaf));
        }
        // Values of other forms are never this long.
        let is_hex = match leaf.logical() {
            Some(
                LogicalType::Geometry { .. } | LogicalType::Geography { .. } | LogicalType::Decimal { .. },
            ) => true,
            _ => leaf.physical() != PhysicalType::ByteArray,
        };
        let is_text = leaf.is_text() && std::str::from_utf8(bytes).is_ok();
        ShownValue::Long(
            bytes,
            match (is_hex, is_text) {
                (true, _) => push_hex,
                (_, true) => |piece, out| out.push_str(&String::from_utf8_lossy(piece)),
                (_, false) => scalar::escaped,
            },
        )
    }

    /// The value in a cell of a table, at most `width` terminal columns wide.
    pub(crate) fn cell(&self, width: usize) -> String {
        match self {
            ShownValue::Whole(value) => shortened(&cell(value), width),
            ShownValue::Long(bytes, show) => {
                let mut text = String::new();
                show(pieces(bytes).next().unwrap_or_default(), &mut text);
                text.push('…');
                shortened(&text, width)
            }
        }
    }
}

impl ShownValue<'_> {
    /// Writes the value as JSON. PERF: a serializer writes each escape of a text separately, and long values have many.
    pub(crate) fn write_json(&self, output: &mut Output) -> io::Result<()> {
        let (bytes, show) = match self {
            ShownValue::Whole(value) => return output.json_value(value),
            ShownValue::Long(bytes, show) => (bytes, show),
        };
        output.write_all(b"\"")?;
        let (mut text, mut json) = (String::new(), String::new());
        for piece in pieces(bytes) {
            text.clear();
            json.clear();
            show(piece, &mut text);
            json_text::escaped(&text, &mut json);
            match Printable(&json).is_plain() {
                true => output.write_all(json.as_bytes())?,
                false => output.write_all(terminal::escaped(&json, steers_terminal).as_bytes())?,
            }
        }
        output.write_all(b"\"")
    }
}

/// Splits bytes into pieces, none of which ends inside a character.
fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = PIECE.min(bytes.len());
        let end = (end.saturating_sub(3)..=end).rev().find(|at| !is_inside(at)).unwrap_or(end);
        let (piece, rest) = bytes.split_at(end);
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Values up to this many bytes are formatted whole, longer ones in pieces of this size.
const PIECE: usize = 64 << 10;

/// JSON in a cell of a table: text without quotes, nothing for null.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Appends the value; `None` if the bytes are not a value of the column.
fn write(bytes: &[u8], leaf: &Leaf, out: &mut String) -> Option<Form> {
    match leaf.physical() {
        PhysicalType::Boolean => match bytes {
            [0] => out.push_str("false"),
            [1] => out.push_str("true"),
            _ => return None,
        },
        PhysicalType::Int32 => {
            return integer(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)), leaf, out);
        }
        PhysicalType::Int64 => return integer(i64::from_le_bytes(bytes.try_into().ok()?), leaf, out),
        PhysicalType::Float => return Some(scalar::single(f32::from_le_bytes(bytes.try_into().ok()?), out)),
        PhysicalType::Double => return Some(scalar::double(f64::from_le_bytes(bytes.try_into().ok()?), out)),
        PhysicalType::Int96 => return int96(bytes, out),
        PhysicalType::ByteArray => return byte_array(bytes, leaf, out),
        PhysicalType::FixedLenByteArray(width) if width == bytes.len() => return fixed(bytes, leaf, out),
        PhysicalType::FixedLenByteArray(_) => return None,
    }
    Some(Form::Bare)
}

fn integer(value: i64, leaf: &Leaf, out: &mut String) -> Option<Form> {
    match leaf.logical() {
        Some(LogicalType::Date) => time::date(value, out),
        Some(LogicalType::Time { unit, .. }) => time::time(value, arrow_unit(*unit), out),
        Some(LogicalType::Timestamp { unit, utc }) => time::timestamp(value, arrow_unit(*unit), *utc, out),
        Some(LogicalType::Decimal { scale, .. }) => {
            return Some(scalar::decimal(&value.to_string(), *scale, out));
        }
        Some(LogicalType::Integer { signed: false, .. }) if leaf.physical() == PhysicalType::Int32 => {
            out.push_str(&(value as u32).to_string());
            return Some(Form::Bare);
        }
        Some(LogicalType::Integer { signed: false, .. }) => {
            out.push_str(&(value as u64).to_string());
            return Some(Form::Bare);
        }
        _ => {
            out.push_str(&value.to_string());
            return Some(Form::Bare);
        }
    }
    Some(Form::Text)
}

fn byte_array(bytes: &[u8], leaf: &Leaf, out: &mut String) -> Option<Form> {
    match (leaf.logical(), std::str::from_utf8(bytes)) {
        (Some(LogicalType::Decimal { scale, .. }), _) => return decimal(bytes, *scale, out),
        (Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. }), _) => {
            scalar::geometry(bytes, out);
        }
        (Some(logical), Ok(text)) if logical.is_text() => out.push_str(text),
        // A bound may be text that was truncated inside a character.
        _ => scalar::escaped(bytes, out),
    }
    Some(Form::Text)
}

fn fixed(bytes: &[u8], leaf: &Leaf, out: &mut String) -> Option<Form> {
    match leaf.logical() {
        Some(LogicalType::Decimal { scale, .. }) => return decimal(bytes, *scale, out),
        Some(LogicalType::Float16) => {
            let value = <Float16Type as ArrowPrimitiveType>::Native::from_bits(u16::from_le_bytes(
                bytes.try_into().ok()?,
            ));
            return Some(scalar::single(value.to_f32(), out));
        }
        Some(LogicalType::Interval) => {
            let part = |i: usize| Some(i64::from(u32::from_le_bytes(*bytes.get(i..)?.first_chunk()?)));
            time::interval(part(0)?, part(4)?, part(8)? * 1_000_000, out);
        }
        Some(LogicalType::Uuid) => push_uuid(bytes, out),
        _ => push_hex(bytes, out),
    }
    Some(Form::Text)
}

fn int96(bytes: &[u8], out: &mut String) -> Option<Form> {
    (bytes.len() == 12).then(|| scalar::int96(bytes, out))?;
    Some(Form::Text)
}

/// A big-endian integer divided by ten to the power of `scale`; `None` if it has no bytes, or more than 32.
fn decimal(bytes: &[u8], scale: i32, out: &mut String) -> Option<Form> {
    let first = *bytes.first()?;
    let mut wide = [if first < 0x80 { 0 } else { 0xff }; 32];
    let start = wide.len().checked_sub(bytes.len())?;
    wide[start..].copy_from_slice(bytes);
    Some(scalar::decimal(&i256::from_be_bytes(wide).to_string(), scale, out))
}

fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Millis => ArrowUnit::Millisecond,
        TimeUnit::Micros => ArrowUnit::Microsecond,
        TimeUnit::Nanos => ArrowUnit::Nanosecond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_wrapped_are_shown_as_rows_show_them() {
        // +290000-12-30T23:00:00, as Spark has written it.
        let (day, nanos) = (-105_862_232i32, -32_509_551_616_000i64);
        let bytes = [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat();
        let mut text = String::new();
        int96(&bytes, &mut text).expect("a time");
        assert_eq!(text, "+290000-12-30T23:00:00");
    }
}
