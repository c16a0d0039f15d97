//! The records of CSV text, as `csv-core` understands them with its defaults.
//!
//! A record ends with LF, CR or both; empty lines are not records, unless records have one cell: then they are an empty one.
//! A cell that begins with a quote goes on to the next quote that is not doubled; what stands between that and the end of
//! the cell belongs to it as it is. Quotes anywhere else mean nothing. Lines that begin with the mark of comments, if there
//! is one, are not records.

mod escapes;

use super::texts::{Records, Span};
use super::words::{eight_of, zero_bytes};
use memchr::{memchr, memchr2, memchr3, memrchr2};

/// The syntax of records and cells.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The byte between cells.
    pub delimiter: u8,
    /// The byte around quoted cells.
    pub quote: u8,
    /// The byte before quotes that belong to a cell, if they are not doubled. See the module `escapes`.
    pub escape: Option<u8>,
    /// The first byte of comment lines, which are not records.
    pub comment: Option<u8>,
    /// The treatment of records with another number of cells.
    pub ragged: Ragged,
}

/// The treatment of records that have more or fewer cells than the header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ragged {
    /// They are errors.
    #[default]
    Error,
    /// Missing cells are null; additional cells are an error.
    Null,
    /// Missing cells are null; additional cells are left out.
    Truncate,
}

/// A record that differs from the others. Records are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadRecord {
    /// The record has another number of cells.
    WrongCount {
        /// Number of the record.
        record: usize,
        /// Number of its cells, or `None` if it has more than are wanted.
        cells: Option<usize>,
    },
    /// A quote opens a cell, and none closes it.
    Unclosed {
        /// Number of the record.
        record: usize,
    },
}

impl Dialect {
    /// Returns the position behind the last record that ends in `bytes`, which begin with a record. Empty lines are not
    /// records.
    pub fn record_end(self, bytes: &[u8]) -> Option<usize> {
        // The line feed of the same line end may follow.
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        self.last_break(bytes).filter(|end| !bytes[..*end].iter().all(|byte| is_terminator(*byte)))
    }

    fn last_break(self, bytes: &[u8]) -> Option<usize> {
        if let Some(escape) = self.escape {
            return self.last_escaped_break(escape, bytes);
        }
        if self.comment.is_some() {
            return self.last_break_among_comments(bytes);
        }
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

    /// Does the same if lines may be comments, in which quotes mean nothing. A record must be before the end.
    fn last_break_among_comments(self, bytes: &[u8]) -> Option<usize> {
        self.last_break_behind(bytes, |mut at| {
            loop {
                let mark = at + memchr3(b'\n', b'\r', self.quote, &bytes[at..])?;
                at = mark + 1;
                if bytes[mark] != self.quote {
                    return Some(mark);
                }
                if self.begins_cell(bytes, mark) {
                    at = self.closing_quote(bytes, mark + 1).filter(|closing| closing + 1 < bytes.len())? + 1;
                }
            }
        })
    }

    /// Returns the position behind the last record that ends in `bytes`. `line_end` returns the position of the line
    /// end of the record that begins at a position. Comments, and empty lines before the first record, are not records.
    fn last_break_behind(self, bytes: &[u8], line_end: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let (mut at, mut last) = (0, None);
        while at < bytes.len() {
            if self.is_comment(bytes, at) {
                let Some(end) = memchr2(b'\n', b'\r', &bytes[at..]) else { return last };
                at += end + 1;
                continue;
            }
            let Some(end) = line_end(at) else { return last };
            if end > at || last.is_some() {
                last = Some(end + 1);
            }
            at = end + 1;
        }
        last
    }

    /// Whether the line that begins at `at` is a comment.
    pub(super) fn is_comment(self, bytes: &[u8], at: usize) -> bool {
        self.comment.is_some_and(|comment| bytes.get(at) == Some(&comment))
    }

    /// Returns the position behind the comments that begin at `at`.
    pub fn behind_comments(self, bytes: &[u8], mut at: usize) -> usize {
        while self.is_comment(bytes, at) {
            at = memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
        }
        at
    }

    /// Whether a quote at `at`, outside of quotes, begins a quoted cell.
    fn begins_cell(self, bytes: &[u8], at: usize) -> bool {
        at == 0 || bytes[at - 1] == self.delimiter || is_terminator(bytes[at - 1])
    }

    /// Returns the position of the quote that ends the cell whose text begins at `from`.
    fn closing_quote(self, bytes: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let quote = from + memchr(self.quote, bytes.get(from..)?)?;
            if bytes.get(quote + 1) != Some(&self.quote) {
                return Some(quote);
            }
            from = quote + 2;
        }
    }

