//! Parses the text of literals: dates, times, timestamps and bytes.

use super::Literal;
use marquetry_base::datetime_text::{Moment, date, moment, time_of_day};
use marquetry_base::from_hex;

/// Parses a literal with its type before the text.
pub(super) fn typed(kind: &str, text: &str) -> Result<Literal, String> {
    let found = match kind {
        "date" => date(text).map(Literal::Date),
        "time" => time_of_day(text).map(|(nanos, _)| Literal::Time(nanos)),
        "timestamp" => timestamp(text).map(Literal::Timestamp),
        "x" => from_hex(text).map(Literal::Bytes),
        _ => return Err(format!("{kind} before text; there are date, time, timestamp and X")),
    };
    let form = match kind {
        "date" => "2024-01-31",
        "time" => "10:30:00.5",
        "timestamp" => "2024-01-31 10:30:00.5, with Z or an offset as +02:00 if it is a point in time",
        _ => "an even number of hexadecimal digits",
    };
    found.ok_or_else(|| format!("{text:?} is not a valid {kind}; it is written {form}"))
}

/// Parses a timestamp, or the midnight of a date.
pub(super) fn timestamp(text: &str) -> Option<Moment> {
    moment(text).or_else(|| date(text).map(Moment::midnight))
}

/// Parses a time outside of a day, as it is printed, to nanoseconds: `-00:00:01.500`, `24:00:00`.
pub(super) fn odd_time(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (hours, rest) = text.split_once(':')?;
    if hours.len() < 2 || !hours.bytes().all(|byte| byte.is_ascii_digit()) || !rest.contains(':') {
        return None;
    }
    let (nanos, _) = time_of_day(&format!("00:{rest}"))?;
    let hours: i64 = hours.parse().ok()?;
    hours.checked_mul(sign * 3_600_000_000_000)?.checked_add(sign * nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_are_none_of_a_day() {
        assert_eq!(odd_time("-00:00:01.500"), Some(-1_500_000_000));
        assert_eq!(odd_time("24:00:00"), Some(86_400_000_000_000));
        assert_eq!(odd_time("2562047:47:16.854775807"), Some(i64::MAX));
        assert_eq!(odd_time("-2562047:47:16.854775808"), Some(i64::MIN));
        for wrong in
            ["2562047:47:16.854775808", "24:00", "1:00:00", "-", "--01:00:00", "25:60:00", "+1:00:00"]
        {
            assert_eq!(odd_time(wrong), None, "{wrong}");
        }
    }
}
