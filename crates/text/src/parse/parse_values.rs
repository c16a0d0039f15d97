//! Parses texts strictly: one that is not exactly a value of the type is an error.

use super::error_text::{message, shortened};
use super::infer_number::{Decimals, is_exact_double, is_plain_number, keeps_number};
use super::infer_text::is_bool;
use super::number::ShortNumber;
use super::texts::Texts;
use super::{decimal, time};
use arrow_array::builder::{FixedSizeBinaryBuilder, LargeBinaryBuilder};
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, LargeBinaryArray, NullArray, PrimitiveArray,
};
use arrow_buffer::{NullBufferBuilder, i256};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use marquetry_base::from_hex;
use memchr::memchr;
use std::str::FromStr;
use std::sync::Arc;

/// A value that does not fit its type: its position in the array, and a description.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueError {
    /// Position of the value, from 0.
    pub at: usize,
    /// A description of what is wrong.
    pub message: String,
}

/// The strictness with which texts are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The type was guessed: a value that would lose its form, such as `007` as a number, is an error.
    Guessed,
    /// As `Guessed`, but a number with a fraction becomes the nearest double.
    Rounded,
    /// The type was asked for.
    Given,
}

impl From<Decimals> for Strictness {
    fn from(decimals: Decimals) -> Self {
        match decimals {
            Decimals::Auto => Strictness::Guessed,
            Decimals::Never => Strictness::Rounded,
        }
    }
}

/// Parses `texts` as an array of `data_type`, which is not nested. Nulls stay nulls.
pub(super) fn typed(
    texts: &impl Texts,
    data_type: &DataType,
    strictness: Strictness,
) -> Result<ArrayRef, ValueError> {
    use DataType::*;
    let found: Result<ArrayRef, ValueError> = match data_type {
        Utf8 => Ok(Arc::new(texts.to_array())),
        Boolean => boolean(texts),
        Int32 => integers::<Int32Type>(texts, strictness),
        Int64 => integers::<Int64Type>(texts, strictness),
        Float64 => primitive::<Float64Type>(texts, |text| {
            match ShortNumber::parse(text) {
                Some(short) if short.mantissa < EXACT_DIGITS => ShortNumber::double(text),
                _ => None,
            }
            .or_else(|| double(text, strictness))
        }),
        Date32 => primitive::<Date32Type>(texts, time::date),
        Timestamp(unit, zone) => timestamps(texts, *unit, zone.as_ref()),
        Decimal128(p, s) => {
            decimals::<Decimal128Type>(texts, *p, *s, strictness, |digits| i128::from_str(digits).ok())
        }
        Dictionary(_, values) => cast(&typed(texts, values, strictness)?, data_type),
        RunEndEncoded(_, values) => cast(&typed(texts, values.data_type(), strictness)?, data_type),
        _ => rare(texts, data_type, strictness),
    };
    found.map_err(|error| named(error, data_type))
}

/// Parses types that are never guessed. It is one function for all kinds of texts, because each kind would generate as
/// much code again.
fn rare(texts: &dyn Texts, data_type: &DataType, strictness: Strictness) -> Result<ArrayRef, ValueError> {
    use DataType::*;
    match data_type {
        Null => nothing(texts),
        Int8 => integers::<Int8Type>(texts, strictness),
        Int16 => integers::<Int16Type>(texts, strictness),
        UInt8 => integers::<UInt8Type>(texts, strictness),
        UInt16 => integers::<UInt16Type>(texts, strictness),
        UInt32 => integers::<UInt32Type>(texts, strictness),
        UInt64 => integers::<UInt64Type>(texts, strictness),
        Float32 => primitive::<Float32Type>(texts, |text| float(text, strictness)),
        Time32(TimeUnit::Second) => times::<Time32SecondType>(texts, TimeUnit::Second),
        Time32(unit) => times::<Time32MillisecondType>(texts, *unit),
        Time64(TimeUnit::Microsecond) => times::<Time64MicrosecondType>(texts, TimeUnit::Microsecond),
        Time64(unit) => times::<Time64NanosecondType>(texts, *unit),
        Decimal32(p, s) => {
            decimals::<Decimal32Type>(texts, *p, *s, strictness, |digits| i32::from_str(digits).ok())
        }
        Decimal64(p, s) => {
            decimals::<Decimal64Type>(texts, *p, *s, strictness, |digits| i64::from_str(digits).ok())
        }
        Decimal256(p, s) => decimals::<Decimal256Type>(texts, *p, *s, strictness, i256::from_string),
        FixedSizeBinary(n) => fixed(texts, *n),
        Date64 => primitive::<Date64Type>(texts, time::date64),
        Float16 => halves(texts, strictness),
        Binary | LargeBinary | BinaryView => cast(&bytes(texts), data_type),
        Duration(unit) => durations(texts, *unit),
        Interval(IntervalUnit::MonthDayNano) => match intervals(texts) {
            Ok(array) => Ok(array),
            // Intervals such as `1 day`.
            Err(value_error) => cast(&texts.to_array(), data_type).map_err(|_| value_error),
        },
        _ => cast(&texts.to_array(), data_type),
    }
}

