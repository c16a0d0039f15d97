//! Dates and times in text: ISO 8601 as other tools write it, to the nanosecond.

use std::fmt;

/// A point in time, or a local time.
///
/// ```
/// use marquetry_base::datetime_text::moment;
/// let noon = moment("2013-07-30T14:00:00.5+02:00").unwrap();
/// assert_eq!(noon.to_string(), "2013-07-30 12:00:00.5Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00, in UTC if there was an offset.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
    /// Number of digits of the fraction in the text.
    pub digits: usize,
    /// Whether there was an offset from UTC.
    pub has_offset: bool,
}

/// Parses a date such as `2013-07-30` to days since 1970-01-01. Years before 0 and after 9999 have a sign: `-0044-03-15`, `+10000-01-01`.
pub fn date(text: &str) -> Option<i32> {
    match text.as_bytes().first()? {
        b'+' | b'-' => i32::try_from(far_date(text)?).ok(),
        _ => near_date(text),
    }
}

/// Parses a date whose year has four digits.
fn near_date(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?);
    let month_days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => return None,
    };
    (1..=month_days).contains(&day).then(|| days(year as i32, month as i32, day as i32))
}

/// Parses a time such as `12:30:00.500`. Returns the nanoseconds since midnight and the number of digits of the fraction.
pub fn time_of_day(text: &str) -> Option<(i64, usize)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let bytes = clock.as_bytes();
    if !matches!(bytes.len(), 5 | 8) || bytes[2] != b':' || !clock.is_ascii() {
        return None;
    }
    let (hour, minute) = (digits(&clock[..2])?, digits(&clock[3..5])?);
    let second = match bytes.get(5) {
        Some(b':') => digits(&clock[6..])?,
        Some(_) => return None,
        None => 0,
    };
    if hour > 23 || minute > 59 || second > 59 || (fraction.is_some() && bytes.len() == 5) {
        return None;
    }
    let (nanos, count) = match fraction {
        Some(fraction) if (1..=9).contains(&fraction.len()) => {
            (digits(fraction)? * 10_u32.pow(9 - fraction.len() as u32), fraction.len())
        }
        Some(_) => return None,
        None => (0, 0),
    };
    let seconds = i64::from(hour * 3600 + minute * 60 + second);
    Some((seconds * 1_000_000_000 + i64::from(nanos), count))
}

/// Parses a date whose year has a sign to days since 1970-01-01. The year has at least five digits after a plus and
/// four after a minus, and no unnecessary leading zeros.
fn far_date(text: &str) -> Option<i64> {
    let (year, month_and_day) = text.get(1..)?.split_once('-')?;
    let least = if text.starts_with('+') { 5 } else { 4 };
    if !year.bytes().all(|byte| byte.is_ascii_digit()) || year.len() < least || year == "0000" {
        return None;
    }
    if year.len() > 4 && year.starts_with('0') {
        return None;
    }
    let year: i64 = text[..=year.len()].parse().ok()?;
    // The calendar repeats after 400 years, which are 146,097 days.
    let near = near_date(&format!("{}-{month_and_day}", 2000 + year.rem_euclid(400)))?;
    (year.div_euclid(400) - 5).checked_mul(146_097)?.checked_add(i64::from(near))
}

/// Parses a point in time such as `2013-07-30T12:30:00.5+02:00`. A blank may replace the T, and the offset may be `Z`
/// or missing. The years are those of [`date`].
pub fn moment(text: &str) -> Option<Moment> {
    let (days, clock) = match text.as_bytes().first()? {
        b'+' | b'-' => {
            let (date, clock) = text.split_once(['T', 't', ' '])?;
            (far_date(date)?, clock)
        }
        _ if text.len() < 16 || !text.is_ascii() || !matches!(text.as_bytes()[10], b'T' | b't' | b' ') => {
            return None;
        }
        _ => (near_date(&text[..10])?.into(), &text[11..]),
    };
    let (clock, offset) = split_offset(clock)?;
    let (nanos, digits) = time_of_day(clock)?;
    let of_day = nanos / 1_000_000_000 - offset.unwrap_or(0);
    // The sum needs 128 bits: the least number of seconds is in the middle of a day.
    let seconds = i64::try_from(i128::from(days) * 86_400 + i128::from(of_day)).ok()?;
    let has_offset = offset.is_some();
    Some(Moment { seconds, nanos: (nanos % 1_000_000_000) as u32, digits, has_offset })
}

