//! Scans that declare an order have each partition read its own files.
//!
//! QUIRK: where a limit is a part of a merge by an order, DataFusion 55's rule of limits lets the partitions below take files from each
//! other, though the merge is of the rows of each partition in their order: it gave rows that are not the first
//! (<https://github.com/apache/datafusion/issues/24272>).

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Gives scans of files back what they need for the order that they declare. It comes after all rules that take it.
#[derive(Debug)]
pub(crate) struct KeptOrder;

impl PhysicalOptimizerRule for KeptOrder {
    fn name(&self) -> &str {
        "kept orders of scans"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(plan.transform_up(|node| Ok(with_own_files(node)))?.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn with_own_files(node: Arc<dyn ExecutionPlan>) -> Transformed<Arc<dyn ExecutionPlan>> {
    let scan = node.downcast_ref::<DataSourceExec>();
    let scan = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    match scan.filter(|scan| !scan.output_ordering.is_empty() && !scan.preserve_order) {
        Some(scan) => {
            let scan = FileScanConfigBuilder::from(scan.clone()).with_preserve_order(true).build();
            Transformed::yes(DataSourceExec::from_data_source(scan))
        }
        None => Transformed::no(node),
    }
}
