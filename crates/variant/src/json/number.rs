//! Converts JSON numbers to variants, with all their digits.

use crate::decimal::{Decimal, MAX_SCALE};
use crate::value::Value;
use marquetry_base::{Error, Result};

/// Converts the text of a JSON number.
pub(super) fn number(text: &str) -> Result<Value<'static>> {
    let number = Number::new(text)?;
    let has_exponent = text.contains(['e', 'E']);
    if number.is_negative && number.digits.is_empty() {
        return Ok(Value::Double(-0.0));
    }
    if !has_exponent && let Some(value) = number.exact() {
        return Ok(value);
    }
    let double: f64 = text.parse().map_err(|_| Error::corrupt(format!("{text} is not a number of JSON")))?;
    if double.is_finite() && Number::new(&format!("{double:e}"))?.is_same(&number) {
        return Ok(Value::Double(double));
    }
    number.normalized().exact().ok_or_else(|| {
        Error::unsupported(format!("the number {text} fits neither a double nor 38 decimal digits"))
    })
}

/// Converts a number of at most 18 digits, of which `scale` are after the decimal point. Returns `None` if there are
/// more digits, or if it is a negative zero.
#[inline]
pub(super) fn small_number(
    is_negative: bool,
    digits: u64,
    count: usize,
    scale: usize,
) -> Option<Value<'static>> {
    if count > 18 || is_negative && digits == 0 {
        return None;
    }
    let number = if is_negative { -(digits as i64) } else { digits as i64 };
    if scale == 0 {
        return Some(small_integer(number));
    }
    let decimal = Decimal { unscaled: number.into(), scale: scale as u8 };
    // The same choice as in `decimal`.
    Some(match digits < 1_000_000_000 && scale <= 9 {
        true => Value::Decimal4(decimal),
        false => Value::Decimal8(decimal),
    })
}

#[inline]
fn small_integer(number: i64) -> Value<'static> {
    if let Ok(number) = i8::try_from(number) {
        Value::Int8(number)
    } else if let Ok(number) = i16::try_from(number) {
        Value::Int16(number)
    } else if let Ok(number) = i32::try_from(number) {
        Value::Int32(number)
    } else {
        Value::Int64(number)
    }
}

/// A number as digits, multiplied by ten to the power of the exponent.
#[derive(Debug, Clone)]
struct Number {
    is_negative: bool,
    /// Without leading zeros.
    digits: String,
    exponent: i64,
}

impl Number {
    fn new(text: &str) -> Result<Self> {
        let wrong = || Error::corrupt(format!("{text} is not a number of JSON"));
        let (is_negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (rest, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
            return Err(wrong());
        }
        // An exponent beyond 64 bits belongs to a zero, or to a number that no type can hold.
        let exponent = exponent.map_or(0, |exponent| {
            let limit = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
            exponent.parse::<i64>().unwrap_or(limit).clamp(i64::MIN / 2, i64::MAX / 2)
        });
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0').to_owned();
        Ok(Number { is_negative, digits, exponent: exponent - fraction.len() as i64 })
    }

    /// Removes trailing zeros, which do not change the number.
    fn normalized(&self) -> Self {
        let digits = self.digits.trim_end_matches('0');
        let zeros = (self.digits.len() - digits.len()) as i64;
        let exponent = if digits.is_empty() { 0 } else { self.exponent + zeros };
        Number { is_negative: self.is_negative, digits: digits.to_owned(), exponent }
    }

    fn is_same(&self, other: &Number) -> bool {
        let (a, b) = (self.normalized(), other.normalized());
        (a.is_negative, &a.digits, a.exponent) == (b.is_negative, &b.digits, b.exponent)
    }

    /// Returns the integer or decimal of exactly these digits.
    fn exact(&self) -> Option<Value<'static>> {
        let zeros = usize::try_from(self.exponent.max(0)).ok()?;
        let scale = u8::try_from((-self.exponent).max(0)).ok().filter(|scale| *scale <= MAX_SCALE)?;
        if self.digits.len() + zeros > usize::from(MAX_SCALE) && !self.digits.is_empty() {
            return None;
        }
        let mut digits = self.digits.clone();
        if !digits.is_empty() {
            digits.extend(std::iter::repeat_n('0', zeros));
        }
        let magnitude: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let unscaled = if self.is_negative { -magnitude } else { magnitude };
        Some(if scale == 0 { integer(unscaled) } else { decimal(Decimal { unscaled, scale }) })
    }
}

