//! Subqueries outside of WHERE: `a LEFT JOIN b ON a.k = b.k AND a.g IN (SELECT ..)`, `SELECT EXISTS (SELECT ..)`.
//!
//! QUIRK: DataFusion 55 decorrelates subqueries in WHERE only. Those in the ON of an outer join that are about its preserved side cannot move
//! there, nor can those in projections and aggregates: they have no plan. Here a mark join gives the input a column that says whether the
//! condition is true, and the expression reads that column.

use crate::null_answers::{may_be_null, not_in, rows};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, JoinType, not_impl_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Subquery, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Adds the mark columns. It runs after filter pushdown, whose next pass moves on what it makes.
#[derive(Debug)]
pub(crate) struct AskingColumns;

impl OptimizerRule for AskingColumns {
    fn name(&self) -> &str {
        "columns that ask another query"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(has_subquery) => {
                Ok(Transformed::yes(joined(join, config)?))
            }
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_)
                if plan.expressions().iter().any(has_subquery) =>
            {
                Ok(Transformed::yes(computed(plan, config)?))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

/// The columns of a projection, or of an aggregation, under their names.
fn computed(plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    let names = NamePreserver::new(&plan);
    let mut inputs: Vec<_> = plan.inputs().into_iter().cloned().map(Arc::new).collect();
    let columns = plan.expressions().into_iter().map(|column| {
        let name = names.save(&column);
        Ok(name.restore(marked(column, &mut inputs, config)?))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    plan.with_new_exprs(columns, inputs.into_iter().map(Arc::unwrap_or_clone).collect())
}

fn joined(mut join: Join, config: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    let columns = join.schema.columns();
    let conditions = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    if join.join_type == JoinType::Inner {
        // There they are those of WHERE.
        let (asking, others): (Vec<_>, Vec<_>) = conditions.into_iter().partition(has_subquery);
        join.filter = conjunction(others);
        let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
        return asking.into_iter().try_fold(join, LogicalPlanBuilder::filter)?.build();
    }
    let Join { left, right, on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let all = left.schema().join(right.schema())?;
    let mut sides = [left, right];
    let conditions = conditions.into_iter().map(|condition| match condition {
        // To ON false and null are the same.
        Expr::InSubquery(asking) if asking.negated && may_be_null(&asking, &all)? => {
            marked(not_in(asking)?, &mut sides, config)
        }
        other => marked(other, &mut sides, config),
    });
    let filter = conjunction(conditions.collect::<Result<Vec<_>>>()?);
    let [left, right] = sides;
    let join = Join::try_new(left, right, on, filter, join_type, join_constraint, null_equality, null_aware)?;
    let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
    join.project(columns.into_iter().map(Expr::Column))?.build()
}

/// The expression with columns in the place of other queries, which the inputs get. What may be null was taken apart before, see
/// `null_answers`.
fn marked(expr: Expr, inputs: &mut [Arc<LogicalPlan>], config: &dyn OptimizerConfig) -> Result<Expr> {
    let with_mark = |expr| {
        let (mark, negated) = match &expr {
            Expr::InSubquery(InSubquery { expr: asked, subquery, negated }) if is_for_all_rows(subquery) => {
                let Some(input) = input_of(asked, inputs) else { return refused(&expr) };
                (mark(input, subquery.subquery.clone(), Some((**asked).clone()), config)?, *negated)
            }
            Expr::Exists(Exists { subquery, negated }) if is_for_all_rows(subquery) => {
                let Some(input) = inputs.first_mut() else { return refused(&expr) };
                (mark(input, rows(subquery)?, None, config)?, *negated)
            }
            Expr::InSubquery(_) | Expr::Exists(_) => return refused(&expr),
            _ => return Ok(Transformed::no(expr)),
        };
        Ok(Transformed::yes(if negated { !mark } else { mark }))
    };
    expr.transform_up(with_mark).data()
}

/// Whether another query takes nothing of the row that asks.
fn is_for_all_rows(subquery: &Subquery) -> bool {
    subquery.outer_ref_columns.is_empty()
}

/// The input that has all columns of an expression.
fn input_of<'a>(expr: &Expr, inputs: &'a mut [Arc<LogicalPlan>]) -> Option<&'a mut Arc<LogicalPlan>> {
    let columns = expr.column_refs();
    inputs.iter_mut().find(|input| columns.iter().all(|column| input.schema().has_column(column)))
}

/// The column that an input gets: whether there is a row, one that is equal to `asked` if that is given.
fn mark(
    input: &mut Arc<LogicalPlan>,
    rows: Arc<LogicalPlan>,
    asked: Option<Expr>,
    config: &dyn OptimizerConfig,
) -> Result<Expr> {
    let alias = config.alias_generator().next("__condition");
    let rows = LogicalPlanBuilder::from(rows).alias(alias.as_str())?.build()?;
    let is_meant = asked.zip(rows.schema().columns().into_iter().next());
    let is_meant = is_meant.map_or_else(|| lit(true), |(asked, answer)| asked.eq(Expr::Column(answer)));
    let all = LogicalPlanBuilder::from(input.clone()).join_on(rows, JoinType::LeftMark, [is_meant])?;
    *input = Arc::new(all.build()?);
    Ok(Expr::Column(Column::new(Some(alias), "mark")))
}

#[cold]
fn refused(condition: &Expr) -> Result<Transformed<Expr>> {
    let what = match condition {
        Expr::InSubquery(asking) => format!("{} IN (SELECT ..)", asking.expr),
        _ => "EXISTS (SELECT ..)".to_owned(),
    };
    not_impl_err!(
        "{what} outside of WHERE: its query may not name columns of the query around it, and in ON of an outer join what stands before IN \
         may name columns of one side only"
    )
}

fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::Exists(_)))).unwrap_or(true)
}
