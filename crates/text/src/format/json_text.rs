//! Escapes text as JSON strings.

use std::fmt::Write;

/// Appends text in quotes.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    match text.bytes().fold(0, |found, byte| found | NEEDS_ESCAPE[usize::from(byte)]) {
        0 => out.push_str(text),
        _ => escaped(text, out),
    }
    out.push('"');
}

/// Appends text as it is written between quotes.
pub fn escaped(text: &str, out: &mut String) {
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

/// 1 for bytes that must be escaped in a string.
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
