//! The opened file: its metadata, and readers of its pages.

use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_base::{Limits, Result};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::page::{PageBuffers, PageOptions, PageReader};
use marquetry_core::source::Source;
use std::sync::Arc;

/// A file whose footer was read.
pub struct OpenedFile {
    pub(crate) name: String,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) opened: ArrowReaderMetadata,
    limits: Arc<Limits>,
}

impl OpenedFile {
    /// A file that is called `name` on the screen. `limits` are for reading its pages; a cancelled read shows as an
    /// error in its place.
    pub fn new(
        name: impl Into<String>,
        source: Arc<dyn Source>,
        opened: ArrowReaderMetadata,
        limits: Limits,
    ) -> Self {
        OpenedFile { name: name.into(), source, opened, limits: Arc::new(limits) }
    }

    pub(crate) fn metadata(&self) -> &ParquetMetaData {
        self.opened.metadata()
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    pub(crate) fn chunk(&self, row_group: usize, column: usize) -> Result<ColumnChunk<'_>> {
        self.metadata().row_group(row_group).column(column)
    }

    /// The pages of a chunk. Wrong checksums do not fail: they are compared when a page is shown, as a damaged page is
    /// worth a look.
    pub(crate) fn pages(&self, row_group: usize, column: usize) -> Result<PageReader> {
        let options = PageOptions::for_writer(self.metadata().created_by())
            .with_limits(self.limits.clone())
            .with_checksum_verification(false);
        PageReader::new(self.source.clone(), self.chunk(row_group, column)?, options, PageBuffers::default())
    }

    /// The dotted path of a column, as shown.
    pub(crate) fn column_name(&self, column: usize) -> String {
        crate::text::shown(self.metadata().schema().column(column).dotted())
    }
}
