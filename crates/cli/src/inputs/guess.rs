//! What the texts of a column are: the narrowest type that gives each of them back as the same value.
//!
//! | texts | type |
//! |---|---|
//! | `true`, `False` | bool |
//! | `0`, `-12`; not `007`, `+1`, nor what is beyond 64 bits | int64 |
//! | `1.5`, `2e10`, and `NaN` or `inf` beside numbers; whole numbers among them if doubles hold them | float64 |
//! | `2013-07-30` | date32 |
//! | `2013-07-30T12:30:00`, with a blank for the T too | timestamp(us), or ns with more than six digits |
//! | the same with `Z` or an offset | timestamp(us, UTC), or ns |
//! | anything else, a mixture, nothing at all | utf8 |

use super::time;
use arrow_schema::{DataType, TimeUnit};

/// The types that the texts so far could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    could_be: u8,
    /// Whether there was any text.
    is_seen: bool,
    /// Whether there was a number: `NaN` alone is a word.
    has_number: bool,
    /// Whether a time needs nanoseconds.
    is_fine: bool,
    /// Whether a time is outside of what nanoseconds reach.
    is_far: bool,
}

impl Guess {
    /// Nothing was seen.
    pub(super) fn new() -> Self {
        Guess { could_be: u8::MAX, is_seen: false, has_number: false, is_fine: false, is_far: false }
    }

    /// Takes a text into account.
    pub(super) fn add(&mut self, text: &str) {
        self.is_seen = true;
        if self.could_be != 0 {
            self.could_be &= self.kinds(text);
        }
    }

    /// The type of all that was seen.
    pub(super) fn data_type(&self) -> DataType {
        let could_be = |kind: u8| self.is_seen && self.could_be & kind != 0;
        let unit = if self.is_fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        let is_time = !(self.is_fine && self.is_far);
        if could_be(INTEGER) {
            DataType::Int64
        } else if could_be(FLOAT) && self.has_number {
            DataType::Float64
        } else if could_be(BOOL) {
            DataType::Boolean
        } else if could_be(DATE) {
            DataType::Date32
        } else if could_be(LOCAL) && is_time {
            DataType::Timestamp(unit, None)
        } else if could_be(INSTANT) && is_time {
            DataType::Timestamp(unit, Some("UTC".into()))
        } else {
            DataType::Utf8
        }
    }

    fn kinds(&mut self, text: &str) -> u8 {
        match text.as_bytes().first() {
            Some(b'-' | b'.' | b'0'..=b'9') => {
                let kinds = number(text);
                self.has_number |= kinds != 0;
                if kinds == 0 { self.temporal(text) | float_word(text) } else { kinds }
            }
            _ if is_bool(text) => BOOL,
            _ => float_word(text),
        }
    }

    fn temporal(&mut self, text: &str) -> u8 {
        if time::date(text).is_some() {
            return DATE;
        }
        let Some(moment) = time::moment(text) else { return 0 };
        self.is_fine |= moment.digits > 6;
        self.is_far |= time::ticks(moment, TimeUnit::Nanosecond).is_none();
        if moment.has_offset { INSTANT } else { LOCAL }
    }
}

/// Whether a number loses nothing as an integer or a double: not the zeros in front of it, nor a plus.
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

/// `true` and `false`, as several languages write them.
pub(super) fn is_bool(text: &str) -> bool {
    matches!(text, "true" | "false" | "True" | "False" | "TRUE" | "FALSE")
}

fn number(text: &str) -> u8 {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !is_plain_number(text) || !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse::<i64>() {
            // An integer has no sign of its zero.
            Ok(0) if text.starts_with('-') => FLOAT,
            Ok(integer) if is_exact_double(integer) => INTEGER | FLOAT,
            Ok(_) => INTEGER,
            Err(_) => 0,
        };
    }
    if text.parse::<f64>().is_ok_and(f64::is_finite) { FLOAT } else { 0 }
}

fn float_word(text: &str) -> u8 {
    let word = text.strip_prefix('-').unwrap_or(text);
    if matches!(word, "NaN" | "nan" | "inf" | "Inf" | "Infinity" | "infinity") { FLOAT } else { 0 }
}

const BOOL: u8 = 1;
const INTEGER: u8 = 1 << 1;
const FLOAT: u8 = 1 << 2;
const DATE: u8 = 1 << 3;
const LOCAL: u8 = 1 << 4;
const INSTANT: u8 = 1 << 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: DataType) {
        let mut guess = Guess::new();
        texts.iter().for_each(|text| guess.add(text));
        assert_eq!(guess.data_type(), expected, "{texts:?}");
    }

    #[test]
    fn numbers_that_lose_nothing() {
        check(&["0", "-12", "9223372036854775807"], DataType::Int64);
        check(&["1", "1.5", "NaN", "-2e10", ".5", "-0"], DataType::Float64);
        check(&["-0"], DataType::Float64);
        for text in
            [&["00123"][..], &["1", "007.5"], &["+49"], &["9223372036854775808"], &["-"], &["1", " 2"]]
        {
            check(text, DataType::Utf8);
        }
        check(&["9007199254740993", "1.5"], DataType::Utf8);
        check(&["NaN", "inf"], DataType::Utf8);
        check(&["1e999"], DataType::Utf8);
        check(&["1,5", "2"], DataType::Utf8);
    }

    #[test]
    fn words_and_times() {
        check(&["true", "FALSE"], DataType::Boolean);
        check(&["true", "1"], DataType::Utf8);
        check(&["2013-07-30"], DataType::Date32);
        check(&["2013-07-30", "2013-02-30"], DataType::Utf8);
        let timestamp = |unit, zone: Option<&str>| DataType::Timestamp(unit, zone.map(Into::into));
        check(&["2013-07-30 12:30:00", "2013-07-30T12:30:00.5"], timestamp(TimeUnit::Microsecond, None));
        check(&["2013-07-30T12:30:00.1234567Z"], timestamp(TimeUnit::Nanosecond, Some("UTC")));
        check(&["9999-07-30T12:30:00.1234567Z"], DataType::Utf8);
        check(&["2013-07-30T12:30:00Z", "2013-07-30T12:30:00"], DataType::Utf8);
        check(&[], DataType::Utf8);
    }
}
