//! Compares timestamps with literals of a finer unit: milliseconds with `TIMESTAMP '1970-01-01 00:00:00.0005'`.
//!
//! QUIRK: DataFusion 55 compares the column itself with the literal, which it truncates to the column's unit. That is
//! another condition: `00:00:00` is less than `00:00:00.0005`, but equal to the truncated literal. Here a literal
//! between two ticks of a column is replaced by a tick, in a condition that means the same and has nothing to truncate.

use crate::cast_functions::as_cast;
use crate::days_of_timestamps::as_range;
use crate::lossy_casts::{only_adds, only_computes, without_unwrapping};
use crate::simplify::{constant, per_second, ticks};
use arrow_schema::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Between, BinaryExpr, Cast, InList, TryCast};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::optimizer::{AnalyzerRule, ApplyOrder, OptimizerConfig, OptimizerRule};

/// Moves literals to ticks of the columns that they are compared with, makes ranges of days, and protects lossy casts
/// from being unwrapped. It expects both sides to have one type already.
#[derive(Debug)]
pub(crate) struct TimestampComparisons;

impl AnalyzerRule for TimestampComparisons {
    fn name(&self) -> &str {
        NAME
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        of_statement(plan)
    }
}

/// Rewrites the plan of a whole statement: nothing compares the output of its last projection.
fn of_statement(plan: LogicalPlan) -> Result<LogicalPlan> {
    use LogicalPlan::{Analyze, Copy, Dml, Explain, Limit, Projection};
    let plan = match plan {
        Limit(_) | Explain(_) | Analyze(_) | Copy(_) | Dml(_) => {
            plan.map_children(|inner| of_statement(inner).map(Transformed::yes)).data()?
        }
        Projection(_) => {
            let whole = |plan: LogicalPlan| plan.transform_up_with_subqueries(with_comparisons);
            let plan = plan.map_children(whole).data()?.map_subqueries(whole).data()?;
            return with_those_but(plan, only_computes).data();
        }
        other => return other.transform_up_with_subqueries(with_comparisons).data(),
    };
    // The node's own expressions, such as the row count of a limit.
    plan.map_subqueries(|plan| plan.transform_up_with_subqueries(with_comparisons)).data()
}

/// Runs once more as an optimizer rule: before pushdown, a condition on a view is one on the view's columns.
impl OptimizerRule for TimestampComparisons {
    fn name(&self) -> &str {
        NAME
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            // Comparisons of its columns were rewritten before.
            LogicalPlan::Projection(_) => with_those_but(plan, only_computes),
            _ => with_comparisons(plan),
        }
    }
}

fn with_comparisons(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    with_those_but(plan, only_adds)
}

/// Rewrites all expressions of a node but those that `stays` selects.
fn with_those_but(plan: LogicalPlan, stays: fn(&Expr) -> bool) -> Result<Transformed<LogicalPlan>> {
    let schema = match plan.inputs().is_empty() {
        true => plan.schema().as_ref().clone(),
        false => merge_schema(&plan.inputs()),
    };
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        if stays(&expr) {
            return Ok(Transformed::no(expr));
        }
        let name = names.save(&expr);
        let expr = expr.transform_up(|expr| {
            let cast = as_cast(&expr, &schema);
            let is_function = cast.is_some();
            let expr = cast.unwrap_or(expr);
            Ok(match as_range(&expr, &schema) {
                Some(range) => Transformed::yes(range),
                None => match without_unwrapping(&expr, &schema) {
                    Some(cast) => Transformed::yes(cast),
                    None if is_function => Transformed::yes(expr),
                    None => compared(expr, &schema),
                },
            })
        })?;
        Ok(expr.update_data(|expr| name.restore(expr)))
    })
}

/// The name of the rule.
pub(crate) const NAME: &str = "comparisons of timestamps";

