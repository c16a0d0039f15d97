//! Filter pushdown past columns of the same name: a filter moves down only where its column names are unique.
//!
//! QUIRK: DataFusion 55 pushes filters down through projections and exchanges by column name. Where both sides of a join have a column of
//! the same name it takes the first one: `t1.s IS NULL` was evaluated on `t2.s`, and rows were missing. The dynamic filters of `ORDER BY .. LIMIT`
//! and of join keys had the same fault. Here a filter stops where one of its names is no longer unique.

use datafusion::common::config::ConfigOptions;
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, ChildPushdownResult, FilterDescription, FilterPushdownPhase,
    FilterPushdownPropagation,
};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A filter pushdown rule that only lets filters through whose column names are unique in a node.
#[derive(Debug)]
pub(crate) struct UniqueNames {
    moving: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
}

/// Wraps the filter pushdown rules among `rules` in [`UniqueNames`].
pub(crate) fn unique_names(rules: &mut [Arc<dyn PhysicalOptimizerRule + Send + Sync>]) {
    for rule in rules.iter_mut().filter(|rule| rule.name().starts_with("FilterPushdown")) {
        *rule = Arc::new(UniqueNames { moving: rule.clone() });
    }
}

impl PhysicalOptimizerRule for UniqueNames {
    fn name(&self) -> &str {
        self.moving.name()
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let gated = plan.transform_up(|node| {
            let unique = unique_columns(node.as_ref());
            Ok(match unique.len() < node.schema().fields().len() {
                true => Transformed::yes(Arc::new(Gate { input: node, unique }) as Arc<dyn ExecutionPlan>),
                false => Transformed::no(node),
            })
        });
        let Transformed { data: plan, transformed: is_gated, .. } = gated?;
        let plan = self.moving.optimize(plan, config)?;
        if !is_gated {
            return Ok(plan);
        }
        let opened = plan.transform_up(|node| {
            Ok(match node.downcast_ref::<Gate>() {
                Some(gate) => Transformed::yes(gate.input.clone()),
                None => Transformed::no(node),
            })
        });
        opened.data()
    }

    fn schema_check(&self) -> bool {
        self.moving.schema_check()
    }
}

/// The columns with unique names.
fn unique_columns(node: &dyn ExecutionPlan) -> HashSet<usize> {
    let schema = node.schema();
    let mut columns: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, field) in schema.fields().iter().enumerate() {
        columns.entry(field.name()).or_default().push(index);
    }
    columns.into_values().filter(|named| named.len() == 1).flatten().collect()
}

/// Lets only filters on the unique columns through. No plan that runs contains it.
#[derive(Debug)]
struct Gate {
    input: Arc<dyn ExecutionPlan>,
    unique: HashSet<usize>,
}

impl DisplayAs for Gate {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

impl ExecutionPlan for Gate {
    fn name(&self) -> &'static str {
        "Gate"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Gate { input, unique: self.unique.clone() })),
            Err(_) => internal_err!("a gate has one child"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let unique = self.unique.clone();
        let through = ChildFilterDescription::from_child_with_allowed_indices(&filters, unique, &self.input)?;
        Ok(FilterDescription::new().with_child(through))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(result))
    }
}
