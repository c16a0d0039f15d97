//! Input files whose chunks are copied or encoded again.

use crate::caller;
use crate::failure::Failure;
use crate::file_name;
use arrow_schema::DataType;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ChunkReader};
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, parse_stored_schema};
use marquetry::errors::Error;
use marquetry::file::Source;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::properties::Compat;
use marquetry::metrics::ReadCounters;
use marquetry_core::source::MeteredSource;
use marquetry_core::write::copy::{CopiedChunk, CopySettings, copy_chunk};
use marquetry_inspect::ColumnSource;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file whose chunks are copied or encoded again.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) source: Arc<dyn Source>,
    /// Counters of what is read.
    pub(crate) counters: Arc<ReadCounters>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// Which readers must support what is encoded again.
    pub(crate) compat: Compat,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Input::new(path, crate::remote::open(path)?)
    }

    /// Opens a plaintext file, though keys were given.
    pub(crate) fn open_plain(path: &Path) -> Result<Self, Error> {
        Input::new(path, crate::remote::open_with_options(path, ArrowReaderOptions::new())?)
    }

    /// A file that is open.
    pub(crate) fn new(path: &Path, file: OpenFile) -> Result<Self, Error> {
        let metadata = file.metadata().clone();
        let compat = compat(&metadata);
        let counters = Arc::<ReadCounters>::default();
        let source = Arc::new(MeteredSource::new(caller::cancellable(file.into_source()?), counters.clone()));
        Ok(Input { path: path.to_owned(), source, counters, metadata, compat })
    }

    /// The source for decoding columns.
    pub(crate) fn columns(&self) -> ColumnSource {
        ColumnSource::new(self.source.clone(), self.metadata.clone()).with_counters(self.counters.clone())
    }

    /// Copies a chunk.
    pub(crate) fn copy(
        &self,
        row_group: usize,
        leaf: usize,
        settings: &CopySettings,
    ) -> Result<CopiedChunk, Failure> {
        let copied = copy_chunk(&self.source, &self.metadata, row_group, leaf, settings);
        Ok(copied.map_err(|error| error.in_file(self.name()))?)
    }

    /// The path for display.
    pub(crate) fn name(&self) -> String {
        file_name::shown(&self.path)
    }

    /// Compressed bytes of a column in all row groups. Invalid sizes count as zero.
    pub(crate) fn compressed_size(&self, leaf: usize) -> u64 {
        let sizes = self.metadata.row_groups().map(|group| {
            let size = group.column(leaf).map_or(0, |chunk| chunk.compressed_size());
            u64::try_from(size).unwrap_or(0)
        });
        sizes.fold(0, u64::saturating_add)
    }
}

/// QUIRK: pyarrow reads columns that are dictionaries in the stored Arrow schema only from PLAIN and dictionary pages.
fn compat(metadata: &ParquetMetaData) -> Compat {
    let arrow = metadata.value_of(ARROW_SCHEMA_META_KEY).and_then(|text| parse_stored_schema(&text));
    let is_dictionary = |data_type: &DataType| matches!(data_type, DataType::Dictionary(..));
    match arrow
        .is_some_and(|arrow| arrow.flattened_fields().iter().any(|field| is_dictionary(field.data_type())))
    {
        true => Compat::Maximum,
        false => Compat::default(),
    }
}
