//! Represents key-value metadata that is not text as text.
//!
//! Metadata is bytes in Arrow's format and in its other libraries. In the Rust types it is text, so pairs that are not
//! UTF-8 cannot be represented. They are left out, or become hexadecimal digits, which callers that know of them
//! convert back to bytes.
//!
//! ```text
//! k\xff => v    becomes    [BINARY_METADATA_PREFIX]6bff => 76
//! ```

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use marquetry_base::{from_hex, to_hex};
use std::collections::HashMap;

/// The prefix of keys whose pairs are hexadecimal digits.
pub const BINARY_METADATA_PREFIX: &str = "\u{FFFD}hex:";

/// Returns any pair as text.
pub(crate) fn as_text(key: &[u8], value: &[u8]) -> (String, String) {
    match (str::from_utf8(key), str::from_utf8(value)) {
        // Text that looks like such digits would not be restored as it was.
        (Ok(key), Ok(value)) if !key.starts_with(BINARY_METADATA_PREFIX) => (key.into(), value.into()),
        _ => as_digits(key, value),
    }
}

fn as_digits(key: &[u8], value: &[u8]) -> (String, String) {
    (escaped(key), to_hex(value))
}

fn escaped(key: &[u8]) -> String {
    BINARY_METADATA_PREFIX.to_owned() + &to_hex(key)
}

/// Encodes the extension type's name as digits if its parameters are digits: code that finds the type by its name needs both.
pub(super) fn keep_extension_whole(metadata: &mut HashMap<String, String>) {
    if metadata.contains_key(&escaped(EXTENSION_TYPE_METADATA_KEY.as_bytes()))
        && let Some(name) = metadata.remove(EXTENSION_TYPE_NAME_KEY)
    {
        metadata.extend([as_digits(EXTENSION_TYPE_NAME_KEY.as_bytes(), name.as_bytes())]);
    }
}

/// Returns the name of an extension type that is encoded as digits.
pub(super) fn extension_name(metadata: &HashMap<String, String>) -> Option<String> {
    let digits = metadata.get(&escaped(EXTENSION_TYPE_NAME_KEY.as_bytes()))?;
    String::from_utf8(from_hex(digits)?).ok()
}

/// Removes an extension type that is encoded as digits.
pub(super) fn forget_extension(metadata: &mut HashMap<String, String>) {
    for key in [EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY] {
        metadata.remove(&escaped(key.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(as_text(b"k", b"v"), pair("k", "v"));
        assert_eq!(as_text(b"k\xff", b"v"), pair("\u{FFFD}hex:6bff", "76"));
        assert_eq!(as_text(b"k", b"\xfe"), pair("\u{FFFD}hex:6b", "fe"));
        let look_alike = as_text("\u{FFFD}hex:6b".as_bytes(), b"00");
        assert_eq!(look_alike.1, "3030");
    }

    #[test]
    fn an_extension_type_keeps_together() {
        let name = EXTENSION_TYPE_NAME_KEY.as_bytes();
        let parameters = EXTENSION_TYPE_METADATA_KEY.as_bytes();
        let mut metadata = HashMap::from([as_text(name, b"mine"), as_text(parameters, b"\xff")]);
        keep_extension_whole(&mut metadata);
        assert!(metadata.keys().all(|key| key.starts_with(BINARY_METADATA_PREFIX)));
        assert_eq!(extension_name(&metadata).as_deref(), Some("mine"));
        forget_extension(&mut metadata);
        assert!(metadata.is_empty());
        let mut text = HashMap::from([as_text(name, b"mine"), as_text(parameters, b"x")]);
        keep_extension_whole(&mut text);
        assert_eq!(text[EXTENSION_TYPE_NAME_KEY], "mine");
    }
}
