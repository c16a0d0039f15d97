//! Dynamic filters of `min` and `max`: rows that lie between the bounds found so far are skipped.
//!
//! QUIRK: DataFusion 55 leaves a column out of such a filter if it has found no value of it yet, or if it has none in a
//! file that another partition reads: `min(a), max(b)` then filters by `b > 9` alone, and loses rows with the least
//! `a`. With one column, as in `min(a), max(a)`, no condition is left then, and all rows are read.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{DynamicFilterPhysicalExpr, lit};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Replaces the dynamic filters of aggregates over several columns by `true`. It runs after the rule that adds these.
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
    // It stays true, and nobody waits for an update.
    told.mark_complete();
    let columns = told.children().into_iter().cloned().collect();
    let untold = Arc::new(DynamicFilterPhysicalExpr::new(columns, lit(true)));
    Ok(Transformed::yes(Arc::new(aggregate.clone().with_dynamic_filter_expr(untold)?)))
}
