//! CSV with an escape before quotes that belong to a cell, as MySQL and Spark write it: `"say \"hi\""`.
//!
//! In quoted cells the escape also precedes itself, and line ends, as in MySQL. Before anything else it is text, as in
//! Spark, and so it is in cells without quotes, as in Spark and DuckDB. Doubled quotes are one quote, too.

use super::super::texts::Span;
use super::{BadRecord, Dialect, Splitter, is_terminator};
use memchr::{memchr2, memchr3};

impl Dialect {
    /// Returns how many bytes an escape at `at` takes, including what it escapes. `None` if there is no escape.
    fn escape_len(self, escape: u8, bytes: &[u8], at: usize) -> Option<usize> {
        let next = *bytes.get(at + 1).filter(|_| bytes[at] == escape)?;
        match next {
            b'\r' if bytes.get(at + 2) == Some(&b'\n') => Some(3),
            _ if is_terminator(next) || [self.quote, escape].contains(&next) => Some(2),
            _ => None,
        }
    }

    /// Returns the position of the quote that ends the cell whose text begins at `at`.
    fn escaped_closing_quote(self, escape: u8, bytes: &[u8], mut at: usize) -> Option<usize> {
        loop {
            at += memchr2(self.quote, escape, bytes.get(at..)?)?;
            match self.escape_len(escape, bytes, at) {
                Some(len) => at += len,
                None if bytes[at] != self.quote => at += 1,
                None if bytes.get(at + 1) == Some(&self.quote) => at += 2,
                None => return Some(at),
            }
        }
    }

    /// Returns the position of the delimiter or the line end behind the text at `at`, outside of quotes.
    fn end_of_text(self, bytes: &[u8], at: usize) -> Option<usize> {
        let end = memchr3(self.delimiter, b'\n', b'\r', bytes.get(at..)?)?;
        Some(at + end)
    }

    /// Returns the position behind the last record that ends in `bytes`. Empty lines before the first record are not
    /// records.
    pub(super) fn last_escaped_break(self, escape: u8, bytes: &[u8]) -> Option<usize> {
        self.last_break_behind(bytes, |mut at| {
            loop {
                let text = match bytes.get(at) {
                    // A quote at the very end may be the first of two.
                    Some(byte) if *byte == self.quote => {
                        let closing = self.escaped_closing_quote(escape, bytes, at + 1)?;
                        (closing + 1 < bytes.len()).then_some(closing + 1)?
                    }
                    _ => at,
                };
                let end = self.end_of_text(bytes, text)?;
                if bytes[end] != self.delimiter {
                    return Some(end);
                }
                at = end + 1;
            }
        })
    }
}

impl Splitter<'_> {
    /// Does the same as [`split`](Self::split), with escapes.
    pub(super) fn split_escaped(&mut self, escape: u8) -> Result<usize, BadRecord> {
        let (dialect, bytes) = (self.dialect, self.bytes);
        let mut start = dialect.behind_comments(bytes, 0);
        while start < bytes.len() || self.is_in_record() {
            let first = bytes.get(start).copied();
            if !self.is_in_record()
                && let Some(byte) = first
                && is_terminator(byte)
            {
                let ends_return = byte == b'\n' && start > 0 && bytes[start - 1] == b'\r';
                if self.columns == 1 && !ends_return {
                    self.add(Span::new(start, start))?;
                    self.end_record()?;
                }
                start = dialect.behind_comments(bytes, start + 1);
            } else {
                let (span, end) = self.escaped_cell(escape, start)?;
                self.add(span)?;
                start = bytes.len().min(end + 1);
                if bytes.get(end) != Some(&dialect.delimiter) {
                    self.end_record()?;
                    start = dialect.behind_comments(bytes, start);
                }
            }
            if self.complete.0 == self.most_records {
                return Ok(start);
            }
        }
        Ok(bytes.len())
    }

    /// Returns the text of the cell that begins at `start`, and the position of the delimiter or the line end behind
    /// it.
    fn escaped_cell(&mut self, escape: u8, start: usize) -> Result<(Span, usize), BadRecord> {
        let (dialect, bytes) = (self.dialect, self.bytes);
        let end_behind = |at: usize| dialect.end_of_text(bytes, at).unwrap_or(bytes.len());
        if bytes.get(start) != Some(&dialect.quote) {
            let end = end_behind(start);
            return Ok((Span::new(start, end), end));
        }
        let closing = dialect.escaped_closing_quote(escape, bytes, start + 1);
        let closing = closing.ok_or(BadRecord::Unclosed { record: self.complete.0 })?;
        let end = end_behind(closing + 1);
        let text = &bytes[start + 1..closing];
        if end == closing + 1 && memchr2(dialect.quote, escape, text).is_none() {
            return Ok((Span::new(start + 1, closing), end));
        }
        let first = self.records.unescaped.len();
        self.unescape(escape, text);
        self.records.unescaped.extend_from_slice(&bytes[closing + 1..end]);
        let last = self.records.unescaped.len();
        Ok((Span::new(bytes.len() + first, bytes.len() + last), end))
    }

    /// Appends the text without its escapes.
    fn unescape(&mut self, escape: u8, text: &[u8]) {
        let (dialect, out) = (self.dialect, &mut self.records.unescaped);
        let mut at = 0;
        while at < text.len() {
            let is_doubled = text[at] == dialect.quote && text.get(at + 1) == Some(&dialect.quote);
            let (from, to) = match dialect.escape_len(escape, text, at) {
                Some(len) => (at + 1, at + len),
                None if is_doubled => (at + 1, at + 2),
                None => (at, at + 1),
            };
            out.extend_from_slice(&text[from..to]);
            at = to;
        }
    }
}
