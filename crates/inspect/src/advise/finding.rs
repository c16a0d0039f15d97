//! One thing to do to a file, with what it was measured to bring.

use super::new_type::NewType;
use std::fmt;

/// What an advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdviceKind {
    /// Encodings and codecs of columns.
    Encoding,
    /// How many rows a row group has.
    RowGroups,
    /// How large a page is.
    Pages,
    /// Statistics and page indexes that are missing.
    Indexes,
    /// A dictionary that the writer gave up though it pays.
    Dictionary,
    /// Bloom filters.
    BloomFilter,
    /// The order of rows.
    SortOrder,
    /// Many small files.
    SmallFiles,
    /// Types that are wider than their values.
    Type,
    /// Lists that have one element at most.
    ListOfOne,
    /// Text that is JSON.
    Variant,
    /// VARIANT whose values are all alike.
    Shredding,
}

impl AdviceKind {
    /// Its name: `sort-order`.
    pub fn name(self) -> &'static str {
        match self {
            AdviceKind::Encoding => "encoding",
            AdviceKind::RowGroups => "row-groups",
            AdviceKind::Pages => "pages",
            AdviceKind::Indexes => "indexes",
            AdviceKind::Dictionary => "dictionary",
            AdviceKind::BloomFilter => "bloom-filter",
            AdviceKind::SortOrder => "sort-order",
            AdviceKind::SmallFiles => "small-files",
            AdviceKind::Type => "type",
            AdviceKind::ListOfOne => "list-of-one",
            AdviceKind::Variant => "variant",
            AdviceKind::Shredding => "shredding",
        }
    }
}

impl fmt::Display for AdviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How sure an advice is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Confidence {
    /// All rows were looked at, or the footer says so.
    Certain,
    /// A sample was looked at: this share of the rows, from 0 to 1.
    Sample(f64),
}

impl Confidence {
    /// Of `looked_at` rows among `rows`.
    pub(super) fn of(looked_at: u64, rows: u64) -> Self {
        match looked_at >= rows {
            true => Confidence::Certain,
            false => Confidence::Sample(looked_at as f64 / rows as f64),
        }
    }

    /// The share of the rows that was looked at, from 0 to 1.
    pub fn share(self) -> f64 {
        match self {
            Confidence::Certain => 1.0,
            Confidence::Sample(share) => share,
        }
    }
}

/// A figure as it is, and as it is predicted.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct BeforeAfter<T> {
    /// As it is.
    pub before: T,
    /// As it is predicted.
    pub after: T,
}

impl<T> BeforeAfter<T> {
    pub(super) fn new(before: T, after: T) -> Self {
        BeforeAfter { before, after }
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// What [`ColumnAdvice`](super::ColumnAdvice) says of each column.
    Columns,
    /// Row groups of so many rows.
    RowGroupRows(u64),
    /// Pages that end after so many bytes before compression, or so many rows.
    Pages {
        /// Bytes before compression.
        bytes: usize,
        /// Rows.
        rows: usize,
    },
    /// Statistics and page indexes where they are missing.
    Indexes,
    /// The columns get dictionaries of up to 4 MiB.
    Dictionaries,
    /// A bloom filter for each of the columns.
    BloomFilters,
    /// Rows in the order of the columns, the first one first.
    Sort,
    /// The columns get this type.
    Type(NewType),
    /// The columns of VARIANT are shredded.
    Shred,
    /// The files become one.
    Merge(Vec<String>),
    /// Only whoever writes the rows can do it.
    ByTheWriter,
}

/// One thing to do, with what it was measured to bring.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about.
    pub kind: AdviceKind,
    /// Dotted paths of the columns that it is about; none if it is all of them.
    pub columns: Vec<String>,
    /// What to do and why, a sentence.
    pub what: String,
    /// Bytes of what it changes, in the whole file.
    pub bytes: Option<BeforeAfter<u64>>,
    /// Seconds that decoding it takes, on one thread of this machine, in the whole file.
    pub decode: Option<BeforeAfter<f64>>,
    /// The share of the rows that queries skip, from 0 to 1. Of the queries that were given; if there are none, of queries for one value.
    pub skipped: Option<BeforeAfter<f64>>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What is to be done.
    pub change: Change,
}

impl Finding {
    pub(super) fn new(kind: AdviceKind, what: String, confidence: Confidence, change: Change) -> Self {
        Finding {
            kind,
            columns: Vec::new(),
            what,
            bytes: None,
            decode: None,
            skipped: None,
            confidence,
            change,
        }
    }

    pub(super) fn of_columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    pub(super) fn with_bytes(mut self, before: u64, after: u64) -> Self {
        self.bytes = Some(BeforeAfter::new(before, after));
        self
    }

    pub(super) fn with_decode(mut self, before: f64, after: f64) -> Self {
        self.decode = Some(BeforeAfter::new(before, after));
        self
    }

    pub(super) fn with_skipped(mut self, before: f64, after: f64) -> Self {
        self.skipped = Some(BeforeAfter::new(before, after));
        self
    }

    /// Bytes that it saves; negative if it costs some.
    pub fn saved_bytes(&self) -> i64 {
        self.bytes.map_or(0, |bytes| bytes.before as i64 - bytes.after as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_make_it_certain() {
        assert_eq!(Confidence::of(5, 5), Confidence::Certain);
        assert_eq!(Confidence::of(1, 4), Confidence::Sample(0.25));
        assert_eq!(Confidence::of(0, 0).share(), 1.0);
    }
}
