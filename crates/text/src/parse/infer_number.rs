//! Infers the type of numbers in text: the narrowest that is written as the same numbers again.
//!
//! | numbers | type |
//! |---|---|
//! | `0`, `-12`, of 64 bits; not `007`, `+1` | int64 |
//! | `1.5`, `2e10`, `-0`, which a double gives back; whole numbers among them if doubles hold them | float64 |
//! | others, such as `9223372036854775808` or `0.1234567890123456789` | decimal(18, S), or of 38 or 76 digits |
//! | what has more digits than that between its first and its last, `1e-400` and the like | none |

use arrow_schema::DataType;

/// The treatment of numbers in text that a double would change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimals {
    /// They become decimals, or text if decimals do not have enough digits.
    #[default]
    Auto,
    /// They become the nearest doubles, or text if they have no fraction.
    Never,
}

/// The types that all of some numbers could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    could_be: u8,
    /// Number of digits before and behind the point that a decimal needs.
    whole: usize,
    scale: usize,
}

impl Numbers {
    /// Returns the types that a number could have. Returns `None` if the text is not a number, or is written as no
    /// number is: `007`, `+1`.
    pub(super) fn of(text: &str, decimals: Decimals) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !is_plain_number(text) || !digits.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let none = Numbers { could_be: 0, whole: 0, scale: 0 };
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            match text.parse::<i64>() {
                // An integer zero has no sign.
                Ok(0) if text.starts_with('-') => return Some(Numbers { could_be: FLOAT, ..none }),
                Ok(integer) => {
                    let could_be = if is_exact_double(integer) { INTEGER | FLOAT } else { INTEGER };
                    return Some(Numbers { could_be, ..none }.or_decimal(text, decimals));
                }
                Err(_) => return Some(none.or_decimal(text, decimals)),
            }
        }
        let double = text.parse::<f64>().ok()?;
        let is_kept = double.is_finite() && (decimals == Decimals::Never || keeps_number(text, double));
        let could_be = if is_kept { FLOAT } else { 0 };
        Some(Numbers { could_be, ..none }.or_decimal(text, decimals))
    }

    /// Adds the decimal type, if the number fits it.
    fn or_decimal(self, text: &str, decimals: Decimals) -> Self {
        if decimals == Decimals::Never {
            return self;
        }
        let Some(Magnitude { digits, exponent }) = Magnitude::of(text) else { return self };
        let places = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(exponent);
        let whole = usize::try_from(places.max(0)).unwrap_or(usize::MAX);
        let scale = usize::try_from(exponent.saturating_neg().max(0)).unwrap_or(usize::MAX);
        // A decimal zero has no sign.
        let is_lost = digits.is_empty() && text.starts_with('-');
        match whole.saturating_add(scale) > MOST_DIGITS || is_lost {
            true => self,
            false => Numbers { could_be: self.could_be | DECIMAL, whole, scale },
        }
    }

    /// Returns the types that these numbers and the others could have.
    pub(super) fn and(self, other: Numbers) -> Self {
        Numbers {
            could_be: self.could_be & other.could_be,
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
        }
    }

    /// Returns the types if `NaN` and infinities are among the numbers.
    pub(super) fn and_words(self) -> Self {
        Numbers { could_be: self.could_be & FLOAT, ..self }
    }

    /// Returns the narrowest common type, or `None` if there is none.
    pub(super) fn data_type(self) -> Option<DataType> {
        if self.could_be & INTEGER != 0 {
            return Some(DataType::Int64);
        }
        if self.could_be & FLOAT != 0 {
            return Some(DataType::Float64);
        }
        if self.could_be & DECIMAL == 0 {
            return None;
        }
        // Later numbers may be longer: they get as many digits as the bytes hold.
        let scale = i8::try_from(self.scale).ok()?;
        match self.whole + self.scale {
            0..=18 => Some(DataType::Decimal128(18, scale)),
            19..=38 => Some(DataType::Decimal128(38, scale)),
            39..=MOST_DIGITS => Some(DataType::Decimal256(76, scale)),
            _ => None,
        }
    }
}

/// Whether a number loses nothing as an integer or a double, such as leading zeros or a plus.
pub(super) fn is_plain_number(text: &str) -> bool {
    match text.as_bytes() {
        [b'+', ..] => false,
        [b'0', next, ..] | [b'-', b'0', next, ..] => !next.is_ascii_digit(),
        _ => true,
    }
}

/// Whether a double is exactly this integer.
pub(super) fn is_exact_double(integer: i64) -> bool {
    integer.unsigned_abs() <= 1 << 53
}

/// Whether the nearest double is written as this number. All numbers of up to 15 digits are.
pub(super) fn keeps_number(text: &str, double: f64) -> bool {
    let mut buffer = zmij::Buffer::new();
    let written = buffer.format_finite(double);
    written == text || Magnitude::of(text).is_some_and(|number| Some(number) == Magnitude::of(written))
}

/// A number without its sign: its digits from the first to the last that is not zero, and the power of ten by which
/// they are multiplied.
#[derive(Debug, PartialEq, Eq)]
struct Magnitude {
    digits: String,
    exponent: i64,
}

impl Magnitude {
    fn of(text: &str) -> Option<Self> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        if !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        let digits = digits.trim_start_matches('0').to_owned();
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Some(Magnitude { digits, exponent })
    }
}

const INTEGER: u8 = 1;
const FLOAT: u8 = 1 << 1;
const DECIMAL: u8 = 1 << 2;
/// Maximum digits of the widest decimal.
const MOST_DIGITS: usize = 76;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str], decimals: Decimals) -> Option<DataType> {
        let numbers = texts.iter().map(|text| Numbers::of(text, decimals).unwrap());
        numbers.reduce(Numbers::and).unwrap().data_type()
    }

    #[test]
    fn types_that_change_no_number() {
        use DataType::*;
        for (texts, expected) in [
            (&["0", "-12", "9223372036854775807"][..], Some(Int64)),
            (&["1", "1.5", "-2e10", ".5", "-0", "1.10"], Some(Float64)),
            (&["0.30000000000000004", "1e300", "5e-324"], Some(Float64)),
            (&["9223372036854775808"], Some(Decimal128(38, 0))),
            (&["9007199254740993", "2.5"], Some(Decimal128(18, 1))),
            (&["0.1234567890123456789012345", "12"], Some(Decimal128(38, 25))),
            (&["12345678901234567.5"], Some(Decimal128(18, 1))),
            (&["0.10000000000000001", "1e30"], Some(Decimal256(76, 17))),
            // A decimal has no sign of its zero, and not that many digits.
            (&["9223372036854775808", "-0.0"], None),
            (&["1e-400"], None),
            (&["9223372036854775808", "1e60", "1e-20"], None),
        ] {
            assert_eq!(of(texts, Decimals::Auto), expected, "{texts:?}");
        }
        assert_eq!(of(&["0.1234567890123456789012345"], Decimals::Never), Some(Float64));
        assert_eq!(of(&["9223372036854775808"], Decimals::Never), None);
        for text in ["007", "+1", "-", ".", "1,5", "x"] {
            assert_eq!(Numbers::of(text, Decimals::Auto), None, "{text}");
        }
    }
}
