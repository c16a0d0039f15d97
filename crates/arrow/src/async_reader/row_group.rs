//! One row group: its bytes are fetched, then it is decoded.

use super::fetch::Remote;
use super::source::{AsyncSource, FileVersion};
use crate::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use arrow_array::RecordBatch;
use marquetry_base::Result;
use marquetry_core::scan::{Buffered, RequestCost, chunk_ranges};
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// What all row groups of a stream have in common.
pub(super) struct Scan {
    pub(super) source: Arc<dyn AsyncSource>,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) projection: ProjectionMask,
    /// The columns of the file that are read.
    pub(super) leaves: Vec<usize>,
    pub(super) batch_size: usize,
    pub(super) cost: RequestCost,
}

/// Rows of a row group that are to be read.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) row_group: usize,
    pub(super) rows: Range<usize>,
    /// How many bytes that takes at most.
    pub(super) bytes: u64,
}

/// A row group whose bytes were fetched, and the reader that decodes it.
pub(super) struct OpenGroup {
    job: Job,
    buffered: Arc<Buffered>,
    reader: ParquetRecordBatchReader,
}

/// What comes next of a row group.
pub(super) enum Step {
    Batch(RecordBatch),
    /// Bytes that no plan foresaw have to be fetched first.
    Missing(Vec<Range<u64>>),
    Over,
}

impl Scan {
    pub(super) fn remote<'a>(&'a self, version: &'a FileVersion) -> Remote<'a, dyn AsyncSource> {
        Remote { source: &*self.source, version, cost: self.cost }
    }

    /// Which bytes a row group takes.
    pub(super) fn ranges(&self, row_group: usize) -> Vec<Range<u64>> {
        chunk_ranges(self.metadata.metadata(), row_group, &self.leaves)
    }

    /// Fetches what `job` needs.
    pub(super) async fn open(self: Arc<Self>, version: Arc<FileVersion>, job: Job) -> Result<OpenGroup> {
        let buffered = Arc::new(self.metadata.known_bytes(&version));
        self.remote(&version).fetch(&buffered, self.ranges(job.row_group)).await?;
        let reader = self.reader(&job, &buffered)?;
        Ok(OpenGroup { job, buffered, reader })
    }

    /// A reader of the rows of `job` that decodes what is buffered.
    fn reader(&self, job: &Job, buffered: &Arc<Buffered>) -> Result<ParquetRecordBatchReader> {
        let source: Arc<dyn Source> = buffered.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.metadata.clone())
            .with_projection(self.projection.clone())
            .with_row_groups(vec![job.row_group])
            .with_batch_size(self.batch_size)
            .with_offset(job.rows.start)
            .with_limit(job.rows.len())
            .build()
    }

    /// Decodes the next batch of `group`.
    pub(super) fn step(&self, group: &mut OpenGroup) -> Result<Step> {
        let batch = group.reader.next_batch();
        let missing = group.buffered.take_missing();
        if !missing.is_empty() {
            // The columns are out of step now. A new reader begins with the rows that were not given yet.
            group.reader = self.reader(&group.job, &group.buffered)?;
            group.buffered.take_missing();
            return Ok(Step::Missing(missing));
        }
        Ok(match batch.transpose()? {
            Some(batch) => {
                group.job.rows.start += batch.num_rows();
                Step::Batch(batch)
            }
            None => Step::Over,
        })
    }
}

impl OpenGroup {
    /// What was fetched of the row group.
    pub(super) fn buffered(&self) -> &Arc<Buffered> {
        &self.buffered
    }
}
