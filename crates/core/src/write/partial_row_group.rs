//! The metadata of a row group whose chunks are still being written.

use marquetry_base::Error;
use marquetry_format as format;

/// A row group that has only some of its chunks.
#[derive(Debug)]
pub(super) struct PartialRowGroup {
    pub(super) num_rows: u64,
    /// The file's position where it begins.
    pub(super) start: u64,
    /// Where the next chunk begins and how many bytes of it are there, if it came in parts.
    pub(super) part: Option<(u64, u64)>,
    pub(super) columns: Vec<format::ColumnChunk>,
    pub(super) indexes: Vec<Indexes>,
}

/// The indexes of one chunk.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    pub(super) column: Option<format::ColumnIndex>,
    pub(super) offset: Option<format::OffsetIndex>,
    pub(super) bloom_filter: Option<Vec<u8>>,
}

impl PartialRowGroup {
    #[cold]
    pub(super) fn unfinished(&self, ordinal: usize) -> Error {
        let message = format!("the row group is not finished: it has {} chunks", self.columns.len());
        Error::argument(message).in_row_group(ordinal)
    }
}
