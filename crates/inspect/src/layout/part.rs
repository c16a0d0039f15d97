//! The parts that a file is made of: pages, indexes, bloom filters, the footer, gaps.

use marquetry_base::Error;
use marquetry_format::Encoding;
use std::ops::Range;

/// What a part of a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// The four bytes that a file begins with.
    Magic,
    /// A dictionary page: header and bytes.
    DictionaryPage,
    /// A data page: header and bytes.
    DataPage,
    /// Pages of a column chunk that are not told apart, because a file has too many.
    Pages,
    /// Bytes of a column chunk in which no page was found: it is damaged, or encrypted and there is no key.
    Unread,
    /// The bounds of a chunk's pages.
    ColumnIndex,
    /// The places of a chunk's pages.
    OffsetIndex,
    /// The bloom filter of a chunk.
    BloomFilter,
    /// The footer, with its length and the magic behind it.
    Footer,
    /// Bytes that nothing refers to.
    Unreferenced,
}

impl PartKind {
    /// All of them.
    pub const ALL: [PartKind; 10] = [
        PartKind::Magic,
        PartKind::DictionaryPage,
        PartKind::DataPage,
        PartKind::Pages,
        PartKind::Unread,
        PartKind::ColumnIndex,
        PartKind::OffsetIndex,
        PartKind::BloomFilter,
        PartKind::Footer,
        PartKind::Unreferenced,
    ];

    /// Its name: `data page`, `column index`, ...
    pub fn name(self) -> &'static str {
        match self {
            PartKind::Magic => "magic",
            PartKind::DictionaryPage => "dictionary page",
            PartKind::DataPage => "data page",
            PartKind::Pages => "pages",
            PartKind::Unread => "unread",
            PartKind::ColumnIndex => "column index",
            PartKind::OffsetIndex => "offset index",
            PartKind::BloomFilter => "bloom filter",
            PartKind::Footer => "footer",
            PartKind::Unreferenced => "unreferenced",
        }
    }
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FilePart {
    /// Its bytes.
    pub range: Range<u64>,
    /// What they are for.
    pub kind: PartKind,
    /// Row group and column, of what belongs to a column chunk.
    pub chunk: Option<(usize, usize)>,
    /// What its header says, of a page.
    pub page: Option<PageFacts>,
}

/// What is known of a page without its values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageFacts {
    /// Its number in the chunk; a dictionary page counts.
    pub index: usize,
    /// Bytes of the header.
    pub header_len: u64,
    /// Bytes of the page when it is decompressed.
    pub uncompressed_len: u64,
    /// Entries of a data page, nulls among them; values of a dictionary.
    pub values: u64,
    /// The row of its row group that it begins with, if header or offset index tell.
    pub first_row: Option<u64>,
    /// Rows, if header or offset index tell.
    pub rows: Option<u64>,
    /// Nulls, if header or column index tell.
    pub nulls: Option<u64>,
    /// How its values are encoded.
    pub encoding: Option<Encoding>,
    /// Whether it is of version 2.
    pub is_v2: bool,
    /// Whether there is a checksum of it.
    pub has_checksum: bool,
}

/// What each byte of a file is for.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileLayout {
    /// Bytes of the file.
    pub size: u64,
    /// Its parts, in the order of the file. Each byte is in one; in a damaged file perhaps in several.
    pub parts: Vec<FilePart>,
    /// Bytes that more than one part claims.
    pub overlapping: u64,
    /// Why pages of chunks were not found, or indexes not read, each with its place.
    pub problems: Vec<Error>,
}

impl FileLayout {
    /// How many bytes there are of each kind that occurs, largest first. What several parts claim counts for the first; the sum is the
    /// size of the file.
    pub fn bytes_by_kind(&self) -> Vec<(PartKind, u64)> {
        let mut bytes = PartKind::ALL.map(|kind| (kind, 0));
        let mut at = 0;
        for part in &self.parts {
            let new = part.range.end.saturating_sub(part.range.start.max(at));
            at = at.max(part.range.end);
            if let Some((_, sum)) = bytes.iter_mut().find(|(kind, _)| *kind == part.kind) {
                *sum += new;
            }
        }
        let mut bytes: Vec<_> = bytes.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        bytes.sort_unstable_by_key(|(kind, bytes)| (std::cmp::Reverse(*bytes), *kind));
        bytes
    }
}
