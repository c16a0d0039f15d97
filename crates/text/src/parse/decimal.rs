//! Decimals in text.

/// Returns the digits of `text` as an integer in units of the scale, with its sign: `-1250` for `-12.5` at scale 2.
/// Returns `None` if it has more digits than fit.
pub(super) fn unscaled(text: &str, precision: u8, scale: i8) -> Option<String> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let all = [whole, fraction].concat();
    // The position of the last digit, counted from the last that the scale has.
    let shift = i64::from(scale) + i64::from(exponent) - fraction.len() as i64;
    let all = all.trim_start_matches('0');
    if all.is_empty() {
        return Some("0".to_owned());
    }
    let unscaled = match usize::try_from(shift) {
        Ok(zeros) if zeros <= MOST_DIGITS => format!("{all}{}", "0".repeat(zeros)),
        Ok(_) => return None,
        Err(_) => {
            let dropped = usize::try_from(-shift).ok()?;
            let kept = all.len().checked_sub(dropped)?;
            // Only zeros may be dropped: values are not rounded.
            if all[kept..].bytes().any(|digit| digit != b'0') {
                return None;
            }
            all[..kept].to_owned()
        }
    };
    (unscaled.len() <= usize::from(precision)).then(|| format!("{sign}{unscaled}"))
}

/// Maximum digits of the widest decimal.
const MOST_DIGITS: usize = 76;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_or_not_at_all() {
        let of = |text: &str| unscaled(text, 5, 2);
        assert_eq!(of("-12.5").as_deref(), Some("-1250"));
        assert_eq!(of("007").as_deref(), Some("700"));
        assert_eq!(of("+.01").as_deref(), Some("1"));
        assert_eq!(of("1.2300").as_deref(), Some("123"));
        assert_eq!(of("1.5e2").as_deref(), Some("15000"));
        assert_eq!(of("-0.00").as_deref(), Some("0"));
        assert_eq!(of("0e999").as_deref(), Some("0"));
        for wrong in ["1.234", "1000", "", "-", ".", "1,5", "1e", "1e999", "0.001", "é"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
