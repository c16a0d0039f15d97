//! Dates, times, timestamps and durations as text of predicates. Arrow's own text supports fewer years, and named zones
//! only if one of its features includes all of them.

use arrow_array::types::Int64Type;
use arrow_array::{Array, cast::AsArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use marquetry_base::datetime_text::{Moment, format_date, format_time};

/// Returns the text of a value that is not null; `None` if it is a time outside of a day.
pub(super) fn of(array: &dyn Array, row: usize) -> Result<Option<String>, ArrowError> {
    let numbers = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => {
            arrow_cast::cast(&arrow_cast::cast(&array.slice(row, 1), &DataType::Int32)?, &DataType::Int64)?
        }
        _ => arrow_cast::cast(&array.slice(row, 1), &DataType::Int64)?,
    };
    let number = numbers.as_primitive::<Int64Type>().value(0);
    Ok(match array.data_type() {
        DataType::Date32 => Some(format_date(number)),
        DataType::Date64 if number % DAY_MILLIS == 0 && i32::try_from(number / DAY_MILLIS).is_ok() => {
            Some(format_date(number / DAY_MILLIS))
        }
        DataType::Date64 => Some(moment(number, TimeUnit::Millisecond, false)),
        DataType::Timestamp(unit, zone) => Some(moment(number, *unit, zone.is_some())),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let nanos = i128::from(number) * nanos(*unit);
            (0..DAY_NANOS).contains(&nanos).then(|| format_time(nanos as i64))
        }
        DataType::Duration(unit) => Some(duration(i128::from(number) * nanos(*unit))),
        other => return Err(ArrowError::NotYetImplemented(format!("the text of {other}"))),
    })
}

fn moment(number: i64, unit: TimeUnit, has_offset: bool) -> String {
    let all = i128::from(number) * nanos(unit);
    let (seconds, nanos) = (all.div_euclid(NANOS) as i64, all.rem_euclid(NANOS) as u32);
    Moment { seconds, nanos, digits: 0, has_offset }.to_string()
}

fn duration(nanos: i128) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let (seconds, rest) = (nanos / NANOS as u128, nanos % NANOS as u128);
    let fraction = format!(".{rest:09}");
    format!("{sign}PT{seconds}{}S", if rest == 0 { "" } else { fraction.trim_end_matches('0') })
}

/// Returns the number of nanoseconds in a unit.
fn nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => NANOS,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

const NANOS: i128 = 1_000_000_000;
const DAY_NANOS: i128 = 86_400 * NANOS;
const DAY_MILLIS: i64 = 86_400_000;
