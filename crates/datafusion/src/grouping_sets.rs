//! Grouping sets: columns that a set leaves out are null there, whatever is known of them before.
//!
//! QUIRK: DataFusion 55 assumes of the output of `GROUP BY ROLLUP (a, b)` what it knows of the input: that `a` is
//! constant, as `WHERE a = 1` says, that rows are sorted or partitioned by it, or that it equals another column. So
//! groups came out several times, and sorts were left out.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, Partitioning, ReplaceChildrenOptions,
};
use std::sync::Arc;

/// Hides the properties of the input of grouping sets behind a union with an empty relation, which has none. It runs
/// before the rules that use them.
#[derive(Debug)]
pub(crate) struct GroupingSets;

impl PhysicalOptimizerRule for GroupingSets {
    fn name(&self) -> &str {
        "grouping sets"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let aggregate = node.downcast_ref::<AggregateExec>();
            let Some(aggregate) = aggregate.filter(|aggregate| must_hide_input(aggregate)) else {
                return Ok(Transformed::no(node));
            };
            let input = aggregate.input();
            let no_rows: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(input.schema()));
            let input = UnionExec::try_new(vec![input.clone(), no_rows])?;
            let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            Ok(Transformed::yes(node.replace_children(vec![input], anew)?))
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether anything is known of the rows that grouping sets are made of. Only the first aggregate, of raw rows, makes
/// columns null.
fn must_hide_input(aggregate: &AggregateExec) -> bool {
    let input = aggregate.input();
    let known = input.equivalence_properties();
    let is_partitioned =
        matches!(input.output_partitioning(), Partitioning::Hash(..) | Partitioning::Range(..));
    aggregate.group_expr().has_grouping_set()
        && aggregate.mode().input_mode() == AggregateInputMode::Raw
        && (!known.eq_group().is_empty() || !known.oeq_class().is_empty() || is_partitioned)
}
