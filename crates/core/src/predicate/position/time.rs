//! Places dates, times and timestamps in the unit of a column.

use super::integer::Integers;
use super::place::{Found, Position};
use crate::int96::{self, JULIAN_DAY_OF_1970, NANOS_PER_DAY};
use crate::logical_type::TimeUnit;
use crate::predicate::bare_time::BareTime;
use crate::predicate::literal::Literal;
use crate::predicate::literal_text::{odd_time, timestamp};
use marquetry_base::datetime_text::{Moment, duration, time_of_day};
use marquetry_encoding::PhysicalType;

pub(super) fn of_bare_time(literal: &Literal, bare: BareTime, physical: PhysicalType) -> Found {
    let (nanos, unit) = match bare {
        BareTime::TimeOfDay { unit } => (of_day(literal)?, unit),
        BareTime::Timestamp { unit, utc } => (instant(literal, utc)?, unit),
        BareTime::Duration { unit } => {
            let Literal::Text(text) = literal else { return Err(DURATION) };
            (duration(text).ok_or(DURATION)?, unit)
        }
    };
    Ok(Integers::signed(physical).place(nanos, unit.into()))
}

const DURATION: &str = "a duration is written 'PT1.500S' or 'P2DT30M', or as the number that is stored";

pub(super) fn of_date(literal: &Literal) -> Found {
    const HINT: &str = "a date is written '2024-01-31', and has no zone";
    let moment = match literal {
        Literal::Date(days) => Moment::midnight(*days),
        Literal::Timestamp(moment) => *moment,
        Literal::Text(text) => timestamp(text).ok_or(HINT)?,
        _ => return Err(HINT),
    };
    if moment.has_offset {
        return Err(HINT);
    }
    Ok(Integers::signed(PhysicalType::Int32).place(moment.total_nanos(), NANOS_PER_DAY.into()))
}

pub(super) fn of_time(literal: &Literal, unit: TimeUnit, physical: PhysicalType) -> Found {
    Ok(Integers::signed(physical).place(of_day(literal)?, nanos_per(unit)))
}

/// Returns nanoseconds since midnight.
fn of_day(literal: &Literal) -> Result<i128, &'static str> {
    let nanos = match literal {
        Literal::Time(nanos) => Some(*nanos),
        Literal::Text(text) => time_of_day(text).map(|(nanos, _)| nanos).or_else(|| odd_time(text)),
        _ => None,
    };
    nanos.map(i128::from).ok_or("a time is written '10:30:00.5'")
}

pub(super) fn of_timestamp(literal: &Literal, unit: TimeUnit, utc: bool) -> Found {
    Ok(Integers::signed(PhysicalType::Int64).place(instant(literal, utc)?, nanos_per(unit)))
}

/// Returns nanoseconds since 1970-01-01T00:00:00.
fn instant(literal: &Literal, utc: bool) -> Result<i128, &'static str> {
    let moment = moment_of(literal)?;
    if moment.has_offset && !utc {
        return Err("its timestamps are without a zone, and so must the literal be");
    }
    Ok(moment.total_nanos())
}

/// Returns the point in time of a literal; without an offset it is in UTC.
fn moment_of(literal: &Literal) -> Result<Moment, &'static str> {
    let found = match literal {
        Literal::Timestamp(moment) => Some(*moment),
        Literal::Date(days) => Some(Moment::midnight(*days)),
        Literal::Text(text) => timestamp(text),
        _ => None,
    };
    found.ok_or("a timestamp is written '2024-01-31 10:30:00.5', with Z or an offset as +02:00")
}

/// Places a point in time. SPEC: INT96 is the nanoseconds of the day, then the Julian day.
pub(super) fn of_int96(literal: &Literal) -> Found {
    let moment = moment_of(literal)?;
    let day = moment.seconds.div_euclid(86_400) + i64::from(JULIAN_DAY_OF_1970);
    let nanos = moment.seconds.rem_euclid(86_400) * 1_000_000_000 + i64::from(moment.nanos);
    let day = i32::try_from(day).map_err(|_| "the year is out of range")?;
    Ok(Position::At(int96::to_bytes(day, nanos).to_vec()))
}

pub(in crate::predicate) fn nanos_per(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Millis => 1_000_000,
        TimeUnit::Micros => 1_000,
        TimeUnit::Nanos => 1,
    }
}
