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

/// The state that all row groups of a stream share.
pub(super) struct StreamScan {
    pub(super) source: Arc<dyn AsyncSource>,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) projection: ProjectionMask,
    /// The columns of the file that are read.
    pub(super) leaves: Vec<usize>,
    pub(super) filter: StreamFilter,
    pub(super) batch_size: usize,
    pub(super) cost: CoalesceOptions,
    /// The order in which row groups evaluate the filters.
    pub(super) turns: Turns,
    pub(super) counters: Arc<ReadCounters>,
}

impl StreamScan {
    pub(super) fn remote<'a>(&'a self, version: &'a FileVersion) -> RangeFetcher<'a, dyn AsyncSource> {
        let memory = self.metadata.options.limits.memory.clone();
        let counters = self.counters.clone();
        RangeFetcher { source: &*self.source, version, cost: self.cost, memory, counters }
    }

    /// Returns the byte ranges of each leaf's pages that have any of `rows`.
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

/// The filters that choose rows.
pub(super) struct StreamFilter {
    pub(super) predicate: Option<BoundPredicate>,
    /// Whether the predicate only prunes, and is not evaluated on the remaining rows.
    pub(super) only_prunes: bool,
    pub(super) filters: Vec<SharedPredicate>,
}

/// A predicate over arrays that the readers of all row groups share.
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

/// Wraps a predicate that may be evaluated on a row group once more, because bytes were missing that no plan foresaw.
/// The predicate may remember rows, so it sees each row once: results of earlier attempts are reused.
pub(super) struct RepeatedPredicate {
    shared: SharedPredicate,
    said: Answers,
    /// How many results were used in this attempt.
    given: usize,
}

/// The results of a predicate for a row group so far, batch by batch. Each attempt has the same batches.
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
    /// Returns whether values must be read to choose rows.
    pub(super) fn has_filter(&self) -> bool {
        self.predicate.is_some() || !self.filters.is_empty()
    }

    /// Returns the columns that the filters need, and those of the predicate if it must be evaluated.
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
