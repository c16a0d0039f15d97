//! Percent-encoding of URLs.

/// Percent-encodes all bytes but letters, digits, `-._~` and those in `kept`.
pub(crate) fn encoded(text: &[u8], kept: &[u8]) -> String {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte);
    text.iter()
        .map(|byte| if is_kept(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
