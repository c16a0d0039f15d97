//! Finds the first character of a text that JSON escapes: a quote, a backslash, a control character.

/// Counts the bytes of a text that need no escape in JSON, up to the first quote, backslash or control character.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    // PERF: eight bytes at a time. The lowest set bit marks the first byte that needs an escape.
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*word);
        let zeros = |of: u64| of.wrapping_sub(ONES) & !of & HIGHS;
        let quotes = zeros(word ^ (ONES * u64::from(b'"')));
        let backslashes = zeros(word ^ (ONES * u64::from(b'\\')));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        match quotes | backslashes | controls {
            0 => at += 8,
            found => return at + (found.trailing_zeros() / 8) as usize,
        }
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)).unwrap_or(rest.len())
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_that_is_not_plain() {
        for sign in 0..=255_u8 {
            for place in 0..20 {
                let mut bytes = vec![b'x'; 25];
                bytes[place] = sign;
                // Bytes after the first one that needs an escape make no difference.
                bytes[22] = b'"';
                let is_plain = sign >= 0x20 && sign != b'"' && sign != b'\\';
                assert_eq!(plain_len(&bytes), if is_plain { 22 } else { place }, "{sign} at {place}");
            }
        }
        assert_eq!(plain_len("äöü€𝄞".as_bytes()), 13);
        assert_eq!(plain_len(b""), 0);
    }
}
