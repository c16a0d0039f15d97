//! Conditions on lossy expressions: `CAST(f AS INT) = 1` of doubles, `i / 2 = 3`, days of timestamps that have a zone.
//!
//! QUIRK: DataFusion 55 inverts such a condition to bounds of the column, as if only one value became the one that it
//! is compared with: `f` would be 1.0, and `i` 6. Where that leaves one value, it no longer sorts or groups by the
//! column, and where the bounds of a file leave none, it fails. It does not analyze a condition that is negated twice,
//! which means the same. An equality with a column, `CAST(t AS DATE) = d`, is kept beside the negated one: orders are
//! derived from it.

use arrow_schema::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ExprSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Between, BinaryExpr, Cast};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, ExprSchemable, Filter, LogicalPlan, Operator};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, NotExpr};
use std::sync::Arc;

/// Negates these conditions twice. It runs after the rules that remove double negations.
#[derive(Debug)]
pub(crate) struct LossyConditions;

/// The name of the rule.
pub(crate) const NAME: &str = "conditions on what has lost something";

impl OptimizerRule for LossyConditions {
    fn name(&self) -> &str {
        NAME
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Filter(filter) = &plan else { return Ok(Transformed::no(plan)) };
        let schema = filter.input.schema();
        let all = split_conjunction(&filter.predicate);
        if !all.iter().any(|condition| is_lossy(condition, schema)) {
            return Ok(Transformed::no(plan));
        }
        let all = all.into_iter().flat_map(|condition| {
            let is_lossy = is_lossy(condition, schema);
            let negated = is_lossy.then(|| Expr::Not(Box::new(Expr::Not(Box::new(condition.clone())))));
            [(!is_lossy || is_of_column(condition)).then(|| condition.clone()), negated].into_iter().flatten()
        });
        let Some(all) = conjunction(all) else { return Ok(Transformed::no(plan)) };
        Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(all, filter.input.clone())?)))
    }
}

/// The condition inside a double negation, or the condition itself.
pub(crate) fn without_negations(condition: &Arc<dyn PhysicalExpr>) -> &Arc<dyn PhysicalExpr> {
    let Some(outer) = condition.downcast_ref::<NotExpr>() else { return condition };
    outer.arg().downcast_ref::<NotExpr>().map_or(condition, NotExpr::arg)
}

/// Whether a condition equates a column with something else, from which orders are derived.
fn is_of_column(condition: &Expr) -> bool {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return false };
    matches!((&**left, &**right), (Expr::Column(_), _) | (_, Expr::Column(_)))
}

/// Whether DataFusion would invert the condition, and must not.
fn is_lossy(condition: &Expr, schema: &DFSchema) -> bool {
    use DataType::{Date32, Date64, Float32, Float64, Timestamp};
    let is_turned_around = match condition {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => {
            matches!(op, Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
        }
        Expr::Between(Between { negated, .. }) => !negated,
        Expr::Cast(_) => true,
        _ => false,
    };
    // It inverts conditions on columns of these types only.
    let has_bounds = |column: &&Column| {
        schema.field_from_column(column).is_ok_and(|field| {
            let data_type = field.data_type();
            data_type.is_integer() || matches!(data_type, Float32 | Float64 | Date32 | Date64 | Timestamp(..))
        })
    };
    is_turned_around
        && condition.column_refs().iter().all(has_bounds)
        && condition.exists(|expr| Ok(loses(expr, schema))).unwrap_or(true)
}

/// Whether an expression may map several values to one.
fn loses(expr: &Expr, schema: &DFSchema) -> bool {
    if expr.column_refs().is_empty() {
        return false;
    }
    let data_type = |expr: &Expr| expr.get_type(schema).ok();
    match expr {
        Expr::Cast(Cast { expr, field }) => {
            data_type(expr).is_none_or(|from| !is_injective_cast(&from, field.data_type()))
        }
        Expr::BinaryExpr(BinaryExpr { op: Operator::Divide, .. }) => true,
        Expr::BinaryExpr(BinaryExpr {
            op: Operator::Plus | Operator::Minus | Operator::Multiply, ..
        }) => data_type(expr).is_none_or(|of| of.is_floating()),
        _ => false,
    }
}

/// Whether a cast maps different values to different ones, or fails.
fn is_injective_cast(from: &DataType, to: &DataType) -> bool {
    use DataType::{Date32, Date64, Timestamp};
    match (from, to) {
        (Timestamp(coarse, from), Timestamp(fine, to)) => fine >= coarse && from.is_some() == to.is_some(),
        (Date32, Date64 | Timestamp(_, None)) => true,
        _ => (from.is_integer() && to.is_integer()) || CastExpr::check_bigger_cast(to, from),
    }
}
