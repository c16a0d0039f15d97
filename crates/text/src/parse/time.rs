//! Dates and times in text, as numbers of units: whatever [`format`](crate::format) writes of them, and what others do.

pub(super) use crate::format::time::per_second;
use arrow_buffer::IntervalMonthDayNano;
use arrow_schema::TimeUnit;
use marquetry_base::datetime_text;
pub(super) use marquetry_base::datetime_text::{Moment, time_of_day};

/// Days since 1970-01-01 of `2013-07-30`; years before 0 and after 9999 have a sign: `-0044-03-15`, `+10000-01-01`.
pub(super) fn date(text: &str) -> Option<i32> {
    match text.as_bytes().first()? {
        b'+' | b'-' => i32::try_from(far_date(text)?).ok(),
        _ => datetime_text::date(text),
    }
}

/// `2013-07-30T12:30:00.5+02:00`, as [`datetime_text::moment`] has it, over the years of [`date`].
pub(super) fn moment(text: &str) -> Option<Moment> {
    if !matches!(text.as_bytes().first()?, b'+' | b'-') {
        return datetime_text::moment(text);
    }
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    // The clock is that of any day.
    let of_day = datetime_text::moment(&format!("1970-01-01T{clock}"))?;
    let seconds = i128::from(far_date(date)?) * 86_400 + i128::from(of_day.seconds);
    Some(Moment { seconds: seconds.try_into().ok()?, ..of_day })
}

/// Days since 1970-01-01 of a date whose year has a sign: at least five digits behind a plus, four behind a minus, and no
/// zeros in front that need not be there.
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
    // The calendar comes again after 400 years, 146,097 days.
    let near = datetime_text::date(&format!("{}-{month_and_day}", 2000 + year.rem_euclid(400)))?;
    (year.div_euclid(400) - 5).checked_mul(146_097)?.checked_add(i64::from(near))
}

/// The number of units since 1970; `None` if the unit is too coarse for it or does not reach as far.
pub(super) fn ticks(moment: Moment, unit: TimeUnit) -> Option<i64> {
    units(i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos), unit)
}

/// So many nanoseconds in units.
fn units(nanos: i128, unit: TimeUnit) -> Option<i64> {
    let nanos_per_tick = i128::from(1_000_000_000 / per_second(unit));
    if nanos % nanos_per_tick != 0 {
        return None;
    }
    i64::try_from(nanos / nanos_per_tick).ok()
}

/// Milliseconds since 1970 of a date, or of a local time.
pub(super) fn date64(text: &str) -> Option<i64> {
    match date(text) {
        Some(days) => Some(i64::from(days) * 86_400_000),
        None => moment(text)
            .filter(|moment| !moment.has_offset)
            .and_then(|moment| ticks(moment, TimeUnit::Millisecond)),
    }
}

/// The number of units of `PT3.500S` or `-PT3S`.
pub(super) fn duration(text: &str, unit: TimeUnit) -> Option<i64> {
    let (is_negative, positive) = match text.strip_prefix('-') {
        Some(positive) => (true, positive),
        None => (false, text),
    };
    let nanos = seconds(positive.strip_prefix("PT")?.strip_suffix('S')?)?;
    units(if is_negative { -nanos } else { nanos }, unit)
}

/// `P1M2DT3.500S`, or some parts of it; each may have a minus.
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

/// An integer without a plus.
fn whole(text: &str) -> Option<i32> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Nanoseconds of seconds without a sign, of which at most nine digits are behind the point.
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