/// Adds the type to an error that only has the text.
fn named(value_error: ValueError, data_type: &DataType) -> ValueError {
    match value_error.message.strip_prefix(BARE) {
        Some(text) => {
            ValueError { message: format!("{} is not a valid {data_type}", shortened(text)), ..value_error }
        }
        None => value_error,
    }
}

fn value_error(texts: &(impl Texts + ?Sized), at: usize) -> ValueError {
    ValueError { at, message: format!("{BARE}{}", texts.get(at).unwrap_or_default()) }
}

/// Marks a message that is only the text.
const BARE: char = '\0';

/// Parses texts with `parse`; a text for which it returns `None` is an error.
fn primitive<T: ArrowPrimitiveType>(
    texts: &(impl Texts + ?Sized),
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<ArrayRef, ValueError> {
    let mut values = Vec::with_capacity(texts.len());
    let mut nulls = NullBufferBuilder::new(texts.len());
    for at in 0..texts.len() {
        match texts.get(at) {
            Some(text) => {
                values.push(parse(text).ok_or_else(|| value_error(texts, at))?);
                nulls.append_non_null();
            }
            None => {
                values.push(T::Native::default());
                nulls.append_null();
            }
        }
    }
    Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), nulls.finish())))
}

fn integers<T>(texts: &(impl Texts + ?Sized), strictness: Strictness) -> Result<ArrayRef, ValueError>
where
    T: ArrowPrimitiveType,
    T::Native: FromStr + TryFrom<i64>,
{
    primitive::<T>(texts, |text| match (ShortNumber::integer(text), strictness) {
        (Some(integer), _) => T::Native::try_from(integer).ok(),
        (None, Strictness::Guessed | Strictness::Rounded) if !is_plain_number(text) || text == "-0" => None,
        _ => text.parse().ok(),
    })
}

fn float<F: FromStr + Into<f64> + Copy>(text: &str, strictness: Strictness) -> Option<F> {
    if strictness != Strictness::Given {
        let is_inexact = |integer: i64| !is_exact_double(integer);
        let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if !is_plain_number(text) || (is_whole && text.parse().map_or(true, is_inexact)) {
            return None;
        }
    }
    let float: F = text.parse().ok()?;
    // Only words are infinite: a number that is too large does not fit the type.
    let is_number = || text.bytes().any(|byte| byte.is_ascii_digit());
    (!float.into().is_infinite() || !is_number()).then_some(float)
}

/// Limit of the numbers whose digits doubles always give back.
const EXACT_DIGITS: u64 = 1_000_000_000_000_000;

fn double(text: &str, strictness: Strictness) -> Option<f64> {
    let double: f64 = float(text, strictness)?;
    let is_number = || text.bytes().any(|byte| byte.is_ascii_digit());
    let is_changed = strictness == Strictness::Guessed && is_number() && !keeps_number(text, double);
    (!is_changed).then_some(double)
}

fn halves(texts: &(impl Texts + ?Sized), strictness: Strictness) -> Result<ArrayRef, ValueError> {
    type Float16 = <Float16Type as ArrowPrimitiveType>::Native;
    primitive::<Float16Type>(texts, |text| {
        let float: f32 = float(text, strictness)?;
        let half = Float16::from_f32(float);
        (half.is_infinite() == float.is_infinite()).then_some(half)
    })
}

fn boolean(texts: &(impl Texts + ?Sized)) -> Result<ArrayRef, ValueError> {
    let value = |(at, text): (usize, Option<&str>)| match text {
        Some(text) if is_bool(text) => Ok(Some(text.starts_with(['t', 'T']))),
        Some(_) => Err(at),
        None => Ok(None),
    };
    match (0..texts.len()).map(|at| (at, texts.get(at))).map(value).collect::<Result<BooleanArray, usize>>() {
        Ok(values) => Ok(Arc::new(values)),
        Err(at) => Err(value_error(texts, at)),
    }
}

