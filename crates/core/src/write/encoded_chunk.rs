//! Column chunks on their way into a file, and the checks that they fit the schema.

use super::chunk_bytes::ChunkBytes;
use crate::schema::{Leaf, Schema, physical_type};
use marquetry_base::{Error, Result};
use marquetry_format as format;

/// A column chunk that is ready to be written to a file. All its offsets are relative to its first byte.
///
/// ```
/// use marquetry_core::write::{ChunkBytes, EncodedChunk};
/// use marquetry_format::{ColumnMetaData, OffsetIndex};
/// let chunk = EncodedChunk::new(ChunkBytes::new(), ColumnMetaData::default());
/// let chunk = chunk.with_offset_index(Some(OffsetIndex::default()));
/// assert!(chunk.offset_index.is_some() && chunk.column_index.is_none());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct EncodedChunk {
    /// The pages, or the rest of them.
    pub bytes: ChunkBytes,
    /// Number of bytes of earlier pages, which were [taken](super::ColumnWriter::take_pages) before.
    pub taken: u64,
    /// The metadata for the footer.
    pub metadata: format::ColumnMetaData,
    /// The column index: the bounds of the pages.
    pub column_index: Option<format::ColumnIndex>,
    /// The offset index: the places of the pages.
    pub offset_index: Option<format::OffsetIndex>,
    /// The bloom filter: header and bits.
    pub bloom_filter: Option<Vec<u8>>,
}

impl EncodedChunk {
    /// Creates a chunk of these pages, without indexes and filter.
    pub fn new(bytes: ChunkBytes, metadata: format::ColumnMetaData) -> Self {
        EncodedChunk { bytes, taken: 0, metadata, column_index: None, offset_index: None, bloom_filter: None }
    }

    /// Sets [`column_index`](Self::column_index).
    #[must_use]
    pub fn with_column_index(mut self, column_index: Option<format::ColumnIndex>) -> Self {
        self.column_index = column_index;
        self
    }

    /// Sets [`offset_index`](Self::offset_index).
    #[must_use]
    pub fn with_offset_index(mut self, offset_index: Option<format::OffsetIndex>) -> Self {
        self.offset_index = offset_index;
        self
    }

    /// Sets [`bloom_filter`](Self::bloom_filter).
    #[must_use]
    pub fn with_bloom_filter(mut self, bloom_filter: Option<Vec<u8>>) -> Self {
        self.bloom_filter = bloom_filter;
        self
    }
}

/// Fails if these chunks are not one for each column of `schema`, in order, with `num_rows` rows each: readers would
/// refuse the file.
pub(super) fn check_chunks(schema: &Schema, num_rows: u64, chunks: &[EncodedChunk]) -> Result<()> {
    check_rows(num_rows)?;
    if chunks.len() != schema.num_columns() {
        let (given, columns) = (chunks.len(), schema.num_columns());
        return Err(Error::argument(format!("{given} column chunks for a schema of {columns} columns")));
    }
    for (leaf, chunk) in schema.columns().iter().zip(chunks) {
        check_chunk(leaf, num_rows, 0, chunk)?;
    }
    Ok(())
}

/// Fails if the format cannot count this many rows.
pub(super) fn check_rows(num_rows: u64) -> Result<()> {
    match i64::try_from(num_rows) {
        Err(_) => {
            let message = format!("a row group of {num_rows} rows: the format counts up to 2^63 - 1");
            Err(Error::argument(message))
        }
        Ok(_) => Ok(()),
    }
}

/// Fails if the chunk is not one of this column with `num_rows` rows, or if other bytes than the first `taken` are
/// missing.
pub(super) fn check_chunk(leaf: &Leaf, num_rows: u64, taken: u64, chunk: &EncodedChunk) -> Result<()> {
    check_in_column(leaf, num_rows, taken, chunk).map_err(|error| error.in_column(leaf.dotted().clone()))
}

fn check_in_column(leaf: &Leaf, num_rows: u64, taken: u64, chunk: &EncodedChunk) -> Result<()> {
    let meta = &chunk.metadata;
    if chunk.taken != taken {
        let message = format!("{} bytes of pages were taken, {taken} were appended before", chunk.taken);
        return Err(Error::argument(message));
    }
    if meta.path_in_schema != leaf.path_in_schema() {
        return Err(Error::argument(format!("the chunk is one of column {}", dotted(&meta.path_in_schema))));
    }
    let physical = physical_type(leaf.physical());
    if meta.type_ != physical {
        return Err(Error::argument(format!("the chunk is {}, the schema says {physical}", meta.type_)));
    }
    // Each row of a repeated column has at least one entry.
    let entries = u64::try_from(meta.num_values).unwrap_or(0);
    let fits = if leaf.max_rep() == 0 { entries == num_rows } else { entries >= num_rows };
    if !fits {
        return Err(Error::argument(format!(
            "the chunk has {entries} entries, the row group {num_rows} rows"
        )));
    }
    let last = chunk.offset_index.as_ref().and_then(|index| index.page_locations.last());
    match last.filter(|page| !u64::try_from(page.first_row_index).is_ok_and(|row| row <= num_rows)) {
        Some(page) => Err(Error::argument(format!(
            "the chunk has a page that begins with row {}, the row group has {num_rows} rows",
            page.first_row_index
        ))),
        None => Ok(()),
    }
}

fn dotted(path: &[format::ThriftString]) -> String {
    path.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".")
}
