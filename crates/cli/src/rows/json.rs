//! Values as JSON.

use super::scalar::{self, Form};
use arrow_array::cast::AsArray;
use arrow_array::{Array, MapArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields};
use std::fmt::Write;
use std::ops::Range;

/// Appends a row as an object. Columns of the same name give members of the same name.
pub(crate) fn write_row(batch: &RecordBatch, row: usize, out: &mut String) {
    let schema = batch.schema_ref();
    object(schema.fields(), batch.columns(), row, out);
}

/// Appends a value.
pub(crate) fn write(array: &dyn Array, row: usize, field: &Field, out: &mut String) {
    use DataType::*;
    if array.is_null(row) {
        return out.push_str("null");
    }
    match array.data_type() {
        Utf8 => quoted(array.as_string::<i32>().value(row), out),
        LargeUtf8 => quoted(array.as_string::<i64>().value(row), out),
        Utf8View => quoted(array.as_string_view().value(row), out),
        Struct(fields) => {
            let structure: &StructArray = array.as_struct();
            object(fields, structure.columns(), row, out);
        }
        List(element) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            elements(list.values(), span(offsets[row], offsets[row + 1]), element, out);
        }
        LargeList(element) => {
            let list = array.as_list::<i64>();
            let offsets = list.value_offsets();
            elements(list.values(), span(offsets[row], offsets[row + 1]), element, out);
        }
        ListView(element) => {
            let list = array.as_list_view::<i32>();
            let (offset, size) = (list.value_offset(row), list.value_size(row));
            elements(list.values(), span(offset, offset + size), element, out);
        }
        LargeListView(element) => {
            let list = array.as_list_view::<i64>();
            let (offset, size) = (list.value_offset(row), list.value_size(row));
            elements(list.values(), span(offset, offset + size), element, out);
        }
        FixedSizeList(element, n) => {
            let list = array.as_fixed_size_list();
            let start = list.value_offset(row);
            elements(list.values(), span(start, start + n), element, out);
        }
        Map(_, _) => map(array.as_map(), row, out),
        _ => {
            let start = out.len();
            if scalar::write(array, row, field, out) == Form::Text {
                let text = out.split_off(start);
                quoted(&text, out);
            }
        }
    }
}

fn object(fields: &Fields, columns: &[arrow_array::ArrayRef], row: usize, out: &mut String) {
    out.push('{');
    for (i, (field, column)) in fields.iter().zip(columns).enumerate() {
        comma(i, out);
        quoted(field.name(), out);
        out.push(':');
        write(column, row, field, out);
    }
    out.push('}');
}

fn elements(values: &dyn Array, range: Range<usize>, element: &Field, out: &mut String) {
    out.push('[');
    for (i, row) in range.enumerate() {
        comma(i, out);
        write(values, row, element, out);
    }
    out.push(']');
}

/// An object if the keys are text, else a list of objects with `key` and `value`.
fn map(map: &MapArray, row: usize, out: &mut String) {
    let offsets = map.value_offsets();
    let (keys, values) = (map.keys(), map.values());
    let (key_field, value_field) = map.entries_fields();
    let has_text_keys = matches!(keys.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let (open, close) = if has_text_keys { ('{', '}') } else { ('[', ']') };
    out.push(open);
    for (i, row) in span(offsets[row], offsets[row + 1]).enumerate() {
        comma(i, out);
        out.push_str(if has_text_keys { "" } else { "{\"key\":" });
        write(keys, row, key_field, out);
        out.push_str(if has_text_keys { ":" } else { ",\"value\":" });
        write(values, row, value_field, out);
        out.push_str(if has_text_keys { "" } else { "}" });
    }
    out.push(close);
}

fn comma(i: usize, out: &mut String) {
    if i > 0 {
        out.push(',');
    }
}

fn span<T: TryInto<usize>>(start: T, end: T) -> Range<usize> {
    // Arrow's offsets are never negative.
    start.try_into().unwrap_or(0)..end.try_into().unwrap_or(0)
}

/// Appends text in quotes.
pub(crate) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) =
        rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f)
    {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            other => {
                let _ = write!(out, "\\u{other:04x}");
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}
