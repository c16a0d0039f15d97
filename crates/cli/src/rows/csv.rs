//! Rows as comma-separated values (RFC 4180): quotes where they are needed, quotes in quotes twice.

use super::{json, scalar};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

/// Appends the header line, with its end.
pub(crate) fn write_header(schema: &Schema, out: &mut String) {
    for (i, field) in schema.fields().iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let start = out.len();
        out.push_str(field.name());
        quote(start, out);
    }
    out.push('\n');
}

/// Appends a row, without the line's end.
pub(crate) fn write_row(batch: &RecordBatch, row: usize, out: &mut String) {
    let schema = batch.schema_ref();
    for (i, (field, column)) in schema.fields().iter().zip(batch.columns()).enumerate() {
        if i > 0 {
            out.push(',');
        }
        if !is_null(column, row) {
            let start = out.len();
            write(column, row, field, out);
            quote(start, out);
        }
    }
}

/// Appends a value as it stands in a cell, before any quoting: nested ones as JSON. Nulls are not for this function.
pub(crate) fn write(array: &dyn Array, row: usize, field: &Field, out: &mut String) {
    match array.data_type() {
        data_type if data_type.is_nested() => json::write(array, row, field, out),
        _ => {
            scalar::write(array, row, field, out);
        }
    }
}

/// Whether a value is null; those of the null type have no bitmap that says so.
pub(crate) fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row) || *array.data_type() == DataType::Null
}

/// Puts the cell from `start` on in quotes, if it needs them. An empty text does: an empty cell is a null.
fn quote(start: usize, out: &mut String) {
    let cell = &out[start..];
    let is_plain = !cell.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r'))
        && !cell.starts_with(' ')
        && !cell.ends_with(' ');
    if is_plain && !cell.is_empty() {
        return;
    }
    let cell = out.split_off(start);
    out.push('"');
    out.push_str(&cell.replace('"', "\"\""));
    out.push('"');
}
