//! Formats rows as CSV (RFC 4180).

use super::column::{Column, MayNeedQuotes};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use marquetry_base::Error;

/// Appends the header line with its line end.
pub fn write_header(schema: &Schema, out: &mut String) {
    for (i, field) in schema.fields().iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let start = out.len();
        out.push_str(field.name());
        // Readers that look for a delimiter must not find one in the name of the only column.
        match schema.fields().len() == 1 && field.name().contains([';', '\t', '|']) {
            true => put_in_quotes(start, out),
            false => quote(start, out),
        }
    }
    out.push('\n');
}

/// Appends the rows of a batch, each with its line end.
pub fn write_lines(batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let columns = Column::of_batch(batch)?;
    for row in 0..batch.num_rows() {
        for (i, column) in columns.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            if !column.is_null(row) {
                let start = out.len();
                if column.write_cell(row, out) == MayNeedQuotes::Yes {
                    quote(start, out);
                }
            }
        }
        out.push('\n');
    }
    Ok(())
}

/// Puts the cell from `start` on in quotes if it needs them. An empty text does, because an empty cell is a null.
#[inline]
fn quote(start: usize, out: &mut String) {
    let cell = &out.as_bytes()[start..];
    let needs_quotes = cell.iter().fold(0, |found, byte| found | NEEDS_QUOTES[usize::from(*byte)]) != 0;
    let is_blank = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
    if needs_quotes || is_blank(cell.first()) || is_blank(cell.last()) {
        put_in_quotes(start, out);
    }
}

fn put_in_quotes(start: usize, out: &mut String) {
    if !out[start..].contains('"') {
        out.insert(start, '"');
        return out.push('"');
    }
    let cell = out.split_off(start);
    for part in cell.split('"') {
        // A quote at the beginning, and two for each quote in the cell.
        out.push_str(if out.len() == start { "\"" } else { "\"\"" });
        out.push_str(part);
    }
    out.push('"');
}

/// 1 for bytes that must be in quotes.
const NEEDS_QUOTES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = 1;
    table[b',' as usize] = 1;
    table[b'\n' as usize] = 1;
    table[b'\r' as usize] = 1;
    table
};
