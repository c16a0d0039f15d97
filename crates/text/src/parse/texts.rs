//! Texts that become values: an Arrow array, or cells where they stand in a file.

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray};

/// A column of texts, some of them null.
pub(super) trait Texts {
    fn len(&self) -> usize;

    /// Returns the text at `at`, or `None` if it is null.
    fn get(&self, at: usize) -> Option<&str>;

    /// Returns the texts as an array.
    fn to_array(&self) -> StringArray {
        let bytes = (0..self.len()).filter_map(|at| self.get(at)).map(str::len).sum();
        let mut out = StringBuilder::with_capacity(self.len(), bytes);
        (0..self.len()).for_each(|at| out.append_option(self.get(at)));
        out.finish()
    }
}

impl Texts for StringArray {
    fn len(&self) -> usize {
        Array::len(self)
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        self.is_valid(at).then(|| self.value(at))
    }

    fn to_array(&self) -> StringArray {
        self.clone()
    }
}

/// The place of a text: in the text of a file or, with positions behind its end, in a second text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Position of the first byte.
    pub start: u32,
    /// Position behind the last byte.
    pub end: u32,
}

impl Span {
    /// A text that is missing.
    pub(super) const MISSING: Span = Span { start: u32::MAX, end: 0 };
    /// A null.
    pub(super) const NULL: Span = Span { start: u32::MAX, end: 1 };

    /// Creates the span of a byte range. Both ends fit in 32 bits, because longer chunks are not parsed.
    #[inline]
    pub(super) fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// Whether the text is missing, or null.
    #[inline]
    pub fn is_null(self) -> bool {
        self.start == u32::MAX
    }
}

/// The records of a chunk, each with the same number of spans.
#[derive(Debug, Default)]
pub struct Records {
    /// The spans of all records, one record after the other.
    pub spans: Vec<Span>,
    /// The texts that had quotes or escapes, without them.
    pub unescaped: Vec<u8>,
}

/// The [`Records`] of valid text.
pub struct RecordTexts<'a> {
    /// Number of spans of a record.
    pub columns: usize,
    /// The spans of all records.
    pub spans: &'a [Span],
    /// The text of the file.
    pub text: &'a str,
    /// The second text, of unescaped texts.
    pub unescaped: &'a str,
}

impl<'a> RecordTexts<'a> {
    /// Returns the text at a span that is not null.
    #[inline]
    pub fn at(&self, span: Span) -> &'a str {
        let (start, end) = (span.start as usize, span.end as usize);
        let text = match start.checked_sub(self.text.len()) {
            Some(start) => self.unescaped.get(start..end - self.text.len()),
            None => self.text.get(start..end),
        };
        // Spans end at ASCII characters, so that the text between is valid.
        text.unwrap_or_default()
    }

    /// Whether a span that is not null is a JSON string, in quotes.
    #[inline]
    pub(super) fn is_string(&self, span: Span) -> bool {
        // Only strings have escapes.
        span.start as usize >= self.text.len() || self.follows(span, b'"')
    }

    /// Whether `byte` is before a span. For a cell, this shows whether it is quoted.
    #[inline]
    pub(super) fn follows(&self, span: Span, byte: u8) -> bool {
        let before = (span.start as usize).checked_sub(1);
        before.is_some_and(|before| self.text.as_bytes().get(before) == Some(&byte))
    }

    /// Returns the span of a column in a row.
    #[inline]
    pub fn span(&self, row: usize, column: usize) -> Span {
        self.spans[row * self.columns + column]
    }
}
