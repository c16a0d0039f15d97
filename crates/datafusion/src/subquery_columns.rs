//! Subqueries outside of WHERE: `a LEFT JOIN b ON a.k = b.k AND a.g IN (SELECT ..)`, `SELECT EXISTS (SELECT ..)`.
//!
//! QUIRK: DataFusion 55 decorrelates subqueries in WHERE only. Those in the ON of an outer join that are about its preserved side cannot move
//! there, nor can those in projections and aggregates: they have no plan. Here a mark join gives the input a column that says whether the
//! condition is true, and the expression reads that column. Filter pushdown does not see the outer columns of a correlated subquery, so such
//! conditions become columns before it runs.

use crate::null_aware_in::{may_be_null, not_in, rows};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, internal_err, not_impl_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::collections::HashSet;
use std::sync::Arc;

/// Adds the mark columns of the subqueries that `is_meant` selects.
#[derive(Debug)]
pub(crate) struct SubqueryColumns {
    name: &'static str,
    is_meant: fn(&Expr) -> bool,
}

impl SubqueryColumns {
    /// For all subqueries. It runs after filter pushdown, whose next pass moves what it adds.
    pub(crate) fn of_all() -> Self {
        SubqueryColumns { name: "subquery columns", is_meant: has_subquery }
    }

    /// For correlated subqueries. It runs before filter pushdown, also before that of the filters within them.
    pub(crate) fn of_correlated() -> Self {
        SubqueryColumns { name: "correlated subqueries", is_meant: has_correlated_subquery }
    }
}