/// Parses an ISO 8601 duration of weeks and shorter units, such as `PT3.500S`, to nanoseconds. A sign may come first.
///
/// ```
/// use marquetry_base::datetime_text::duration;
/// assert_eq!(duration("-PT1.5S"), Some(-1_500_000_000));
/// assert_eq!(duration("P1DT2H"), Some(26 * 3_600_000_000_000));
/// assert_eq!(duration("P1M"), None);
/// ```
pub fn duration(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (days, clock) = duration_parts(text)?;
    let (days, clock) = (parts(days, &[('W', 7 * 86_400), ('D', 86_400)])?, parts_of_clock(clock)?);
    Some(sign * (days.checked_mul(NANOS)?.checked_add(clock)?))
}

/// Splits an unsigned ISO 8601 duration at the T: `P1DT2H` into `1D` and `2H`. One of the two parts may be empty.
pub fn duration_parts(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('P')? {
        "" => None,
        text => match text.split_once('T') {
            Some((_, "")) => None,
            Some(parts) => Some(parts),
            None => Some((text, "")),
        },
    }
}

/// Parses hours, minutes and seconds such as `2H30M1.5S`, of which some may be missing, to nanoseconds.
fn parts_of_clock(text: &str) -> Option<i128> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (format!("{whole}S"), fraction.strip_suffix('S')?),
        None => (text.to_owned(), "0"),
    };
    if !(1..=9).contains(&fraction.len()) {
        return None;
    }
    let nanos = digits(fraction)? * 10_u32.pow(9 - fraction.len() as u32);
    parts(&whole, &[('H', 3_600), ('M', 60), ('S', 1)])?.checked_mul(NANOS)?.checked_add(nanos.into())
}

/// Adds up numbers with units, in seconds. The units must come in the given order; missing ones count as 0.
fn parts(mut text: &str, units: &[(char, i128)]) -> Option<i128> {
    let mut out: i128 = 0;
    for (unit, seconds) in units {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(rest) = text[digits..].strip_prefix(*unit) {
            // No 64-bit unit counts further than a `u64`.
            let number: u64 = text[..digits].parse().ok()?;
            out = out.checked_add(i128::from(number).checked_mul(*seconds)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(out)
}

const NANOS: i128 = 1_000_000_000;

/// Splits off the offset. Returns the time, and the seconds by which it is ahead of UTC.
fn split_offset(text: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, Some(0)));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, None)) };
    let (clock, offset) = text.split_at(at);
    let (hours, minutes) = match (offset.len(), offset.as_bytes().get(3)) {
        (3, _) => (digits(&offset[1..])?, 0),
        (5, Some(_)) => (digits(&offset[1..3])?, digits(&offset[3..])?),
        (6, Some(b':')) => (digits(&offset[1..3])?, digits(&offset[4..])?),
        _ => return None,
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = i64::from(hours * 3600 + minutes * 60);
    Some((clock, Some(if offset.starts_with('-') { -seconds } else { seconds })))
}

impl Moment {
    /// Returns midnight at the start of a day, without an offset.
    pub fn midnight(days: i32) -> Self {
        Moment { seconds: i64::from(days) * 86_400, nanos: 0, digits: 0, has_offset: false }
    }

    /// Nanoseconds since 1970-01-01T00:00:00.
    pub fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }
}

impl fmt::Display for Moment {
    /// Writes `2013-07-30 12:00:00.5`, followed by a Z if there was an offset.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = if self.has_offset { "Z" } else { "" };
        let nanos = self.seconds.rem_euclid(86_400) * 1_000_000_000 + i64::from(self.nanos);
        write!(f, "{} {}{zone}", format_date(self.seconds.div_euclid(86_400)), format_time(nanos))
    }
}

/// Formats days since 1970-01-01 as `2013-07-30`, which [`date`] can parse.
pub fn format_date(days: i64) -> String {
    // As in `days`, years begin in March.
    let since = days + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    match era * 400 + year + i64::from(month <= 2) {
        year @ 0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        year => format!("{year:+05}-{month:02}-{day:02}"),
    }
}

