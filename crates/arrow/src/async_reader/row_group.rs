//! One row group of a stream: its bytes are fetched, then it is decoded.

use super::filter::{RowGroupFilter, Wanted, with};
use super::source::FileVersion;
use super::stream_scan::StreamScan;
use crate::arrow_reader::{
    LossReport, OnCorrupt, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use arrow_array::RecordBatch;
use marquetry_base::{Error, Result};
use marquetry_core::fetch::{RangeCache, chunk_ranges, index_ranges};
use marquetry_core::row_mask::RowMask;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// A row group to fetch and read.
#[derive(Debug, Clone)]
pub(super) struct FetchTask {
    pub(super) row_group: usize,
    /// The rows that are selected before any filter.
    pub(super) selected: RowMask,
    /// The range of matching rows to return, counted from 0.
    pub(super) rows: Range<u64>,
    /// Maximum number of bytes to fetch for it.
    pub(super) bytes: u64,
    /// Whether the predicate may be evaluated while batches are read. The row count is then known only after reading.
    pub(super) may_ask_later: bool,
    /// The turn in which filters over arrays are evaluated. They may remember rows, so they see row groups in order.
    pub(super) turn: usize,
}

/// A row group whose bytes are fetched, and the reader that decodes it.
pub(super) struct FetchedRowGroup {
    row_group: usize,
    part: RowChoice,
    /// How many rows were returned, and in how many batches.
    given: usize,
    batches: usize,
    /// How many batches of the reader were returned before and must be dropped.
    again: usize,
    /// How many matching rows were skipped at the start.
    pub(super) passed: u64,
    buffered: Arc<RangeCache>,
    reader: ParquetRecordBatchReader,
}

/// The rows to return.
enum RowChoice {
    Selected(RowMask),
    /// Those of `rows` for which the predicate is true, at most `limit`.
    Asking {
        rows: RowMask,
        limit: usize,
    },
    /// If damage is not an error: the undamaged rows from `first` on, at most `limit`.
    Whole {
        first: usize,
        limit: usize,
    },
}

/// The result of a decoding step.
pub(super) enum DecodeStep {
    Batch(RecordBatch),
    /// Bytes that no plan foresaw must be fetched first.
    Missing(Vec<Range<u64>>),
    Over,
}

impl StreamScan {
    /// Finds which rows `job` selects, and fetches what they need.
    pub(super) async fn open(
        self: Arc<Self>,
        version: Arc<FileVersion>,
        job: FetchTask,
    ) -> Result<FetchedRowGroup> {
        let FetchTask { row_group, selected, rows, turn, may_ask_later, .. } = job;
        self.counters.row_group();
        let buffered = Arc::new(self.metadata.known_bytes(&version));
        let remote = self.remote(&version);
        let most = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        if self.salvages() {
            remote.fetch(&buffered, self.whole(row_group)).await?;
            let part = RowChoice::Whole { first: most(rows.start), limit: most(rows.end - rows.start) };
            return self.opened(row_group, part, 0, buffered);
        }
        let filter = RowGroupFilter { scan: &self, remote: &remote, row_group, buffered: &buffered, turn };
        let wanted = match self.filter.has_filter() {
            true if may_ask_later && rows.start == 0 => filter.select_now_or_later(selected).await?,
            true => Wanted::Rows(filter.select(selected).await?),
            false => Wanted::Rows(selected),
        };
        if !self.filter.filters.is_empty() {
            // A row group that needs no filter must not let later ones overtake earlier ones.
            self.turns.wait(turn).await;
            self.turns.end(turn);
        }
        let wanted = match wanted {
            Wanted::Rows(wanted) => wanted,
            Wanted::Asking(selected) => {
                let part = RowChoice::Asking { rows: selected, limit: most(rows.end) };
                return self.opened(row_group, part, 0, buffered);
            }
        };
        let passed = rows.start.min(wanted.selected());
        let selection = wanted.offset(passed).limit(rows.end.saturating_sub(rows.start));
        let runs: Vec<_> = selection.runs().collect();
        if !runs.is_empty() {
            let pages = self.pages(&remote, row_group, &self.leaves, &runs, &buffered).await?;
            remote.fetch(&buffered, pages.concat()).await?;
        }
        self.opened(row_group, RowChoice::Selected(selection), passed, buffered)
    }

    fn opened(
        &self,
        row_group: usize,
        part: RowChoice,
        passed: u64,
        buffered: Arc<RangeCache>,
    ) -> Result<FetchedRowGroup> {
        if let Some(indexes) = &self.metadata.page_indexes {
            let leaves = with(&self.filter.leaves(self.metadata.metadata(), true), &self.leaves);
            indexes.take(&buffered, self.metadata.metadata(), row_group, &leaves);
        }
        let reader = self.reader(row_group, &part, 0, &buffered)?;
        Ok(FetchedRowGroup { row_group, part, given: 0, batches: 0, again: 0, passed, buffered, reader })
    }

    /// Returns whether damage is not an error.
    pub(super) fn salvages(&self) -> bool {
        self.metadata.options.on_corrupt != OnCorrupt::Fail
    }

    /// Returns the ranges that are needed to find what is undamaged in a row group: all pages, and the indexes that
    /// tell where rows begin in lists.
    fn whole(&self, row_group: usize) -> Vec<Range<u64>> {
        let metadata = self.metadata.metadata();
        let is_list = |leaf: &usize| metadata.schema().column(*leaf).max_rep() > 0;
        let lists: Vec<usize> = self.leaves.iter().copied().filter(is_list).collect();
        let mut ranges = chunk_ranges(metadata, row_group, &self.leaves);
        ranges.extend(index_ranges(metadata, row_group, &lists));
        ranges
    }

    /// Creates a reader that decodes the rows of `part` from the buffer. It skips the first `given` rows, unless damage
    /// is not an error.
    fn reader(
        &self,
        row_group: usize,
        part: &RowChoice,
        given: usize,
        buffered: &Arc<RangeCache>,
    ) -> Result<ParquetRecordBatchReader> {
        let source: Arc<dyn Source> = buffered.clone();
        let mut metadata = self.metadata.clone();
        let looked_at = match part {
            RowChoice::Asking { .. } => self.filter.leaves(metadata.metadata(), true),
            RowChoice::Selected(_) | RowChoice::Whole { .. } => Vec::new(),
        };
        let indexes = index_ranges(metadata.metadata(), row_group, &with(&looked_at, &self.leaves));
        // If whole chunks were fetched without their indexes, these must not be requested now.
        metadata.options.page_index &= buffered.missing_of(indexes).is_empty();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata)
            .of_fetched(self.counters.clone())
            .with_projection(self.projection.clone())
            .with_row_groups(vec![row_group])
            .with_batch_size(self.batch_size);
        match part {
            RowChoice::Whole { first, limit } => builder.with_offset(*first).with_limit(*limit).build(),
            RowChoice::Asking { rows, limit } => {
                let mut builder = builder.with_offset(given).with_limit(limit.saturating_sub(given));
                if rows.selected() < rows.rows() {
                    builder = builder.with_row_selection(RowSelection::from(rows.clone()));
                }
                match &self.filter.predicate {
                    Some(predicate) => builder.with_bound_predicate(predicate.clone()).build(),
                    None => builder.build(),
                }
            }
            RowChoice::Selected(all) if all.selected() == all.rows() => builder.with_offset(given).build(),
            RowChoice::Selected(some) => {
                builder.with_row_selection(RowSelection::from(some.clone())).with_offset(given).build()
            }
        }
    }

    /// Decodes the next batch of `group`.
    pub(super) fn step(&self, group: &mut FetchedRowGroup) -> Result<DecodeStep> {
        let batch = loop {
            match group.reader.next_batch() {
                Some(Ok(_)) if group.again > 0 => group.again -= 1,
                batch => break batch,
            }
        };
        let missing = group.buffered.take_misses();
        if !missing.is_empty() {
            // The columns are out of step now. A new reader begins with the rows that were not returned yet.
            group.reader = self.reader(group.row_group, &group.part, group.given, &group.buffered)?;
            // Only the reader knows which rows are undamaged, so it returns all batches once more.
            group.again = if self.salvages() { group.batches } else { 0 };
            return Ok(DecodeStep::Missing(missing));
        }
        Ok(match batch.transpose()? {
            Some(batch) => {
                group.given += batch.num_rows();
                group.batches += 1;
                DecodeStep::Batch(batch)
            }
            None => DecodeStep::Over,
        })
    }
}

impl FetchedRowGroup {
    /// Returns its number in the file.
    pub(super) fn row_group(&self) -> usize {
        self.row_group
    }

    /// Returns how many rows are left, if that is known before they are read.
    pub(super) fn rows_left(&self) -> Option<u64> {
        match &self.part {
            RowChoice::Selected(selection) => Some(selection.selected().saturating_sub(self.given as u64)),
            RowChoice::Asking { .. } | RowChoice::Whole { .. } => None,
        }
    }

    /// Returns the next batch of a row group whose bytes are all fetched.
    pub(super) fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        let batch = self.reader.next_batch();
        match self.buffered.take_misses().is_empty() {
            true => batch,
            false => Some(Err(Error::unsupported(
                "the pages are not where the footer says: read the file by polling the stream, which fetches them",
            ))),
        }
    }

    /// Returns what could not be read so far.
    pub(super) fn loss_report(&self) -> LossReport {
        self.reader.loss_report()
    }

    /// Returns the fetched bytes of the row group.
    pub(super) fn buffered(&self) -> &Arc<RangeCache> {
        &self.buffered
    }
}