fn nothing(texts: &(impl Texts + ?Sized)) -> Result<ArrayRef, ValueError> {
    match (0..texts.len()).find(|at| texts.get(*at).is_some()) {
        Some(at) => Err(value_error(texts, at)),
        None => Ok(Arc::new(NullArray::new(texts.len()))),
    }
}

fn times<T: ArrowPrimitiveType>(texts: &(impl Texts + ?Sized), unit: TimeUnit) -> Result<ArrayRef, ValueError>
where
    T::Native: TryFrom<i64>,
{
    let nanos_per_tick = 1_000_000_000 / time::per_second(unit);
    primitive::<T>(texts, |text| {
        let (nanos, _) = time::time_of_day(text)?;
        if nanos % nanos_per_tick == 0 { T::Native::try_from(nanos / nanos_per_tick).ok() } else { None }
    })
}

fn timestamps(
    texts: &(impl Texts + ?Sized),
    unit: TimeUnit,
    zone: Option<&Arc<str>>,
) -> Result<ArrayRef, ValueError> {
    let is_utc = zone.is_none_or(|zone| matches!(zone.as_ref(), "UTC" | "Z" | "+00:00" | "Etc/UTC"));
    let parse = |text: &str| {
        let moment = time::moment(text).or_else(|| time::date(text).map(time::Moment::midnight))?;
        // A local time is not an instant, unless the zone is UTC, and an instant is not a local time.
        let fits = if moment.has_offset { zone.is_some() } else { is_utc };
        if fits { time::ticks(moment, unit) } else { None }
    };
    let array = match unit {
        TimeUnit::Second => primitive::<TimestampSecondType>(texts, parse),
        TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(texts, parse),
        TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(texts, parse),
        TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(texts, parse),
    };
    relabelled(&array?, DataType::Timestamp(unit, zone.cloned()))
}

fn durations(texts: &(impl Texts + ?Sized), unit: TimeUnit) -> Result<ArrayRef, ValueError> {
    let parse = |text: &str| time::duration(text, unit);
    match unit {
        TimeUnit::Second => primitive::<DurationSecondType>(texts, parse),
        TimeUnit::Millisecond => primitive::<DurationMillisecondType>(texts, parse),
        TimeUnit::Microsecond => primitive::<DurationMicrosecondType>(texts, parse),
        TimeUnit::Nanosecond => primitive::<DurationNanosecondType>(texts, parse),
    }
}

fn intervals(texts: &(impl Texts + ?Sized)) -> Result<ArrayRef, ValueError> {
    primitive::<IntervalMonthDayNanoType>(texts, time::interval)
}

/// Parses bytes from text with `\xNN` for any byte. A backslash that does not begin such an escape stays a backslash.
fn bytes(texts: &(impl Texts + ?Sized)) -> LargeBinaryArray {
    let mut out = LargeBinaryBuilder::new();
    let mut unescaped = Vec::new();
    for at in 0..texts.len() {
        let Some(text) = texts.get(at) else {
            out.append_null();
            continue;
        };
        unescaped.clear();
        let mut rest = text.as_bytes();
        while let Some(backslash) = memchr(b'\\', rest) {
            unescaped.extend_from_slice(&rest[..backslash]);
            let byte = escaped_byte(&rest[backslash..]);
            unescaped.push(byte.unwrap_or(b'\\'));
            rest = &rest[backslash + if byte.is_some() { 4 } else { 1 }..];
        }
        unescaped.extend_from_slice(rest);
        out.append_value(&unescaped);
    }
    out.finish()
}

