//! Parses JSON as variants.

use super::number::{number, small_number};
use super::signs::plain_len;
use crate::depth::check_depth;
use crate::value::Value;
use crate::writer::Writer;
use marquetry_base::{Error, Result};

/// Parses a JSON text by the rules of [`json`](crate::json). Returns the metadata and the value.
///
/// # Errors
///
/// If the text is not one JSON value, an object has a name twice, no type can hold a number, or the nesting is deeper
/// than [`MAX_DEPTH`](crate::MAX_DEPTH).
pub fn parse(text: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut writer = Writer::new();
    parse_into(text, &mut writer)?;
    writer.finish()
}

/// Parses a JSON text and writes its value to `writer`, where a value must be due.
///
/// # Errors
///
/// As [`parse`]. Parts written before the error stay.
pub fn parse_into(text: &str, writer: &mut Writer) -> Result<()> {
    let mut reader = Reader { text, at: 0, unescaped: String::new() };
    reader.skip_blanks();
    let read = reader.value(writer, 0).and_then(|()| {
        reader.skip_blanks();
        if reader.at == text.len() { Ok(()) } else { Err(Failure::NotJson) }
    });
    read.map_err(|failure| match failure {
        Failure::NotJson => not_json(text),
        Failure::Other(error) => error,
    })
}

/// Lets `serde_json` find out what is wrong, and where.
#[cold]
fn not_json(text: &str) -> Error {
    match serde_json::from_str::<serde_json::Value>(text) {
        Err(error) => Error::corrupt(format!("not JSON: {error}")),
        Ok(_) => Error::corrupt("not JSON"),
    }
}

/// A reader of a JSON text, from front to back.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The last text that had escapes, without them.
    unescaped: String,
}

/// The reason why a text could not be read.
enum Failure {
    NotJson,
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl<'a> Reader<'a> {
    fn value(&mut self, writer: &mut Writer, depth: usize) -> Result<(), Failure> {
        check_depth(depth)?;
        match self.peek() {
            Some(b'{') => self.object(writer, depth),
            Some(b'[') => self.array(writer, depth),
            Some(b'"') => {
                let text = self.string()?;
                Ok(writer.write(&Value::String(text))?)
            }
            Some(b'n') => self.word("null", &Value::Null, writer),
            Some(b't') => self.word("true", &Value::Boolean(true), writer),
            Some(b'f') => self.word("false", &Value::Boolean(false), writer),
            _ => {
                let number = self.number()?;
                Ok(writer.write(&number)?)
            }
        }
    }

    fn object(&mut self, writer: &mut Writer, depth: usize) -> Result<(), Failure> {
        writer.begin_object()?;
        self.at += 1;
        self.skip_blanks();
        let mut is_over = self.take(b'}');
        while !is_over {
            if self.peek() != Some(b'"') {
                return Err(Failure::NotJson);
            }
            writer.field(self.string()?)?;
            self.skip_blanks();
            if !self.take(b':') {
                return Err(Failure::NotJson);
            }
            self.skip_blanks();
            self.value(writer, depth + 1)?;
            is_over = self.is_over(b'}')?;
        }
        Ok(writer.end()?)
    }

    fn array(&mut self, writer: &mut Writer, depth: usize) -> Result<(), Failure> {
        writer.begin_array()?;
        self.at += 1;
        self.skip_blanks();
        let mut is_over = self.take(b']');
        while !is_over {
            self.value(writer, depth + 1)?;
            is_over = self.is_over(b']')?;
        }
        Ok(writer.end()?)
    }

    /// Reads `end` or a comma. Returns whether it was `end`.
    #[inline]
    fn is_over(&mut self, end: u8) -> Result<bool, Failure> {
        self.skip_blanks();
        if self.take(b',') {
            self.skip_blanks();
            return Ok(false);
        }
        if self.take(end) { Ok(true) } else { Err(Failure::NotJson) }
    }

    fn word(&mut self, word: &str, value: &Value<'_>, writer: &mut Writer) -> Result<(), Failure> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Failure::NotJson);
        }
        self.at += word.len();
        Ok(writer.write(value)?)
    }

    /// Reads a string, whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Result<&str, Failure> {
        let start = self.at + 1;
        let end = start + plain_len(&self.text.as_bytes()[start..]);
        // This byte is ASCII, so the text can be cut before it.
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(&self.text[start..end]);
        }
        self.string_with_escapes(start)
    }

    fn string_with_escapes(&mut self, start: usize) -> Result<&str, Failure> {
        self.unescaped.clear();
        self.at = start;
        loop {
            let end = self.at + plain_len(&self.text.as_bytes()[self.at..]);
            self.unescaped.push_str(&self.text[self.at..end]);
            self.at = end + 1;
            match self.text.as_bytes().get(end) {
                Some(b'"') => return Ok(&self.unescaped),
                Some(b'\\') => {
                    let sign = self.escaped().ok_or(Failure::NotJson)?;
                    self.unescaped.push(sign);
                }
                _ => return Err(Failure::NotJson),
            }
        }
    }

    /// Reads the character that follows a backslash.
    fn escaped(&mut self) -> Option<char> {
        self.at += 1;
        Some(match self.text.as_bytes().get(self.at - 1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.utf16_unit()?;
                let units = match unit {
                    // The first half of a surrogate pair; the second must follow.
                    0xd800..=0xdbff if self.text.as_bytes()[self.at..].starts_with(b"\\u") => {
                        self.at += 2;
                        vec![unit, self.utf16_unit()?]
                    }
                    unit => vec![unit],
                };
                let mut signs = char::decode_utf16(units);
                let sign = signs.next()?.ok()?;
                return signs.next().is_none().then_some(sign);
            }
            _ => return None,
        })
    }

    fn utf16_unit(&mut self) -> Option<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0_u16, |unit, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            Some(unit << 4 | digit as u16)
        })
    }

    fn number(&mut self) -> Result<Value<'static>, Failure> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let is_negative = self.take(b'-');
        let mut digits = Digits { number: 0, count: 0 };
        let first = self.at;
        self.at += digits.read(&bytes[first..]);
        // A leading zero must be the only digit before the decimal point.
        if self.at == first || bytes[first] == b'0' && self.at > first + 1 {
            return Err(Failure::NotJson);
        }
        let mut scale = 0;
        if self.take(b'.') {
            scale = digits.read(&bytes[self.at..]);
            self.at += scale;
            if scale == 0 {
                return Err(Failure::NotJson);
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if !self.take(b'+') {
                self.take(b'-');
            }
            let exponent = Digits { number: 0, count: 0 }.read(&bytes[self.at..]);
            self.at += exponent;
            return match exponent {
                0 => Err(Failure::NotJson),
                _ => Ok(number(&self.text[start..self.at])?),
            };
        }
        match small_number(is_negative, digits.number, digits.count, scale) {
            Some(value) => Ok(value),
            None => Ok(number(&self.text[start..self.at])?),
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes an ASCII byte if it is next.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }
}

/// Digits as a number. The number is right as long as there are at most 19 digits.
struct Digits {
    number: u64,
    count: usize,
}

impl Digits {
    /// Reads digits and returns how many there are.
    #[inline]
    fn read(&mut self, bytes: &[u8]) -> usize {
        let mut count = 0;
        while let Some(digit @ b'0'..=b'9') = bytes.get(count) {
            self.number = self.number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            count += 1;
        }
        self.count += count;
        count
    }
}