/// Formats nanoseconds since midnight as `12:30:00.5`, which [`time_of_day`] can parse.
pub fn format_time(nanos: i64) -> String {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match nanos {
        0 => clock,
        nanos => format!("{clock}.{nanos:09}").trim_end_matches('0').to_owned(),
    }
}

/// Parses a number of at least one digit and nothing else. Returns `None` if it exceeds 32 bits.
fn digits(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Converts a date of the proleptic Gregorian calendar to days since 1970-01-01.
fn days(year: i32, month: i32, day: i32) -> i32 {
    // Years begin in March, so that leap days are at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_are_and_are_not() {
        assert_eq!(date("1970-01-01"), Some(0));
        assert_eq!(date("1969-12-31"), Some(-1));
        assert_eq!(date("2000-02-29"), Some(11_016));
        assert_eq!(date("0001-01-01"), Some(-719_162));
        for wrong in
            ["1900-02-29", "2013-13-01", "2013-00-01", "2013-04-31", "2013-7-30", "2013-07-3é", "20130730"]
        {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_with_offsets_and_fractions() {
        let seconds =
            |text: &str| moment(text).map(|moment| (moment.seconds, moment.nanos, moment.has_offset));
        assert_eq!(seconds("1970-01-02 00:00:01"), Some((86_401, 0, false)));
        assert_eq!(seconds("1970-01-01T02:00:00.5+02:00"), Some((0, 500_000_000, true)));
        assert_eq!(seconds("1969-12-31T23:59:59.999999999Z"), Some((-1, 999_999_999, true)));
        assert_eq!(seconds("1970-01-01T00:00-0030"), Some((1800, 0, true)));
        for wrong in
            ["1970-01-01T24:00:00", "1970-01-01T00:00:00.", "1970-01-01T00:00:60", "1970-01-01X00:00:00"]
        {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
        assert_eq!(moment("1969-12-31T23:59:59.5").unwrap().total_nanos(), -500_000_000);
    }

    #[test]
    fn durations_that_are_and_are_not() {
        let seconds = |text: &str| duration(text).map(|nanos| nanos as f64 / 1e9);
        for (text, expected) in [
            ("PT0S", 0.0),
            ("PT1.5S", 1.5),
            ("-PT1.500S", -1.5),
            ("+P1D", 86_400.0),
            ("P1W2DT3H4M5.000000001S", 788_645.000000001),
            ("PT90M", 5_400.0),
            ("PT9223372036854775807S", 9223372036854775807.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "P",
            "PT",
            "P1DT",
            "1S",
            "PT1",
            "PT1S1M",
            "PT.5S",
            "PT1.S",
            "PT1.0000000001S",
            "P1Y",
            "PT-1S",
            "--PT1S",
        ] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for days in [i32::MIN, -719_529, -719_528, 2_932_896, 2_932_897, i32::MAX] {
            assert_eq!(date(&format_date(days.into())), Some(days));
        }
        assert_eq!(format_date(2_932_897), "+10000-01-01");
        assert_eq!(moment("-0044-03-15T12:00Z").unwrap().to_string(), "-0044-03-15 12:00:00Z");
        assert_eq!(moment("+9223372036854775807-01-01T00:00:00"), None);
        for (text, seconds) in
            [("-292277022657-01-27T08:29:52", i64::MIN), ("+292277026596-12-04T15:30:07", i64::MAX)]
        {
            assert_eq!(moment(text).map(|moment| moment.seconds), Some(seconds));
        }
        for days in (-719_162..2_932_896).step_by(97) {
            assert_eq!(date(&format_date(days)), Some(days as i32));
        }
        for nanos in [0, 1, 500_000_000, 86_399_999_999_999] {
            assert_eq!(time_of_day(&format_time(nanos)).map(|(nanos, _)| nanos), Some(nanos));
        }
        for text in ["1969-12-31 23:59:59.5", "2024-02-29 00:00:00Z"] {
            assert_eq!(moment(text).unwrap().to_string(), text);
        }
    }
}
