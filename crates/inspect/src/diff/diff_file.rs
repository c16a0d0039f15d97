//! A file whose rows are compared.

use super::row_hash::{add_column, hashes};
use super::row_sink::RowSink;
use crate::columns::{with_types, with_wide_keys};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use marquetry_base::{Error, ErrorKind, Result, SharedExecutor};
use marquetry_core::source::Source;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A file whose rows are compared with those of another one.
#[derive(Clone)]
pub struct DiffFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) metadata: ArrowReaderMetadata,
    pub(crate) options: ArrowReaderOptions,
    /// The types that columns are read as, by path.
    pub(crate) types: HashMap<String, DataType>,
    name: Option<Arc<str>>,
}

impl DiffFile {
    /// Reads the footer. The `options` on text, time zones, INT96 and damage apply.
    pub fn open(source: Arc<dyn Source>, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load(source.clone(), options.clone())?;
        let (metadata, types) = with_wide_keys(metadata, &options)?;
        Ok(DiffFile { source, metadata, options, types, name: None })
    }

    /// Returns the file read with other options, and with some columns as other types.
    pub(super) fn read_as(
        &self,
        options: ArrowReaderOptions,
        changed: HashMap<String, DataType>,
    ) -> Result<Self> {
        let mut types = self.types.clone();
        types.extend(changed);
        let metadata = self.metadata.with_options(with_types(options.clone(), types.clone()));
        let metadata = metadata.map_err(|error| self.named(error))?;
        Ok(DiffFile { metadata, options, types, ..self.clone() })
    }

    /// Names the file in errors of reading it.
    #[must_use]
    pub fn with_name(self, name: impl Into<Arc<str>>) -> Self {
        DiffFile { name: Some(name.into()), ..self }
    }

    /// Adds the name of the file, if it has one, to an error.
    pub(crate) fn named(&self, error: Error) -> Error {
        match &self.name {
            Some(name) => error.in_file(name.clone()),
            None => error,
        }
    }

    /// The footer.
    pub fn metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    fn builder(&self, columns: &[String]) -> Result<Builder> {
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_metadata(
            self.source.clone(),
            self.metadata.clone(),
        )?;
        builder.with_columns(columns.iter().cloned())
    }

    /// Reads the rows with these ascending numbers, with these columns.
    pub fn rows_at(&self, rows: &[u64], columns: &[String]) -> Result<RecordBatch> {
        self.read_at(rows, columns).map_err(|error| self.named(error))
    }

    fn read_at(&self, rows: &[u64], columns: &[String]) -> Result<RecordBatch> {
        let total = self.metadata.metadata().num_rows() as usize;
        let ranges = rows.iter().map(|row| *row as usize..*row as usize + 1);
        let selection = RowSelection::from_consecutive_ranges(ranges, total);
        let mut reader = self.builder(columns)?.with_row_selection(selection).build()?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.next_batch() {
            batches.push(batch?);
        }
        let schema = reader.schema();
        concat_batches(&schema, &batches).map_err(|error| {
            Error::caused_by(ErrorKind::Corrupt, "rows of several batches do not fit together", error)
        })
    }

    pub(crate) fn reader(
        &self,
        columns: &[String],
        threads: usize,
        executor: &SharedExecutor,
    ) -> Result<FileRows> {
        let reader = self
            .builder(columns)
            .and_then(|builder| builder.with_threads(threads).with_shared_executor(executor.clone()).build());
        self.file_rows(reader)
    }

    fn file_rows(&self, reader: Result<ParquetRecordBatchReader>) -> Result<FileRows> {
        let reader = reader.map_err(|error| self.named(error))?;
        Ok(FileRows { reader, file: self.clone() })
    }

    /// Reads some rows, which begin with a row group.
    pub(crate) fn rows(
        &self,
        columns: &[String],
        rows: Range<u64>,
        threads: usize,
        executor: &SharedExecutor,
    ) -> Result<FileRows> {
        let (mut groups, mut first) = (Vec::new(), 0u64);
        for group in self.metadata.metadata().row_groups() {
            if rows.contains(&first) && group.num_rows() > 0 {
                groups.push(group.index());
            }
            first = first.saturating_add(group.num_rows());
        }
        let reader = self.builder(columns).and_then(|builder| {
            let builder = builder.with_row_groups(groups).with_batch_size(BATCH_ROWS);
            builder.with_threads(threads).with_shared_executor(executor.clone()).build()
        });
        self.file_rows(reader)
    }

    /// Logs a hash of each row, and of its key if there is one.
    pub(crate) fn scan<L: RowSink>(&self, mut reader: FileRows, key: &[String], mut log: L) -> Result<L> {
        while let Some(batch) = reader.next_batch() {
            let (keys, rows) = DiffFile::hashes(&batch?, key);
            log.add(&keys, &rows)?;
        }
        Ok(log)
    }

    /// Returns hashes of the rows of a batch: of their keys, if there are any, and of all values.
    pub(crate) fn hashes(batch: &RecordBatch, key: &[String]) -> (Vec<u64>, Vec<u64>) {
        let keys = match key {
            [] => Vec::new(),
            key => row_hashes(batch, |name| key.iter().any(|key| key == name)),
        };
        (keys, row_hashes(batch, |_| true))
    }
}

type Builder = ParquetRecordBatchReaderBuilder<Arc<dyn Source>>;

/// The rows of a file while they are read.
pub(crate) struct FileRows {
    reader: ParquetRecordBatchReader,
    file: DiffFile,
}

impl FileRows {
    pub(crate) fn schema(&self) -> SchemaRef {
        RecordBatchReader::schema(&self.reader)
    }

    /// Returns the next rows. Errors name the file.
    pub(crate) fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.reader.next_batch()?.map_err(|error| self.file.named(error)))
    }
}

/// Returns hashes of the rows of a batch, over those of its columns that are wanted.
fn row_hashes(batch: &RecordBatch, is_wanted: impl Fn(&str) -> bool) -> Vec<u64> {
    let mut rows = vec![0; batch.num_rows()];
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if is_wanted(field.name()) {
            add_column(&mut rows, column);
        }
    }
    rows
}

/// Returns the hashes of each column, by its name.
pub(crate) fn column_hashes(batch: &RecordBatch) -> Vec<(String, Vec<u64>)> {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    fields
        .map(|(field, column): (_, &arrow_array::ArrayRef)| {
            (field.name().clone(), hashes(column.as_ref() as &dyn Array))
        })
        .collect()
}

/// Number of rows that are hashed at once, so that they stay in the processor's caches.
const BATCH_ROWS: usize = 8_192;
