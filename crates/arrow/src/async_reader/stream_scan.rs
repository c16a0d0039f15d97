//! The state that all row groups of a stream share: the file, the columns, the filter.

use super::range_fetcher::RangeFetcher;
use super::source::{AsyncSource, FileVersion};
use super::turns::Turns;
use crate::arrow_reader::{ArrowPredicate, ArrowReaderMetadata, ProjectionMask};
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use marquetry_base::Result;
use marquetry_core::fetch::{CoalesceOptions, FetchPlanner, RangeCache};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::BoundPredicate;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What all row groups of a stream have in common.
pub(super) struct StreamScan {
    pub(super) source: Arc<dyn AsyncSource>,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) projection: ProjectionMask,
    /// The columns of the file that are read.
    pub(super) leaves: Vec<usize>,
    pub(super) filter: StreamFilter,
    pub(super) batch_size: usize,
    pub(super) cost: CoalesceOptions,
    /// In which row groups ask the filters.
    pub(super) turns: Turns,
    pub(super) counters: Arc<ReadCounters>,
}

impl StreamScan {
    pub(super) fn remote<'a>(&'a self, version: &'a FileVersion) -> RangeFetcher<'a, dyn AsyncSource> {
        let memory = self.metadata.options.limits.memory.clone();
        let counters = self.counters.clone();
        RangeFetcher { source: &*self.source, version, cost: self.cost, memory, counters }
    }

    /// Where the pages of each of `leaves` are that have any of `rows`.
    pub(super) async fn pages(
        &self,
        remote: &RangeFetcher<'_, dyn AsyncSource>,
        row_group: usize,
        leaves: &[usize],
        rows: &[Range<u64>],
        buffered: &Arc<RangeCache>,
    ) -> Result<Vec<Vec<Range<u64>>>> {
        remote.run(buffered, || self.ahead(buffered).pages_of_each(row_group, leaves, rows)).await
    }

    pub(super) fn ahead<'a>(&'a self, buffered: &'a RangeCache) -> FetchPlanner<'a> {
        let options = &self.metadata.options;
        FetchPlanner::new(buffered, self.metadata.metadata(), &options.limits, self.cost)
            .with_page_index(options.page_index)
    }
}

/// What decides which rows are wanted.
pub(super) struct StreamFilter {
    pub(super) predicate: Option<BoundPredicate>,
    /// Whether the predicate is not asked about the rows that it does not rule out.
    pub(super) only_prunes: bool,
    pub(super) filters: Vec<SharedPredicate>,
}

/// A predicate over arrays that each row group's reader asks.
#[derive(Clone)]
pub(super) struct SharedPredicate {
    projection: ProjectionMask,
    predicate: Arc<Mutex<Box<dyn ArrowPredicate>>>,
}

impl SharedPredicate {
    pub(super) fn new(predicate: Box<dyn ArrowPredicate>) -> Self {
        SharedPredicate {
            projection: predicate.projection().clone(),
            predicate: Arc::new(Mutex::new(predicate)),
        }
    }
}

impl ArrowPredicate for SharedPredicate {
    fn projection(&self) -> &ProjectionMask {
        &self.projection
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        self.predicate.lock().unwrap_or_else(PoisonError::into_inner).evaluate(batch)
    }
}

/// A predicate that may be asked about a row group once more, as bytes were missing that no plan foresaw. It may remember what it saw, so it
/// is asked about each row once: what it said before is said again.
pub(super) struct RepeatedPredicate {
    shared: SharedPredicate,
    said: Answers,
    /// How many of the answers were given this time.
    given: usize,
}

/// What a predicate said of a row group so far, batch by batch: the same batches come each time.
pub(super) type Answers = Arc<Mutex<Vec<BooleanArray>>>;

impl RepeatedPredicate {
    pub(super) fn new(shared: SharedPredicate, said: Answers) -> Self {
        RepeatedPredicate { shared, said, given: 0 }
    }
}

impl ArrowPredicate for RepeatedPredicate {
    fn projection(&self) -> &ProjectionMask {
        self.shared.projection()
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        let known = self.said.lock().unwrap_or_else(PoisonError::into_inner).get(self.given).cloned();
        self.given += 1;
        if let Some(known) = known {
            return Ok(known);
        }
        let answer = self.shared.evaluate(batch)?;
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(answer.clone());
        Ok(answer)
    }
}

impl StreamFilter {
    /// Whether values have to be looked at.
    pub(super) fn has_filter(&self) -> bool {
        self.predicate.is_some() || !self.filters.is_empty()
    }

    /// The columns that are looked at, sorted: by the predicate if it has to be asked, and by filters.
    pub(super) fn leaves(&self, metadata: &ParquetMetaData, asks_predicate: bool) -> Vec<usize> {
        let predicate = self.predicate.as_ref().filter(|_| asks_predicate);
        let of_predicate = predicate.map_or(&[][..], BoundPredicate::leaves);
        let is_in = |leaf: &usize| {
            of_predicate.binary_search(leaf).is_ok()
                || self.filters.iter().any(|filter| filter.projection.leaf_included(*leaf))
        };
        (0..metadata.schema().num_columns()).filter(is_in).collect()
    }
}
