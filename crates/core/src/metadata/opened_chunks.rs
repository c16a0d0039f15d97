//! Decrypted column metadata: chunks whose metadata the footer holds encrypted, once they were opened.

use bytes::Bytes;
use marquetry_base::Result;
use marquetry_format::{ColumnChunk, Writer};
use std::sync::{Arc, OnceLock};

/// For each row group and each place in it the chunk with its metadata in plain form, if it was asked for.
#[derive(Clone, Default)]
pub(super) struct OpenedChunks(Arc<[Box<[OnceLock<Bytes>]>]>);

impl OpenedChunks {
    /// None was opened of row groups of so many chunks.
    pub(super) fn new(chunks: impl Iterator<Item = usize>) -> Self {
        OpenedChunks(chunks.map(|count| (0..count).map(|_| OnceLock::new()).collect()).collect())
    }

    /// The bytes of a chunk that `open` makes unless it was opened before; `None` if `open` has none.
    pub(super) fn get(
        &self,
        row_group: usize,
        place: usize,
        open: impl FnOnce() -> Result<Option<ColumnChunk>>,
    ) -> Result<Option<&Bytes>> {
        let Some(chunk) = self.0.get(row_group).and_then(|group| group.get(place)) else { return Ok(None) };
        if let Some(opened) = chunk.get() {
            return Ok(Some(opened));
        }
        let Some(opened) = open()? else { return Ok(None) };
        let mut writer = Writer::new();
        opened.write(&mut writer);
        Ok(Some(chunk.get_or_init(|| writer.finish().into())))
    }

    pub(super) fn memory_size(&self) -> usize {
        let chunks = self.0.iter().flatten();
        chunks.map(|chunk| size_of::<OnceLock<Bytes>>() + chunk.get().map_or(0, Bytes::len)).sum()
    }
}
