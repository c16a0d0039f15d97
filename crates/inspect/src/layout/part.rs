//! The parts of a file: pages, indexes, bloom filters, the footer, gaps.

use marquetry_base::Error;
use marquetry_format::Encoding;
use std::ops::Range;

/// The purpose of a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// The four magic bytes at the beginning of the file.
    Magic,
    /// A dictionary page with its header.
    DictionaryPage,
    /// A data page with its header.
    DataPage,
    /// Pages of a column chunk that are not listed one by one, because the file has too many.
    Pages,
    /// Bytes of a column chunk in which no page was found: it is damaged, or encrypted and the key is missing.
    Unread,
    /// A column index: the bounds of a chunk's pages.
    ColumnIndex,
    /// An offset index: the places of a chunk's pages.
    OffsetIndex,
    /// The bloom filter of a chunk.
    BloomFilter,
    /// The footer with its length and the magic bytes behind it.
    Footer,
    /// Bytes that nothing refers to.
    Unreferenced,
}

impl PartKind {
    /// All kinds.
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

    /// Returns the name: `data page`, `column index`, ...
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
    /// Its byte range in the file.
    pub range: Range<u64>,
    /// Its purpose.
    pub kind: PartKind,
    /// Row group and column, if it belongs to a column chunk.
    pub chunk: Option<(usize, usize)>,
    /// The facts in its header, if it is a page.
    pub page: Option<PageFacts>,
}

/// The facts about a page that are known without its values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageFacts {
    /// Index of the page in the chunk, dictionary page included.
    pub index: usize,
    /// Bytes of the header.
    pub header_len: u64,
    /// Bytes of the page after decompression.
    pub uncompressed_len: u64,
    /// Number of entries of a data page, nulls included, or of values of a dictionary page.
    pub values: u64,
    /// Its first row in the row group, if the header or the offset index shows it.
    pub first_row: Option<u64>,
    /// Number of rows, if the header or the offset index shows it.
    pub rows: Option<u64>,
    /// Number of nulls, if the header or the column index states it.
    pub nulls: Option<u64>,
    /// The encoding of its values.
    pub encoding: Option<Encoding>,
    /// Whether it is a V2 page.
    pub is_v2: bool,
    /// Whether it has a checksum.
    pub has_checksum: bool,
}

/// The purpose of each byte of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileLayout {
    /// Size of the file in bytes.
    pub size: u64,
    /// The parts in the order of the file. Each byte is in one part; in a damaged file, perhaps in several.
    pub parts: Vec<FilePart>,
    /// Number of bytes that more than one part claims.
    pub overlapping: u64,
    /// The reasons why pages of chunks were not found or indexes not read, each with its place.
    pub problems: Vec<Error>,
}

impl FileLayout {
    /// Returns the number of bytes of each kind that occurs, largest first. Bytes that several parts claim count for
    /// the first one, so that the sum is the size of the file.
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
