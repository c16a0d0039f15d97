//! The metadata of a row group whose chunks are still being written.

use marquetry_base::Error;
use marquetry_format as format;

/// A row group of which only some chunks were written.
#[derive(Debug)]
pub(super) struct PartialRowGroup {
    pub(super) num_rows: u64,
    /// The file's position at the beginning of the row group.
    pub(super) start: u64,
    /// Offset of the next chunk, and how many bytes of it were written, if it comes in parts.
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
