//! The records of CSV text, as `csv-core` understands them with its defaults.
//!
//! A record ends with LF, CR or both; empty lines are no records, unless records have one cell: then they are an empty one. A cell that begins with a quote goes on to the next quote
//! that is not doubled; what stands between that and the end of the cell belongs to it as it is. Quotes anywhere else mean
//! nothing.

use super::super::texts::{Records, Span};
use super::super::words::{eight_of, zero_bytes};
use memchr::{memchr, memrchr2};

/// What stands between cells and around them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) quote: u8,
}

/// A record that is not as the others are. `record` is its number in the chunk, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadRecord {
    /// It has so many cells; `None` if it has more than are wanted.
    WrongCount { record: usize, cells: Option<usize> },
    /// A quote opens a cell, and none closes it.
    Unclosed { record: usize },
}

impl Dialect {
    /// The byte behind the last record that ends in `bytes`, which begin with a record; empty lines are none.
    pub(super) fn record_end(self, bytes: &[u8]) -> Option<usize> {
        // The line feed that belongs to it may follow.
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        self.last_break(bytes).filter(|end| !bytes[..*end].iter().all(|byte| is_terminator(*byte)))
    }

    fn last_break(self, bytes: &[u8]) -> Option<usize> {
        let mut last = None;
        let mut outside = 0;
        let mut at = 0;
        while let Some(found) = memchr(self.quote, &bytes[at..]) {
            let quote = at + found;
            if !self.begins_cell(bytes, quote) {
                at = quote + 1;
                continue;
            }
            last = record_break(&bytes[outside..quote]).map(|end| outside + end).or(last);
            match self.closing_quote(bytes, quote + 1) {
                // A quote at the very end may be the first of two.
                Some(closing) if closing + 1 < bytes.len() => at = closing + 1,
                _ => return last,
            }
            outside = at;
        }
        record_break(&bytes[outside..]).map(|end| outside + end).or(last)
    }

    /// Whether a quote at `at` outside of quotes begins a quoted cell.
    fn begins_cell(self, bytes: &[u8], at: usize) -> bool {
        at == 0 || bytes[at - 1] == self.delimiter || is_terminator(bytes[at - 1])
    }

    /// The place of the quote that ends the cell whose text begins at `from`.
    fn closing_quote(self, bytes: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let quote = from + memchr(self.quote, bytes.get(from..)?)?;
            if bytes.get(quote + 1) != Some(&self.quote) {
                return Some(quote);
            }
            from = quote + 2;
        }
    }

    /// The cells of the first record; empty if there is none.
    pub(super) fn first_record(self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut splitter = Splitter::new(self, bytes, usize::MAX);
        splitter.most_records = 1;
        // What is wrong with it will be found when it is read.
        let _ = splitter.split();
        let Records { spans, unescaped } = splitter.records;
        let cell = |span: Span| {
            let (start, end) = (span.start as usize, span.end as usize);
            match start.checked_sub(bytes.len()) {
                Some(start) => unescaped[start..end - bytes.len()].to_vec(),
                None => bytes[start..end].to_vec(),
            }
        };
        spans.into_iter().map(cell).collect()
    }

    /// The cells of all records in `bytes`, which must have `columns` each, and fit in 32 bits.
    pub(super) fn records(self, bytes: &[u8], columns: usize) -> Result<Records, BadRecord> {
        let mut splitter = Splitter::new(self, bytes, columns);
        splitter.records.spans.reserve(bytes.len() / 8);
        splitter.split()?;
        Ok(splitter.records)
    }
}

/// The byte behind the last end of a record.
fn record_break(bytes: &[u8]) -> Option<usize> {
    memrchr2(b'\n', b'\r', bytes).map(|at| at + 1)
}

fn is_terminator(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

struct Splitter<'a> {
    dialect: Dialect,
    bytes: &'a [u8],
    columns: usize,
    most_records: usize,
    records: Records,
    /// How many records are complete, and the number of spans in them.
    complete: (usize, usize),
}

impl<'a> Splitter<'a> {
    fn new(dialect: Dialect, bytes: &'a [u8], columns: usize) -> Self {
        let (records, complete) = (Records::default(), (0, 0));
        Splitter { dialect, bytes, columns, most_records: usize::MAX, records, complete }
    }

