//! Writes variants as JSON.

use super::signs::plain_len;
use crate::decimal::Decimal;
use crate::depth::check_depth;
use crate::primitive::time_of_day;
use crate::value::Value;
use crate::variant::Variant;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_base::datetime_text::{format_date, format_time};
use marquetry_base::{Error, Result, push_uuid};
use std::fmt::Write;

/// Returns the value as JSON text, by the rules of [`json`](crate::json).
///
/// # Errors
///
/// If a part of the value is damaged: all of it is read.
pub fn to_string(variant: Variant<'_>) -> Result<String> {
    let mut out = String::new();
    write_to(variant, &mut out)?;
    Ok(out)
}

/// Appends the value as JSON text. Text appended before an error stays.
///
/// # Errors
///
/// As [`to_string`].
pub fn write_to(variant: Variant<'_>, out: &mut String) -> Result<()> {
    write_below(variant, out, 0)
}

/// Appends a value that contains no others.
///
/// # Errors
///
/// If the value is an object or an array, or a time that is not within a day.
pub fn write_value_to(value: &Value<'_>, out: &mut String) -> Result<()> {
    match value {
        Value::Object(_) | Value::Array(_) => {
            Err(Error::argument("a variant object or array is not a primitive value"))
        }
        value => write_primitive(value, out),
    }
}

/// Appends a text in quotes, for strings and field names.
pub fn write_text_to(text: &str, out: &mut String) {
    write_text(text, out);
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
                write_text(name, out);
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
        Value::Null => return push(out, "null"),
        Value::Boolean(value) => return push(out, if *value { "true" } else { "false" }),
        Value::Int8(number) => return push(out, itoa::Buffer::new().format(*number)),
        Value::Int16(number) => return push(out, itoa::Buffer::new().format(*number)),
        Value::Int32(number) => return push(out, itoa::Buffer::new().format(*number)),
        Value::Int64(number) => return push(out, itoa::Buffer::new().format(*number)),
        Value::Decimal4(number) | Value::Decimal8(number) | Value::Decimal16(number) => {
            write_decimal(number, out);
            return Ok(());
        }
        Value::Double(number) if number.is_finite() => {
            return push(out, zmij::Buffer::new().format_finite(*number));
        }
        Value::Double(number) => write!(out, "\"{}\"", not_finite(*number)),
        Value::Float(number) if number.is_finite() => {
            return push(out, zmij::Buffer::new().format_finite(*number));
        }
        Value::Float(number) => write!(out, "\"{}\"", not_finite(f64::from(*number))),
        Value::Date(days) => write!(out, "\"{}\"", format_date(i64::from(*days))),
        Value::Time(micros) => write!(out, "\"{}\"", format_time(time_of_day(*micros)? * 1000)),
        Value::TimestampMicros(ticks) => write!(out, "\"{}Z\"", moment(*ticks, MICROS)),
        Value::LocalTimestampMicros(ticks) => write!(out, "\"{}\"", moment(*ticks, MICROS)),
        Value::TimestampNanos(ticks) => write!(out, "\"{}Z\"", moment(*ticks, NANOS)),
        Value::LocalTimestampNanos(ticks) => write!(out, "\"{}\"", moment(*ticks, NANOS)),
        Value::Binary(bytes) => write!(out, "\"{}\"", STANDARD.encode(bytes)),
        Value::String(text) => {
            write_text(text, out);
            return Ok(());
        }
        Value::Uuid(bytes) => {
            out.push('"');
            push_uuid(&bytes[..], out);
            return push(out, "\"");
        }
        Value::Object(_) | Value::Array(_) => Ok(()),
    };
    written.map_err(|error| Error::argument(error.to_string()))
}

fn push(out: &mut String, text: &str) -> Result<()> {
    out.push_str(text);
    Ok(())
}

/// PERF: stretches without escapes are copied as they are.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, behind) = rest.split_at(plain_len(rest.as_bytes()));
        out.push_str(plain);
        let Some(sign) = behind.chars().next() else { break };
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other => {
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
        }
        // All characters that are escaped are ASCII.
        rest = &behind[1..];
    }
    out.push('"');
}

/// PERF: numbers of up to 64 bits avoid the general formatting code.
fn write_decimal(number: &Decimal, out: &mut String) {
    let scale = usize::from(number.scale);
    let Ok(magnitude) = u64::try_from(number.unscaled.unsigned_abs()) else {
        // Writing to a string never fails.
        let _ = write!(out, "{number}");
        return;
    };
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(magnitude);
    if number.unscaled < 0 {
        out.push('-');
    }
    let before_point = digits.len().saturating_sub(scale);
    out.push_str(if before_point == 0 { "0" } else { &digits[..before_point] });
    if scale > 0 {
        out.push('.');
        out.extend(std::iter::repeat_n('0', scale.saturating_sub(digits.len())));
        out.push_str(&digits[before_point..]);
    }
}

fn not_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// Formats ticks since 1970-01-01, of which there are `per_second` in a second.
fn moment(ticks: i64, per_second: i64) -> String {
    let (seconds, rest) = (ticks.div_euclid(per_second), ticks.rem_euclid(per_second));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!("{}T{}", format_date(days), format_time(second * NANOS + rest * (NANOS / per_second)))
}

const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_json() {
        for text in [
            "",
            "plain",
            "a \"quote\" and \\",
            "\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}",
            "ä€𝄞",
            "\\",
            "1234567\"",
            "12345678\n9",
        ] {
            let mut out = String::new();
            write_text(text, &mut out);
            assert_eq!(out, serde_json::to_string(text).unwrap());
        }
    }

    #[test]
    fn decimals_are_those_of_display() {
        for unscaled in
            [0, 1, -1, 9, -10, 12345, i128::from(u64::MAX), -i128::from(u64::MAX), 10_i128.pow(37)]
        {
            for scale in [0, 1, 2, 5, 6, 19, 20, 38] {
                let (number, mut out) = (Decimal { unscaled, scale }, String::new());
                write_decimal(&number, &mut out);
                assert_eq!(out, number.to_string());
            }
        }
    }
}
