//! Layouts of row groups, and row groups that were rebuilt by one.

use crate::found_page::FoundPage;
use marquetry_base::Result;
use marquetry_core::schema::Leaf;
use marquetry_encoding::PhysicalType;
use marquetry_format::ColumnMetaData;
use std::ops::Range;

/// A way to divide pages into the chunks of a row group.
#[derive(Debug)]
pub(crate) struct GroupLayout {
    /// The pages of each chunk.
    pub(crate) chunks: Vec<Range<usize>>,
    /// Number of rows of each chunk.
    pub(crate) rows: u64,
    /// Number of chunks that end where writers end chunks.
    pub(crate) natural: usize,
}

/// The regularity of the pages of a chunk; the most regular is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PageSplit {
    Irregular,
    /// All pages of a chunk but the last have the same number of values.
    Even,
    /// As `Even`, and the last page has no more values than the others.
    ShorterLast,
}

/// The division of a chunk into pages, recorded page by page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageCuts {
    /// Numbers of values of the first and the last page.
    ends: Option<(u64, u64)>,
    has_several: bool,
    /// Whether pages before the last one have another number of values than the first.
    is_irregular: bool,
}

impl PageCuts {
    /// Returns the cuts of a chunk with one data page.
    pub(crate) fn single(values: u64) -> Self {
        PageCuts { ends: Some((values, values)), ..PageCuts::default() }
    }

    /// Returns the cuts of a chunk with several data pages: the numbers of values of the first and the last one, and
    /// whether a page between them has another number than the first.
    pub(crate) fn several(first: u64, last: u64, is_irregular: bool) -> Self {
        PageCuts { ends: Some((first, last)), has_several: true, is_irregular }
    }

    pub(crate) fn add(&mut self, page: &FoundPage) {
        if page.is_dictionary() {
            return;
        }
        self.is_irregular |= self.ends.is_some_and(|(first, last)| first != last);
        self.has_several = self.ends.is_some();
        let first = self.ends.map_or(page.values(), |(first, _)| first);
        self.ends = Some((first, page.values()));
    }

    /// Returns how regular they are. If the chunk is not `whole`, its last page may not have come yet.
    pub(crate) fn split(&self, whole: bool) -> PageSplit {
        match self.ends {
            _ if self.is_irregular => PageSplit::Irregular,
            Some((first, last)) if whole && self.has_several && last > first => PageSplit::Even,
            _ => PageSplit::ShorterLast,
        }
    }
}

/// A row group rebuilt from pages.
#[derive(Debug)]
pub(crate) struct RebuiltGroup {
    pub(crate) rows: u64,
    /// Metadata of each chunk, or its error.
    pub(crate) chunks: Vec<Result<ColumnMetaData>>,
    pub(crate) bytes: Range<u64>,
    /// Whether all pages have a checksum.
    pub(crate) is_proven: bool,
    /// Whether other ends of chunks would have been possible.
    pub(crate) is_chosen: bool,
    /// Whether it follows the start of the file or another row group without a gap.
    pub(crate) is_anchored: bool,
    /// Number of pages.
    pub(crate) pages: usize,
}

/// Pages that belong to no row group, and the reason.
#[derive(Debug)]
pub(crate) struct OrphanPages {
    pub(crate) bytes: Range<u64>,
    pub(crate) pages: usize,
    pub(crate) why: &'static str,
}

/// Whether pages of one column can be read as pages of the other.
///
/// `exact`: the pages are PLAIN, or have dictionaries, so that only values of one width fill them. Delta encodings look
/// the same for both integer types, and for byte strings of any length.
pub(crate) fn is_like(a: &Leaf, b: &Leaf, exact: bool) -> bool {
    let levels = a.max_def() == b.max_def() && a.max_rep() == b.max_rep();
    let kind = |leaf: &Leaf| match leaf.physical() {
        PhysicalType::Int32 | PhysicalType::Int64 => 0,
        PhysicalType::Float | PhysicalType::Double => 1,
        PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_) => 2,
        _ => 3,
    };
    let (shape_a, shape_b) = (a.physical().shape(), b.physical().shape());
    levels && (shape_a == shape_b || !exact && kind(a) < 3 && kind(a) == kind(b))
}

/// Maximum number of layouts of a row group whose pages are decoded.
pub(crate) const MAX_TRIED_LAYOUTS: usize = 64;
