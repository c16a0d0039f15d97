//! Which rows of a row group are wanted: found before the other columns are fetched.
//!
//! ```text
//! statistics ─► indexes ─► pages of the columns that are looked at ─► selection ─► pages of the other columns
//!    footer       fetched       fetched, for rows that may be wanted                   fetched, for rows that are
//! ```

use super::fetch::Remote;
use super::row_group::Scan;
use super::source::AsyncSource;
use crate::arrow_reader::{
    ArrowPredicate, ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, ProjectionMask, RowFilter,
    RowSelection,
};
use crate::schema::repair::hides_stored_values;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use marquetry_base::Result;
use marquetry_core::fetch::{FetchPlanner, RangeCache, bytes};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{BoundPredicate, Predicate};
use marquetry_core::prune::{PruneOptions, RowGroupMatch};
use marquetry_core::row_mask::RowMask;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What decides which rows are wanted.
pub(super) struct Wanted {
    pub(super) predicate: Option<(Predicate, BoundPredicate)>,
    pub(super) filters: Vec<Shared>,
}

/// A predicate over arrays that each row group's reader asks.
#[derive(Clone)]
pub(super) struct Shared {
    projection: ProjectionMask,
    predicate: Arc<Mutex<Box<dyn ArrowPredicate>>>,
}

impl Shared {
    pub(super) fn new(predicate: Box<dyn ArrowPredicate>) -> Self {
        Shared { projection: predicate.projection().clone(), predicate: Arc::new(Mutex::new(predicate)) }
    }
}

impl ArrowPredicate for Shared {
    fn projection(&self) -> &ProjectionMask {
        &self.projection
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        self.predicate.lock().unwrap_or_else(PoisonError::into_inner).evaluate(batch)
    }
}

impl Wanted {
    /// Whether values have to be looked at.
    pub(super) fn has_filter(&self) -> bool {
        self.predicate.is_some() || !self.filters.is_empty()
    }

    /// The columns that are looked at: by the predicate if it has to be asked, and by filters.
    fn leaves(&self, metadata: &ParquetMetaData, asks_predicate: bool) -> Vec<usize> {
        let predicate = self.predicate.as_ref().filter(|_| asks_predicate);
        let of_predicate = predicate.map_or(&[][..], |(_, bound)| bound.leaves());
        let is_in = |leaf: &usize| {
            of_predicate.contains(leaf)
                || self.filters.iter().any(|filter| filter.projection.leaf_included(*leaf))
        };
        (0..metadata.schema().num_columns()).filter(is_in).collect()
    }
}

impl Scan {
    /// The rows of a row group that are wanted, of those that were `selected`.
    pub(super) async fn select(
        &self,
        remote: &Remote<'_, dyn AsyncSource>,
        row_group: usize,
        selected: RowMask,
        buffered: &Arc<RangeCache>,
    ) -> Result<RowMask> {
        let (kept, asks_predicate) = self.prune(remote, row_group, buffered).await?;
        let selected = selected.and(&kept);
        let metadata = self.metadata.metadata();
        let looked_at = self.wanted.leaves(metadata, asks_predicate);
        if selected.selected() == 0 || !asks_predicate && self.wanted.filters.is_empty() {
            return Ok(selected);
        }
        let rows: Vec<_> = selected.runs().collect();
        let all = self.pages(remote, row_group, &with(&looked_at, &self.leaves), &rows, buffered).await?;
        let others = self.pages(remote, row_group, &self.leaves, &rows, buffered).await?;
        let ranges = match bytes(&buffered.lacking(others)) <= self.cost.round_trip() {
            true => all,
            false => self.pages(remote, row_group, &looked_at, &rows, buffered).await?,
        };
        remote.fetch(buffered, ranges).await?;
        remote.run(buffered, || self.evaluate(row_group, &selected, asks_predicate, buffered)).await
    }

    /// The rows of a row group that footer and indexes leave, and whether the predicate has to be asked about them.
    async fn prune(
        &self,
        remote: &Remote<'_, dyn AsyncSource>,
        row_group: usize,
        buffered: &Arc<RangeCache>,
    ) -> Result<(RowMask, bool)> {
        let rows = self.metadata.metadata().row_group(row_group).num_rows();
        let Some((_, predicate)) = &self.wanted.predicate else { return Ok((RowMask::all(rows), false)) };
        let leaves = with(&self.wanted.leaves(self.metadata.metadata(), true), &self.leaves);
        let (page_index, limits) = (self.metadata.options.page_index, self.metadata.options.limits.clone());
        // Statistics and indexes describe the stored values.
        let schema = self.metadata.metadata().schema();
        let stages = match hides_stored_values(predicate, schema, &self.metadata.options.types) {
            true => PruneOptions::none(),
            false => PruneOptions { page_index, ..PruneOptions::default() },
        };
        let options = PruneOptions { limits, ..stages };
        let prune = || self.ahead(buffered).prune(row_group, predicate, &leaves, &options);
        Ok(match remote.run(buffered, prune).await? {
            RowGroupMatch::None => (RowMask::from_ranges(&[], rows), false),
            RowGroupMatch::All => (RowMask::all(rows), false),
            RowGroupMatch::Some(ranges) => (RowMask::from_ranges(&ranges, rows), true),
        })
    }

    /// Where the pages of `leaves` are that have any of `rows`.
    pub(super) async fn pages(
        &self,
        remote: &Remote<'_, dyn AsyncSource>,
        row_group: usize,
        leaves: &[usize],
        rows: &[Range<u64>],
        buffered: &Arc<RangeCache>,
    ) -> Result<Vec<Range<u64>>> {
        remote.run(buffered, || self.ahead(buffered).pages(row_group, leaves, rows)).await
    }

    fn ahead<'a>(&'a self, buffered: &'a RangeCache) -> FetchPlanner<'a> {
        FetchPlanner::new(buffered, self.metadata.metadata(), &self.metadata.options.limits, self.cost)
    }

    /// Asks predicate and filters about the rows that were selected.
    fn evaluate(
        &self,
        row_group: usize,
        selected: &RowMask,
        asks_predicate: bool,
        buffered: &Arc<RangeCache>,
    ) -> Result<RowMask> {
        let source: Arc<dyn Source> = buffered.clone();
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.metadata.clone())
            .with_row_groups(vec![row_group])
            .with_row_selection(RowSelection::from(selected.clone()));
        if let Some((predicate, _)) = self.wanted.predicate.as_ref().filter(|_| asks_predicate) {
            builder = builder.with_predicate(predicate.clone());
        }
        if !self.wanted.filters.is_empty() {
            let filters = self.wanted.filters.iter().map(|filter| Box::new(filter.clone()) as _);
            builder = builder.with_row_filter(RowFilter::new(filters.collect()));
        }
        Ok(builder.selected_rows()?.rows().clone())
    }
}

/// Of `metadata`, for row groups that are read in this order: what `selection` selects of each.
pub(super) fn selected_of(
    metadata: &ArrowReaderMetadata,
    row_groups: &[usize],
    selection: Option<&RowSelection>,
) -> Vec<RowMask> {
    let mut first = 0u64;
    let each = row_groups.iter().map(|&index| {
        let rows = metadata.metadata().row_group(index).num_rows();
        let range = first..first.saturating_add(rows);
        first = range.end;
        selection.map_or_else(|| RowMask::all(rows), |selection| selection.rows().slice(range))
    });
    each.collect()
}

/// All of both.
fn with(leaves: &[usize], others: &[usize]) -> Vec<usize> {
    let mut leaves = [leaves, others].concat();
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}
