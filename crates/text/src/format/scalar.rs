//! Writes values that are not nested as text.

use super::time;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use marquetry_base::{push_hex, push_uuid};
use marquetry_core::int96::instant;
use std::fmt::Write;

/// The JSON form of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A number, or `true`, `false`, `null`, which is written as it is.
    Bare,
    /// A string, which needs quotes.
    Text,
}

/// Appends the text of a value that is neither null nor nested; for nested values see
/// [`Column`](super::column::Column).
pub(super) fn write(array: &dyn Array, row: usize, field: &Field, out: &mut String) -> Form {
    use DataType::*;
    match array.data_type() {
        Boolean => bare(if array.as_boolean().value(row) { "true" } else { "false" }, out),
        Int8 => integer(value::<Int8Type>(array, row), out),
        Int16 => integer(value::<Int16Type>(array, row), out),
        Int32 => integer(value::<Int32Type>(array, row), out),
        Int64 => integer(value::<Int64Type>(array, row), out),
        UInt8 => integer(value::<UInt8Type>(array, row), out),
        UInt16 => integer(value::<UInt16Type>(array, row), out),
        UInt32 => integer(value::<UInt32Type>(array, row), out),
        UInt64 => integer(value::<UInt64Type>(array, row), out),
        Float16 => {
            let value = value::<Float16Type>(array, row);
            float(f64::from(value), out, |out| {
                let _ = write!(out, "{value:?}");
            })
        }
        Float32 => single(value::<Float32Type>(array, row), out),
        Float64 => double(value::<Float64Type>(array, row), out),
        Decimal32(_, scale) => {
            decimal(&value::<Decimal32Type>(array, row).to_string(), i32::from(*scale), out)
        }
        Decimal64(_, scale) => {
            decimal(&value::<Decimal64Type>(array, row).to_string(), i32::from(*scale), out)
        }
        Decimal128(_, scale) => {
            decimal(&value::<Decimal128Type>(array, row).to_string(), i32::from(*scale), out)
        }
        Decimal256(_, scale) => {
            decimal(&value::<Decimal256Type>(array, row).to_string(), i32::from(*scale), out)
        }
        Utf8 => text(array.as_string::<i32>().value(row), out),
        LargeUtf8 => text(array.as_string::<i64>().value(row), out),
        Utf8View => text(array.as_string_view().value(row), out),
        Binary => binary(array.as_binary::<i32>().value(row), field, out),
        LargeBinary => binary(array.as_binary::<i64>().value(row), field, out),
        BinaryView => binary(array.as_binary_view().value(row), field, out),
        FixedSizeBinary(_) => fixed(array.as_fixed_size_binary().value(row), field, out),
        Null => {
            out.push_str("null");
            Form::Bare
        }
        _ => temporal(array, row, out),
    }
}

/// Appends the text of the first `most` bytes of a binary value, or all of another value.
pub(super) fn write_start(array: &dyn Array, row: usize, field: &Field, most: usize, out: &mut String) {
    use DataType::*;
    match array.data_type() {
        Binary => binary_start(array.as_binary::<i32>().value(row), field, most, out),
        LargeBinary => binary_start(array.as_binary::<i64>().value(row), field, most, out),
        BinaryView => binary_start(array.as_binary_view().value(row), field, most, out),
        FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(row);
            fixed(&bytes[..bytes.len().min(most)], field, out);
        }
        _ => {
            write(array, row, field, out);
        }
    }
}

fn temporal(array: &dyn Array, row: usize, out: &mut String) -> Form {
    use DataType::*;
    match array.data_type() {
        Date32 => time::date(i64::from(value::<Date32Type>(array, row)), out),
        Date64 => match value::<Date64Type>(array, row) {
            ms if ms % 86_400_000 == 0 => time::date(ms / 86_400_000, out),
            ms => time::timestamp(ms, TimeUnit::Millisecond, false, out),
        },
        Time32(TimeUnit::Second) => {
            time::time(i64::from(value::<Time32SecondType>(array, row)), TimeUnit::Second, out);
        }
        Time32(unit) => time::time(i64::from(value::<Time32MillisecondType>(array, row)), *unit, out),
        Time64(TimeUnit::Microsecond) => {
            time::time(value::<Time64MicrosecondType>(array, row), TimeUnit::Microsecond, out);
        }
        Time64(unit) => time::time(value::<Time64NanosecondType>(array, row), *unit, out),
        Timestamp(unit, zone) => {
            let ticks = match unit {
                TimeUnit::Second => value::<TimestampSecondType>(array, row),
                TimeUnit::Millisecond => value::<TimestampMillisecondType>(array, row),
                TimeUnit::Microsecond => value::<TimestampMicrosecondType>(array, row),
                TimeUnit::Nanosecond => value::<TimestampNanosecondType>(array, row),
            };
            time::timestamp(ticks, *unit, zone.is_some(), out);
        }
        Duration(unit) => {
            let ticks = match unit {
                TimeUnit::Second => value::<DurationSecondType>(array, row),
                TimeUnit::Millisecond => value::<DurationMillisecondType>(array, row),
                TimeUnit::Microsecond => value::<DurationMicrosecondType>(array, row),
                TimeUnit::Nanosecond => value::<DurationNanosecondType>(array, row),
            };
            time::duration(ticks, *unit, out);
        }
        Interval(IntervalUnit::YearMonth) => {
            time::interval(i64::from(value::<IntervalYearMonthType>(array, row)), 0, 0, out);
        }
        Interval(IntervalUnit::DayTime) => {
            let interval = value::<IntervalDayTimeType>(array, row);
            time::interval(0, i64::from(interval.days), i64::from(interval.milliseconds) * 1_000_000, out);
        }
        Interval(IntervalUnit::MonthDayNano) => {
            let interval = value::<IntervalMonthDayNanoType>(array, row);
            time::interval(i64::from(interval.months), i64::from(interval.days), interval.nanoseconds, out);
        }
        // Columns are read without dictionaries and runs, and Parquet has no unions.
        other => {
            let _ = write!(out, "<{other}>");
        }
    }
    Form::Text
}

fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

pub(super) fn bare(value: &str, out: &mut String) -> Form {
    out.push_str(value);
    Form::Bare
}

/// Appends the digits of an integer.
#[inline]
pub(super) fn integer(value: impl itoa::Integer, out: &mut String) -> Form {
    bare(itoa::Buffer::new().format(value), out)
}

fn text(value: &str, out: &mut String) -> Form {
    out.push_str(value);
    Form::Text
}

/// Appends the shortest digits that give the number back: `1.0`, `1e300`.
#[inline]
pub fn double(value: f64, out: &mut String) -> Form {
    // In this range, zmij and the standard library write the same digits without an exponent; zmij is faster.
    if (1e-4..1e16).contains(&value.abs()) {
        return bare(zmij::Buffer::new().format_finite(value), out);
    }
    float(value, out, |out| {
        let _ = write!(out, "{value:?}");
    })
}

/// Appends a number as [`double`] does, with the digits of single precision.
#[inline]
pub fn single(value: f32, out: &mut String) -> Form {
    if (1e-4..1e12).contains(&value.abs()) {
        return bare(zmij::Buffer::new().format_finite(value), out);
    }
    float(f64::from(value), out, |out| {
        let _ = write!(out, "{value:?}");
    })
}

/// Appends a number, with digits written by `digits`, or the name of a number that is not finite: JSON has no such
/// numbers.
fn float(value: f64, out: &mut String, digits: impl FnOnce(&mut String)) -> Form {
    let name = match value {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        value if value.is_nan() => "NaN",
        _ => {
            digits(out);
            return Form::Bare;
        }
    };
    text(name, out)
}

/// Appends a 64-bit integer as [`decimal`] does.
#[inline]
pub(super) fn small_decimal(value: i64, scale: i32, out: &mut String) -> Form {
    decimal(itoa::Buffer::new().format(value), scale, out)
}

/// Appends an integer, given by its digits, divided by ten to the power of `scale`, with all digits of the scale.
#[inline]
pub fn decimal(digits: &str, scale: i32, out: &mut String) -> Form {
    let digits = match digits.strip_prefix('-') {
        Some(digits) => {
            out.push('-');
            digits
        }
        None => digits,
    };
    let scale_digits = scale.unsigned_abs() as usize;
    if scale <= 0 {
        out.push_str(digits);
        let zeros = if digits == "0" { 0 } else { scale_digits.min(MOST_ZEROS) };
        out.extend(std::iter::repeat_n('0', zeros));
        return Form::Bare;
    }
    if digits.len() > scale_digits {
        let (whole, fraction) = digits.split_at(digits.len() - scale_digits);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
        return Form::Bare;
    }
    // A footer may claim any scale.
    let zeros = (scale_digits - digits.len()).min(MOST_ZEROS);
    out.push_str("0.");
    out.extend(std::iter::repeat_n('0', zeros));
    out.push_str(digits);
    Form::Bare
}

/// Appends binary values of any length: geometries as well-known text, or as hexadecimal digits if they are invalid;
/// other bytes as text with escapes.
fn binary(bytes: &[u8], field: &Field, out: &mut String) -> Form {
    match extension(field) {
        Some(WKB) => geometry(bytes, out),
        _ => escaped(bytes, out),
    }
    Form::Text
}

fn fixed(bytes: &[u8], field: &Field, out: &mut String) -> Form {
    match (extension(field), field.metadata().get(INT96_MARK)) {
        (Some("arrow.uuid"), _) => push_uuid(bytes, out),
        (None, Some(zone)) => {
            int96(bytes, out);
            out.push_str(if zone.is_empty() { "" } else { "Z" });
        }
        _ => push_hex(bytes, out),
    }
    Form::Text
}

