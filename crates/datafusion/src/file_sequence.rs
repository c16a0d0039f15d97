//! The sort order of partitions that read several files, one after the other.
//!
//! DataFusion takes such a partition to be sorted if the bounds of each file follow those of the file before. Bounds
//! leave out nulls and NaN: those at the end of a file would lie in the middle of the partition.

use crate::column_kind::value_type;
use datafusion::common::stats::Precision;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSource;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::SortOrderPushdownResult;
use std::sync::Arc;

/// The orders that a scan declares, up to the first key that may have values outside of its bounds.
pub(crate) fn bounded_orders(scan: &FileScanConfig) -> Vec<LexOrdering> {
    let files: Vec<&PartitionedFile> =
        scan.file_groups.iter().filter(|group| group.len() > 1).flat_map(|group| group.iter()).collect();
    let is_kept = |key: &&PhysicalSortExpr| files.is_empty() || is_bounded(key, scan, &files);
    let orders = scan.output_ordering.iter();
    orders.filter_map(|order| LexOrdering::new(order.iter().take_while(is_kept).cloned())).collect()
}

fn is_bounded(key: &PhysicalSortExpr, scan: &FileScanConfig, files: &[&PartitionedFile]) -> bool {
    let Some(column) = key.expr.downcast_ref::<Column>() else { return false };
    let Ok(field) = scan.file_schema().field_with_name(column.name()) else {
        // A partition column has one value in a file.
        return scan.table_partition_cols().find(column.name()).is_some();
    };
    let has_no_nulls = |file: &&PartitionedFile| {
        let known = file.statistics.as_ref().and_then(|known| known.column_statistics.get(column.index()));
        known.is_some_and(|known| known.null_count == Precision::Exact(0))
    };
    !value_type(field.data_type()).is_floating() && files.iter().all(has_no_nulls)
}

/// The longest prefix of an order that the partitions have, or get by reading their files in another sequence, as
/// DataFusion does for a sort. `all` is a source of all columns of the table: orders are declared in terms of these.
pub(crate) fn attainable(
    scan: &FileScanConfig,
    all: &Arc<dyn FileSource>,
    order: &LexOrdering,
) -> Result<Option<LexOrdering>> {
    if scan.file_groups.iter().all(|group| group.len() <= 1) {
        return Ok(Some(order.clone()));
    }
    let mut keys: Vec<PhysicalSortExpr> = order.to_vec();
    while let Some(order) = LexOrdering::new(keys.iter().cloned()) {
        let scan = FileScanConfigBuilder::from(scan.clone()).with_source(all.clone());
        let scan = scan.with_output_ordering(vec![order.clone()]).build();
        if matches!(scan.try_pushdown_sort(&keys)?, SortOrderPushdownResult::Exact { .. }) {
            return Ok(Some(order));
        }
        keys.pop();
    }
    Ok(None)
}

/// The declared orders that a partition has by the statistics of its files: those that a plan may rely on.
pub(crate) fn orders_of_partition(
    scan: &FileScanConfig,
    all: &Arc<dyn FileSource>,
    partition: usize,
) -> Result<Vec<LexOrdering>> {
    let several = scan.file_groups.get(partition).filter(|group| group.len() > 1);
    let Some(group) = several.filter(|_| !scan.output_ordering.is_empty()) else {
        return Ok(scan.output_ordering.clone());
    };
    let known = FileScanConfigBuilder::new(scan.object_store_url.clone(), all.clone())
        .with_file_group(group.clone())
        .with_output_ordering(scan.output_ordering.clone())
        .build()
        .eq_properties();
    let has = |order: &LexOrdering| known.ordering_satisfy(order.iter().cloned());
    let orders = scan.output_ordering.iter().map(|order| Ok(has(order)?.then(|| order.clone())));
    orders.filter_map(Result::transpose).collect()
}
