//! Dates, times, timestamps and bytes as they are written in a predicate.

use super::Literal;
use marquetry_base::datetime_text::{Moment, date, moment, time_of_day};
use marquetry_base::from_hex;

/// A literal whose type stands before the text.
pub(super) fn typed(kind: &str, text: &str) -> Result<Literal, String> {
    let found = match kind {
        "date" => date(text).map(Literal::Date),
        "time" => time_of_day(text).map(|(nanos, _)| Literal::Time(nanos)),
        "timestamp" => timestamp(text).map(Literal::Timestamp),
        "x" => from_hex(text).map(Literal::Bytes),
        _ => return Err(format!("{kind} before text; there are date, time, timestamp and X")),
    };
    let form = match kind {
        "date" => "2024-01-31",
        "time" => "10:30:00.5",
        "timestamp" => "2024-01-31 10:30:00.5, with Z or an offset as +02:00 if it is a point in time",
        _ => "an even number of hexadecimal digits",
    };
    found.ok_or_else(|| format!("{text:?} is no {kind}; it is written {form}"))
}

/// A timestamp, or the midnight of a date.
pub(super) fn timestamp(text: &str) -> Option<Moment> {
    moment(text).or_else(|| date(text).map(Moment::midnight))
}
