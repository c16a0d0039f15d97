//! Percent-encoding of URLs.

/// The text, with percent signs for all but letters, digits, `-._~` and what is `kept`.
pub(crate) fn encoded(text: &[u8], kept: &[u8]) -> String {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte);
    text.iter()
        .map(|byte| if is_kept(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
