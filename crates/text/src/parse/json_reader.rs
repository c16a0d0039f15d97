//! A cursor over the text of JSON: it finds where names and values end, and checks no more of them than that needs.

use serde_json::Value;
use std::borrow::Cow;

/// The error of a text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

pub(super) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

/// The name of a member, with its quotes.
pub(super) struct Name<'a> {
    pub(super) json: &'a str,
}

impl<'a> JsonReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        JsonReader { text, at: 0 }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Broken> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Err(Broken);
        }
        self.at += 1;
        Ok(())
    }

    /// Enters a list or an object. Returns false if it is empty, and then moves behind it.
    pub(super) fn begin(&mut self, open: u8, close: u8) -> Result<bool, Broken> {
        self.take(open)?;
        self.skip_blanks();
        let is_empty = self.peek() == Some(close);
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Moves behind the comma after a value. Returns false if the list or object ends instead.
    pub(super) fn goes_on(&mut self, close: u8) -> Result<bool, Broken> {
        self.skip_blanks();
        let byte = self.peek().ok_or(Broken)?;
        self.at += 1;
        match byte {
            b',' => Ok(true),
            byte if byte == close => Ok(false),
            _ => Err(Broken),
        }
    }

    /// Reads the name of a member and the colon behind it.
    pub(super) fn name(&mut self) -> Result<Name<'a>, Broken> {
        self.skip_blanks();
        let json = self.string()?;
        self.take(b':')?;
        Ok(Name { json })
    }

    /// Reads a string with its quotes.
    fn string(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(Broken);
        }
        self.at += 1;
        // Names and most values are short: searching many bytes at a time gains nothing.
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return Ok(&self.text[start..self.at]),
                // Any escape: neither the digits of \u0041 nor what follows the first byte of others ends a string.
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Err(Broken)
    }

    /// Reads a value that is neither an object nor a list, without checking it.
    pub(super) fn scalar(&mut self) -> Result<&'a str, Broken> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let rest = &self.text[self.at..];
        let is_end = |byte: u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        let end = rest.bytes().position(is_end).unwrap_or(rest.len());
        if end == 0 {
            return Err(Broken);
        }
        self.at += end;
        Ok(&rest[..end])
    }

    /// Reads and checks an object or a list.
    pub(super) fn nested(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek().ok_or(Broken)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let json = &self.text[start..self.at];
        serde_json::from_str::<Value>(json).map_err(|_| Broken)?;
        Ok(json)
    }

    /// Reads any value.
    pub(super) fn any(&mut self) -> Result<&'a str, Broken> {
        match self.peek() {
            Some(b'{' | b'[') => self.nested(),
            _ => self.scalar(),
        }
    }

    /// Skips and checks any value.
    pub(super) fn skip_value(&mut self) -> Result<(), Broken> {
        self.skip_blanks();
        let json = self.any()?;
        serde_json::from_str::<Value>(json).map(drop).map_err(|_| Broken)
    }
}

impl<'a> Name<'a> {
    /// Returns the name without quotes and escapes.
    pub(super) fn text(&self) -> Result<Cow<'a, str>, Broken> {
        let inner = &self.json[1..self.json.len() - 1];
        match inner.contains('\\') {
            true => serde_json::from_str(self.json).map(Cow::Owned).map_err(|_| Broken),
            false => Ok(Cow::Borrowed(inner)),
        }
    }
}
