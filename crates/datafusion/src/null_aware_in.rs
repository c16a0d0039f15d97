//! Three-valued `IN (SELECT ..)`: NULL where `x` or a row of the subquery is null, also inside of other conditions.
//!
//! QUIRK: DataFusion 55 handles NULL only where `NOT IN` is a condition by itself. Inside of others, `x NOT IN (SELECT ..) OR ..`, it takes
//! NULL for false, and so the negation for true. Correlated subqueries, and an `x` that is not a column, fail or lose NULL as well. Here such a
//! condition is rewritten to conditions that are never NULL.

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, ExprSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, merge_schema, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, exists, lit,
    not_exists, when,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// Rewrites these conditions. It runs after type coercion.
#[derive(Debug)]
pub(crate) struct NullAwareIn;

/// The name of the rule.
pub(crate) const NAME: &str = "null aware IN";

impl AnalyzerRule for NullAwareIn {
    fn name(&self) -> &str {
        NAME
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let is_condition = match plan {
                LogicalPlan::Filter(_) | LogicalPlan::Join(_) => true,
                LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => false,
                _ => return Ok(Transformed::no(plan)),
            };
            let (names, schema) = (NamePreserver::new(&plan), merge_schema(&plan.inputs()));
            plan.map_expressions(|expr| {
                if !expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_))))? {
                    return Ok(Transformed::no(expr));
                }
                let name = names.save(&expr);
                let expr =
                    if is_condition { conditions(expr, &schema)? } else { three_valued_in(expr, &schema)? };
                Ok(Transformed::yes(name.restore(expr)))
            })
        })
        .data()
    }
}

/// The conditions of WHERE, or of ON.
fn conditions(all: Expr, schema: &DFSchema) -> Result<Expr> {
    let all = split_conjunction_owned(all).into_iter().map(|condition| match condition {
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(asking) => {
                let negated = !asking.negated;
                condition_of_its_own(InSubquery { negated, ..asking }, schema)
            }
            inner => two_valued_condition(Expr::Not(Box::new(inner)), schema),
        },
        Expr::InSubquery(asking) => condition_of_its_own(asking, schema),
        other => two_valued_condition(other, schema),
    });
    Ok(conjunction(all.collect::<Result<Vec<_>>>()?).unwrap_or_else(|| lit(true)))
}

/// A condition that stands by itself becomes a join. The join of `NOT IN` handles NULL, but only if its one key comes
/// from the outer row.
fn condition_of_its_own(condition: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let is_correlated = !condition.subquery.outer_ref_columns.is_empty();
    let is_of_row = !condition.expr.column_refs().is_empty() && !condition.expr.contains_outer();
    // QUIRK: DataFusion's join finds no null in a column of the type Null.
    let is_null = condition.negated && condition.expr.get_type(schema)? == DataType::Null;
    match (is_of_row, is_correlated && condition.negated) {
        _ if is_null => two_valued_condition(Expr::InSubquery(condition), schema),
        (true, false) => Ok(Expr::InSubquery(condition)),
        (true, true) => {
            let is_other = not_exists(equal_rows(&condition, schema)?);
            match may_be_null(&condition, schema)? {
                true => Ok(is_other.and(none_is_null(&condition)?)),
                false => Ok(is_other),
            }
        }
        (false, _) => two_valued_condition(Expr::InSubquery(condition), schema),
    }
}

/// The rows of the subquery that are equal to the value of the outer row.
fn equal_rows(condition: &InSubquery, schema: &DFSchema) -> Result<Arc<LogicalPlan>> {
    let of_row = |expr| match expr {
        Expr::Column(column) => {
            let field = schema.field_from_column(&column)?.clone();
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    };
    let value = condition.expr.as_ref().clone().transform_up(of_row).data()?;
    let rows = LogicalPlanBuilder::from(condition.subquery.subquery.clone());
    let answers = rows.schema().columns().into_iter().take(1).map(Expr::Column);
    let equal = answers.map(|answer| answer.eq(value.clone())).try_fold(rows, LogicalPlanBuilder::filter)?;
    Ok(Arc::new(equal.build()?))
}

/// Rewrites a condition where false and null mean the same.
fn two_valued_condition(condition: Expr, schema: &DFSchema) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (two_valued_condition(*left, schema)?, two_valued_condition(*right, schema)?);
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        Expr::InSubquery(condition) => match condition.negated && may_be_null(&condition, schema)? {
            true => not_in(condition),
            false => two_valued(condition),
        },
        other => three_valued_in(other, schema),
    }
}

