//! Statistics, indexes and bloom filters of a chunk: which of them are kept, and which are left behind.

use marquetry_core::nesting::Signatures;
use marquetry_core::write::EncodedChunk;

/// Metadata that describes the values of a chunk, and by which readers skip them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BesidePages {
    /// Bounds and counts in the footer.
    Statistics,
    /// Sizes and histograms of levels in the footer.
    SizeStatistics,
    /// Byte counts of strings by a writer that is known, by its name, to count in its own way. Copying leaves them out.
    ByteCounts,
    /// Numbers of pages by kind and encoding.
    EncodingStats,
    /// The bounding box of geometries, and their kinds.
    GeospatialStatistics,
    /// Bounds and counts in page headers.
    PageStatistics,
    /// Numbers of rows and nulls in the headers of V2 pages, where they are required.
    PageCounts,
    ColumnIndex,
    /// Made again from the pages.
    OffsetIndex,
    BloomFilter,
}

impl BesidePages {
    /// Returns its name, and what becomes of it.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            BesidePages::Statistics => ("the statistics", "are left out"),
            BesidePages::SizeStatistics => ("the size statistics", "are left out"),
            BesidePages::ByteCounts => ("the counts of the bytes of strings", "are left out"),
            BesidePages::EncodingStats => ("the counts of pages by encoding", "are left out"),
            BesidePages::GeospatialStatistics => ("the geospatial statistics", "are left out"),
            BesidePages::PageStatistics => ("the statistics in headers of pages", "are left out"),
            BesidePages::PageCounts => ("the counts in headers of pages", "are made again"),
            BesidePages::ColumnIndex => ("the column index", "is left out"),
            BesidePages::OffsetIndex => ("the offset index", "is made again"),
            BesidePages::BloomFilter => ("the bloom filter", "is left out"),
        }
    }

    /// Removes it from a copied chunk. What copying itself handles is not in the chunk any more.
    pub(crate) fn remove_from(self, chunk: &mut EncodedChunk) {
        match self {
            BesidePages::Statistics => chunk.metadata.statistics = None,
            BesidePages::SizeStatistics => chunk.metadata.size_statistics = None,
            BesidePages::EncodingStats => chunk.metadata.encoding_stats = None,
            BesidePages::GeospatialStatistics => chunk.metadata.geospatial_statistics = None,
            BesidePages::ColumnIndex => chunk.column_index = None,
            BesidePages::BloomFilter => chunk.bloom_filter = None,
            BesidePages::ByteCounts
            | BesidePages::PageStatistics
            | BesidePages::PageCounts
            | BesidePages::OffsetIndex => {}
        }
    }
}

/// Metadata that is wrong in itself, or that the pages contradict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) what: BesidePages,
    pub(crate) why: String,
    /// Whether the values could be the damaged side. Not if the metadata cannot be read, or is about places of pages,
    /// which headers confirm.
    pub(crate) accuses_values: bool,
}

impl Contradiction {
    /// Returns what else may be wrong, and whether it is certain that only this metadata is. `is_proven`: the values
    /// have right checksums. `is_own`: the schema is the file's own.
    pub(crate) fn verdict(&self, is_proven: bool, is_own: bool) -> (&'static str, bool) {
        match (self.accuses_values, is_proven, is_own) {
            (false, ..) => ("", true),
            _ if self.what == BesidePages::EncodingStats => {
                ("; an encoding in a page's header may be what is wrong: it is in no checksum", false)
            }
            _ if self.what == BesidePages::PageCounts => {
                ("; num_values beside them may be what is wrong: it is in no checksum", false)
            }
            (true, true, _) => ("; the values have right checksums", true),
            (true, false, true) => ("; the values may be what is wrong: they have no checksums", false),
            (true, false, false) => {
                ("; values without checksums, or the order in the schema, may be what is wrong", false)
            }
        }
    }
}

/// The result of decoding all values of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CheckedChunk {
    /// Whether all pages have checksums, and all checksums are right.
    pub(crate) is_proven: bool,
    pub(crate) contradictions: Vec<Contradiction>,
    /// The first value that the schema does not allow.
    pub(crate) forbidden: Option<String>,
    /// Signatures of the column's nesting, to be compared with those of other columns in its groups.
    pub(crate) signatures: Signatures,
}
