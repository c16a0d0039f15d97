//! One row group: its bytes are fetched, then it is decoded.

use super::fetch::Remote;
use super::filter::Wanted;
use super::source::{AsyncSource, FileVersion};
use crate::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, ProjectionMask,
    RowSelection,
};
use arrow_array::RecordBatch;
use marquetry_base::Result;
use marquetry_core::scan::{Buffered, RequestCost, index_ranges};
use marquetry_core::select::Selection;
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
    pub(super) wanted: Wanted,
    pub(super) batch_size: usize,
    pub(super) cost: RequestCost,
}

/// A row group that is to be read.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) row_group: usize,
    /// The rows that were selected, before a filter.
    pub(super) selected: Selection,
    /// Which of the wanted rows to give, counted from 0.
    pub(super) rows: Range<u64>,
    /// How many bytes that takes at most.
    pub(super) bytes: u64,
}

/// A row group whose bytes were fetched, and the reader that decodes it.
pub(super) struct OpenGroup {
    row_group: usize,
    /// The rows to give, and how many were given.
    selection: Selection,
    given: usize,
    /// How many wanted rows were passed over before them.
    pub(super) passed: u64,
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
        let memory = self.metadata.options.limits.memory.clone();
        Remote { source: &*self.source, version, cost: self.cost, memory }
    }

    /// Finds which rows `job` wants, and fetches what they need.
    pub(super) async fn open(self: Arc<Self>, version: Arc<FileVersion>, job: Job) -> Result<OpenGroup> {
        let Job { row_group, selected, rows, .. } = job;
        let buffered = Arc::new(self.metadata.known_bytes(&version));
        let remote = self.remote(&version);
        let wanted = match self.wanted.has_filter() {
            true => self.select(&remote, row_group, selected, &buffered).await?,
            false => selected,
        };
        let passed = rows.start.min(wanted.selected());
        let selection = wanted.offset(passed).limit(rows.end.saturating_sub(rows.start));
        let runs: Vec<_> = selection.runs().collect();
        if !runs.is_empty() {
            let pages = self.pages(&remote, row_group, &self.leaves, &runs, &buffered).await?;
            remote.fetch(&buffered, pages).await?;
        }
        let reader = self.reader(row_group, &selection, 0, &buffered)?;
        Ok(OpenGroup { row_group, selection, given: 0, passed, buffered, reader })
    }

    /// A reader of the rows in `selection`, without the first `given`, that decodes what is buffered.
    fn reader(
        &self,
        row_group: usize,
        selection: &Selection,
        given: usize,
        buffered: &Arc<Buffered>,
    ) -> Result<ParquetRecordBatchReader> {
        let source: Arc<dyn Source> = buffered.clone();
        let mut metadata = self.metadata.clone();
        let indexes = index_ranges(metadata.metadata(), row_group, &self.leaves);
        // Where whole chunks were fetched without asking for indexes, these would be missed in vain.
        metadata.options.page_index &= buffered.lacking(indexes).is_empty();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata)
            .with_projection(self.projection.clone())
            .with_row_groups(vec![row_group])
            .with_batch_size(self.batch_size)
            .with_offset(given);
        match selection.selected() == selection.rows() {
            true => builder.build(),
            false => builder.with_row_selection(RowSelection::from(selection.clone())).build(),
        }
    }

    /// Decodes the next batch of `group`.
    pub(super) fn step(&self, group: &mut OpenGroup) -> Result<Step> {
        let batch = group.reader.next_batch();
        let missing = group.buffered.take_missing();
        if !missing.is_empty() {
            // The columns are out of step now. A new reader begins with the rows that were not given yet.
            group.reader = self.reader(group.row_group, &group.selection, group.given, &group.buffered)?;
            return Ok(Step::Missing(missing));
        }
        Ok(match batch.transpose()? {
            Some(batch) => {
                group.given += batch.num_rows();
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