/// Rewrites an expression where false and null differ.
fn three_valued_in(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let changed = expr.transform_up(|expr| match expr {
        Expr::InSubquery(condition) => Ok(Transformed::yes(match may_be_null(&condition, schema)? {
            true => three_valued(condition)?,
            false => two_valued(condition)?,
        })),
        other => Ok(Transformed::no(other)),
    });
    changed.data()
}

/// Whether the condition may be null for some row.
pub(crate) fn may_be_null(condition: &InSubquery, schema: &DFSchema) -> Result<bool> {
    let mut answers = condition.subquery.subquery.schema().fields().iter();
    Ok(answers.any(|answer| answer.is_nullable()) || condition.expr.nullable(schema)?)
}

/// A condition that is true where `x NOT IN (SELECT ..)` is, and false where that is false or null.
pub(crate) fn not_in(condition: InSubquery) -> Result<Expr> {
    let none_is_null = none_is_null(&condition)?;
    let is_in = two_valued(InSubquery { negated: false, ..condition })?;
    // Otherwise it would be taken for a condition that stands by itself again.
    let is_not_in = when(is_in, lit(1)).otherwise(lit(0))?.eq(lit(0));
    Ok(is_not_in.and(none_is_null))
}

/// Whether neither `x` nor a row of the subquery is null; or the subquery has no rows.
fn none_is_null(condition: &InSubquery) -> Result<Expr> {
    let is_value = condition.expr.clone().is_not_null();
    let (some, some_null) = (rows(&condition.subquery)?, null_rows(&condition.subquery)?);
    Ok(not_exists(some_null).and(is_value.or(not_exists(some))))
}

/// Rewrites a condition that cannot be null, or where null means false.
///
/// QUIRK: DataFusion 55 takes `y = 1 AND 1 = y` for false when it moves conditions: `1 IN (SELECT y .. WHERE y = 1)`
/// found nothing.
fn two_valued(condition: InSubquery) -> Result<Expr> {
    let rows = condition.subquery.subquery.clone();
    match rows.schema().columns().into_iter().next() {
        Some(answer) if is_constant(&condition.expr) => {
            let same = LogicalPlanBuilder::from(rows).filter(Expr::Column(answer).eq(*condition.expr))?;
            let same = few(same, &condition.subquery)?;
            Ok(if condition.negated { not_exists(same) } else { exists(same) })
        }
        _ => Ok(Expr::InSubquery(condition)),
    }
}

/// Whether an expression refers to no row.
fn is_constant(expr: &Expr) -> bool {
    expr.column_refs().is_empty() && !expr.contains_outer()
}

/// Rewrites a condition to conditions that are never null.
fn three_valued(condition: InSubquery) -> Result<Expr> {
    let negated = condition.negated;
    let is_null = condition.expr.clone().is_null();
    let (some, some_null) = (rows(&condition.subquery)?, null_rows(&condition.subquery)?);
    let is_in = two_valued(InSubquery { negated: false, ..condition })?;
    when(is_in, lit(!negated))
        .when(exists(some_null).or(is_null.and(exists(some))), lit(ScalarValue::Boolean(None)))
        .otherwise(lit(negated))
}

/// The subquery, reduced to whether it has rows.
pub(crate) fn rows(subquery: &Subquery) -> Result<Arc<LogicalPlan>> {
    few(LogicalPlanBuilder::from(subquery.subquery.clone()), subquery)
}

/// The subquery, reduced to whether a row is null.
fn null_rows(subquery: &Subquery) -> Result<Arc<LogicalPlan>> {
    let all = LogicalPlanBuilder::from(subquery.subquery.clone());
    let columns = all.schema().columns().into_iter().map(Expr::Column);
    few(columns.map(Expr::is_null).try_fold(all, LogicalPlanBuilder::filter)?, subquery)
}

/// At most one row, unless the rows depend on the outer row.
fn few(rows: LogicalPlanBuilder, subquery: &Subquery) -> Result<Arc<LogicalPlan>> {
    let rows = if subquery.outer_ref_columns.is_empty() { rows.limit(0, Some(1))? } else { rows };
    Ok(Arc::new(rows.build()?))
}
