//! A file whose rows are compared.

use super::row_hash::{add_column, hashes};
use super::row_sink::RowSink;
use arrow_array::{Array, RecordBatch};
use arrow_select::concat::concat_batches;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use marquetry_base::{Error, ErrorKind, Result, SharedExecutor};
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// A file whose rows are compared with those of another one.
#[derive(Clone)]
pub struct DiffFile {
    source: Arc<dyn Source>,
    pub(crate) metadata: ArrowReaderMetadata,
}

impl DiffFile {
    /// Reads the footer. What `options` say of text, time zones and damage counts.
    pub fn open(source: Arc<dyn Source>, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load(source.clone(), options)?;
        Ok(DiffFile { source, metadata })
    }

    /// The footer.
    pub fn metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    fn builder(&self, columns: &[String]) -> Result<ParquetRecordBatchReaderBuilder<Arc<dyn Source>>> {
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_metadata(
            self.source.clone(),
            self.metadata.clone(),
        )?;
        builder.with_columns(columns.iter().cloned())
    }

    /// The rows of these numbers, which ascend, with these columns.
    pub fn rows_at(&self, rows: &[u64], columns: &[String]) -> Result<RecordBatch> {
        let total = self.metadata.metadata().num_rows() as usize;
        let ranges = rows.iter().map(|row| *row as usize..*row as usize + 1);
        let selection = RowSelection::from_consecutive_ranges(ranges, total);
        let mut reader = self.builder(columns)?.with_row_selection(selection).build()?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.next_batch() {
            batches.push(batch?);
        }
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        concat_batches(&schema, &batches).map_err(|error| {
            Error::caused_by(ErrorKind::Corrupt, "rows of several batches do not fit together", error)
        })
    }

    pub(crate) fn reader(
        &self,
        columns: &[String],
        threads: usize,
        executor: &SharedExecutor,
    ) -> Result<ParquetRecordBatchReader> {
        self.builder(columns)?.with_threads(threads).with_shared_executor(executor.clone()).build()
    }

    /// The same of some rows, which begin with a row group.
    pub(crate) fn rows(
        &self,
        columns: &[String],
        rows: Range<u64>,
        threads: usize,
        executor: &SharedExecutor,
    ) -> Result<ParquetRecordBatchReader> {
        let (mut groups, mut first) = (Vec::new(), 0u64);
        for group in self.metadata.metadata().row_groups() {
            if rows.contains(&first) && group.num_rows() > 0 {
                groups.push(group.index());
            }
            first = first.saturating_add(group.num_rows());
        }
        let builder = self.builder(columns)?.with_row_groups(groups).with_batch_size(BATCH_ROWS);
        builder.with_threads(threads).with_shared_executor(executor.clone()).build()
    }

    /// Logs a hash of each row, and of its key if there is any.
    pub(crate) fn scan<L: RowSink>(
        &self,
        mut reader: ParquetRecordBatchReader,
        key: &[String],
        mut log: L,
    ) -> Result<L> {
        while let Some(batch) = reader.next_batch() {
            let (keys, rows) = DiffFile::hashes(&batch?, key);
            log.add(&keys, &rows)?;
        }
        Ok(log)
    }

    /// Hashes of the rows of a batch: of their keys, if there are any, and of all values.
    pub(crate) fn hashes(batch: &RecordBatch, key: &[String]) -> (Vec<u64>, Vec<u64>) {
        let keys = match key {
            [] => Vec::new(),
            key => row_hashes(batch, |name| key.iter().any(|key| key == name)),
        };
        (keys, row_hashes(batch, |_| true))
    }
}

/// Hashes of the rows of a batch, by those of its columns that are wanted.
fn row_hashes(batch: &RecordBatch, is_wanted: impl Fn(&str) -> bool) -> Vec<u64> {
    let mut rows = vec![0; batch.num_rows()];
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if is_wanted(field.name()) {
            add_column(&mut rows, column);
        }
    }
    rows
}

/// The hashes of each column, by its name.
pub(crate) fn column_hashes(batch: &RecordBatch) -> Vec<(String, Vec<u64>)> {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    fields
        .map(|(field, column): (_, &arrow_array::ArrayRef)| {
            (field.name().clone(), hashes(column.as_ref() as &dyn Array))
        })
        .collect()
}

/// Rows that are hashed at once: what they take stays in the processor's caches.
const BATCH_ROWS: usize = 8_192;
