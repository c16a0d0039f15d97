//! Grouping sets: columns that a set leaves out are null there, whatever is known of them before.
//!
//! QUIRK: DataFusion 55 assumes of the output of `GROUP BY ROLLUP (a, b)` what it knows of the input: that `a` is
//! constant, as `WHERE a = 1` says, that rows are sorted or partitioned by it, or that it equals another column. So
//! groups came out several times, and sorts were left out. It does so for a group that is a constant itself, too:
//! `ROLLUP (1, a)`.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode, PhysicalGroupBy};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::projection::ProjectionExec;
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
            let aggregate = match has_constant(aggregate) {
                true => with_columns(aggregate)?,
                false => node.clone(),
            };
            let Some(input) = aggregate.children().first().map(|input| Arc::clone(input)) else {
                return Ok(Transformed::no(node));
            };
            let no_rows: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(input.schema()));
            let input = UnionExec::try_new(vec![input, no_rows])?;
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            Ok(Transformed::yes(aggregate.replace_children(vec![input], options)?))
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
        && (!known.eq_group().is_empty()
            || !known.oeq_class().is_empty()
            || is_partitioned
            || has_constant(aggregate))
}

fn has_constant(aggregate: &AggregateExec) -> bool {
    aggregate.group_expr().expr().iter().any(|(group, _)| is_constant(group))
}

fn is_constant(group: &Arc<dyn PhysicalExpr>) -> bool {
    collect_columns(group).is_empty() && !is_volatile(group)
}

/// Returns the aggregate with its constant groups as columns of the input.
fn with_columns(aggregate: &AggregateExec) -> Result<Arc<dyn ExecutionPlan>> {
    let (groups, input) = (aggregate.group_expr(), aggregate.input());
    let columns = input.schema();
    let columns = columns.fields().iter().enumerate();
    let mut columns: Vec<(Arc<dyn PhysicalExpr>, String)> =
        columns.map(|(at, field)| (column(field.name(), at), field.name().clone())).collect();
    let as_columns = groups.expr().iter().map(|(group, name)| match is_constant(group) {
        true => {
            let constant = (group.clone(), format!("constant {}", columns.len()));
            let column = column(&constant.1, columns.len());
            columns.push(constant);
            (column, name.clone())
        }
        false => (group.clone(), name.clone()),
    });
    let as_columns = as_columns.collect();
    let groups =
        PhysicalGroupBy::new(as_columns, groups.null_expr().to_vec(), groups.groups().to_vec(), true);
    let made = AggregateExec::try_new(
        *aggregate.mode(),
        groups,
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::new(ProjectionExec::try_new(columns, input.clone())?),
        aggregate.input_schema(),
    )?;
    Ok(Arc::new(made.with_limit_options(aggregate.limit_options())))
}

fn column(name: &str, at: usize) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new(name, at))
}
