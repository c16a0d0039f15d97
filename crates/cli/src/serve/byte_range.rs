//! The part that a request asks for: `bytes=0-99`, `bytes=-8`, `rows=100-149`.
//!
//! SPEC: RFC 9110, 14. A unit that is not bytes is allowed; `rows` is ours.

use std::ops::Range;

/// The part that a `Range` header asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Everything: the header is missing, invalid, has another unit, or has several parts, which may be ignored.
    All,
    Part(Range<u64>),
    /// A part that does not exist.
    Nothing,
}

/// Parses `header` for something of length `len`.
pub(super) fn wanted(header: Option<&str>, unit: &str, len: u64) -> Wanted {
    let part = header.and_then(|text| text.strip_prefix(unit)?.strip_prefix('='));
    let Some((first, last)) = part.and_then(|part| part.trim().split_once('-')) else { return Wanted::All };
    match (number(first), number(last)) {
        // The last ones.
        _ if first.is_empty() => match number(last) {
            Some(0) => Wanted::Nothing,
            Some(count) if len > 0 => Wanted::Part(len.saturating_sub(count)..len),
            Some(_) => Wanted::Nothing,
            None => Wanted::All,
        },
        (Some(first), Some(last)) if first > last => Wanted::All,
        (Some(first), _) if first >= len && (last.is_empty() || number(last).is_some()) => Wanted::Nothing,
        (Some(first), Some(last)) => Wanted::Part(first..last.saturating_add(1).min(len)),
        (Some(first), None) if last.is_empty() => Wanted::Part(first..len),
        _ => Wanted::All,
    }
}

/// Digits only: `parse` would accept a sign. Numbers that are too large saturate.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_hundred() {
        for (header, expected) in [
            ("bytes=0-9", Wanted::Part(0..10)),
            ("bytes=90-", Wanted::Part(90..100)),
            ("bytes=-8", Wanted::Part(92..100)),
            ("bytes=-800", Wanted::Part(0..100)),
            ("bytes=99-99999999999999999999999999", Wanted::Part(99..100)),
            ("bytes=0-18446744073709551615", Wanted::Part(0..100)),
            ("bytes=100-", Wanted::Nothing),
            ("bytes=100-200", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=5-4", Wanted::All),
            ("bytes=0-1,5-6", Wanted::All),
            ("bytes=+1-2", Wanted::All),
            ("bytes=a-b", Wanted::All),
            ("bytes=-", Wanted::All),
            ("bytes=", Wanted::All),
            ("rows=0-9", Wanted::All),
            ("", Wanted::All),
        ] {
            assert_eq!(wanted(Some(header), "bytes", 100), expected, "{header}");
        }
        assert_eq!(wanted(None, "bytes", 100), Wanted::All);
        assert_eq!(wanted(Some("rows=-8"), "rows", 0), Wanted::Nothing);
        assert_eq!(wanted(Some("rows=3-8"), "rows", 5), Wanted::Part(3..5));
    }
}
