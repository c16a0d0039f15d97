//! Serializes `DESCRIBE`.
//!
//! QUIRK: DataFusion 55 has no message for it.

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{DescribeTable, Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Replaces it by the rows that it returns.
#[derive(Debug)]
pub(crate) struct DescribedTables;

impl OptimizerRule for DescribedTables {
    fn name(&self) -> &str {
        "described tables"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::DescribeTable(DescribeTable { schema, output_schema }) = &plan else {
            return Ok(Transformed::no(plan));
        };
        let rows = schema.fields().iter().map(|field| {
            let nullable = if field.is_nullable() { "YES" } else { "NO" };
            vec![lit(field.name().as_str()), lit(field.data_type().to_string()), lit(nullable)]
        });
        let rows: Vec<Vec<Expr>> = rows.collect();
        if rows.is_empty() {
            return Ok(Transformed::no(plan));
        }
        let rows = LogicalPlanBuilder::values(rows)?;
        let names = rows.schema().columns().into_iter().zip(output_schema.fields());
        let names: Vec<Expr> =
            names.map(|(column, field)| Expr::Column(column).alias(field.name())).collect();
        Ok(Transformed::yes(rows.project(names)?.build()?))
    }
}
