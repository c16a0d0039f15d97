//! Column names of DataFusion as paths of predicates.

use marquetry_base::quote_name;

/// The path of the root field of this name.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain { name.to_owned() } else { quote_name(name) }
}
