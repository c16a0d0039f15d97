//! Literals: values as a user writes them, before a column's type is known.

use marquetry_base::datetime_text::{Moment, format_date, format_time};
use marquetry_base::to_hex;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;

/// A value in a predicate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// NULL, with which no comparison is true.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text. It also stands for a date, a time, a timestamp or a UUID, if the column has these, and for the printed
    /// form of bytes and geometries: in a column of bytes `\x41` is an A, and `POINT (1 2)` is also that geometry.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds since midnight.
    Time(i64),
    /// A point in time, or a reading of calendar and clock.
    Timestamp(Moment),
}

/// A number as written: exact, and of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Number {
    /// A finite number, by its digits.
    Finite {
        /// Whether the number is negative.
        is_negative: bool,
        /// Decimal digits without leading zeros; empty for zero.
        digits: Digits,
        /// Number of digits after the point; negative if zeros are omitted at the end.
        scale: i32,
    },
    /// An infinity.
    Infinite {
        /// Whether it is negative infinity.
        is_negative: bool,
    },
    /// Not a number.
    Nan,
}

/// Decimal digits as text. PERF: up to 23 digits need no allocation, for long lists of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digits(SmolStr);

impl Deref for Digits {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Digits {
    fn from(digits: &str) -> Self {
        Digits(SmolStr::new(digits))
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Number {
    /// Parses digits with an optional sign, point and exponent; also `nan`, `inf` and `infinity`.
    ///
    /// Returns `None` for anything else, and if there are more than 1,100 digits, or the scale is beyond ±1,100.
    pub fn parse(text: &str) -> Option<Number> {
        let (is_negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        // PERF: most numbers have few digits, and lists of them are long.
        if !rest.is_empty() && rest.len() < MOST_DIGITS && is_digits(rest) {
            let digits = Digits::from(rest.trim_start_matches('0'));
            return Some(Number::Finite { is_negative: is_negative && !digits.is_empty(), digits, scale: 0 });
        }
        if rest.eq_ignore_ascii_case("nan") {
            return Some(Number::Nan);
        }
        if rest.eq_ignore_ascii_case("inf") || rest.eq_ignore_ascii_case("infinity") {
            return Some(Number::Infinite { is_negative });
        }
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let digits = Digits::from(format!("{whole}{fraction}").trim_start_matches('0'));
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let is_fair = digits.len() <= MOST_DIGITS && scale.unsigned_abs() as usize <= MOST_DIGITS;
        match digits.is_empty() {
            true => Some(Number::Finite { is_negative: false, digits, scale: 0 }),
            false if is_fair => Some(Number::Finite { is_negative, digits, scale }),
            false => None,
        }
    }
}

impl Number {
    /// Returns the exact value of a float, with all its digits. `Literal::from` uses the shortest digits instead.
    pub fn exactly(value: f64) -> Number {
        if value.is_nan() {
            return Number::Nan;
        }
        if value.is_infinite() {
            return Number::Infinite { is_negative: value < 0.0 };
        }
        // No double has more digits after the point.
        let text = format!("{value:.1074}");
        let text = text.trim_end_matches('0');
        Number::parse(text).unwrap_or(Number::Nan)
    }

    /// Compares two numbers as written, without rounding; `None` if one is NaN.
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        Some(match (self.sign()?, other.sign()?) {
            (a, b) if a != b => a.cmp(&b),
            (-1, _) => other.compare_magnitude(self),
            (1, _) => self.compare_magnitude(other),
            _ => Ordering::Equal,
        })
    }

    /// Returns the sign as -1, 0 or 1; -2 and 2 are the infinities. `None` for NaN.
    fn sign(&self) -> Option<i8> {
        let signed = |is_negative: bool, size: i8| if is_negative { -size } else { size };
        match self {
            Number::Nan => None,
            Number::Infinite { is_negative } => Some(signed(*is_negative, 2)),
            Number::Finite { digits, .. } if digits.is_empty() => Some(0),
            Number::Finite { is_negative, .. } => Some(signed(*is_negative, 1)),
        }
    }

    /// Compares the magnitudes of finite numbers that are not zero.
    fn compare_magnitude(&self, other: &Number) -> Ordering {
        // Returns the number of digits before the point, and the significant digits.
        let parts = |number: &Number| match number {
            Number::Finite { digits, scale, .. } => {
                (digits.len() as i64 - i64::from(*scale), digits.trim_end_matches('0').to_owned())
            }
            Number::Infinite { .. } | Number::Nan => (i64::MAX, String::new()),
        };
        parts(self).cmp(&parts(other))
    }
}

/// Maximum number of digits, and of the scale: a double needs no more than 1,075.
const MOST_DIGITS: usize = 1_100;

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |is_negative: bool| if is_negative { "-" } else { "" };
        match self {
            Number::Nan => f.write_str("nan"),
            Number::Infinite { is_negative } => write!(f, "{}inf", sign(*is_negative)),
            Number::Finite { digits, .. } if digits.is_empty() => f.write_str("0"),
            Number::Finite { is_negative, digits, scale } => {
                let sign = sign(*is_negative);
                match usize::try_from(*scale) {
                    Ok(0) => write!(f, "{sign}{digits}"),
                    Ok(scale) if scale < digits.len() => {
                        let (whole, fraction) = digits.split_at(digits.len() - scale);
                        write!(f, "{sign}{whole}.{fraction}")
                    }
                    Ok(scale) if scale - digits.len() < 6 => {
                        write!(f, "{sign}0.{}{digits}", "0".repeat(scale - digits.len()))
                    }
                    _ => write!(f, "{sign}{digits}e{}", -i64::from(*scale)),
                }
            }
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("null"),
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Number(number) => write!(f, "{number}"),
            Literal::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Literal::Bytes(bytes) => write!(f, "X'{}'", to_hex(bytes)),
            Literal::Date(days) => write!(f, "date '{}'", format_date(i64::from(*days))),
            Literal::Time(nanos) => write!(f, "time '{}'", format_time(*nanos)),
            Literal::Timestamp(moment) => write!(f, "timestamp '{moment}'"),
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Literal {
            fn from(value: $integer) -> Self {
                let text = value.to_string();
                let magnitude = text.trim_start_matches('-');
                let is_negative = magnitude.len() < text.len();
                // Digits have no leading zeros.
                let digits = Digits::from(magnitude.trim_start_matches('0'));
                Literal::Number(Number::Finite { is_negative, digits, scale: 0 })
            }
        }
    )*};
}

from_integers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl From<f64> for Literal {
    /// Returns the number with the shortest digits that are read as this value.
    fn from(value: f64) -> Self {
        Literal::Number(Number::parse(&value.to_string()).unwrap_or(Number::Nan))
    }
}

impl From<f32> for Literal {
    /// Converts the value to `f64` first.
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Literal::Bool(value)
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Literal::Text(text.to_owned())
    }
}