fn compared(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let changed = match &expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let of_left = between_ticks(left, right, schema).and_then(|between| between.compared(*op));
            of_left.or_else(|| between_ticks(right, left, schema)?.compared(op.swap()?))
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let at = |bound| between_ticks(expr, bound, schema);
            let least = at(low).and_then(|between| between.next()).map(lit);
            let greatest = at(high).and_then(|between| between.last()).map(lit);
            (least.is_some() || greatest.is_some()).then(|| {
                let bound =
                    |moved: Option<Expr>, bound: &Expr| Box::new(moved.unwrap_or_else(|| bound.clone()));
                Expr::Between(Between::new(expr.clone(), *negated, bound(least, low), bound(greatest, high)))
            })
        }
        Expr::InList(InList { expr, list, negated }) => {
            let between = list.iter().filter_map(|item| between_ticks(expr, item, schema)).next();
            between.map(|between| {
                let is_tick = |item: &&Expr| between_ticks(expr, item, schema).is_none();
                let ticks: Vec<Expr> = list.iter().filter(is_tick).cloned().collect();
                match (ticks.is_empty(), negated) {
                    (false, _) => Expr::InList(InList::new(expr.clone(), ticks, *negated)),
                    (true, false) => between.is_none(),
                    (true, true) => between.is_any(),
                }
            })
        }
        _ => None,
    };
    changed.map_or_else(|| Transformed::no(expr), Transformed::yes)
}

/// A literal between two ticks of the column that it is compared with.
struct BetweenTicks<'a> {
    column: &'a Expr,
    cast: &'a Expr,
    literal: ScalarValue,
    /// The last tick before the literal, and the distance between two ticks.
    tick: i64,
    distance: i64,
}

/// `None` unless `cast` is a cast to a finer unit, and `other` a literal that the coarser unit cannot represent.
fn between_ticks<'a>(cast: &'a Expr, other: &Expr, schema: &DFSchema) -> Option<BetweenTicks<'a>> {
    let (column, field) = match cast {
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field }) => (expr.as_ref(), field),
        _ => return None,
    };
    let DataType::Timestamp(fine, to) = field.data_type() else { return None };
    let DataType::Timestamp(coarse, from) = column.get_type(schema).ok()? else { return None };
    let distance = per_second(*fine) / per_second(coarse);
    if distance < 2 || from.is_some() != to.is_some() {
        return None;
    }
    let literal = constant(other)?;
    let ticks =
        ticks(&literal).filter(|ticks| literal.data_type() == *field.data_type() && ticks % distance != 0)?;
    Some(BetweenTicks {
        column,
        cast,
        literal,
        tick: ticks.div_euclid(distance).checked_mul(distance)?,
        distance,
    })
}

impl BetweenTicks<'_> {
    /// A comparison of the column with the literal.
    fn compared(&self, op: Operator) -> Option<Expr> {
        let with = |tick: Option<ScalarValue>| {
            let right = Box::new(lit(tick?));
            Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(self.cast.clone()), op, right)))
        };
        match op {
            Operator::Lt | Operator::GtEq => with(self.next()),
            Operator::LtEq | Operator::Gt => with(self.last()),
            Operator::Eq => Some(self.is_none()),
            Operator::NotEq => Some(self.is_any()),
            Operator::IsDistinctFrom => Some(lit(true)),
            Operator::IsNotDistinctFrom => Some(lit(false)),
            _ => None,
        }
    }

    fn last(&self) -> Option<ScalarValue> {
        with_ticks(&self.literal, self.tick)
    }

    fn next(&self) -> Option<ScalarValue> {
        with_ticks(&self.literal, self.tick.checked_add(self.distance)?)
    }

    /// False, or NULL if the column is null.
    fn is_none(&self) -> Expr {
        self.column.clone().is_null().and(lit(ScalarValue::Boolean(None)))
    }

    /// True, or NULL if the column is null.
    fn is_any(&self) -> Expr {
        self.column.clone().is_not_null().or(lit(ScalarValue::Boolean(None)))
    }
}

fn with_ticks(literal: &ScalarValue, ticks: i64) -> Option<ScalarValue> {
    use ScalarValue::{TimestampMicrosecond, TimestampMillisecond, TimestampNanosecond};
    match literal {
        TimestampMillisecond(_, zone) => Some(TimestampMillisecond(Some(ticks), zone.clone())),
        TimestampMicrosecond(_, zone) => Some(TimestampMicrosecond(Some(ticks), zone.clone())),
        TimestampNanosecond(_, zone) => Some(TimestampNanosecond(Some(ticks), zone.clone())),
        _ => None,
    }
}
