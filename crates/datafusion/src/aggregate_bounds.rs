//! Dynamic filters of `min` and `max`: rows that lie between the bounds found so far are skipped.
//!
//! QUIRK: DataFusion 55 leaves out of such a condition the columns of which it has found no value yet, or which have none in a file that
//! is read side by side with others: `min(a), max(b)` asks for `b > 9` alone, and loses rows with the least `a`. With one column,
//! as in `min(a), max(a)`, nothing is left, and all rows are wanted.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{DynamicFilterPhysicalExpr, lit};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Has aggregates of several columns tell scans nothing. It comes after the rule that has them do so.
#[derive(Debug)]
pub(crate) struct AggregateBounds;

impl PhysicalOptimizerRule for AggregateBounds {
    fn name(&self) -> &str {
        "bounds of aggregates"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(plan.transform_up(without_bounds)?.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn without_bounds(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else { return Ok(Transformed::no(node)) };
    let told = aggregate.dynamic_expressions_produced();
    let told = told.first().and_then(|told| told.downcast_ref::<DynamicFilterPhysicalExpr>());
    let of_several =
        |told: &DynamicFilterPhysicalExpr| told.children().windows(2).any(|two| two[0] != two[1]);
    let Some(told) = told.filter(|told| of_several(told)) else { return Ok(Transformed::no(node)) };
    // It stays true, and nobody waits for what it becomes.
    told.mark_complete();
    let columns = told.children().into_iter().cloned().collect();
    let untold = Arc::new(DynamicFilterPhysicalExpr::new(columns, lit(true)));
    Ok(Transformed::yes(Arc::new(aggregate.clone().with_dynamic_filter_expr(untold)?)))
}
