//! Checks whether bytes are UTF-8.

/// Returns the bytes as text, if they are UTF-8. PERF: long bytes are checked in blocks; short ones are not worth a call.
#[inline]
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    match bytes.len() {
        0..LONG => std::str::from_utf8(bytes).ok(),
        _ => simdutf8::basic::from_utf8(bytes).ok(),
    }
}

/// Length in bytes from which blocks are faster.
const LONG: usize = 64;
