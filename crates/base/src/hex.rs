//! Bytes as hexadecimal digits, and back.

/// Appends two lower-case digits for each byte.
pub fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Returns two lower-case digits for each byte.
///
/// ```
/// use marquetry_base::{from_hex, to_hex};
/// assert_eq!(to_hex(&[0, 0xab]), "00ab");
/// assert_eq!(from_hex("00AB"), Some(vec![0, 0xab]));
/// assert_eq!(from_hex("00a"), None);
/// ```
pub fn to_hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    push_hex(bytes, &mut out);
    out
}

/// Decodes pairs of lower-case or upper-case digits. Returns `None` if `text` contains anything else.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |&[high, low]: &[u8; 2]| u8::try_from(digit(high)? << 4 | digit(low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

/// Appends the 16 bytes of a UUID in its usual form: `123e4567-e89b-12d3-a456-426614174000`.
pub fn push_uuid(bytes: &[u8], out: &mut String) {
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        push_hex(&[*byte], out);
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = to_hex(&bytes);
        assert_eq!(text, bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        assert_eq!(from_hex(&text), Some(bytes.clone()));
        assert_eq!(from_hex(&text.to_uppercase()), Some(bytes));
    }

    #[test]
    fn other_text_is_none() {
        for c in (0..=255).map(char::from).filter(|c| !c.is_ascii_hexdigit()) {
            for text in [format!("0{c}"), format!("{c}0"), format!("{c}"), format!("00{c}{c}")] {
                assert_eq!(from_hex(&text), None, "{text:?}");
            }
        }
        assert_eq!(from_hex(""), Some(Vec::new()));
    }

    #[test]
    fn a_uuid() {
        let mut text = String::new();
        push_uuid(&0x123e4567_e89b_12d3_a456_426614174000_u128.to_be_bytes(), &mut text);
        assert_eq!(text, "123e4567-e89b-12d3-a456-426614174000");
    }
}
