//! Rows as JSON objects.

use super::column::Objects;
use arrow_array::RecordBatch;
use std::fmt::Write;

/// Appends the rows of a batch, an object on each line.
pub(crate) fn write_lines(batch: &RecordBatch, out: &mut String) {
    let objects = Objects::new(batch);
    for row in 0..batch.num_rows() {
        objects.write(row, out);
        out.push('\n');
    }
}

/// Appends text in quotes.
pub(crate) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    match text.bytes().fold(0, |found, byte| found | NEEDS_ESCAPE[usize::from(byte)]) {
        0 => out.push_str(text),
        _ => escaped(text, out),
    }
    out.push('"');
}

fn escaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| NEEDS_ESCAPE[usize::from(byte)] != 0) {
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
}

/// 1 for bytes that do not stand in a string as they are.
const NEEDS_ESCAPE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = 1;
        byte += 1;
    }
    table[b'"' as usize] = 1;
    table[b'\\' as usize] = 1;
    table[0x7f] = 1;
    table
};
