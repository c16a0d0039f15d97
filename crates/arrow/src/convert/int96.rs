//! Converts INT96 to Arrow timestamps and back. [`marquetry_core::int96`] describes its bytes, including odd ones.

use super::array_builders::primitive;
use super::conversion_error::ConversionError;
use super::non_null::NonNullSlots;
use super::temporal::per_second;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::bit_chunk_iterator::BitChunks;
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_core::int96::{JULIAN_DAY_OF_1970, NANOS_PER_DAY, instant, stored, to_bytes};
use marquetry_encoding::FixedLenBytes;

/// Number of seconds in a day.
const DAY_SECONDS: i64 = NANOS_PER_DAY / 1_000_000_000;

/// Converts to timestamps in `unit`. Cuts off finer digits, towards the past. Fails on a value beyond the unit's range.
pub(super) fn into_array(
    values: &FixedLenBytes,
    nulls: Option<NullBuffer>,
    unit: TimeUnit,
    to: &DataType,
) -> Result<ArrayRef> {
    let timestamps = timestamps(values, nulls.as_ref(), unit)?;
    primitive(Buffer::from_vec(timestamps), values.len(), nulls, to)
}

/// Converts to numbers, 0 for nulls.
pub(super) fn timestamps(
    values: &FixedLenBytes,
    nulls: Option<&NullBuffer>,
    unit: TimeUnit,
) -> Result<Vec<i64>> {
    let Some(blocks) = values.blocks::<12>() else {
        return Err(Error::argument(format!("values of {} bytes are not timestamps", values.width())));
    };
    let mut out = Vec::with_capacity(values.len());
    for values in blocks {
        let first = out.len();
        let are_usual = match nulls {
            // PERF: without nulls, the loop does not test for them.
            None => push_usual_in(unit, values, |_| ALL, &mut out),
            Some(nulls) => {
                let (bits, at) = (nulls.validity(), nulls.offset() + first);
                let valid = BitChunks::new(bits, at, values.len()).iter_padded().next().unwrap_or(0);
                push_usual_in(unit, values, |i| -((valid >> i & 1) as i64), &mut out)
            }
        };
        if !are_usual {
            out.truncate(first);
            let is_null = |i: usize| nulls.is_some_and(|nulls| nulls.is_null(first + i));
            push_any(values, is_null, unit, &mut out)?;
        }
    }
    Ok(out)
}

/// Appends the picked timestamps of an array in `unit`. Fails on one whose day has no 31-bit Julian number.
pub(super) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    unit: TimeUnit,
    out: &mut FixedLenBytes,
) -> Result<(), ConversionError> {
    let data = array.to_data();
    let per_second = per_second(unit);
    let (day, nanos) = (DAY_SECONDS * per_second, 1_000_000_000 / per_second);
    let (mut at, mut beyond) = (0, None);
    out.push_with(picks.len(), |out| {
        picks.map_bytes(data.buffer::<i64>(0), out, |ticks| -> [u8; 12] {
            let julian = ticks.div_euclid(day) + i64::from(JULIAN_DAY_OF_1970);
            if julian as u64 > i32::MAX as u64 {
                beyond.get_or_insert(at);
            }
            at += 1;
            to_bytes(julian as i32, ticks.rem_euclid(day) * nanos)
        });
    });
    match beyond {
        None => Ok(()),
        Some(value) => Err(ConversionError {
            value: Some(value),
            why: "a timestamp whose day INT96 has no number for".to_owned(),
        }),
    }
}

/// A mask of all bits.
const ALL: i64 = -1;

fn push_usual_in(
    unit: TimeUnit,
    values: &[[u8; 12]],
    mask: impl Fn(usize) -> i64,
    out: &mut Vec<i64>,
) -> bool {
    match unit {
        TimeUnit::Second => push_usual::<1>(values, mask, out),
        TimeUnit::Millisecond => push_usual::<1_000>(values, mask, out),
        TimeUnit::Microsecond => push_usual::<1_000_000>(values, mask, out),
        TimeUnit::Nanosecond => push_usual::<1_000_000_000>(values, mask, out),
    }
}

/// Appends the timestamps of a block. Returns whether they are right: all values are far from the ends of the range,
/// with nanoseconds inside a day. `mask` selects the bits of each value; it is 0 for a null.
///
/// PERF: without branches. Values out of range are only collected, in a sign bit. Nearly all values are in range.
fn push_usual<const PER_SECOND: i64>(
    values: &[[u8; 12]],
    mask: impl Fn(usize) -> i64,
    out: &mut Vec<i64>,
) -> bool {
    let day = DAY_SECONDS * PER_SECOND;
    let most_days = i64::MAX / day - 1;
    let least_days = (-i64::from(JULIAN_DAY_OF_1970)).max(-most_days);
    let (mut beyond, mut made) = (0, [0; FixedLenBytes::BLOCK]);
    for (i, (value, made)) in values.iter().zip(&mut made).enumerate() {
        let (days, nanos) = stored(*value);
        let outside = (days - least_days) | (most_days - days) | nanos | NANOS_PER_DAY.wrapping_sub(nanos);
        beyond |= outside & mask(i);
        let rest = nanos as u64 / (1_000_000_000 / PER_SECOND as u64);
        *made = days.wrapping_mul(day).wrapping_add(rest as i64) & mask(i);
    }
    out.extend_from_slice(&made[..values.len()]);
    beyond >= 0
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

/// Returns whether a timestamp is in the range of `unit`.
pub(crate) fn fits(value: &[u8], unit: TimeUnit) -> bool {
    value.try_into().is_ok_and(|value| timestamp(value, unit).is_some())
}

#[inline]
fn timestamp(value: &[u8; 12], unit: TimeUnit) -> Option<i64> {
    let (days, nanos) = instant(*value);
    let per_second = per_second(unit);
    let rest = nanos.div_euclid(1_000_000_000 / per_second);
    let day = DAY_SECONDS * per_second;
    match days.checked_mul(day).and_then(|ticks| ticks.checked_add(rest)) {
        Some(ticks) => Some(ticks),
        // On the first day of the range, midnight itself may be out of range.
        None => i64::try_from(i128::from(days) * i128::from(day) + i128::from(rest)).ok(),
    }
}

#[cold]
fn out_of_range(value: &[u8; 12], unit: TimeUnit) -> Error {
    let (days, nanos) = stored(*value);
    Error::limit(format!(
        "the INT96 timestamp {days} days and {nanos} ns after 1970-01-01 is out of range in {unit:?}s; read it in a coarser unit"
    ))
}
