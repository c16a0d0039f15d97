//! Keeps the files of ordered scans in their partitions.
//!
//! QUIRK: below a sort-preserving merge with a limit, DataFusion 55 lets partitions take files from each other (work stealing). The merge
//! needs each partition to stay in order, so the rows that it gave were not the first ones
//! (<https://github.com/apache/datafusion/issues/24272>).

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Sets `preserve_order` on scans that declare an order. It runs after all rules that clear it.
#[derive(Debug)]
pub(crate) struct PreserveOrder;

impl PhysicalOptimizerRule for PreserveOrder {
    fn name(&self) -> &str {
        "preserve order of scans"
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
