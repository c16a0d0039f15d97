//! Dates and times in ISO 8601, over the whole range that their integers have.

use arrow_schema::TimeUnit;
use std::fmt::Write;

/// Appends a date such as `2013-07-30`. Years before 0 and after 9999 have a sign and as many digits as they need.
#[inline]
pub fn date(days: i64, out: &mut String) {
    let (year, month, day) = civil(days);
    match year {
        0..=9999 => {
            two_digits(year / 100, out);
            two_digits(year % 100, out);
        }
        _ => {
            let _ = write!(out, "{year:+05}");
        }
    }
    out.push('-');
    two_digits(month, out);
    out.push('-');
    two_digits(day, out);
}

/// Appends a time such as `12:30:00.500`, with 0, 3, 6 or 9 digits after the point, as many as it needs.
#[inline]
pub fn time(ticks: i64, unit: TimeUnit, out: &mut String) {
    if ticks < 0 {
        out.push('-');
    }
    let per_second = per_second(unit) as u64;
    let ticks = ticks.unsigned_abs();
    let (seconds, rest) = (ticks / per_second, ticks % per_second);
    match i64::try_from(seconds / 3600) {
        Ok(hours @ 0..=99) => two_digits(hours, out),
        _ => {
            let _ = write!(out, "{}", seconds / 3600);
        }
    }
    out.push(':');
    two_digits((seconds / 60 % 60) as i64, out);
    out.push(':');
    two_digits((seconds % 60) as i64, out);
    fraction(rest, unit, out);
}

/// Appends a number from 0 to 99.
#[inline]
fn two_digits(n: i64, out: &mut String) {
    out.push_str(TWO_DIGITS[n as usize % 100]);
}

/// Appends a timestamp such as `2013-07-30T12:30:00`, with `Z` if it is an instant.
pub fn timestamp(ticks: i64, unit: TimeUnit, is_instant: bool, out: &mut String) {
    let per_day = 86_400 * per_second(unit);
    date(ticks.div_euclid(per_day), out);
    out.push('T');
    time(ticks.rem_euclid(per_day), unit, out);
    if is_instant {
        out.push('Z');
    }
}

/// Appends a duration such as `PT3.500S`.
pub(super) fn duration(ticks: i64, unit: TimeUnit, out: &mut String) {
    out.push_str(if ticks < 0 { "-PT" } else { "PT" });
    let ticks = ticks.unsigned_abs();
    let per_second = per_second(unit) as u64;
    let _ = write!(out, "{}", ticks / per_second);
    fraction(ticks % per_second, unit, out);
    out.push('S');
}

/// Appends an interval such as `P1M2DT3.500S`, without parts that are 0.
pub fn interval(months: i64, days: i64, nanoseconds: i64, out: &mut String) {
    if (months, days, nanoseconds) == (0, 0, 0) {
        return out.push_str("PT0S");
    }
    out.push('P');
    if months != 0 {
        let _ = write!(out, "{months}M");
    }
    if days != 0 {
        let _ = write!(out, "{days}D");
    }
    if nanoseconds != 0 {
        out.push_str(if nanoseconds < 0 { "T-" } else { "T" });
        let nanoseconds = nanoseconds.unsigned_abs();
        let _ = write!(out, "{}", nanoseconds / 1_000_000_000);
        fraction(nanoseconds % 1_000_000_000, TimeUnit::Nanosecond, out);
        out.push('S');
    }
}

/// Appends a fraction of less than a second, unless it is 0.
fn fraction(ticks: u64, unit: TimeUnit, out: &mut String) {
    let nanoseconds = ticks * (1_000_000_000 / per_second(unit) as u64);
    let _ = match nanoseconds {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
}

/// Returns the number of units in a second.
pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Returns the year, month and day of a number of days since 1970-01-01 in the proleptic Gregorian calendar. The
/// calculation counts years from March, so that the leap day is their last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[rustfmt::skip]
const TWO_DIGITS: [&str; 100] = [
    "00", "01", "02", "03", "04", "05", "06", "07", "08", "09",
    "10", "11", "12", "13", "14", "15", "16", "17", "18", "19",
    "20", "21", "22", "23", "24", "25", "26", "27", "28", "29",
    "30", "31", "32", "33", "34", "35", "36", "37", "38", "39",
    "40", "41", "42", "43", "44", "45", "46", "47", "48", "49",
    "50", "51", "52", "53", "54", "55", "56", "57", "58", "59",
    "60", "61", "62", "63", "64", "65", "66", "67", "68", "69",
    "70", "71", "72", "73", "74", "75", "76", "77", "78", "79",
    "80", "81", "82", "83", "84", "85", "86", "87", "88", "89",
    "90", "91", "92", "93", "94", "95", "96", "97", "98", "99",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn dates() {
        assert_eq!(text(|out| date(0, out)), "1970-01-01");
        assert_eq!(text(|out| date(-1, out)), "1969-12-31");
        assert_eq!(text(|out| date(11_016, out)), "2000-02-29");
        assert_eq!(text(|out| date(2_932_896, out)), "9999-12-31");
        assert_eq!(text(|out| date(2_932_897, out)), "+10000-01-01");
        assert_eq!(text(|out| date(-719_529, out)), "-0001-12-31");
        assert_eq!(text(|out| date(i64::from(i32::MAX), out)), "+5881580-07-11");
    }

    #[test]
    fn times() {
        assert_eq!(text(|out| time(45_000_500, TimeUnit::Millisecond, out)), "12:30:00.500");
        assert_eq!(text(|out| time(1, TimeUnit::Nanosecond, out)), "00:00:00.000000001");
        assert_eq!(
            text(|out| timestamp(-1, TimeUnit::Microsecond, true, out)),
            "1969-12-31T23:59:59.999999Z"
        );
        assert_eq!(
            text(|out| timestamp(i64::MIN, TimeUnit::Nanosecond, false, out)),
            "1677-09-21T00:12:43.145224192"
        );
        assert_eq!(text(|out| duration(-1_500, TimeUnit::Millisecond, out)), "-PT1.500S");
        assert_eq!(text(|out| interval(1, 2, 3_000_000_000, out)), "P1M2DT3S");
        assert_eq!(text(|out| interval(0, 0, 0, out)), "PT0S");
    }
}
