//! Errors for strings that are not UTF-8.

use marquetry_base::Error;

/// Creates the error for text that is not UTF-8.
#[cold]
pub(super) fn not_utf8(bytes: &[u8]) -> Error {
    let shown = &bytes[..bytes.len().min(32)];
    Error::corrupt(format!(
        "a string is not UTF-8: \"{}\"; the option invalid_utf8 reads it: replaced, or as binary",
        shown.escape_ascii()
    ))
}
