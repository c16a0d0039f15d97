//! Row group and page pruning: finds rows that a predicate rules out, without reading their values.

use super::options::ArrowReaderOptions;
use crate::schema::repair::hides_stored_values;
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::BoundPredicate;
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use marquetry_core::source::Source;
use std::sync::Arc;

/// Prunes row groups and pages by statistics and indexes.
pub(super) struct Pruning {
    source: Arc<dyn Source>,
    pub(super) predicate: BoundPredicate,
    pub(super) options: PruneOptions,
    counters: Arc<ReadCounters>,
}

impl Pruning {
    /// Prunes by `predicate`, by the means that `options` allow.
    pub(super) fn new(
        source: &Arc<dyn Source>,
        predicate: BoundPredicate,
        metadata: &ParquetMetaData,
        options: &ArrowReaderOptions,
        counters: Arc<ReadCounters>,
    ) -> Self {
        let (page_index, limits) = (options.page_index, options.limits.clone());
        // Statistics and indexes describe the stored values.
        let stages = match hides_stored_values(&predicate, metadata.schema(), &options.types) {
            true => PruneOptions::none(),
            false => PruneOptions::default().with_page_index(page_index),
        };
        let options = stages.with_limits(limits);
        Pruning { source: source.clone(), predicate, options, counters }
    }

    /// Prunes by the statistics in the footer. Reads nothing.
    pub(super) fn prune_by_statistics(
        &self,
        metadata: &ParquetMetaData,
        row_group: usize,
    ) -> Result<RowGroupMatch> {
        let (predicate, mut report) = (&self.predicate, PruneReport::default());
        let options =
            self.options.clone().with_bloom_filters(false).with_dictionaries(false).with_page_index(false);
        prune_row_group(&*self.source, metadata, row_group, predicate, &options, &mut report)
    }

    /// Prunes by everything that the options allow. Reads dictionaries, bloom filters and indexes.
    pub(super) fn prune(&self, metadata: &ParquetMetaData, row_group: usize) -> Result<RowGroupMatch> {
        let (predicate, mut report) = (&self.predicate, PruneReport::default());
        let kept =
            prune_row_group(&*self.source, metadata, row_group, predicate, &self.options, &mut report)?;
        report.count_in(&self.counters);
        Ok(kept)
    }
}
