//! The members of objects that stand on a line each, where their values are neither lists nor objects.
//!
//! What is unusual is left to the decoder of all of JSON, which has the errors too: members that are not wanted or come
//! twice, escapes in names, and all that is not JSON.

use super::texts::{Records, Span};
use super::words::{eight_of, first_less, zero_bytes};
use std::collections::HashMap;

/// The names of members, each with its number.
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Numbers these names in their order.
    pub fn new(names: impl Iterator<Item = String>) -> Self {
        let names: Vec<String> = names.collect();
        let numbers = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        Names { names, numbers }
    }

    /// Returns the members of all objects in `text`, which must fit in 32 bits. `None` if anything is unusual.
    pub fn members(&self, text: &str) -> Option<Records> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0, unescaped: Vec::new() };
        let mut spans = Vec::with_capacity(text.len() / 16);
        while reader.next_object()? {
            let first = spans.len();
            spans.resize(first + self.names.len(), Span::MISSING);
            self.object(&mut reader, &mut spans[first..])?;
        }
        Some(Records { spans, unescaped: reader.unescaped })
    }

    /// Reads an object from behind its brace to the end of the line.
    fn object(&self, reader: &mut Reader<'_>, spans: &mut [Span]) -> Option<()> {
        reader.skip_blanks();
        if reader.take(b'}') {
            return reader.end_line();
        }
        let mut expected = 0;
        loop {
            let number = self.name(reader, expected)?;
            reader.skip_blanks();
            reader.take(b':').then_some(())?;
            reader.skip_blanks();
            let value = reader.value()?;
            let span = spans.get_mut(number).filter(|span| **span == Span::MISSING)?;
            *span = value;
            expected = number + 1;
            reader.skip_blanks();
            match reader.next()? {
                b',' => reader.skip_blanks(),
                b'}' => return reader.end_line(),
                _ => return None,
            }
        }
    }

    /// Reads a name and returns its number, which is often the expected one.
    #[inline]
    fn name(&self, reader: &mut Reader<'_>, expected: usize) -> Option<usize> {
        reader.take(b'"').then_some(())?;
        if let Some(name) = self.names.get(expected)
            && let Some(rest) = reader.rest().strip_prefix(name.as_bytes())
            && rest.first() == Some(&b'"')
        {
            reader.at += name.len() + 1;
            // Names with such characters are written differently in the text.
            return (!name.contains(['"', '\\'])).then_some(expected);
        }
        let start = reader.at;
        let end = reader.end_of_plain()?;
        (reader.bytes.get(end) == Some(&b'"')).then_some(())?;
        reader.at = end + 1;
        let name = str::from_utf8(&reader.bytes[start..end]).ok()?;
        self.numbers.get(name).copied()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    unescaped: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Moves behind the brace of the next object. Returns false if there is none, and `None` if something else is
    /// there.
    fn next_object(&mut self) -> Option<bool> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(self.at) {
            self.at += 1;
        }
        match self.next() {
            None => Some(false),
            Some(b'{') => Some(true),
            Some(_) => None,
        }
    }

    fn end_line(&mut self) -> Option<()> {
        self.skip_blanks();
        matches!(self.next(), None | Some(b'\n')).then_some(())
    }

    /// Reads a value.
    #[inline]
    fn value(&mut self) -> Option<Span> {
        match *self.bytes.get(self.at)? {
            b'"' => {
                self.at += 1;
                self.string()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null").map(|_| Span::NULL),
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<Span> {
        let start = self.at;
        self.rest().starts_with(word).then_some(())?;
        self.at += word.len();
        Some(Span::new(start, self.at))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    #[inline]
    fn number(&mut self) -> Option<Span> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Some(Span::new(start, self.at))
    }

    /// Returns the position of the next quote, backslash or control character.
    #[inline]
    fn end_of_plain(&self) -> Option<usize> {
        let mut at = self.at;
        while let Some(word) = self.bytes[at..].first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let found = zero_bytes(word ^ eight_of(b'"'))
                | zero_bytes(word ^ eight_of(b'\\'))
                | first_less(word, 0x20);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize / 8);
            }
            at += 8;
        }
        let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        self.bytes[at..].iter().position(is_end).map(|found| at + found)
    }

    /// Reads a string from behind its quote.
    #[inline]
    fn string(&mut self) -> Option<Span> {
        let start = self.at;
        let end = self.end_of_plain()?;
        match self.bytes[end] {
            b'"' => {
                self.at = end + 1;
                Some(Span::new(start, end))
            }
            b'\\' => self.escaped_string(),
            _ => None,
        }
    }

    fn escaped_string(&mut self) -> Option<Span> {
        let first = self.bytes.len() + self.unescaped.len();
        loop {
            let end = self.end_of_plain()?;
            self.unescaped.extend_from_slice(&self.bytes[self.at..end]);
            self.at = end + 1;
            match self.bytes[end] {
                b'"' => return Some(Span::new(first, self.bytes.len() + self.unescaped.len())),
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    /// Reads an escape from behind its backslash.
    fn escape(&mut self) -> Option<()> {
        let byte = match self.next()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                // Surrogate pairs are left to the other decoder.
                let c = char::from_u32(self.four_digits()?)?;
                self.unescaped.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        };
        self.unescaped.push(byte);
        Some(())
    }

    fn four_digits(&mut self) -> Option<u32> {
        let mut value = 0;
        for _ in 0..4 {
            value = value * 16 + char::from(self.next()?).to_digit(16)?;
        }
        Some(value)
    }
}
