//! INTERVAL values as text, for comparison with literals.

use marquetry_base::datetime_text::duration_parts;

/// Parses `P1M2DT3.5S`, the form in which intervals are printed, or any other ISO 8601 duration without a sign.
///
/// SPEC: INTERVAL is months, days and milliseconds, each an unsigned little-endian integer of 4 bytes.
pub(super) fn interval(text: &str) -> Option<Vec<u8>> {
    let (days, clock) = duration_parts(text)?;
    let [years, months, weeks, days] = parts(days, ['Y', 'M', 'W', 'D'])?;
    let (whole, fraction) = match clock.split_once('.') {
        Some((whole, fraction)) => (format!("{whole}S"), millis(fraction.strip_suffix('S')?)?),
        None => (clock.to_owned(), 0),
    };
    let [hours, minutes, seconds] = parts(&whole, ['H', 'M', 'S'])?;
    let months = years.checked_mul(12)?.checked_add(months)?;
    let days = weeks.checked_mul(7)?.checked_add(days)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let seconds = minutes.checked_mul(60)?.checked_add(seconds)?;
    let millis = seconds.checked_mul(1_000)?.checked_add(fraction)?;
    let mut out = Vec::with_capacity(12);
    for part in [months, days, millis] {
        out.extend(u32::try_from(part).ok()?.to_le_bytes());
    }
    Some(out)
}

/// Parses the numbers before `units`, which must be in this order; missing ones are 0.
fn parts<const N: usize>(mut text: &str, units: [char; N]) -> Option<[u64; N]> {
    let mut out = [0; N];
    for (part, unit) in out.iter_mut().zip(units) {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(rest) = text[digits..].strip_prefix(unit) {
            *part = text[..digits].parse().ok()?;
            text = rest;
        }
    }
    text.is_empty().then_some(out)
}

/// Parses the digits after the point as thousandths; digits after the third must be 0.
fn millis(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (first, rest) = digits.split_at_checked(3).unwrap_or((digits, ""));
    if !is_number || rest.bytes().any(|byte| byte != b'0') {
        return None;
    }
    format!("{first:0<3}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_iso_8601() {
        let bytes = |parts: [u32; 3]| parts.iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<_>>();
        for (text, parts) in [
            ("P1M", [1, 0, 0]),
            ("PT0S", [0, 0, 0]),
            ("P1M2DT3.500S", [1, 2, 3_500]),
            ("PT0.001S", [0, 0, 1]),
            ("P1Y2M3W4DT5H6M7S", [14, 25, 18_367_000]),
            ("P4294967295M", [u32::MAX, 0, 0]),
        ] {
            assert_eq!(interval(text), Some(bytes(parts)), "{text}");
        }
        for text in [
            "",
            "P",
            "PT",
            "1M",
            "P1",
            "P1DT",
            "P1D1M",
            "P-1M",
            "PT.5S",
            "PT1.0005S",
            "P4294967296M",
            "PT1.5",
            "PäM",
        ] {
            assert_eq!(interval(text), None, "{text}");
        }
    }
}
