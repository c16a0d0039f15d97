//! Converts DATE, TIME and TIMESTAMP between units.

use super::conversion_error::{ConversionError, wrong_array};
use super::non_null::NonNullSlots;
use super::primitive;
use crate::schema::default_types;
use arrow_array::cast::AsArray;
use arrow_array::types::Date64Type;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_encoding::Values;

/// Number of milliseconds in a day.
const DAY_MILLIS: i64 = 86_400_000;

/// Converts the values to the unit of `to`. Fails on a value that is not exact in that unit, or out of its range.
pub(super) fn into_array(
    values: Values,
    nulls: Option<NullBuffer>,
    logical: Option<&LogicalType>,
    to: &DataType,
) -> Result<ArrayRef> {
    let stored = match logical {
        Some(LogicalType::Time { unit, .. } | LogicalType::Timestamp { unit, .. }) => {
            Some(default_types::time_unit(*unit))
        }
        _ => None,
    };
    match (to, values) {
        (DataType::Date64, Values::W32(days)) => {
            let millis = days.iter().map(|&days| i64::from(days as i32) * DAY_MILLIS).collect();
            primitive::as_is::<i64>(millis, nulls, to)
        }
        (DataType::Time32(unit), Values::W32(values)) => match stored {
            Some(stored) if stored != *unit => {
                let wide: Vec<_> = values.iter().map(|&value| i64::from(value as i32)).collect();
                let scaled = rescale(wide, stored, *unit)?;
                let narrow =
                    |&value: &i64| i32::try_from(value).map_err(|_| out_of_range(value, stored, *unit));
                primitive::as_is(scaled.iter().map(narrow).collect::<Result<Vec<_>>>()?, nulls, to)
            }
            _ => primitive::as_is(values, nulls, to),
        },
        (DataType::Time64(unit) | DataType::Timestamp(unit, _), Values::W64(values)) => match stored {
            Some(stored) if stored != *unit => {
                let values = values.into_iter().map(|value| value as i64).collect();
                primitive::as_is(rescale(values, stored, *unit)?, nulls, to)
            }
            _ => primitive::as_is(values, nulls, to),
        },
        (_, Values::W64(values)) => primitive::as_is(values, nulls, to),
        (_, values) => Err(Error::argument(format!("{:?} values cannot be read as {to}", values.shape()))),
    }
}

/// Returns how many of the unit make a second.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn rescale(mut values: Vec<i64>, from: TimeUnit, to: TimeUnit) -> Result<Vec<i64>> {
    let (per_from, per_to) = (per_second(from), per_second(to));
    if per_to >= per_from {
        let factor = per_to / per_from;
        let most = i64::MAX / factor;
        if let Some(&value) = values.iter().find(|&&value| !(-most..=most).contains(&value)) {
            return Err(out_of_range(value, from, to));
        }
        values.iter_mut().for_each(|value| *value *= factor);
    } else {
        let divisor = per_from / per_to;
        if let Some(value) = values.iter().find(|&&value| value % divisor != 0) {
            return Err(Error::argument(format!(
                "{value} {from:?}s are not whole {to:?}s; read the column in a finer unit, or without the stored Arrow schema"
            )));
        }
        values.iter_mut().for_each(|value| *value /= divisor);
    }
    Ok(values)
}

#[cold]
fn out_of_range(value: i64, from: TimeUnit, to: TimeUnit) -> Error {
    Error::limit(format!(
        "{value} {from:?}s are too many to count in {to:?}s; read the column in a coarser unit, or without the stored Arrow schema"
    ))
}

/// Appends the picked dates, which must be whole days, as days.
pub(super) fn days_from(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    out: &mut Vec<u32>,
) -> Result<(), ConversionError> {
    let array = array.as_primitive_opt::<Date64Type>().ok_or_else(|| wrong_array(array))?;
    let days = |millis: i64| i32::try_from(millis / DAY_MILLIS).ok().filter(|_| millis % DAY_MILLIS == 0);
    if let Some(first) = picks.find(array.values(), |millis| days(millis).is_none()) {
        return Err(ConversionError::value(first, "a date that is not a whole day, or beyond 32-bit days"));
    }
    picks.map(array.values(), out, |millis| days(millis).unwrap_or(0) as u32);
    Ok(())
}

/// Converts values of `unit` to the unit of the column, which is milliseconds if `unit` is seconds.
pub(super) fn to_stored(
    values: &mut [u64],
    unit: TimeUnit,
    stored: Option<&LogicalType>,
) -> Result<(), ConversionError> {
    if unit != TimeUnit::Second || stored.is_none() {
        return Ok(());
    }
    const MOST: i64 = i64::MAX / 1000;
    if let Some(first) = values.iter().position(|&seconds| !(-MOST..=MOST).contains(&(seconds as i64))) {
        return Err(ConversionError::value(
            first,
            "seconds that are too many to count in milliseconds, as they are stored",
        ));
    }
    values.iter_mut().for_each(|value| *value = value.wrapping_mul(1000));
    Ok(())
}

/// Does what [`to_stored`] does, for 32 bits.
pub(super) fn time_to_stored(
    values: &mut [u32],
    unit: TimeUnit,
    stored: Option<&LogicalType>,
) -> Result<(), ConversionError> {
    if unit != TimeUnit::Second || stored.is_none() {
        return Ok(());
    }
    const MOST: i32 = i32::MAX / 1000;
    if let Some(first) = values.iter().position(|&seconds| !(-MOST..=MOST).contains(&(seconds as i32))) {
        return Err(ConversionError::value(
            first,
            "seconds that are too many to count in milliseconds, as they are stored",
        ));
    }
    values.iter_mut().for_each(|value| *value = value.wrapping_mul(1000));
    Ok(())
}
