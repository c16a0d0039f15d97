//! Statistics, indexes and bloom filters of a chunk: which of them are kept, and which are left behind.

use marquetry_core::nesting::Signatures;
use marquetry_core::write::EncodedChunk;

/// Something that is said of a chunk beside its pages. Readers skip by it what it says is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BesidePages {
    /// Bounds and counts in the footer.
    Statistics,
    /// Sizes and histograms of levels in the footer.
    SizeStatistics,
    /// The bytes of strings, which the writer counts in its own way and is known for by its name. Copying leaves them out.
    ByteCounts,
    /// How many pages there are of each kind and encoding.
    EncodingStats,
    /// The box around geometries, and their kinds.
    GeospatialStatistics,
    /// Bounds and counts in the headers of pages.
    PageStatistics,
    /// Numbers of rows and nulls in the headers of V2 pages, which must be there.
    PageCounts,
    ColumnIndex,
    /// It is made again from the pages.
    OffsetIndex,
    BloomFilter,
}

impl BesidePages {
    /// Its name, and what becomes of it.
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

    /// Takes it away from a chunk that was copied. What copying itself has to know is not in the chunk any more.
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

/// Something beside the pages that is wrong, or that the pages contradict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) what: BesidePages,
    pub(crate) why: String,
    /// Whether the values could be what is damaged. Not if it cannot be read, or is about places of pages, which headers confirm.
    pub(crate) accuses_values: bool,
}

impl Contradiction {
    /// What else may be wrong, and whether it is certain that only this is. `is_proven`: the values have right checksums. `is_own`:
    /// the schema is the file's.
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

/// What is known of a chunk whose values were all decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CheckedChunk {
    /// Whether all pages have checksums, which are right.
    pub(crate) is_proven: bool,
    pub(crate) contradictions: Vec<Contradiction>,
    /// The first value that the schema does not allow.
    pub(crate) forbidden: Option<String>,
    /// How the column is nested, to be compared with others of its groups.
    pub(crate) signatures: Signatures,
}
