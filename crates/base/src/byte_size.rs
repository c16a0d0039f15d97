//! Sizes in bytes as text: `65536`, `64KiB`, `1.5 GB`.

/// Parses a size in bytes, which must be at least 1. The error is meant to be shown behind the name of the setting.
///
/// ```
/// use marquetry_base::parse_byte_size;
/// assert_eq!(parse_byte_size("64KiB"), Ok(65_536));
/// assert_eq!(parse_byte_size("1.5 GB"), Ok(1_500_000_000));
/// ```
pub fn parse_byte_size(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim().to_lowercase());
    let factor: u64 = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(format!("{unit:?} is not a unit: say KiB, MiB or GiB")),
    };
    let number: f64 = number.parse().map_err(|_| "begins with no number".to_owned())?;
    let bytes = number * factor as f64;
    match (1.0..=MOST).contains(&bytes) {
        true => Ok(bytes as usize),
        false => Err("is too small or too large".to_owned()),
    }
}

/// Doubles represent all integers up to this one exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::parse_byte_size as bytes;

    #[test]
    fn with_and_without_units() {
        assert_eq!(bytes("65536"), Ok(65536));
        assert_eq!(bytes("64KiB"), Ok(65536));
        assert_eq!(bytes("64k"), Ok(65536));
        assert_eq!(bytes("1.5 GB"), Ok(1_500_000_000));
        for wrong in ["", "KiB", "1.2.3", "3 apples", "0", "-1", "99999999TiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
