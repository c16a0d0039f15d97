//! The metrics of a scan, under DataFusion's names.

use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricCategory, MetricType, PruningMetrics, Time,
};
use marquetry_core::metrics::ReadMetrics;

/// The metrics of one partition of a scan.
#[derive(Debug, Clone)]
pub(crate) struct ScanMetrics {
    pub(crate) files_pruned: PruningMetrics,
    pub(crate) metadata_load_time: Time,
    pub(crate) row_groups_pruned_dynamic_filter: Count,
    pub(crate) num_predicate_creation_errors: Count,
    row_groups_pruned_statistics: PruningMetrics,
    row_groups_pruned_bloom_filter: PruningMetrics,
    row_groups_pruned_dictionary: PruningMetrics,
    page_index_rows_pruned: PruningMetrics,
    pushdown_rows_pruned: Count,
    pushdown_rows_matched: Count,
    row_pushdown_eval_time: Time,
    bytes_scanned: Count,
    requests: Count,
    fetch_time: Time,
    decompress_time: Time,
    decode_time: Time,
    pages_skipped: Count,
    rows_left_out: Count,
    values_made_null: Count,
}

impl ScanMetrics {
    pub(crate) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let summary = || MetricBuilder::new(metrics).with_type(MetricType::Summary);
        let rows = || MetricBuilder::new(metrics).with_category(MetricCategory::Rows);
        let time = |name: &'static str| MetricBuilder::new(metrics).subset_time(name, partition);
        ScanMetrics {
            files_pruned: summary().pruning_metrics("files_ranges_pruned_statistics", partition),
            metadata_load_time: summary().subset_time("metadata_load_time", partition),
            row_groups_pruned_dynamic_filter: summary()
                .counter("row_groups_pruned_dynamic_filter", partition),
            num_predicate_creation_errors: rows().global_counter("num_predicate_creation_errors"),
            row_groups_pruned_statistics: summary()
                .pruning_metrics("row_groups_pruned_statistics", partition),
            row_groups_pruned_bloom_filter: summary()
                .pruning_metrics("row_groups_pruned_bloom_filter", partition),
            row_groups_pruned_dictionary: summary()
                .pruning_metrics("row_groups_pruned_dictionary", partition),
            page_index_rows_pruned: summary().pruning_metrics("page_index_rows_pruned", partition),
            pushdown_rows_pruned: rows().counter("pushdown_rows_pruned", partition),
            pushdown_rows_matched: rows().counter("pushdown_rows_matched", partition),
            row_pushdown_eval_time: time("row_pushdown_eval_time"),
            bytes_scanned: summary().with_category(MetricCategory::Bytes).counter("bytes_scanned", partition),
            requests: MetricBuilder::new(metrics).counter("requests", partition),
            fetch_time: time("fetch_time"),
            decompress_time: time("decompress_time"),
            decode_time: time("decode_time"),
            pages_skipped: MetricBuilder::new(metrics).counter("pages_skipped", partition),
            rows_left_out: rows().counter("rows_left_out", partition),
            values_made_null: rows().counter("values_made_null", partition),
        }
    }

    /// Adds the totals of one reader.
    pub(crate) fn add(&self, read: &ReadMetrics, asks_rows: bool) {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let mut left = count(read.row_groups);
        let stages = [
            (&self.row_groups_pruned_statistics, read.statistics),
            (&self.row_groups_pruned_bloom_filter, read.bloom_filters),
            (&self.row_groups_pruned_dictionary, read.dictionaries),
        ];
        for (metric, pruned) in stages {
            let ruled_out = count(pruned.row_groups);
            left = left.saturating_sub(ruled_out);
            metric.add_pruned(ruled_out);
            metric.add_matched(left);
        }
        let rows = count(read.rows.saturating_add(read.filtered_rows));
        self.page_index_rows_pruned.add_pruned(count(read.page_index.rows));
        self.page_index_rows_pruned.add_matched(rows);
        if asks_rows {
            self.pushdown_rows_pruned.add(count(read.filtered_rows));
            self.pushdown_rows_matched.add(count(read.rows));
        }
        self.row_pushdown_eval_time.add_duration(read.filter_time);
        self.bytes_scanned.add(count(read.bytes_fetched));
        self.requests.add(count(read.requests));
        self.fetch_time.add_duration(read.fetch_time);
        self.decompress_time.add_duration(read.decompress_time);
        self.decode_time.add_duration(read.decode_time);
        self.pages_skipped.add(count(read.pages_skipped));
    }

    /// Adds rows and values that were lost to damage.
    pub(crate) fn lost(&self, rows: u64, values: u64) {
        self.rows_left_out.add(usize::try_from(rows).unwrap_or(usize::MAX));
        self.values_made_null.add(usize::try_from(values).unwrap_or(usize::MAX));
    }
}
