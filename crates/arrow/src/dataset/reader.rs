//! Reads the rows of a dataset, one file after the other.

use super::Dataset;
use super::file_pruning::{rest_in_file, rest_of_file};
use super::filter::Rest;
use super::schema::Plan;
use crate::arrow_reader::{LossReport, ParquetRecordBatchReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_core::metrics::{ReadCounters, ReadMetrics};
use marquetry_core::source::Source;
use std::path::Path;
use std::sync::Arc;

/// Reads files as one table, batch by batch. Each batch has rows of one file, and one file is open at a time.
///
/// After an error the reader ends.
#[must_use = "batches are read as they are asked for"]
pub struct DatasetReader {
    dataset: Dataset,
    plan: Plan,
    schema: SchemaRef,
    /// The next file to open.
    next: usize,
    open: Option<OpenFile>,
    /// Rows still to be skipped, and still to be returned.
    offset: usize,
    left: usize,
    losses: Vec<(Arc<str>, LossReport)>,
    counters: Arc<ReadCounters>,
}

/// The file that is being read.
struct OpenFile {
    name: Arc<str>,
    source: Arc<dyn Source>,
    reader: ParquetRecordBatchReader,
}

impl Dataset {
    /// Returns a reader of the rows. Fails if a column does not exist, or if the files can have no schema in common.
    pub fn batches(self) -> Result<DatasetReader> {
        DatasetReader::new(self)
    }
}

impl DatasetReader {
    pub(super) fn new(dataset: Dataset) -> Result<Self> {
        let plan = dataset.plan()?;
        let schema = plan.schema(&dataset.choice);
        let (offset, left) = (dataset.choice.offset, dataset.choice.limit.unwrap_or(usize::MAX));
        Ok(DatasetReader {
            dataset,
            plan,
            schema,
            next: 0,
            open: None,
            offset,
            left,
            losses: Vec::new(),
            counters: Arc::default(),
        })
    }

    /// Returns the next batch; `None` after the last. Errors name the file.
    pub fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        let batch = self.advance().transpose();
        self.left = match &batch {
            Some(Ok(batch)) => self.left - batch.num_rows(),
            _ => 0,
        };
        batch
    }

    /// Returns what could not be read so far, by file; complete after the last batch. A file without losses has an empty report.
    pub fn loss_reports(&self) -> Vec<(Arc<str>, LossReport)> {
        let open = self.open.iter().map(|open| (open.name.clone(), open.reader.loss_report()));
        self.losses.iter().cloned().chain(open).collect()
    }

    /// Returns what was read, skipped and spent so far, for all files, without their footers.
    pub fn metrics(&self) -> ReadMetrics {
        self.counters.snapshot()
    }

    /// Returns the open file: that of the last batch or error.
    pub fn file(&self) -> Option<&str> {
        self.open.as_ref().map(|open| &*open.name)
    }

    /// Returns its path, as in [`Dataset::files`].
    pub fn path(&self) -> Option<&Path> {
        let file = self.dataset.choice.files.get(self.next.checked_sub(1)?)?;
        self.open.as_ref().map(|_| file.path.as_path())
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while self.left > 0 {
            if let Some(open) = &mut self.open
                && let Some(batch) = open.reader.next_batch()
            {
                let batch = batch.map_err(|error| error.in_file(open.name.clone()))?;
                // Only rows that pass the filter count, so no file was told to skip any.
                let passed = self.offset.min(batch.num_rows());
                self.offset -= passed;
                if passed < batch.num_rows() {
                    let rows = self.left.min(batch.num_rows() - passed);
                    return Ok(Some(batch.slice(passed, rows)));
                }
                continue;
            }
            self.close()?;
            if !self.open_next()? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn close(&mut self) -> Result<()> {
        let Some(OpenFile { name, source, reader }) = self.open.take() else { return Ok(()) };
        self.losses.push((name, reader.loss_report()));
        // The table keeps the file open, but not what was prefetched from it.
        source.prefetch(&[])
    }

    /// Opens the next file that may have a matching row. Returns whether there is one.
    fn open_next(&mut self) -> Result<bool> {
        let choice = &self.dataset.choice;
        while let Some(file) = choice.files.get(self.next) {
            self.next += 1;
            let name = file.name();
            let in_file = |error: Error| error.in_file(name.clone());
            let evolution = self.plan.of(file).map_err(in_file)?;
            let rest = rest_of_file(&self.plan, file).map_err(in_file)?;
            if rest == Rest::None {
                continue;
            }
            let mut builder = self.dataset.builder(file)?.counted_by(self.counters.clone());
            if let Some(rows) = choice.batch_size {
                builder = builder.with_batch_size(rows);
            }
            let builder = match rest_in_file(rest, &self.plan, builder.arrow_metadata()).map_err(in_file)? {
                Rest::None => continue,
                Rest::Some(predicate) => {
                    builder.with_predicate(predicate).with_limit(self.offset.saturating_add(self.left))
                }
                Rest::All => {
                    let rows = usize::try_from(builder.chosen_rows()).unwrap_or(usize::MAX);
                    let passed = self.offset.min(rows);
                    self.offset -= passed;
                    if passed == rows {
                        continue;
                    }
                    builder.with_offset(passed).with_limit(self.left)
                }
            };
            let source = builder.source().clone();
            let columns = builder.schema().fields().clone();
            let explained = |error| self.plan.explained(error, choice, &columns);
            let reader = builder.with_evolution(evolution).build().map_err(explained).map_err(in_file)?;
            self.open = Some(OpenFile { name, source, reader });
            return Ok(true);
        }
        Ok(false)
    }
}

impl Iterator for DatasetReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The typed error stays reachable as the source.
        Some(self.next_batch()?.map_err(|error| error.into()))
    }
}

impl RecordBatchReader for DatasetReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
