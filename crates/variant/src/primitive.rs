//! Values that contain no other values.
//!
//! Spec: VariantEncoding.md, "Encoding types". The first byte has the basic type in its lower two bits, and in the others the
//! primitive type, or the length of a short string. Numbers are little-endian, except the 16 bytes of a UUID.

use crate::decimal::{Decimal, MAX_SCALE};
use crate::header::*;
use crate::utf8::utf8;
use crate::value::Value;
use marquetry_base::{ByteCursor, Error, Result};

/// Reads a value of the primitive type `code` from `bytes`.
#[inline]
pub(crate) fn read_primitive<'a>(code: u8, bytes: &'a [u8]) -> Result<Value<'a>> {
    let mut cursor = ByteCursor::new(bytes);
    Ok(match code {
        NULL => Value::Null,
        TRUE => Value::Boolean(true),
        FALSE => Value::Boolean(false),
        INT8 => Value::Int8(cursor.u8()? as i8),
        INT16 => Value::Int16(cursor.u16_le()? as i16),
        INT32 => Value::Int32(cursor.u32_le()? as i32),
        INT64 => Value::Int64(cursor.u64_le()? as i64),
        DOUBLE => Value::Double(f64::from_bits(cursor.u64_le()?)),
        FLOAT => Value::Float(f32::from_bits(cursor.u32_le()?)),
        DECIMAL4 => decimal(&mut cursor, 4, Value::Decimal4)?,
        DECIMAL8 => decimal(&mut cursor, 8, Value::Decimal8)?,
        DECIMAL16 => decimal(&mut cursor, 16, Value::Decimal16)?,
        DATE => Value::Date(cursor.u32_le()? as i32),
        TIME => Value::Time(time_of_day(cursor.u64_le()? as i64)?),
        TIMESTAMP_MICROS => Value::TimestampMicros(cursor.u64_le()? as i64),
        LOCAL_MICROS => Value::LocalTimestampMicros(cursor.u64_le()? as i64),
        TIMESTAMP_NANOS => Value::TimestampNanos(cursor.u64_le()? as i64),
        LOCAL_NANOS => Value::LocalTimestampNanos(cursor.u64_le()? as i64),
        BINARY => {
            let len = cursor.u32_le()? as usize;
            Value::Binary(cursor.take(len)?)
        }
        STRING => {
            let len = cursor.u32_le()? as usize;
            Value::String(text(cursor.take(len)?)?)
        }
        UUID => {
            let bytes = cursor.take(16)?;
            Value::Uuid(bytes.first_chunk().ok_or_else(|| Error::truncated("a UUID of fewer than 16 bytes"))?)
        }
        code => return Err(unknown(code)),
    })
}

/// Validates a value that contains no others and has exactly these bytes.
#[inline]
pub(crate) fn validate_primitive(value: &[u8]) -> Result<()> {
    let Some((first, rest)) = value.split_first() else {
        return Err(Error::truncated("a variant value of no bytes"));
    };
    match (first & 3, first >> 2) {
        (SHORT_STRING, _) => text(rest).map(drop),
        (_, DECIMAL4 | DECIMAL8 | DECIMAL16 | TIME | STRING) => read_primitive(first >> 2, rest).map(drop),
        // The type and the length have been checked already.
        _ => Ok(()),
    }
}

fn decimal<'a>(
    cursor: &mut ByteCursor<'_>,
    size: usize,
    value: impl Fn(Decimal) -> Value<'a>,
) -> Result<Value<'a>> {
    let scale = cursor.u8()?;
    if scale > MAX_SCALE {
        return Err(Error::corrupt(format!("variant: a decimal of scale {scale}, 38 is the most")));
    }
    let bytes = cursor.take(size)?;
    // The sign is the top bit of the last byte.
    let sign = if bytes[size - 1] >= 0x80 { 0xff } else { 0 };
    let mut wide = [sign; 16];
    wide[..size].copy_from_slice(bytes);
    let unscaled = i128::from_le_bytes(wide);
    let digits = most_digits(size);
    if unscaled.unsigned_abs() >= 10_u128.pow(digits) {
        return Err(Error::corrupt(format!(
            "variant: a decimal of {size} bytes with more than {digits} digits"
        )));
    }
    Ok(value(Decimal { unscaled, scale }))
}

