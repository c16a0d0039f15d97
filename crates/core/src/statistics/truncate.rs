//! Truncates bounds of byte arrays to a few bytes that are still valid bounds.
//!
//! Spec: `Statistics.min_value`, "more compact values", which "must still be valid values within the column's logical
//! type": text is truncated between characters. QUIRK: truncated JSON is not JSON any more; all writers truncate it as
//! text, and nothing parses a bound.
//!
//! A lower bound is a prefix. An upper bound is a prefix whose last character, or byte, is replaced by the next one, so
//! that it is greater than all strings with the prefix.

/// Returns the longest prefix of at most `n` bytes, in whole characters if `is_text`.
///
/// ```
/// use marquetry_core::statistics::truncate;
/// assert_eq!(truncate::lower("größer".as_bytes(), 3, true), "gr".as_bytes());
/// assert_eq!(truncate::upper("größer".as_bytes(), 3, true).unwrap(), "gs".as_bytes());
/// ```
pub fn lower(value: &[u8], n: usize, is_text: bool) -> &[u8] {
    match text(value, is_text) {
        Some(text) => &value[..text.floor_char_boundary(n)],
        None => &value[..n.min(value.len())],
    }
}

/// Returns an upper bound of `value`, and of all strings that begin with its first `n` bytes. The bound has at most `n`
/// bytes; it is `value` if that is not longer. Text stays UTF-8 if `is_text`. `None` if there is no such bound, because
/// nothing can be incremented, as with only 0xff bytes.
pub fn upper(value: &[u8], n: usize, is_text: bool) -> Option<Vec<u8>> {
    if value.len() <= n {
        return Some(value.to_vec());
    }
    match text(value, is_text) {
        Some(text) => {
            let prefix = &text[..text.floor_char_boundary(n)];
            prefix.char_indices().rev().find_map(|(at, last)| {
                let next = following(last)?;
                // The next character may be longer than the last one.
                (at + next.len_utf8() <= n).then(|| format!("{}{next}", &prefix[..at]).into_bytes())
            })
        }
        None => {
            let prefix = &value[..n];
            let last = prefix.iter().rposition(|byte| *byte < 0xff)?;
            let mut bound = prefix[..=last].to_vec();
            bound[last] += 1;
            Some(bound)
        }
    }
}

/// Returns the value as text. A value that is not UTF-8 is truncated as bytes.
fn text(value: &[u8], is_text: bool) -> Option<&str> {
    if is_text { str::from_utf8(value).ok() } else { None }
}

/// Returns the next code point that is not a surrogate.
fn following(last: char) -> Option<char> {
    match last {
        '\u{d7ff}' => Some('\u{e000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}
