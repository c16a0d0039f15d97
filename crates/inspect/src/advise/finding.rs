//! A recommendation for a file, with its measured effect.

use super::new_type::NewType;
use std::fmt;

/// The subject of a recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdviceKind {
    /// Encodings and codecs of columns.
    Encoding,
    /// The number of rows of a row group.
    RowGroups,
    /// The size of pages.
    Pages,
    /// Missing statistics and page indexes.
    Indexes,
    /// A dictionary that the writer gave up although it pays.
    Dictionary,
    /// Bloom filters.
    BloomFilter,
    /// The order of rows.
    SortOrder,
    /// Many small files.
    SmallFiles,
    /// Types that are wider than their values.
    Type,
    /// Lists that have at most one element.
    ListOfOne,
    /// Text that is JSON.
    Variant,
    /// VARIANT whose values all have the same shape.
    Shredding,
}

impl AdviceKind {
    /// Returns the name, such as `sort-order`.
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

/// The certainty of a recommendation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Confidence {
    /// All rows were examined, or the footer states it.
    Certain,
    /// A sample was examined: this share of the rows, from 0 to 1.
    Sample(f64),
}

impl Confidence {
    /// Returns the confidence after `looked_at` of `rows` rows were examined.
    pub(super) fn of(looked_at: u64, rows: u64) -> Self {
        match looked_at >= rows {
            true => Confidence::Certain,
            false => Confidence::Sample(looked_at as f64 / rows as f64),
        }
    }

    /// Returns the share of the rows that was examined, from 0 to 1.
    pub fn share(self) -> f64 {
        match self {
            Confidence::Certain => 1.0,
            Confidence::Sample(share) => share,
        }
    }
}

/// A figure before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct BeforeAfter<T> {
    /// The present figure.
    pub before: T,
    /// The predicted figure.
    pub after: T,
}

impl<T> BeforeAfter<T> {
    pub(super) fn new(before: T, after: T) -> Self {
        BeforeAfter { before, after }
    }
}

/// The change to make.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The change of each column as [`ColumnAdvice`](super::ColumnAdvice) recommends it.
    Columns,
    /// Row groups with this number of rows.
    RowGroupRows(u64),
    /// Pages that end after this many bytes before compression, or this many rows.
    Pages {
        /// Bytes before compression.
        bytes: usize,
        /// Rows.
        rows: usize,
    },
    /// Statistics and page indexes where they are missing.
    Indexes,
    /// Dictionaries of up to 4 MiB for the columns.
    Dictionaries,
    /// A bloom filter for each of the columns.
    BloomFilters,
    /// Rows sorted by the columns, the first one first.
    Sort,
    /// This type for the columns.
    Type(NewType),
    /// Shredded VARIANT columns.
    Shred,
    /// These files merged into one.
    Merge(Vec<String>),
    /// A change that only the writer of the rows can make.
    ByTheWriter,
}

/// A change to make, with its measured effect.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The subject.
    pub kind: AdviceKind,
    /// Dotted paths of the columns that it is about. Empty if it is about all of them.
    pub columns: Vec<String>,
    /// A sentence on what to do, and why.
    pub what: String,
    /// Bytes of what it changes, in the whole file.
    pub bytes: Option<BeforeAfter<u64>>,
    /// Seconds to decode that on one thread of this machine, in the whole file.
    pub decode: Option<BeforeAfter<f64>>,
    /// The share of rows that queries skip, from 0 to 1: the given queries, or if there are none, queries for one
    /// value.
    pub skipped: Option<BeforeAfter<f64>>,
    /// The certainty.
    pub confidence: Confidence,
    /// The change to make.
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

    /// Returns the bytes that it saves; negative if it costs some.
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