/// The maximum number of digits in a decimal of `size` bytes.
fn most_digits(size: usize) -> u32 {
    match size {
        4 => 9,
        8 => 18,
        _ => 38,
    }
}

/// Checks that a number of microseconds since midnight is less than a day.
pub(crate) fn time_of_day(micros: i64) -> Result<i64> {
    match micros {
        0..MICROS_PER_DAY => Ok(micros),
        _ => Err(Error::corrupt(format!(
            "variant: a time of {micros} microseconds, a day has {MICROS_PER_DAY}"
        ))),
    }
}

/// Reads text, which must be UTF-8.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    utf8(bytes).ok_or_else(|| Error::corrupt("variant: a string that is not UTF-8"))
}

/// Appends a value that contains no others.
pub(crate) fn write_primitive(value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    let mut put = |code: u8, bytes: &[u8]| {
        out.push(PRIMITIVE | code << 2);
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Null => put(NULL, &[]),
        Value::Boolean(true) => put(TRUE, &[]),
        Value::Boolean(false) => put(FALSE, &[]),
        Value::Int8(number) => put(INT8, &number.to_le_bytes()),
        Value::Int16(number) => put(INT16, &number.to_le_bytes()),
        Value::Int32(number) => put(INT32, &number.to_le_bytes()),
        Value::Int64(number) => put(INT64, &number.to_le_bytes()),
        Value::Double(number) => put(DOUBLE, &number.to_bits().to_le_bytes()),
        Value::Float(number) => put(FLOAT, &number.to_bits().to_le_bytes()),
        Value::Decimal4(number) => write_decimal(DECIMAL4, number, 4, out)?,
        Value::Decimal8(number) => write_decimal(DECIMAL8, number, 8, out)?,
        Value::Decimal16(number) => write_decimal(DECIMAL16, number, 16, out)?,
        Value::Date(days) => put(DATE, &days.to_le_bytes()),
        Value::Time(micros) => put(TIME, &time_of_day(*micros)?.to_le_bytes()),
        Value::TimestampMicros(ticks) => put(TIMESTAMP_MICROS, &ticks.to_le_bytes()),
        Value::LocalTimestampMicros(ticks) => put(LOCAL_MICROS, &ticks.to_le_bytes()),
        Value::TimestampNanos(ticks) => put(TIMESTAMP_NANOS, &ticks.to_le_bytes()),
        Value::LocalTimestampNanos(ticks) => put(LOCAL_NANOS, &ticks.to_le_bytes()),
        Value::Uuid(bytes) => put(UUID, *bytes),
        Value::Binary(bytes) => {
            put(BINARY, &size(bytes)?.to_le_bytes());
            out.extend_from_slice(bytes);
        }
        Value::String(text) if text.len() <= LONGEST_SHORT_STRING => {
            out.push(SHORT_STRING | (text.len() as u8) << 2);
            out.extend_from_slice(text.as_bytes());
        }
        Value::String(text) => {
            put(STRING, &size(text.as_bytes())?.to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Object(_) | Value::Array(_) => {
            return Err(Error::argument("a variant object or array is not a primitive value"));
        }
    }
    Ok(())
}

fn write_decimal(code: u8, number: &Decimal, size: usize, out: &mut Vec<u8>) -> Result<()> {
    if number.scale > MAX_SCALE || number.unscaled.unsigned_abs() >= 10_u128.pow(most_digits(size)) {
        return Err(Error::argument(format!("{number} is not a variant decimal of {size} bytes")));
    }
    out.extend_from_slice(&[PRIMITIVE | code << 2, number.scale]);
    out.extend_from_slice(&number.unscaled.to_le_bytes()[..size]);
    Ok(())
}

fn size(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).map_err(|_| Error::limit("a variant string of more than 4 GiB"))
}

const LONGEST_SHORT_STRING: usize = 63;
const MICROS_PER_DAY: i64 = 86_400_000_000;
