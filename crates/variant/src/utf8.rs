//! Checks whether bytes are UTF-8.

/// Bytes as text, if they are UTF-8. PERF: long ones are looked at in blocks, short ones are not worth a call.
#[inline]
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    match bytes.len() {
        0..LONG => std::str::from_utf8(bytes).ok(),
        _ => simdutf8::basic::from_utf8(bytes).ok(),
    }
}

/// From so many bytes on.
const LONG: usize = 64;