fn integer(number: i128) -> Value<'static> {
    match i64::try_from(number) {
        Ok(number) => small_integer(number),
        Err(_) => Value::Decimal16(Decimal { unscaled: number, scale: 0 }),
    }
}

/// Returns the narrowest decimal. Its precision is at least its scale.
fn decimal(number: Decimal) -> Value<'static> {
    let digits =
        number.unscaled.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1).max(number.scale.into());
    match digits {
        0..=9 => Value::Decimal4(number),
        10..=18 => Value::Decimal8(number),
        _ => Value::Decimal16(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let decimal = |unscaled, scale| Decimal { unscaled, scale };
        for (text, value) in [
            ("0", Value::Int8(0)),
            ("-128", Value::Int8(-128)),
            ("128", Value::Int16(128)),
            ("-2147483649", Value::Int64(-2_147_483_649)),
            ("9223372036854775808", Value::Decimal16(decimal(9_223_372_036_854_775_808, 0))),
            ("1.10", Value::Decimal4(decimal(110, 2))),
            ("0.0000000001", Value::Decimal8(decimal(1, 10))),
            ("-0.5", Value::Decimal4(decimal(-5, 1))),
            ("1e2", Value::Double(100.0)),
            ("1.5E-3", Value::Double(0.0015)),
            ("1e300", Value::Double(1e300)),
            ("0e999999999999999999999", Value::Double(0.0)),
            // No double equals 2^53 + 1.
            ("9.007199254740993e15", Value::Decimal16(decimal(9_007_199_254_740_993, 0))),
        ] {
            let found = number(text).unwrap();
            match (found, value) {
                (Value::Int64(a), Value::Decimal16(b)) => assert_eq!(i128::from(a), b.unscaled, "{text}"),
                (a, b) => assert_eq!(a, b, "{text}"),
            }
        }
        assert!(matches!(number("-0").unwrap(), Value::Double(zero) if zero.is_sign_negative()));
        assert!(matches!(number("-0.00").unwrap(), Value::Double(zero) if zero.is_sign_negative()));
    }

    #[test]
    fn small_numbers_are_the_same() {
        for text in [
            "0",
            "7",
            "-1",
            "127",
            "-129",
            "32768",
            "2147483648",
            "999999999999999999",
            "0.0",
            "-0.1",
            "1.10",
            "999999999.9",
            "0.999999999",
            "0.1234567890",
            "12345678.123456789",
            "0.000000000000000001",
        ] {
            let digits = text.trim_start_matches('-').replace('.', "");
            let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let found = small_number(text.starts_with('-'), digits.parse().unwrap(), digits.len(), scale);
            let found = found.filter(|_| digits.len() <= 18);
            assert!(found.is_none_or(|found| found == number(text).unwrap()), "{text}: {found:?}");
            assert_eq!(found.is_some(), digits.len() <= 18, "{text}");
        }
        assert_eq!(small_number(true, 0, 1, 0), None);
        assert_eq!(small_number(false, 0, 19, 0), None);
    }

    #[test]
    fn numbers_that_nothing_holds() {
        for text in ["1e400", "1e99999999999999999999", "0.123456789012345678901234567890123456789"] {
            assert!(number(text).unwrap_err().message().starts_with("the number"), "{text}");
        }
    }
}
