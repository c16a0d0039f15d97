//! A column chunk on its way from the thread that made it to the file.

use super::held_memory::HeldMemory;
use marquetry_core::write::{EncodedChunk, EncodingDecision};
use marquetry_format::ColumnMetaData;

/// A finished column chunk, and how many rows it has: from an [`ArrowColumnWriter`](super::ArrowColumnWriter), or from
/// [parts](Self::from_parts).
#[derive(Debug)]
pub struct ArrowColumnChunk {
    chunk: EncodedChunk,
    rows: u64,
    decision: EncodingDecision,
    /// That of its pages, if an [`ArrowColumnWriter`](super::ArrowColumnWriter) has made them.
    memory: Option<HeldMemory>,
}

impl ArrowColumnChunk {
    pub(super) fn new(
        chunk: EncodedChunk,
        rows: u64,
        decision: EncodingDecision,
        memory: HeldMemory,
    ) -> Self {
        ArrowColumnChunk { chunk, rows, decision, memory: Some(memory) }
    }

    /// A chunk of so many rows that was made elsewhere: by a [`ColumnWriter`](marquetry_core::write::ColumnWriter) of the core crate, or
    /// [copied](marquetry_core::write::copy::copy_chunk).
    pub fn from_parts(chunk: EncodedChunk, rows: u64) -> Self {
        ArrowColumnChunk { chunk, rows, decision: EncodingDecision::default(), memory: None }
    }

    /// The chunk, and how many rows it has.
    pub fn into_parts(self) -> (EncodedChunk, u64) {
        (self.chunk, self.rows)
    }

    /// The chunk, how its encoding was chosen, and the memory that it has until it is in the file.
    pub(super) fn into_all(self) -> (EncodedChunk, EncodingDecision, Option<HeldMemory>) {
        (self.chunk, self.decision, self.memory)
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What the footer will say of it; offsets count from its first byte.
    pub fn metadata(&self) -> &ColumnMetaData {
        &self.chunk.metadata
    }

    /// Bytes of its pages.
    pub fn compressed_size(&self) -> u64 {
        self.chunk.bytes.len()
    }

    /// How its encoding was chosen.
    pub fn decision(&self) -> &EncodingDecision {
        &self.decision
    }
}
