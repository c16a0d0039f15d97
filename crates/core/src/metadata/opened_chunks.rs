//! A cache of decrypted column metadata, for chunks whose metadata the footer holds encrypted.

use bytes::Bytes;
use marquetry_base::Result;
use marquetry_format::{ColumnChunk, Writer};
use std::sync::{Arc, OnceLock};

/// For each row group and each place in it, the bytes of the chunk with decrypted metadata, once it was needed.
#[derive(Clone, Default)]
pub(super) struct OpenedChunks(Arc<[Box<[OnceLock<Bytes>]>]>);

impl OpenedChunks {
    /// Creates an empty cache for row groups with these numbers of chunks.
    pub(super) fn new(chunks: impl Iterator<Item = usize>) -> Self {
        OpenedChunks(chunks.map(|count| (0..count).map(|_| OnceLock::new()).collect()).collect())
    }

    /// Returns the bytes of a chunk, which `open` makes at the first call; `None` if `open` returns `None`.
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
