//! Scans declare no order where nothing asks for one.
//!
//! A declared order is checked row by row, and fails a query of a file that breaks it; and partitions that have an order share no work.
//! A plan that would do the same in any order has neither.

use crate::source::MarquetrySource;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Takes the order from scans of plans in which none is of use. It comes before the rules that make use of orders, so that what a query
/// asks for is still in the plan as a sort.
#[derive(Debug)]
pub(crate) struct UnusedOrder;

impl PhysicalOptimizerRule for UnusedOrder {
    fn name(&self) -> &str {
        NAME
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let asks = plan.exists(|node| Ok(!is_same_in_any_order(node)))?;
        match asks {
            true => Ok(plan),
            false => Ok(plan.transform_up(|node| Ok(without_order(node)))?.data),
        }
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The name of the rule.
pub(crate) const NAME: &str = "unused orders of scans";

/// Whether a node is of a kind that gives the same rows whatever the order of its input. Of others that is not known.
fn is_same_in_any_order(node: &Arc<dyn ExecutionPlan>) -> bool {
    let is_such = match node.name() {
        // Groups may be told apart by the order of their keys.
        "AggregateExec" => {
            node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.group_expr().is_empty())
        }
        "DataSourceExec"
        | "FilterExec"
        | "ProjectionExec"
        | "CoalesceBatchesExec"
        | "CoalescePartitionsExec" => true,
        "RepartitionExec" | "GlobalLimitExec" | "LocalLimitExec" | "UnionExec" | "CooperativeExec" => true,
        "HashJoinExec" | "NestedLoopJoinExec" | "CrossJoinExec" | "DataSinkExec" | "AnalyzeExec" => true,
        "EmptyExec" | "PlaceholderRowExec" => true,
        _ => false,
    };
    is_such && node.required_input_ordering().iter().all(Option::is_none)
}

fn without_order(node: Arc<dyn ExecutionPlan>) -> Transformed<Arc<dyn ExecutionPlan>> {
    let scan = node
        .downcast_ref::<DataSourceExec>()
        .and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    let scan = scan.filter(|scan| scan.file_source().downcast_ref::<MarquetrySource>().is_some());
    match scan.filter(|scan| !scan.output_ordering.is_empty()) {
        Some(scan) => {
            let scan = FileScanConfigBuilder::from(scan.clone()).with_output_ordering(Vec::new());
            Transformed::yes(DataSourceExec::from_data_source(scan.with_preserve_order(false).build()))
        }
        None => Transformed::no(node),
    }
}
