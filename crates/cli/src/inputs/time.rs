//! Dates and times in text, as numbers of units.

use arrow_schema::TimeUnit;
pub(super) use marquetry_core::logical_type::moment::{Moment, date, moment, time_of_day};

/// The number of units since 1970; `None` if the unit is too coarse for it or does not reach as far.
pub(super) fn ticks(moment: Moment, unit: TimeUnit) -> Option<i64> {
    let per_second = per_second(unit);
    let nanos_per_tick = 1_000_000_000 / per_second;
    if i64::from(moment.nanos) % nanos_per_tick != 0 {
        return None;
    }
    moment.seconds.checked_mul(per_second)?.checked_add(i64::from(moment.nanos) / nanos_per_tick)
}

/// So many units are a second.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
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
