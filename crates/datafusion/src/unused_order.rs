//! Removes declared sort orders from scans whose plan makes no use of them.
//!
//! A declared order has a price: it is checked row by row, which reads the key columns, a file that breaks it fails the query, and
//! partitions that keep an order cannot share work. So a plan that does not depend on the order gets none. Others get the keys that they
//! read, as far as the bounds of the files allow.

use crate::file_sequence::attainable;
use crate::source::{MarquetrySource, all_columns};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Removes orders from scans, and the keys behind the first that is not read. It runs before the rules that use orders, so that what a query
/// asks for is still a sort in the plan.
#[derive(Debug)]
pub(crate) struct UnusedOrder;

impl PhysicalOptimizerRule for UnusedOrder {
    fn name(&self) -> &str {
        NAME
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let asks = plan.exists(|node| Ok(!is_same_in_any_order(node)))?;
        Ok(plan.transform_up(|node| with_used_orders(node, asks))?.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The name of the rule.
pub(crate) const NAME: &str = "unused orders of scans";

/// Whether a node is of a kind that gives the same rows whatever the order of its input; false for unknown kinds. A
/// sink is none of these: it writes rows in the order in which they were read.
fn is_same_in_any_order(node: &Arc<dyn ExecutionPlan>) -> bool {
    let is_such = match node.name() {
        // Groups may be formed by the order of their keys.
        "AggregateExec" => {
            node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.group_expr().is_empty())
        }
        "DataSourceExec"
        | "FilterExec"
        | "ProjectionExec"
        | "CoalesceBatchesExec"
        | "CoalescePartitionsExec" => true,
        "RepartitionExec" | "GlobalLimitExec" | "LocalLimitExec" | "UnionExec" | "CooperativeExec" => true,
        "HashJoinExec" | "NestedLoopJoinExec" | "CrossJoinExec" | "AnalyzeExec" => true,
        "EmptyExec" | "PlaceholderRowExec" => true,
        _ => false,
    };
    is_such && node.required_input_ordering().iter().all(Option::is_none)
}

/// The scan with the prefixes of its orders that it reads and can attain, or with none if the plan uses no order. At
/// this stage a scan still reads the columns of a sort.
fn with_used_orders(node: Arc<dyn ExecutionPlan>, asks: bool) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let scan = node.downcast_ref::<DataSourceExec>();
    let scan = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    let scan = scan.filter(|scan| scan.file_source().downcast_ref::<MarquetrySource>().is_some());
    let Some(scan) = scan.filter(|scan| !scan.output_ordering.is_empty()) else {
        return Ok(Transformed::no(node));
    };
    let read = scan.projected_schema()?;
    let is_read = |key: &&PhysicalSortExpr| {
        collect_columns(&key.expr).iter().all(|column| read.column_with_name(column.name()).is_some())
    };
    let orders = scan.output_ordering.iter().filter(|_| asks);
    let orders = orders.filter_map(|order| LexOrdering::new(order.iter().take_while(is_read).cloned()));
    let all = all_columns(scan.file_source().table_schema().clone());
    let orders = orders.map(|order| attainable(scan, &all, &order)).filter_map(Result::transpose);
    let orders = orders.collect::<Result<Vec<_>>>()?;
    let has_order = !orders.is_empty();
    let scan = FileScanConfigBuilder::from(scan.clone()).with_output_ordering(orders);
    let scan = scan.with_preserve_order(has_order).build();
    Ok(Transformed::yes(DataSourceExec::from_data_source(scan)))
}