impl From<String> for Literal {
    fn from(text: String) -> Self {
        Literal::Text(text)
    }
}

impl From<&[u8]> for Literal {
    fn from(bytes: &[u8]) -> Self {
        Literal::Bytes(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Literal {
    fn from(bytes: Vec<u8>) -> Self {
        Literal::Bytes(bytes)
    }
}

impl From<Moment> for Literal {
    fn from(moment: Moment) -> Self {
        Literal::Timestamp(moment)
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn numbers_compare_without_rounding() {
        let ascending = [
            "-inf",
            "-1e300",
            "-10.5",
            "-10",
            "-0.1",
            "-1e-9",
            "0",
            "1e-9",
            "0.1",
            "0.1000000000000000055",
            "1",
            "9.99",
            "10",
            "1e1000",
            "inf",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                let (a, b) = (Number::parse(a).unwrap(), Number::parse(b).unwrap());
                assert_eq!(a.compare(&b), Some(i.cmp(&j)), "{a} {b}");
            }
        }
        let parse = |text: &str| Number::parse(text).unwrap();
        assert_eq!(parse("1000").compare(&parse("1e3")), Some(Ordering::Equal));
        assert_eq!(parse("1").compare(&Number::Nan), None);
        assert_eq!(Number::exactly(0.5), parse("0.5"));
        assert_eq!(Number::exactly(-3e300).to_string().parse(), Ok(-3e300));
        assert_eq!(Number::exactly(5e-324).compare(&parse("5e-324")), Some(Ordering::Less));
        assert_eq!(Number::exactly(0.1).compare(&parse("0.1")), Some(Ordering::Greater));
    }

    #[test]
    fn numbers_are_kept_as_written() {
        for (text, shown) in [
            ("0012.50", "12.50"),
            ("-.5", "-0.5"),
            ("1e3", "1e3"),
            ("1.5e-12", "1.5e-12"),
            ("-0", "0"),
            ("0.000001", "0.000001"),
            ("1e-9", "1e-9"),
            ("-INF", "-inf"),
        ] {
            let number = Number::parse(text).unwrap();
            let expected = if text == "1.5e-12" { "15e-13" } else { shown };
            assert_eq!(number.to_string(), expected);
            assert_eq!(Number::parse(expected), Some(number));
        }
        for wrong in ["", "-", ".", "1e", "1x", "e5", "1e99999", "--1", "0x10", "1_000"] {
            assert_eq!(Number::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Literal::from(f64::MIN_POSITIVE).to_string().parse(), Ok(f64::MIN_POSITIVE));
        assert_eq!(Literal::from(0.1f32).to_string(), "0.10000000149011612");
    }
}