    fn split(&mut self) -> Result<(), BadRecord> {
        let Dialect { delimiter, quote } = self.dialect;
        // Carriage returns and quotes cost nothing where there are none.
        let or_line_feed = |byte: u8| memchr(byte, self.bytes).map_or(b'\n', |_| byte);
        let mut marks = Marks::new(self.bytes, [delimiter, b'\n', or_line_feed(b'\r'), or_line_feed(quote)]);
        let mut start = 0;
        while let Some(at) = marks.next() {
            let byte = self.bytes[at];
            if byte == quote {
                if at == start {
                    let (span, end) = self.quoted(at)?;
                    self.add(span)?;
                    match self.bytes.get(end) {
                        Some(byte) if *byte != delimiter => self.end_record()?,
                        Some(_) => {}
                        None => return self.end_record(),
                    }
                    start = end + 1;
                    marks.go_to(start);
                }
            } else if byte == delimiter {
                self.add(Span::new(start, at))?;
                start = at + 1;
            } else {
                let is_blank = at == start && !self.is_in_record();
                let ends_return = byte == b'\n' && at > 0 && self.bytes[at - 1] == b'\r';
                if !is_blank || (self.columns == 1 && !ends_return) {
                    self.add(Span::new(start, at))?;
                    self.end_record()?;
                }
                start = at + 1;
            }
            if self.complete.0 == self.most_records {
                return Ok(());
            }
        }
        if start < self.bytes.len() || self.is_in_record() {
            self.add(Span::new(start, self.bytes.len()))?;
            self.end_record()?;
        }
        Ok(())
    }

    fn is_in_record(&self) -> bool {
        self.records.spans.len() > self.complete.1
    }

    #[inline]
    fn add(&mut self, span: Span) -> Result<(), BadRecord> {
        if self.records.spans.len() - self.complete.1 >= self.columns {
            return Err(BadRecord::WrongCount { record: self.complete.0, cells: None });
        }
        self.records.spans.push(span);
        Ok(())
    }

    #[inline]
    fn end_record(&mut self) -> Result<(), BadRecord> {
        let cells = self.records.spans.len() - self.complete.1;
        if cells != self.columns && self.columns != usize::MAX {
            return Err(BadRecord::WrongCount { record: self.complete.0, cells: Some(cells) });
        }
        self.complete = (self.complete.0 + 1, self.records.spans.len());
        Ok(())
    }

    /// The text of the cell whose opening quote is at `open`, and the place of the delimiter or the terminator behind it.
    fn quoted(&mut self, open: usize) -> Result<(Span, usize), BadRecord> {
        let Dialect { delimiter, quote } = self.dialect;
        let start = open + 1;
        let unclosed = BadRecord::Unclosed { record: self.complete.0 };
        let closing = start + memchr(quote, &self.bytes[start..]).ok_or(unclosed)?;
        match self.bytes.get(closing + 1) {
            None => return Ok((Span::new(start, closing), self.bytes.len())),
            Some(next) if *next == delimiter || is_terminator(*next) => {
                return Ok((Span::new(start, closing), closing + 1));
            }
            Some(_) => {}
        }
        // Doubled quotes, or text behind the closing one: the cell is put together aside.
        let out = &mut self.records.unescaped;
        let first = out.len();
        let mut from = start;
        let behind = loop {
            let at = from + memchr(quote, &self.bytes[from..]).ok_or(unclosed)?;
            out.extend_from_slice(&self.bytes[from..at]);
            if self.bytes.get(at + 1) != Some(&quote) {
                break at + 1;
            }
            out.push(quote);
            from = at + 2;
        };
        let is_end = |byte: &u8| *byte == delimiter || is_terminator(*byte);
        let end = self.bytes[behind..].iter().position(is_end).map_or(self.bytes.len(), |at| behind + at);
        out.extend_from_slice(&self.bytes[behind..end]);
        let (first, last) = (self.bytes.len() + first, self.bytes.len() + out.len());
        Ok((Span::new(first, last), end))
    }
}

/// The places of four bytes in a text, found eight bytes at a time.
struct Marks<'a> {
    bytes: &'a [u8],
    wanted: [u64; 4],
    /// Where the word begins that is looked at.
    base: usize,
    /// The high bit of each byte of the word that is still to be told.
    found: u64,
}

impl<'a> Marks<'a> {
    fn new(bytes: &'a [u8], wanted: [u8; 4]) -> Self {
        let mut marks = Marks { bytes, wanted: wanted.map(eight_of), base: 0, found: 0 };
        marks.go_to(0);
        marks
    }

    /// Goes on at `at`.
    #[inline]
    fn go_to(&mut self, at: usize) {
        self.base = at;
        self.found = self.look();
    }

    #[inline]
    fn look(&self) -> u64 {
        let Some(rest) = self.bytes.get(self.base..) else { return 0 };
        match rest.first_chunk::<8>() {
            Some(word) => self.matches(u64::from_le_bytes(*word)),
            None => {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                let there = (1_u64 << (8 * rest.len())) - 1;
                self.matches(u64::from_le_bytes(word)) & there
            }
        }
    }

    #[inline]
    fn matches(&self, word: u64) -> u64 {
        let [a, b, c, d] = self.wanted;
        zero_bytes(word ^ a) | zero_bytes(word ^ b) | zero_bytes(word ^ c) | zero_bytes(word ^ d)
    }

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.base += 8;
            if self.base >= self.bytes.len() {
                return None;
            }
            self.found = self.look();
        }
        let at = self.base + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests;
