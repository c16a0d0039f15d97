//! Row groups as they may be, and as they were put together.

use crate::schema::Leaf;
use marquetry_base::Result;
use marquetry_encoding::PhysicalType;
use marquetry_format::ColumnMetaData;
use std::ops::Range;

/// A way to cut pages into the chunks of a row group.
#[derive(Debug)]
pub(super) struct GroupLayout {
    /// The pages of each chunk.
    pub(super) chunks: Vec<Range<usize>>,
    /// The rows of each chunk.
    pub(super) rows: u64,
    /// How many of the chunks end as writers end them.
    pub(super) natural: usize,
}

/// How chunks are cut into pages: the more regular, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PageSplit {
    Irregular,
    /// All pages but the last of a chunk have as many values.
    Even,
    /// And the last one has no more.
    ShorterLast,
}

/// A row group that was put together.
#[derive(Debug)]
pub(super) struct RebuiltGroup {
    pub(super) rows: u64,
    /// Of each column; `Err` tells why it is not there.
    pub(super) chunks: Vec<Result<ColumnMetaData>>,
    pub(super) bytes: Range<u64>,
    /// Whether all pages have a checksum.
    pub(super) is_proven: bool,
    /// Whether the ends of chunks were chosen among several.
    pub(super) is_chosen: bool,
    /// Whether what is before it is known, too.
    pub(super) is_anchored: bool,
    /// How many pages.
    pub(super) pages: usize,
}

/// Pages that are in no row group, and why.
#[derive(Debug)]
pub(super) struct OrphanPages {
    pub(super) bytes: Range<u64>,
    pub(super) pages: usize,
    pub(super) why: &'static str,
}

/// Whether pages of one column can be read as if they were of the other. PLAIN ones, which are `exact`, fill their page
/// with values of one width only; delta encodings are the same for both integers, and for byte strings of any length.
pub(super) fn is_like(a: &Leaf, b: &Leaf, exact: bool) -> bool {
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

/// Layouts of a row group whose pages are decoded.
pub(super) const MAX_TRIED_LAYOUTS: usize = 8;
