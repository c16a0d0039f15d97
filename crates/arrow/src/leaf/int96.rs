//! INT96: the deprecated timestamp of Hive, Impala and Spark.
//!
//! ```text
//! 8 bytes   nanoseconds since midnight, little-endian
//! 4 bytes   Julian day number, little-endian; day 2,440,588 is 1970-01-01
//! ```

use super::primitive;
use super::temporal::per_second;
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_encoding::Fixed;
use std::hint::select_unpredictable;

/// Julian day number of 1970-01-01.
const EPOCH: i64 = 2_440_588;
/// Seconds in a day.
const DAY_SECONDS: i64 = 86_400;

/// Timestamps in `unit`; what is finer is cut off, towards the past. Fails on a value beyond the unit's range.
pub(super) fn into_array(
    values: &Fixed,
    nulls: Option<NullBuffer>,
    unit: TimeUnit,
    to: &DataType,
) -> Result<ArrayRef> {
    let (values, []) = values.as_bytes().as_chunks::<12>() else {
        return Err(Error::argument(format!("values of {} bytes are no timestamps", values.width())));
    };
    let mut out = Vec::with_capacity(values.len());
    for (block, values) in values.chunks(BLOCK).enumerate() {
        let is_null = |i: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(block * BLOCK + i));
        // PERF: where there are no nulls, the loop does not ask for them.
        let are_usual = match &nulls {
            None => push_usual_in(unit, values, |_| false, &mut out),
            Some(_) => push_usual_in(unit, values, is_null, &mut out),
        };
        if !are_usual {
            out.truncate(block * BLOCK);
            push_any(values, is_null, unit, &mut out)?;
        }
    }
    let len = out.len();
    primitive(Buffer::from_vec(out), len, nulls, to)
}

/// Values that are looked at together.
const BLOCK: usize = 256;

fn push_usual_in(
    unit: TimeUnit,
    values: &[[u8; 12]],
    is_null: impl Fn(usize) -> bool,
    out: &mut Vec<i64>,
) -> bool {
    match unit {
        TimeUnit::Second => push_usual::<1>(values, is_null, out),
        TimeUnit::Millisecond => push_usual::<1_000>(values, is_null, out),
        TimeUnit::Microsecond => push_usual::<1_000_000>(values, is_null, out),
        TimeUnit::Nanosecond => push_usual::<1_000_000_000>(values, is_null, out),
    }
}

/// Appends timestamps, and says whether they are right: whether all values are far from the ends of the range, with
/// nanoseconds of a day.
///
/// PERF: without branches. Nearly all values are such.
fn push_usual<const PER_SECOND: i64>(
    values: &[[u8; 12]],
    is_null: impl Fn(usize) -> bool,
    out: &mut Vec<i64>,
) -> bool {
    let day = DAY_SECONDS * PER_SECOND;
    let most_days = i64::MAX / day - 1;
    let least_days = (-EPOCH).max(-most_days);
    let mut are_usual = true;
    out.extend(values.iter().enumerate().map(|(i, value)| {
        let (days, nanos) = parts(value);
        // Of unsigned numbers, so that none may be less than 0.
        let is_usual = (days.wrapping_sub(least_days) as u64 <= most_days.wrapping_sub(least_days) as u64)
            & (nanos as u64 <= DAY_SECONDS as u64 * 1_000_000_000);
        // The zeros in a null's slot are a day long ago.
        are_usual &= is_usual | is_null(i);
        let rest = nanos as u64 / (1_000_000_000 / PER_SECOND as u64);
        select_unpredictable(is_usual, days.wrapping_mul(day).wrapping_add(rest as i64), 0)
    }));
    are_usual
}

fn push_any(
    values: &[[u8; 12]],
    is_null: impl Fn(usize) -> bool,
    unit: TimeUnit,
    out: &mut Vec<i64>,
) -> Result<()> {
    for (i, value) in values.iter().enumerate() {
        out.push(match timestamp(value, unit) {
            Some(timestamp) => timestamp,
            None if is_null(i) => 0,
            None => return Err(out_of_range(value, unit)),
        });
    }
    Ok(())
}

/// Whether a timestamp is in the range of `unit`.
pub(crate) fn fits(value: &[u8], unit: TimeUnit) -> bool {
    value.try_into().is_ok_and(|value| timestamp(value, unit).is_some())
}

/// Days since 1970 and nanoseconds of the day. Both are taken as they are: the nanoseconds may be negative or more than
/// a day's.
fn parts(&[a, b, c, d, e, f, g, h, day @ ..]: &[u8; 12]) -> (i64, i64) {
    (i64::from(i32::from_le_bytes(day)) - EPOCH, i64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

#[inline]
fn timestamp(value: &[u8; 12], unit: TimeUnit) -> Option<i64> {
    let (days, nanos) = parts(value);
    if days < -EPOCH {
        return unwrapped(days, nanos, unit);
    }
    let per_second = per_second(unit);
    let rest = nanos.div_euclid(1_000_000_000 / per_second);
    let day = DAY_SECONDS * per_second;
    match days.checked_mul(day).and_then(|ticks| ticks.checked_add(rest)) {
        Some(ticks) => Some(ticks),
        // On the first day of the range midnight itself may be outside.
        None => i64::try_from(i128::from(days) * i128::from(day) + i128::from(rest)).ok(),
    }
}

/// QUIRK: a negative Julian day, before 4713 BC, is what Spark makes of a time so far in the future that its
/// microseconds overflow 64 bits on the way through days. Modulo 2^64 they are what was meant.
#[cold]
fn unwrapped(days: i64, nanos: i64, unit: TimeUnit) -> Option<i64> {
    let micros = days.wrapping_mul(DAY_SECONDS * 1_000_000).wrapping_add(nanos.div_euclid(1000));
    match unit {
        TimeUnit::Second => Some(micros.div_euclid(1_000_000)),
        TimeUnit::Millisecond => Some(micros.div_euclid(1000)),
        TimeUnit::Microsecond => Some(micros),
        TimeUnit::Nanosecond => micros.checked_mul(1000),
    }
}

#[cold]
fn out_of_range(value: &[u8; 12], unit: TimeUnit) -> Error {
    let (days, nanos) = parts(value);
    Error::limit(format!(
        "the INT96 timestamp {days} days and {nanos} ns after 1970-01-01 is out of range in {unit:?}s; read it in a coarser unit"
    ))
}
