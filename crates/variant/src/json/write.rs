//! From variants to JSON.

use crate::depth::check_depth;
use crate::primitive::time_of_day;
use crate::value::Value;
use crate::variant::Variant;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_base::datetime_text::{format_date, format_time};
use marquetry_base::{Error, Result};
use std::fmt::Write;

/// The value as JSON text, by the rules of [`json`](crate::json).
///
/// # Errors
///
/// As [`Variant::validate`]: all of the value is looked at.
pub fn to_string(variant: Variant<'_>) -> Result<String> {
    let mut out = String::new();
    write_to(variant, &mut out)?;
    Ok(out)
}

/// Appends the value as JSON text. What was appended before an error stays.
///
/// # Errors
///
/// As [`to_string`].
pub fn write_to(variant: Variant<'_>, out: &mut String) -> Result<()> {
    write_below(variant, out, 0)
}

fn write_below(variant: Variant<'_>, out: &mut String, depth: usize) -> Result<()> {
    check_depth(depth)?;
    match variant.value()? {
        Value::Object(object) => {
            out.push('{');
            for (i, field) in object.iter().enumerate() {
                let (name, value) = field?;
                if i > 0 {
                    out.push(',');
                }
                write_text(name, out)?;
                out.push(':');
                write_below(value, out, depth + 1)?;
            }
            out.push('}');
        }
        Value::Array(array) => {
            out.push('[');
            for (i, element) in array.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_below(element?, out, depth + 1)?;
            }
            out.push(']');
        }
        value => write_primitive(&value, out)?,
    }
    Ok(())
}

fn write_primitive(value: &Value<'_>, out: &mut String) -> Result<()> {
    let written = match value {
        Value::Null => write!(out, "null"),
        Value::Boolean(value) => write!(out, "{value}"),
        Value::Int8(number) => write!(out, "{number}"),
        Value::Int16(number) => write!(out, "{number}"),
        Value::Int32(number) => write!(out, "{number}"),
        Value::Int64(number) => write!(out, "{number}"),
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => {
            write!(out, "{number}")
        }
        Value::Double(number) if number.is_finite() => {
            write!(out, "{}", zmij::Buffer::new().format_finite(*number))
        }
        Value::Double(number) => write!(out, "\"{}\"", not_finite(*number)),
        Value::Float(number) if number.is_finite() => {
            write!(out, "{}", zmij::Buffer::new().format_finite(*number))
        }
        Value::Float(number) => write!(out, "\"{}\"", not_finite(f64::from(*number))),
        Value::Date(days) => write!(out, "\"{}\"", format_date(i64::from(*days))),
        Value::Time(micros) => write!(out, "\"{}\"", format_time(time_of_day(*micros)? * 1000)),
        Value::TimestampMicros(ticks) => write!(out, "\"{}Z\"", moment(*ticks, MICROS)),
        Value::LocalTimestampMicros(ticks) => write!(out, "\"{}\"", moment(*ticks, MICROS)),
        Value::TimestampNanos(ticks) => write!(out, "\"{}Z\"", moment(*ticks, NANOS)),
        Value::LocalTimestampNanos(ticks) => write!(out, "\"{}\"", moment(*ticks, NANOS)),
        Value::Binary(bytes) => write!(out, "\"{}\"", STANDARD.encode(bytes)),
        Value::String(text) => return write_text(text, out),
        Value::Uuid(bytes) => write!(out, "\"{}\"", uuid(bytes)),
        Value::Object(_) | Value::Array(_) => Ok(()),
    };
    written.map_err(|error| Error::argument(error.to_string()))
}

fn write_text(text: &str, out: &mut String) -> Result<()> {
    let quoted = serde_json::to_string(text).map_err(|error| Error::argument(error.to_string()))?;
    out.push_str(&quoted);
    Ok(())
}

fn not_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// Of ticks since 1970, of which a second has so many.
fn moment(ticks: i64, per_second: i64) -> String {
    let (seconds, rest) = (ticks.div_euclid(per_second), ticks.rem_euclid(per_second));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!("{}T{}", format_date(days), format_time(second * NANOS + rest * (NANOS / per_second)))
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Text takes whatever is written.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;
