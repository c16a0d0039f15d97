//! Serializes relations that have columns and no rows.
//!
//! QUIRK: DataFusion 55's message of such a plan has no columns, so that a plan above it is refused: `min(x)` of no rows.

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan, LogicalPlanBuilder, cast, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Replaces it by a row of nulls with `LIMIT 0`, which the scheduler reduces to nothing again. It runs after all other
/// rules of a client.
#[derive(Debug)]
pub(crate) struct EmptyRelations;

impl OptimizerRule for EmptyRelations {
    fn name(&self) -> &str {
        "empty relations"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema }) = &plan else {
            return Ok(Transformed::no(plan));
        };
        if schema.fields().is_empty() {
            return Ok(Transformed::no(plan));
        }
        let columns = schema.iter().map(|(table, field)| {
            let null = cast(lit(ScalarValue::Null), field.data_type().clone());
            null.alias_qualified(table.cloned(), field.name())
        });
        let one_row = LogicalPlanBuilder::empty(true).project(columns)?;
        Ok(Transformed::yes(one_row.limit(0, Some(0))?.build()?))
    }
}
