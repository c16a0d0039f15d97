//! Conditions of joins that ask another query: `a LEFT JOIN b ON a.k = b.k AND a.g IN (SELECT ..)`.
//!
//! QUIRK: DataFusion 55 makes joins of such conditions where they are in WHERE, or are moved there. In ON of an outer join those about the
//! side whose rows all stay cannot move, and have no plan. Here that side gets a column that says whether the condition is true, by a mark
//! join, and ON asks the column.

use crate::null_answers::{may_be_null, not_in, rows};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, JoinType, not_impl_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Subquery, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Gives the side a column. It comes after the rules that move conditions, and leaves what it makes to the next round of these.
#[derive(Debug)]
pub(crate) struct OuterConditions;

impl OptimizerRule for OuterConditions {
    fn name(&self) -> &str {
        "conditions of outer joins that ask another query"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(has_subquery) => {
                Ok(Transformed::yes(without_subqueries(join, config)?))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

fn without_subqueries(mut join: Join, config: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    let columns = join.schema.columns();
    let conditions = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    if join.join_type == JoinType::Inner {
        // There they are those of WHERE.
        let (asking, others): (Vec<_>, Vec<_>) = conditions.into_iter().partition(has_subquery);
        join.filter = conjunction(others);
        let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
        return asking.into_iter().try_fold(join, LogicalPlanBuilder::filter)?.build();
    }
    let conditions = conditions.into_iter().map(|condition| marked(condition, &mut join, config));
    let filter = conjunction(conditions.collect::<Result<Vec<_>>>()?);
    let Join { left, right, on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let join = Join::try_new(left, right, on, filter, join_type, join_constraint, null_equality, null_aware)?;
    let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
    join.project(columns.into_iter().map(Expr::Column))?.build()
}

/// The condition with columns in the place of other queries, which the sides of the join get. It is true where the condition is, and false
/// where that is false or null: to ON both are the same.
fn marked(condition: Expr, join: &mut Join, config: &dyn OptimizerConfig) -> Result<Expr> {
    let condition = match condition {
        Expr::InSubquery(asking) if asking.negated && may_be_null(&asking, &all_columns(join)?)? => {
            not_in(asking)?
        }
        other => other,
    };
    // What is null within other conditions was taken apart before, see `null_answers`.
    let with_mark = |expr| {
        let (mark, negated) = match expr {
            Expr::InSubquery(InSubquery { expr, subquery, negated }) if is_for_all_rows(&subquery) => {
                let Some(side) = side_of(&expr, join) else { return refused(&expr) };
                (mark(side, subquery.subquery, Some(*expr), config)?, negated)
            }
            Expr::Exists(Exists { subquery, negated }) if is_for_all_rows(&subquery) => {
                (mark(&mut join.left, rows(&subquery)?, None, config)?, negated)
            }
            other if matches!(other, Expr::InSubquery(_) | Expr::Exists(_)) => return refused(&other),
            other => return Ok(Transformed::no(other)),
        };
        Ok(Transformed::yes(if negated { !mark } else { mark }))
    };
    condition.transform_up(with_mark).data()
}

/// Whether another query takes nothing of the row that asks.
fn is_for_all_rows(subquery: &Subquery) -> bool {
    subquery.outer_ref_columns.is_empty()
}

fn all_columns(join: &Join) -> Result<DFSchema> {
    join.left.schema().join(join.right.schema())
}

/// The side that has all columns of an expression.
fn side_of<'a>(expr: &Expr, join: &'a mut Join) -> Option<&'a mut Arc<LogicalPlan>> {
    let columns = expr.column_refs();
    let has_all = |side: &LogicalPlan| columns.iter().all(|column| side.schema().has_column(column));
    match (has_all(&join.left), has_all(&join.right)) {
        (true, _) => Some(&mut join.left),
        (false, true) => Some(&mut join.right),
        (false, false) => None,
    }
}

/// The column that a side gets: whether there is a row, one that is equal to `asked` if that is given.
fn mark(
    side: &mut Arc<LogicalPlan>,
    rows: Arc<LogicalPlan>,
    asked: Option<Expr>,
    config: &dyn OptimizerConfig,
) -> Result<Expr> {
    let alias = config.alias_generator().next("__condition");
    let rows = LogicalPlanBuilder::from(rows).alias(alias.as_str())?.build()?;
    let is_meant = asked.zip(rows.schema().columns().into_iter().next());
    let is_meant = is_meant.map_or_else(|| lit(true), |(asked, answer)| asked.eq(Expr::Column(answer)));
    let all = LogicalPlanBuilder::from(side.clone()).join_on(rows, JoinType::LeftMark, [is_meant])?;
    *side = Arc::new(all.build()?);
    Ok(Expr::Column(Column::new(Some(alias), "mark")))
}

#[cold]
fn refused(condition: &Expr) -> Result<Transformed<Expr>> {
    not_impl_err!(
        "{condition} asks another query in ON of an outer join, about the side whose rows all stay: there it may be x IN (SELECT ..) with \
         x of one side, and EXISTS (SELECT ..), whose query takes nothing of a row of the join"
    )
}

fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::Exists(_)))).unwrap_or(true)
}
