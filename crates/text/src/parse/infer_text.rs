//! Infers the type of a column of texts: the narrowest that gives each of them back as the same value.
//!
//! | texts | type |
//! |---|---|
//! | `true`, `False` | bool |
//! | numbers, as [`infer_number`](super::infer_number) has them | int64, float64, decimal |
//! | `NaN` or `inf` beside numbers that are doubles | float64 |
//! | `2013-07-30` | date32 |
//! | `2013-07-30T12:30:00`, with a blank for the T too | timestamp(us), or ns with more than six digits |
//! | the same with `Z` or an offset | timestamp(us, UTC), or ns |
//! | anything else, a mixture, nothing at all | utf8 |

use super::infer_number::{Decimals, Numbers};
use super::time;
use arrow_schema::{DataType, TimeUnit};

/// The types that all texts so far could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess {
    could_be: u8,
    /// Whether there was any text.
    is_seen: bool,
    /// The types that the numbers could have, if there were any. `NaN` alone is a word.
    numbers: Option<Numbers>,
    decimals: Decimals,
    /// Whether a time needs nanoseconds.
    is_fine: bool,
    /// Whether a time is beyond the range of nanoseconds.
    is_far: bool,
}

impl Guess {
    /// Creates a guess before any text.
    pub fn new(decimals: Decimals) -> Self {
        let (is_seen, is_fine, is_far) = (false, false, false);
        Guess { could_be: u8::MAX, is_seen, numbers: None, decimals, is_fine, is_far }
    }

    /// Takes a text into account.
    pub fn add(&mut self, text: &str) {
        self.is_seen = true;
        if self.could_be != 0 {
            self.could_be &= self.kinds(text);
        }
    }

    /// Returns the type of all texts so far.
    pub fn data_type(&self) -> DataType {
        let could_be = |kind: u8| self.is_seen && self.could_be & kind != 0;
        let unit = if self.is_fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        let is_time = !(self.is_fine && self.is_far);
        let numbers = self.numbers.filter(|_| could_be(NUMBER));
        let numbers = numbers.map(|numbers| if could_be(NO_WORD) { numbers } else { numbers.and_words() });
        if let Some(data_type) = numbers.and_then(Numbers::data_type) {
            data_type
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
                let Some(number) = Numbers::of(text, self.decimals) else {
                    return self.temporal(text) | float_word(text);
                };
                self.numbers = Some(self.numbers.map_or(number, |numbers| numbers.and(number)));
                NUMBER | NO_WORD
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

/// Whether a text is `true` or `false`, in the spellings of several languages.
pub(super) fn is_bool(text: &str) -> bool {
    matches!(text, "true" | "false" | "True" | "False" | "TRUE" | "FALSE")
}

fn float_word(text: &str) -> u8 {
    let word = text.strip_prefix('-').unwrap_or(text);
    if matches!(word, "NaN" | "nan" | "inf" | "Inf" | "Infinity" | "infinity") { NUMBER } else { 0 }
}

const BOOL: u8 = 1;
const NUMBER: u8 = 1 << 1;
/// A number in digits.
const NO_WORD: u8 = 1 << 2;
const DATE: u8 = 1 << 3;
const LOCAL: u8 = 1 << 4;
const INSTANT: u8 = 1 << 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: DataType) {
        let mut guess = Guess::new(Decimals::Auto);
        texts.iter().for_each(|text| guess.add(text));
        assert_eq!(guess.data_type(), expected, "{texts:?}");
    }

    #[test]
    fn numbers_that_lose_nothing() {
        check(&["0", "-12", "9223372036854775807"], DataType::Int64);
        check(&["1", "1.5", "NaN", "-2e10", ".5", "-0"], DataType::Float64);
        check(&["-0"], DataType::Float64);
        for text in
            [&["00123"][..], &["1", "007.5"], &["+49"], &["9223372036854775808", "NaN"], &["-"], &["1", " 2"]]
        {
            check(text, DataType::Utf8);
        }
        check(&["9007199254740993", "1.5"], DataType::Decimal128(18, 1));
        check(&["9223372036854775808"], DataType::Decimal128(38, 0));
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