impl OptimizerRule for SubqueryColumns {
    fn name(&self) -> &str {
        self.name
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(self.is_meant) => {
                Ok(Transformed::yes(joined(join, self.is_meant, config)?))
            }
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_)
                if plan.expressions().iter().any(self.is_meant) =>
            {
                Ok(Transformed::yes(computed(plan, config)?))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

/// Rewrites a projection or an aggregate, whose columns keep their names.
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

/// Rewrites a join, with mark columns in place of the conditions that `is_meant` selects.
fn joined(mut join: Join, is_meant: fn(&Expr) -> bool, config: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    let columns = join.schema.columns();
    let conditions = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    let (asking, mut others): (Vec<_>, Vec<_>) = conditions.into_iter().partition(is_meant);
    if join.join_type == JoinType::Inner {
        // In an inner join they are the same as in WHERE.
        join.filter = conjunction(others);
        let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
        return asking.into_iter().try_fold(join, LogicalPlanBuilder::filter)?.build();
    }
    let Join { left, right, on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let all = left.schema().join(right.schema())?;
    let mut sides = [left, right];
    for condition in asking {
        others.push(match condition {
            // In ON, false and null mean the same.
            Expr::InSubquery(asking) if asking.negated && may_be_null(&asking, &all)? => {
                marked(not_in(asking)?, &mut sides, config)?
            }
            other => marked(other, &mut sides, config)?,
        });
    }
    let (filter, [left, right]) = (conjunction(others), sides);
    let join = Join::try_new(left, right, on, filter, join_type, join_constraint, null_equality, null_aware)?;
    let join = LogicalPlanBuilder::from(LogicalPlan::Join(join));
    join.project(columns.into_iter().map(Expr::Column))?.build()
}

/// Replaces subqueries in an expression by mark columns, which the inputs get. Conditions that may be null were
/// rewritten before, see `null_aware_in`.
fn marked(expr: Expr, inputs: &mut [Arc<LogicalPlan>], config: &dyn OptimizerConfig) -> Result<Expr> {
    let with_mark = |expr| {
        let (mark, negated) = match &expr {
            Expr::InSubquery(asking) if has_correlated_subquery(&expr) => {
                let positive = Expr::InSubquery(InSubquery { negated: false, ..asking.clone() });
                (correlated_mark(&positive, inputs, config)?, asking.negated)
            }
            Expr::Exists(asking) if has_correlated_subquery(&expr) => {
                let positive = Expr::Exists(Exists { negated: false, ..asking.clone() });
                (correlated_mark(&positive, inputs, config)?, asking.negated)
            }
            Expr::InSubquery(InSubquery { expr: value, subquery, negated }) => {
                let input = input_of(&value.column_refs(), inputs);
                let rows = subquery.subquery.clone();
                let mark = input.map(|input| mark(input, rows, Some((**value).clone()), config));
                (mark.transpose()?, *negated)
            }
            Expr::Exists(Exists { subquery, negated }) => {
                let rows = rows(subquery)?;
                (inputs.first_mut().map(|input| mark(input, rows, None, config)).transpose()?, *negated)
            }
            _ => return Ok(Transformed::no(expr)),
        };
        let Some(mark) = mark else { return refused(&expr) };
        Ok(Transformed::yes(if negated { !mark } else { mark }))
    };
    expr.transform_up(with_mark).data()
}

/// The input that has all of these columns.
fn input_of<'a>(
    columns: &HashSet<&Column>,
    inputs: &'a mut [Arc<LogicalPlan>],
) -> Option<&'a mut Arc<LogicalPlan>> {
    inputs.iter_mut().find(|input| columns.iter().all(|column| input.schema().has_column(column)))
}

/// The mark column of a correlated condition: the one that DataFusion's decorrelation makes of it in WHERE.
fn correlated_mark(
    condition: &Expr,
    inputs: &mut [Arc<LogicalPlan>],
    config: &dyn OptimizerConfig,
) -> Result<Option<Expr>> {
    let outer = outer_columns(condition)?;
    let columns = condition.column_refs().into_iter().chain(&outer).collect();
    let Some(input) = input_of(&columns, inputs) else { return Ok(None) };
    // A condition that contains a subquery, but is none itself, gets a mark column.
    let not = |expr| Expr::Not(Box::new(expr));
    let filtered = LogicalPlanBuilder::from(input.clone()).filter(not(not(condition.clone())))?.build()?;
    let LogicalPlan::Projection(made) = DecorrelatePredicateSubquery::new().rewrite(filtered, config)?.data
    else {
        return Ok(None);
    };
    let LogicalPlan::Filter(filter) = made.input.as_ref() else { return Ok(None) };
    let Expr::Not(negated) = &filter.predicate else { return Ok(None) };
    match negated.as_ref() {
        Expr::Not(mark) if !has_subquery(mark) => {
            *input = filter.input.clone();
            Ok(Some((**mark).clone()))
        }
        _ => Ok(None),
    }
}

/// The columns of the outer row to which subqueries in an expression refer.
fn outer_columns(expr: &Expr) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    expr.apply(|expr| {
        let (Expr::InSubquery(InSubquery { subquery, .. }) | Expr::Exists(Exists { subquery, .. })) = expr
        else {
            return Ok(TreeNodeRecursion::Continue);
        };
        for outer in subquery.subquery.all_out_ref_exprs() {
            match outer {
                Expr::OuterReferenceColumn(_, column) => columns.push(column),
                other => return internal_err!("{other} is of no row that asks"),
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(columns)
}

/// The mark column that an input gets: whether there is a row, one that is equal to `value` if that is given.
fn mark(
    input: &mut Arc<LogicalPlan>,
    rows: Arc<LogicalPlan>,
    value: Option<Expr>,
    config: &dyn OptimizerConfig,
) -> Result<Expr> {
    let alias = config.alias_generator().next("__condition");
    let rows = LogicalPlanBuilder::from(rows).alias(alias.as_str())?.build()?;
    let is_meant = value.zip(rows.schema().columns().into_iter().next());
    let is_meant = is_meant.map_or_else(|| lit(true), |(value, answer)| value.eq(Expr::Column(answer)));
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
        "{what} outside of WHERE: in ON of an outer join it may name columns of one side only, as what stands before IN or in its query, \
         and the query may take of the query around it what WHERE of a query can be joined by"
    )
}

/// Whether an expression contains EXISTS or IN of a subquery.
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::Exists(_)))).unwrap_or(true)
}

fn has_correlated_subquery(expr: &Expr) -> bool {
    outer_columns(expr).map_or(true, |columns| !columns.is_empty())
}