    /// Returns the cells of the first record, or none if there is no record.
    pub fn first_record(self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut splitter = Splitter::new(self, bytes, usize::MAX);
        splitter.most_records = 1;
        // An error in it will be found when it is read.
        let _: Result<usize, BadRecord> = splitter.split();
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

    /// Returns where the record with this number, from 0, begins, as far as the records before it can be told apart.
    pub fn record_start(self, bytes: &[u8], columns: usize, record: usize) -> usize {
        let dialect = Dialect { ragged: Ragged::Truncate, ..self };
        let mut splitter = Splitter::new(dialect, bytes, columns);
        splitter.most_records = record;
        let mut at = if record == 0 { 0 } else { splitter.split().unwrap_or(0) };
        loop {
            let begun = at;
            at = self.behind_comments(bytes, at);
            let is_rest_of_end = at > 0 && bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n');
            let is_blank = columns != 1 && bytes.get(at).is_some_and(|byte| is_terminator(*byte));
            at += usize::from(is_rest_of_end || is_blank);
            if at == begun {
                return at;
            }
        }
    }

    /// Returns the number of cells of all records in `bytes`, or `None` if it differs, or there are no records.
    pub(super) fn common_width(self, bytes: &[u8]) -> Option<usize> {
        let width = self.first_record(bytes).len();
        let mut splitter = Splitter::new(Dialect { ragged: Ragged::Error, ..self }, bytes, width);
        (width > 0 && splitter.split().is_ok()).then_some(width)
    }

    /// Returns the cells of all records in `bytes`, which must have `columns` cells each, and fit in 32 bits.
    pub fn records(self, bytes: &[u8], columns: usize) -> Result<Records, BadRecord> {
        let mut splitter = Splitter::new(self, bytes, columns);
        splitter.records.spans.reserve(bytes.len() / 8);
        splitter.split()?;
        Ok(splitter.records)
    }
}

/// Returns the position behind the last end of a record.
fn record_break(bytes: &[u8]) -> Option<usize> {
    memrchr2(b'\n', b'\r', bytes).map(|at| at + 1)
}

/// Returns how many lines end in `bytes`: with LF, CR or both.
pub fn line_ends(bytes: &[u8]) -> u64 {
    let line_feeds = memchr::memchr_iter(b'\n', bytes).count();
    let is_lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    (line_feeds + memchr::memchr_iter(b'\r', bytes).filter(is_lone).count()) as u64
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
    /// Number of complete records, and number of their spans.
    complete: (usize, usize),
}

impl<'a> Splitter<'a> {
    fn new(dialect: Dialect, bytes: &'a [u8], columns: usize) -> Self {
        let (records, complete) = (Records::default(), (0, 0));
        Splitter { dialect, bytes, columns, most_records: usize::MAX, records, complete }
    }

    /// Reads records up to the wanted number. Returns the position behind the last.
    fn split(&mut self) -> Result<usize, BadRecord> {
        let Dialect { delimiter, quote, escape, .. } = self.dialect;
        if let Some(escape) = escape {
            return self.split_escaped(escape);
        }
        // Carriage returns and quotes cost nothing if there are none.
        let or_line_feed = |byte: u8| memchr(byte, self.bytes).map_or(b'\n', |_| byte);
        let mut marks = Marks::new(self.bytes, [delimiter, b'\n', or_line_feed(b'\r'), or_line_feed(quote)]);
        let mut start = self.dialect.behind_comments(self.bytes, 0);
        marks.go_to(start);
        while let Some(at) = marks.next() {
            let byte = self.bytes[at];
            if byte == quote {
                if at == start {
                    let (span, end) = self.quoted(at)?;
                    self.add(span)?;
                    match self.bytes.get(end) {
                        Some(byte) if *byte != delimiter => self.end_record()?,
                        Some(_) => {}
                        None => return self.end_record().map(|()| end),
                    }
                    start = end + 1;
                    if !self.is_in_record() {
                        start = self.dialect.behind_comments(self.bytes, start);
                    }
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
                if self.dialect.is_comment(self.bytes, start) {
                    start = self.dialect.behind_comments(self.bytes, start);
                    marks.go_to(start);
                }
            }
            if self.complete.0 == self.most_records {
                return Ok(start);
            }
        }
        if start < self.bytes.len() || self.is_in_record() {
            self.add(Span::new(start, self.bytes.len()))?;
            self.end_record()?;
        }
        Ok(self.bytes.len())
    }

    fn is_in_record(&self) -> bool {
        self.records.spans.len() > self.complete.1
    }

    #[inline]
    fn add(&mut self, span: Span) -> Result<(), BadRecord> {
        if self.records.spans.len() - self.complete.1 >= self.columns {
            return match self.dialect.ragged {
                Ragged::Truncate => Ok(()),
                Ragged::Error | Ragged::Null => {
                    Err(BadRecord::WrongCount { record: self.complete.0, cells: None })
                }
            };
        }
        self.records.spans.push(span);
        Ok(())
    }

    #[inline]
    fn end_record(&mut self) -> Result<(), BadRecord> {
        let cells = self.records.spans.len() - self.complete.1;
        if cells != self.columns && self.columns != usize::MAX {
            if self.dialect.ragged != Ragged::Error {
                self.records.spans.resize(self.complete.1 + self.columns, Span::MISSING);
                self.complete = (self.complete.0 + 1, self.records.spans.len());
                return Ok(());
            }
            return Err(BadRecord::WrongCount { record: self.complete.0, cells: Some(cells) });
        }
        self.complete = (self.complete.0 + 1, self.records.spans.len());
        Ok(())
    }

    /// Returns the text of the cell whose opening quote is at `open`, and the position of the delimiter or terminator
    /// behind it.
    fn quoted(&mut self, open: usize) -> Result<(Span, usize), BadRecord> {
        let Dialect { delimiter, quote, .. } = self.dialect;
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
        // With doubled quotes, or text behind the closing one, the cell is assembled outside of the text.
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

/// The positions of four bytes in a text, found eight bytes at a time.
struct Marks<'a> {
    bytes: &'a [u8],
    wanted: [u64; 4],
    /// Position of the current word.
    base: usize,
    /// The high bit of each matching byte of the word that was not returned yet.
    found: u64,
}

impl<'a> Marks<'a> {
    fn new(bytes: &'a [u8], wanted: [u8; 4]) -> Self {
        let mut marks = Marks { bytes, wanted: wanted.map(eight_of), base: 0, found: 0 };
        marks.go_to(0);
        marks
    }

    /// Continues at `at`.
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
