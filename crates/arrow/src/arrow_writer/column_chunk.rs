//! A column chunk on its way from the thread that made it to the file.

use super::held_memory::HeldMemory;
use marquetry_core::schema::Leaf;
use marquetry_core::write::{EncodedChunk, EncodingDecision};
use marquetry_format::ColumnMetaData;

/// A finished column chunk, and its number of rows: from an [`ArrowColumnWriter`](super::ArrowColumnWriter), or from
/// [parts](Self::from_parts).
#[derive(Debug)]
pub struct ArrowColumnChunk {
    chunk: EncodedChunk,
    rows: u64,
    decision: EncodingDecision,
    /// The column that the chunk was made for, and the memory of its pages. Set if an
    /// [`ArrowColumnWriter`](super::ArrowColumnWriter) made it.
    made_for: Option<(Leaf, HeldMemory)>,
}

impl ArrowColumnChunk {
    pub(super) fn new(
        chunk: EncodedChunk,
        rows: u64,
        decision: EncodingDecision,
        leaf: Leaf,
        memory: HeldMemory,
    ) -> Self {
        ArrowColumnChunk { chunk, rows, decision, made_for: Some((leaf, memory)) }
    }

    /// Creates a chunk of `rows` rows that was made elsewhere: by a
    /// [`ColumnWriter`](marquetry_core::write::ColumnWriter) of the core crate, or by
    /// [copying](marquetry_core::write::copy::copy_chunk).
    pub fn from_parts(chunk: EncodedChunk, rows: u64) -> Self {
        ArrowColumnChunk { chunk, rows, decision: EncodingDecision::default(), made_for: None }
    }

    /// Returns the chunk and its number of rows.
    pub fn into_parts(self) -> (EncodedChunk, u64) {
        (self.chunk, self.rows)
    }

    /// Returns the chunk, how its encoding was chosen, and the memory that it holds until it is in the file.
    pub(super) fn into_all(self) -> (EncodedChunk, EncodingDecision, Option<HeldMemory>) {
        (self.chunk, self.decision, self.made_for.map(|(_, memory)| memory))
    }

    /// Returns whether the levels and the type of its pages fit this column, as far as they are known: the footer does
    /// not state levels.
    pub(super) fn fits(&self, leaf: &Leaf) -> bool {
        self.made_for.as_ref().is_none_or(|(made, _)| {
            (made.max_def(), made.max_rep()) == (leaf.max_def(), leaf.max_rep())
                && (made.physical(), made.logical()) == (leaf.physical(), leaf.logical())
        })
    }

    /// Returns how many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the metadata for the footer. Offsets count from the chunk's first byte.
    pub fn metadata(&self) -> &ColumnMetaData {
        &self.chunk.metadata
    }

    /// Returns the size of its pages, in bytes.
    pub fn compressed_size(&self) -> u64 {
        self.chunk.bytes.len()
    }

    /// Returns how its encoding was chosen.
    pub fn decision(&self) -> &EncodingDecision {
        &self.decision
    }
}