/// Returns the byte of a `\xNN` at the beginning.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match text {
        [b'\\', b'x', high, low, ..] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(
    texts: &(impl Texts + ?Sized),
    precision: u8,
    scale: i8,
    strictness: Strictness,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<ArrayRef, ValueError>
where
    T::Native: TryFrom<i64>,
{
    let array = primitive::<T>(texts, |text| match ShortNumber::unscaled(text, precision, scale) {
        // When decimals were guessed, a zero with a sign was a double.
        Some(0) if strictness != Strictness::Given && text.starts_with('-') => None,
        None if strictness != Strictness::Given && !is_plain_number(text) => None,
        Some(unscaled) => T::Native::try_from(unscaled).ok(),
        None => {
            let unscaled = decimal::unscaled(text, precision, scale)?;
            let is_signed_zero = unscaled == "0" && text.starts_with('-');
            (strictness == Strictness::Given || !is_signed_zero).then(|| parse(&unscaled)).flatten()
        }
    })?;
    relabelled(&array, T::TYPE_CONSTRUCTOR(precision, scale))
}

/// Returns the same values with a type that differs only in its parameters.
fn relabelled(array: &ArrayRef, data_type: DataType) -> Result<ArrayRef, ValueError> {
    let array = array.to_data().into_builder().data_type(data_type).build();
    array.map(arrow_array::make_array).map_err(|error| ValueError { at: 0, message: message(&error) })
}

/// Parses hexadecimal digits, or UUIDs in their usual form, as fixed-size values.
fn fixed(texts: &(impl Texts + ?Sized), width: i32) -> Result<ArrayRef, ValueError> {
    let mut out = FixedSizeBinaryBuilder::with_capacity(texts.len(), width);
    for at in 0..texts.len() {
        match texts.get(at) {
            Some(text) => {
                let bytes = hexadecimal(text).ok_or_else(|| value_error(texts, at))?;
                out.append_value(bytes).map_err(|_| value_error(texts, at))?;
            }
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

/// Parses hexadecimal digits, or a UUID.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let is_uuid = text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
    if is_uuid { from_hex(&text.replace('-', "")) } else { from_hex(text) }
}

/// Casts an array with Arrow: one with the same values in another layout, or text that is written in few ways only.
pub(super) fn cast(array: &dyn Array, to: &DataType) -> Result<ArrayRef, ValueError> {
    if !can_cast_types(array.data_type(), to) {
        return Err(ValueError { at: 0, message: format!("text cannot become {to}") });
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let all = cast_with_options(array, to, &options);
    all.map_err(|error| {
        // The error does not tell which value failed.
        let fails = |at: &usize| cast_with_options(&array.slice(*at, 1), to, &options).is_err();
        ValueError { at: (0..array.len()).find(fails).unwrap_or(0), message: message(&error) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;

    fn of(text: &str, data_type: &DataType, strictness: Strictness) -> Result<ArrayRef, ValueError> {
        typed(&StringArray::from(vec![None, Some(text)]), data_type, strictness)
    }

    #[test]
    fn exactly_this_value_or_an_error() {
        let utc = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let local = DataType::Timestamp(TimeUnit::Second, None);
        for (text, data_type, guessed, given) in [
            ("007", DataType::Int32, false, true),
            ("+7", DataType::Int32, false, true),
            ("1.5", DataType::Int64, false, false),
            ("300", DataType::UInt8, false, false),
            ("007.5", DataType::Float64, false, true),
            ("9007199254740993", DataType::Float64, false, true),
            ("NaN", DataType::Float32, true, true),
            ("yes", DataType::Boolean, false, false),
            ("2013-07-30T12:30:00.123456Z", utc.clone(), false, false),
            ("2013-07-30T12:30:00.123Z", utc.clone(), true, true),
            ("2013-07-30 12:30:00", utc, true, true),
            ("2013-07-30T12:30:00Z", local.clone(), false, false),
            ("2013-07-30", local, true, true),
            ("12.345", DataType::Decimal128(5, 2), false, false),
            ("12.340", DataType::Decimal128(5, 2), true, true),
            ("12:30", DataType::Time64(TimeUnit::Microsecond), true, true),
            ("0aff", DataType::FixedSizeBinary(2), true, true),
            ("0af", DataType::FixedSizeBinary(2), false, false),
            ("x", DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), true, true),
            ("1 day", DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano), true, true),
            ("é", DataType::Binary, true, true),
        ] {
            for (strictness, fits) in [(Strictness::Guessed, guessed), (Strictness::Given, given)] {
                let array = of(text, &data_type, strictness);
                assert_eq!(array.is_ok(), fits, "{text} as {data_type}, {strictness:?}: {array:?}");
                match array {
                    Ok(array) => {
                        assert_eq!((array.data_type(), array.len(), array.is_null(0)), (&data_type, 2, true));
                    }
                    Err(value_error) => assert_eq!(value_error.at, 1),
                }
            }
        }
    }

    #[test]
    fn values_and_messages() {
        let price = of("-12.5", &DataType::Decimal256(40, 3), Strictness::Given).unwrap();
        assert_eq!(price.as_primitive::<Decimal256Type>().value_as_string(1), "-12.500");
        let error = of("abc", &DataType::Int64, Strictness::Given).unwrap_err();
        assert_eq!(error.message, "\"abc\" is not a valid Int64");
        let uuid =
            of("00000000-0000-0000-0000-0000000000ff", &DataType::FixedSizeBinary(16), Strictness::Given);
        assert_eq!(uuid.unwrap().as_fixed_size_binary().value(1)[15], 255);
    }
}
