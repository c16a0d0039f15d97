//! A row group of a stream that its owner decodes, on any thread.

use super::row_group::FetchedRowGroup;
use crate::arrow_reader::LossReport;
use crate::evolution::BatchAdapter;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use marquetry_base::Result;
use std::sync::Arc;

/// Reads the selected rows of a row group whose bytes were fetched: see
/// [`next_row_group`](super::ParquetRecordBatchStream::next_row_group). It never waits for input.
///
/// After an error it ends. If the pages are not where the footer says, it fails with an error of the kind
/// [`Unsupported`](marquetry_base::ErrorKind::Unsupported): only the stream itself could fetch them.
pub struct RowGroupReader {
    group: FetchedRowGroup,
    rows: Option<u64>,
    schema: SchemaRef,
    adapter: Option<Arc<BatchAdapter>>,
    is_over: bool,
}

impl RowGroupReader {
    pub(super) fn new(group: FetchedRowGroup, schema: SchemaRef, adapter: Option<Arc<BatchAdapter>>) -> Self {
        RowGroupReader { rows: group.rows_left(), group, schema, adapter, is_over: false }
    }

    /// Returns its number in the file.
    pub fn row_group(&self) -> usize {
        self.group.row_group()
    }

    /// Returns how many rows it has; `None` if that is known only after reading, where damage is not an error.
    pub fn num_rows(&self) -> Option<u64> {
        self.rows
    }

    /// Returns what could not be read so far; complete after the last batch. The stream's report does not include it.
    pub fn loss_report(&self) -> LossReport {
        self.group.loss_report()
    }

    /// Returns the next batch; `None` after the last.
    pub fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        if self.is_over {
            return None;
        }
        let batch = self.group.next_batch()?;
        let batch = match &self.adapter {
            Some(adapter) => batch.and_then(|batch| adapter.batch(&batch)),
            None => batch,
        };
        self.is_over = batch.is_err();
        Some(batch)
    }
}

impl Iterator for RowGroupReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_batch()?.map_err(ArrowError::from))
    }
}

impl RecordBatchReader for RowGroupReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
