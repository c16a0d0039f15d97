//! Joins that need all rows of both sides: their sides are brought together into one task.
//!
//! QUIRK: Ballista 55 has each task join its part of the right side. A nested loop join that returns rows of its left
//! side returned them once for each task. A hash join that collects its left side becomes a partitioned one where its
//! type or its size requires that, after the plan around it was made: where that plan relies on one partition, as a
//! sort or a sum does, the rows of the others were lost, or came as rows of their own; where it relies on the keys of
//! partitions, these were other ones; and the order of the right side was lost.

use ballista_core::config::BallistaConfig;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::JoinType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{UnKnownColumn, lit};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::StatisticsContext;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, Partitioning, ReplaceChildrenOptions,
    StatisticsArgs,
};
use std::sync::Arc;

/// Brings the sides of these joins together. It runs after all other rules.
#[derive(Debug)]
pub(crate) struct SingleTaskJoins;

impl PhysicalOptimizerRule for SingleTaskJoins {
    fn name(&self) -> &str {
        "single task joins"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let ballista = config.extensions.get::<BallistaConfig>().cloned().unwrap_or_default();
        let most = ballista.broadcast_join_threshold_bytes();
        plan.transform_up(|node| {
            Ok(match (node.downcast_ref::<HashJoinExec>(), node.downcast_ref::<NestedLoopJoinExec>()) {
                (Some(join), _) if may_be_partitioned(join, most) => as_planned(node)?,
                (_, Some(join)) if !is_of_right_rows(*join.join_type()) => with_right_side_whole(node)?,
                _ => Transformed::no(node),
            })
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether each row of the result depends on one row of the right side, and all of the left.
fn is_of_right_rows(join_type: JoinType) -> bool {
    use JoinType::{Inner, Right, RightAnti, RightMark, RightSemi};
    matches!(join_type, Inner | Right | RightSemi | RightAnti | RightMark)
}

/// Whether Ballista makes a partitioned join of one that collects its left side.
fn may_be_partitioned(join: &HashJoinExec, most_bytes: usize) -> bool {
    *join.partition_mode() == PartitionMode::CollectLeft
        && !join.null_aware
        && !(is_of_right_rows(*join.join_type()) && is_small(join.left().as_ref(), most_bytes))
}

/// Whether a plan is small enough for Ballista to send it to each task.
fn is_small(plan: &dyn ExecutionPlan, most_bytes: usize) -> bool {
    let Ok(known) = StatisticsContext::new().compute(plan, &StatisticsArgs::new()) else { return false };
    let width = |data_type: &DataType| match data_type {
        DataType::Boolean | DataType::Int8 | DataType::UInt8 => 1,
        DataType::Int16 | DataType::UInt16 => 2,
        DataType::Int32 | DataType::UInt32 | DataType::Float32 | DataType::Date32 | DataType::Date64 => 4,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 => 8,
        DataType::Decimal128(..) => 16,
        _ => 32,
    };
    let row = || plan.schema().fields().iter().map(|field| width(field.data_type())).sum::<usize>().max(8);
    let bytes = known.total_byte_size.get_value().copied().filter(|bytes| *bytes != 0);
    let bytes =
        bytes.or_else(|| Some(known.num_rows.get_value().filter(|rows| **rows != 0)?.saturating_mul(row())));
    bytes.is_some_and(|bytes| bytes < most_bytes)
}

/// Gives the plan above the join the partitions and the order that it was made for, whatever the join returns.
fn as_planned(join: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let (partitioning, order) = (join.output_partitioning().clone(), join.output_ordering().cloned());
    let partitions = partitioning.partition_count();
    // Nothing relies on keys that have left the plan.
    let has_keys = |keys: &[Arc<dyn PhysicalExpr>]| !keys.iter().any(|key| key.is::<UnKnownColumn>());
    let whole: Arc<dyn ExecutionPlan> = match &partitioning {
        _ if partitions == 1 => Arc::new(CoalescePartitionsExec::new(join)),
        Partitioning::Hash(keys, _) if has_keys(keys) => {
            Arc::new(RepartitionExec::try_new(join, partitioning)?)
        }
        _ if order.is_some() => join,
        _ => return Ok(Transformed::no(join)),
    };
    Ok(Transformed::yes(match order {
        Some(order) => Arc::new(SortExec::new(order, whole).with_preserve_partitioning(partitions > 1)),
        None => whole,
    }))
}

/// Brings all rows of both sides into one task, those of the right side by an exchange. A node that merges partitions
/// would be removed again where the plan is cut into stages, as the join does not require it.
fn with_right_side_whole(join: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let mut sides: Vec<_> = join.children().into_iter().cloned().collect();
    let Some(right) = sides.last_mut() else { return Ok(Transformed::no(join)) };
    *right = match right.schema().fields().is_empty() {
        // QUIRK: an exchange by keys fails at rows without columns, those of `EXISTS`.
        true => {
            let numbered = ProjectionExec::try_new([(lit(0), "0".to_owned())], right.clone())?;
            let no_columns: [(Arc<dyn PhysicalExpr>, String); 0] = [];
            Arc::new(ProjectionExec::try_new(no_columns, in_one_partition(Arc::new(numbered))?)?)
        }
        false => in_one_partition(right.clone())?,
    };
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok(Transformed::yes(join.replace_children(sides, options)?))
}

fn in_one_partition(rows: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(Arc::new(RepartitionExec::try_new(rows, Partitioning::Hash(vec![lit(0)], 1))?))
}
