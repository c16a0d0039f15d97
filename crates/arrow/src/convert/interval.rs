//! INTERVAL: months, days and milliseconds, each an unsigned little-endian integer of 4 bytes.

use super::array_builders::primitive;
use super::conversion_error::{ConversionError, wrong_array};
use super::non_null::NonNullSlots;
use arrow_array::cast::AsArray;
use arrow_array::types::{IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, Buffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer};
use arrow_schema::{DataType, IntervalUnit};
use marquetry_base::{Error, Result};
use marquetry_encoding::FixedLenBytes;

/// Converts to intervals of `unit`. Arrow's parts are signed: for MonthDayNano, months and days beyond 2^31 - 1 are an error.
///
/// QUIRK: other Arrow writers store negative parts as they are, so YearMonth and DayTime keep all bits.
pub(super) fn into_array(
    values: &FixedLenBytes,
    nulls: Option<NullBuffer>,
    unit: IntervalUnit,
) -> Result<ArrayRef> {
    let buffer = match unit {
        IntervalUnit::MonthDayNano => buffer(values, "with signed 32-bit months and days", |parts| {
            let [months, days, millis] = parts;
            let nanos = i64::from(millis) * 1_000_000;
            ((months | days) >> 31, IntervalMonthDayNano::new(months as i32, days as i32, nanos))
        }),
        // Days are the low half of Arrow's value in memory.
        IntervalUnit::DayTime => buffer(values, "of days and milliseconds only", |[months, days, millis]| {
            (months, u64::from(days) | u64::from(millis) << 32)
        }),
        IntervalUnit::YearMonth => {
            buffer(values, "of months only", |[months, days, millis]| (days | millis, months))
        }
    }?;
    primitive(buffer, values.len(), nulls, &DataType::Interval(unit))
}

/// Converts the values by `make`. Fails on the first for which `make` returns a remainder other than 0.
///
/// PERF: the loop has no branches; remainders are only collected.
fn buffer<T: ArrowNativeType>(
    values: &FixedLenBytes,
    what: &str,
    make: impl Fn(Parts) -> (u32, T),
) -> Result<Buffer> {
    let Some(blocks) = values.blocks::<12>() else {
        return Err(Error::argument(format!("values of {} bytes are not intervals", values.width())));
    };
    let mut out = Vec::with_capacity(values.len());
    for block in blocks {
        let mut wrong = 0;
        out.extend(block.iter().map(|value| {
            let (rest, made) = make(parts(value));
            wrong |= rest;
            made
        }));
        if wrong != 0
            && let Some(parts) = block.iter().map(parts).find(|&parts| make(parts).0 != 0)
        {
            return Err(inexact(parts, what));
        }
    }
    Ok(Buffer::from_vec(out))
}

type Parts = [u32; 3];

fn parts(bytes: &[u8; 12]) -> Parts {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes)
}

#[cold]
fn inexact([months, days, millis]: Parts, what: &str) -> Error {
    Error::limit(format!("{months} months, {days} days, {millis} ms are not an interval {what}"))
}

/// Appends the picked intervals of any unit. Fails on one with negative parts, with a fraction of a millisecond, or
/// with too many milliseconds.
///
/// SPEC: LogicalTypes.md, INTERVAL: all three are unsigned, so that other readers would take -1 month for 4,294,967,295.
pub(super) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut FixedLenBytes,
) -> Result<(), ConversionError> {
    if let Some(array) = array.as_primitive_opt::<IntervalYearMonthType>() {
        refuse(picks, array.values(), |months| months < 0)?;
        push(picks, array.values(), out, |months| [months as u32, 0, 0]);
    } else if let Some(array) = array.as_primitive_opt::<IntervalDayTimeType>() {
        refuse(picks, array.values(), |value| value.days < 0 || value.milliseconds < 0)?;
        let parts = |value: IntervalDayTime| [0, value.days as u32, value.milliseconds as u32];
        push(picks, array.values(), out, parts);
    } else if let Some(array) = array.as_primitive_opt::<IntervalMonthDayNanoType>() {
        refuse(picks, array.values(), |value| stored(value).is_none())?;
        push(picks, array.values(), out, |value| stored(value).unwrap_or_default());
    } else {
        return Err(wrong_array(array));
    }
    Ok(())
}

/// Fails on the first of the picked values that cannot be stored.
fn refuse<T: Copy + Default>(
    picks: &NonNullSlots<'_>,
    from: &[T],
    is_wrong: impl Fn(T) -> bool,
) -> Result<(), ConversionError> {
    match picks.find(from, is_wrong) {
        Some(first) => Err(ConversionError::value(
            first,
            "an interval that Parquet cannot hold: months, days and whole milliseconds, none of them negative",
        )),
        None => Ok(()),
    }
}

fn push<T: Copy + Default>(
    picks: &NonNullSlots<'_>,
    from: &[T],
    out: &mut FixedLenBytes,
    parts: impl Fn(T) -> Parts,
) {
    out.push_with(picks.len(), |out| {
        picks.map_bytes(from, out, |value| -> [u8; 12] {
            let mut bytes = [0; 12];
            // PERF: three stores; an iterator over the bytes of the parts would be polled for each.
            let (slots, _) = bytes.as_chunks_mut();
            slots.copy_from_slice(&parts(value).map(u32::to_le_bytes));
            bytes
        });
    });
}

fn stored(value: IntervalMonthDayNano) -> Option<Parts> {
    let whole = value.nanoseconds % 1_000_000 == 0;
    let millis = u32::try_from(value.nanoseconds / 1_000_000).ok().filter(|_| whole)?;
    Some([u32::try_from(value.months).ok()?, u32::try_from(value.days).ok()?, millis])
}
