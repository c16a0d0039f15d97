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

/// A file that chunks come from.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) source: Arc<dyn Source>,
    /// What is read of it is counted there.
    pub(crate) counters: Arc<ReadCounters>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// Which readers must be able to read what is encoded again.
    pub(crate) compat: Compat,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Input::new(path, crate::remote::open(path)?)
    }

    /// One that is not encrypted, though keys were given.
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

    /// As what decodes columns wants it.
    pub(crate) fn columns(&self) -> ColumnSource {
        ColumnSource::new(self.source.clone(), self.metadata.clone()).with_counters(self.counters.clone())
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
        file_name::shown(&self.path)
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

/// QUIRK: pyarrow reads columns that the stored Arrow schema has as dictionaries from PLAIN and dictionary pages only.
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
