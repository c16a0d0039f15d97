//! The files that are read.

use crate::failure::Failure;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::Error;
use marquetry::file::Source;
use marquetry::file::metadata::ParquetMetaData;
use marquetry_core::write::copy::{CopiedChunk, CopySettings, copy_chunk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that chunks come from.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) metadata: Arc<ParquetMetaData>,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file: OpenFile = marquetry::open(path)?;
        let metadata = file.metadata().clone();
        Ok(Input { path: path.to_owned(), source: file.into_source()?, metadata })
    }

    /// The chunk of a column, copied.
    pub(crate) fn copy(
        &self,
        row_group: usize,
        leaf: usize,
        settings: &CopySettings,
    ) -> Result<CopiedChunk, Failure> {
        let copied = copy_chunk(&self.source, &self.metadata, row_group, leaf, settings);
        Ok(copied.map_err(|error| error.in_file(self.name()))?)
    }

    /// The path as text.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Bytes of a column in all row groups. Sizes that make no sense count as nothing.
    pub(crate) fn compressed_size(&self, leaf: usize) -> u64 {
        let sizes = self.metadata.row_groups().map(|group| {
            let size = group.column(leaf).map_or(0, |chunk| chunk.compressed_size());
            u64::try_from(size).unwrap_or(0)
        });
        sizes.fold(0, u64::saturating_add)
    }
}
