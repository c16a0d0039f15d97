//! Lossless casts: a value that the wanted type cannot hold is an error.

use arrow_array::cast::AsArray;
use arrow_array::types::{Time64MicrosecondType, Time64NanosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use marquetry_base::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Casts values to another type. A value that the type cannot hold, such as a date of the year 9999 in nanoseconds, is an error.
pub(crate) fn cast_exact(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    use DataType::Time64;
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = match (array.data_type(), to) {
        (Time64(TimeUnit::Microsecond), Time64(TimeUnit::Nanosecond)) => nanoseconds(array),
        _ => cast_with_options(array, to, &options),
    };
    cast.map_err(|error| {
        Error::caused_by(ErrorKind::Argument, format!("{} cannot be read as {to}", array.data_type()), error)
    })
}

/// Converts times in microseconds to nanoseconds. Arrow's own cast of these wraps around.
fn nanoseconds(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let times = array.as_primitive::<Time64MicrosecondType>();
    let finer = times.try_unary::<_, Time64NanosecondType, _>(|time: i64| {
        time.checked_mul(1_000).ok_or_else(|| ArrowError::CastError(format!("{time} us are too many ns")))
    });
    Ok(Arc::new(finer?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Time64MicrosecondArray;

    #[test]
    fn times_that_are_no_nanoseconds_are_errors() {
        let times = |time| Arc::new(Time64MicrosecondArray::from(vec![Some(time), None])) as ArrayRef;
        let to = DataType::Time64(TimeUnit::Nanosecond);
        let finer = cast_exact(&times(86_399_999_999), &to).unwrap();
        assert_eq!(finer.as_primitive::<Time64NanosecondType>().value(0), 86_399_999_999_000);
        assert!(finer.is_null(1));
        let error = cast_exact(&times(i64::MAX / 2), &to).unwrap_err();
        assert!(error.to_string().contains("cannot be read as Time64(ns)"), "{error}");
    }
}