/// Appends the time of an INT96 value, or hexadecimal digits for bytes of another length.
pub fn int96(bytes: &[u8], out: &mut String) {
    let Ok(bytes) = bytes.try_into() else { return push_hex(bytes, out) };
    let (days, nanoseconds) = instant(bytes);
    time::date(days, out);
    out.push('T');
    time::time(nanoseconds, TimeUnit::Nanosecond, out);
}

/// The metadata key that marks fields of 12 bytes as INT96, for which no unit of Arrow's timestamps holds both the near
/// and the far values. The value of the key is the time zone, empty if there is none.
pub const INT96_MARK: &str = "marquetry.int96";

/// Appends a geometry as well-known text, or as hexadecimal digits if it is invalid.
pub fn geometry(bytes: &[u8], out: &mut String) {
    if marquetry_geo::wkt::write_to(bytes, out).is_err() {
        push_hex(bytes, out);
    }
}

/// Appends a geometry as a GeoJSON object. Returns false if GeoJSON has no such geometry.
pub(super) fn geometry_json(array: &dyn Array, row: usize, field: &Field, out: &mut String) -> bool {
    use DataType::*;
    let bytes = match (extension(field), array.data_type()) {
        (Some(WKB), Binary) => array.as_binary::<i32>().value(row),
        (Some(WKB), LargeBinary) => array.as_binary::<i64>().value(row),
        (Some(WKB), BinaryView) => array.as_binary_view().value(row),
        _ => return false,
    };
    marquetry_geo::geojson::write_to(bytes, out).is_ok()
}

/// Appends the beginning of bytes, for a cell on a terminal. A geometry is read as a whole, because its first bytes
/// alone are not one.
fn binary_start(bytes: &[u8], field: &Field, most: usize, out: &mut String) {
    let start = &bytes[..bytes.len().min(most)];
    match extension(field) {
        Some(WKB) if marquetry_geo::wkt::write_start(bytes, most, out).is_ok() => {}
        Some(WKB) => push_hex(start, out),
        _ => escaped(start, out),
    }
}

/// The extension type of geometries.
const WKB: &str = "geoarrow.wkb";

fn extension(field: &Field) -> Option<&str> {
    field.metadata().get("ARROW:extension:name").map(String::as_str)
}

/// Appends the valid text in bytes as it is. Invalid bytes, control characters and backslashes become `\xNN`, so that
/// nothing is lost.
pub fn escaped(bytes: &[u8], out: &mut String) {
    let is_plain = |byte: &u8| matches!(byte, 0x20..=0x7e) && *byte != b'\\';
    if let (true, Ok(text)) = (bytes.iter().all(is_plain), std::str::from_utf8(bytes)) {
        return out.push_str(text);
    }
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' {
                let mut bytes = [0; 4];
                escape(c.encode_utf8(&mut bytes).as_bytes(), out);
            } else {
                out.push(c);
            }
        }
        escape(chunk.invalid(), out);
    }
}

fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        out.push_str(&ESCAPES[4 * usize::from(*byte)..][..4]);
    }
}

/// `\xNN` for each byte, one after the other. PERF: values that are all zeros are long.
const ESCAPES: &str = {
    const TABLE: [u8; 4 * 256] = {
        let (mut table, mut byte) = ([0; 4 * 256], 0);
        while byte < 256 {
            table[4 * byte] = b'\\';
            table[4 * byte + 1] = b'x';
            table[4 * byte + 2] = b"0123456789ABCDEF"[byte >> 4];
            table[4 * byte + 3] = b"0123456789ABCDEF"[byte & 15];
            byte += 1;
        }
        table
    };
    match std::str::from_utf8(&TABLE) {
        Ok(text) => text,
        Err(_) => panic!("ASCII"),
    }
};

/// Maximum number of zeros: no decimal that a file can hold has so many digits.
const MOST_ZEROS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn decimals() {
        let text = |digits: &str, scale| {
            text(|out| {
                decimal(digits, scale, out);
            })
        };
        assert_eq!(text("-150", 2), "-1.50");
        assert_eq!(text("5", 3), "0.005");
        assert_eq!(text("0", 2), "0.00");
        assert_eq!(text("12", 0), "12");
        assert_eq!(text("12", -2), "1200");
        assert_eq!(text("0", -2), "0");
    }

    #[test]
    fn bytes() {
        assert_eq!(text(|out| escaped("a\\ü\n".as_bytes(), out)), r"a\x5Cü\x0A");
        assert_eq!(text(|out| escaped(b"\x00\xffz", out)), r"\x00\xFFz");
        assert_eq!(text(|out| push_uuid(&[0x11; 16], out)), "11111111-1111-1111-1111-111111111111");
    }
}
