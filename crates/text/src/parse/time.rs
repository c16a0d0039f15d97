//! Dates and times in text, as numbers of units: whatever [`format`](crate::format) writes of them, and what others do.

pub(super) use crate::format::time::per_second;
use arrow_buffer::IntervalMonthDayNano;
use arrow_schema::TimeUnit;
use marquetry_base::datetime_text;
pub(super) use marquetry_base::datetime_text::{Moment, date, moment, time_of_day};

/// Returns the number of units since 1970, or `None` if the unit is too coarse or its range too small.
pub(super) fn ticks(moment: Moment, unit: TimeUnit) -> Option<i64> {
    units(i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos), unit)
}

/// Converts nanoseconds to units, exactly.
fn units(nanos: i128, unit: TimeUnit) -> Option<i64> {
    let nanos_per_tick = i128::from(1_000_000_000 / per_second(unit));
    if nanos % nanos_per_tick != 0 {
        return None;
    }
    i64::try_from(nanos / nanos_per_tick).ok()
}

/// Parses a date or a local time as milliseconds since 1970.
pub(super) fn date64(text: &str) -> Option<i64> {
    match date(text) {
        Some(days) => Some(i64::from(days) * 86_400_000),
        None => moment(text)
            .filter(|moment| !moment.has_offset)
            .and_then(|moment| ticks(moment, TimeUnit::Millisecond)),
    }
}

/// Parses a duration as a number of units.
pub(super) fn duration(text: &str, unit: TimeUnit) -> Option<i64> {
    units(datetime_text::duration(text)?, unit)
}

/// Parses an interval such as `P1M2DT3.500S`, or some of its parts. Each part may have a minus.
pub(super) fn interval(text: &str) -> Option<IntervalMonthDayNano> {
    let (days, clock) = match text.strip_prefix('P')?.split_once('T') {
        Some((days, clock)) => (days, Some(clock)),
        None => (text.strip_prefix('P')?, None),
    };
    let (months, days) = match days.split_once('M') {
        Some((months, days)) => (Some(whole(months)?), days),
        None => (None, days),
    };
    let days = match days {
        "" => None,
        days => Some(whole(days.strip_suffix('D')?)?),
    };
    let nanos = match clock {
        None => None,
        Some(clock) => {
            let clock = clock.strip_suffix('S')?;
            let nanos = match clock.strip_prefix('-') {
                Some(clock) => -seconds(clock)?,
                None => seconds(clock)?,
            };
            Some(i64::try_from(nanos).ok()?)
        }
    };
    if (months, days, nanos) == (None, None, None) {
        return None;
    }
    let (months, days) = (months.unwrap_or(0), days.unwrap_or(0));
    Some(IntervalMonthDayNano::new(months, days, nanos.unwrap_or(0)))
}

/// Parses an integer without a plus.
fn whole(text: &str) -> Option<i32> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Parses seconds without a sign as nanoseconds. At most nine digits are behind the point.
fn seconds(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos: i128 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok().map(|whole| i128::from(whole) * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_ticks_or_none() {
        let early = moment("1969-12-31T23:59:59.5").unwrap();
        assert_eq!(ticks(early, TimeUnit::Millisecond), Some(-500));
        assert_eq!(ticks(early, TimeUnit::Second), None);
        assert_eq!(ticks(moment("9999-01-01T00:00:00").unwrap(), TimeUnit::Nanosecond), None);
    }
}
