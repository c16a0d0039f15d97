//! Evaluates the parts of `CASE` only for the rows that reach them: `CASE WHEN i = 0 THEN false ELSE 10 / i > 2 END`.
//!
//! QUIRK: DataFusion 55 rewrites a boolean CASE to AND and OR, here `i <> 0 AND 10 / i > 2`, and evaluates both sides, or
//! pushes them down, for rows that one of them has decided: these divide by zero. It does the same with COALESCE. It
//! leaves `CASE x WHEN ..` alone, so this rule adds `true` as the `x`.

use crate::statistics::becomes;
use arrow_schema::DataType;
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Case, Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::optimizer::AnalyzerRule;

/// Rewrites `CASE WHEN c` to `CASE true WHEN c`. Runs after type coercion.
#[derive(Debug)]
pub(crate) struct GuardedCases;

/// The name of the rule.
pub(crate) const NAME: &str = "parts of CASE that may fail";

impl AnalyzerRule for GuardedCases {
    fn name(&self) -> &str {
        NAME
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let schema = match plan.inputs().is_empty() {
                true => plan.schema().as_ref().clone(),
                false => merge_schema(&plan.inputs()),
            };
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let expr = expr.transform_up(|expr| Ok(guarded(expr, &schema)))?;
                Ok(expr.update_data(|expr| name.restore(expr)))
            })
        })
        .data()
    }
}

fn guarded(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match expr {
        Expr::Case(Case { expr: None, when_then_expr, else_expr }) => {
            let whens = when_then_expr.iter().skip(1).map(|(when, _)| when);
            let results = || when_then_expr.iter().map(|(_, then)| then).chain(&else_expr);
            let is_boolean = results().any(|result| is_boolean(result, schema));
            // A CASE of literals may be compared with a literal, which makes it boolean.
            let is_split = is_boolean || results().all(|result| matches!(**result, Expr::Literal(..)));
            let is_guard = is_split && whens.chain(results()).any(|part| may_fail(part, schema));
            let expr = is_guard.then(|| Box::new(lit(true)));
            let case = Expr::Case(Case { expr, when_then_expr, else_expr });
            if is_guard { Transformed::yes(case) } else { Transformed::no(case) }
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) => {
            let is_first_of = matches!(func.name(), "coalesce" | "nvl");
            let is_guard = is_first_of
                && args.iter().any(|arg| is_boolean(arg, schema))
                && args.iter().skip(1).any(|arg| may_fail(arg, schema));
            match (is_guard, args.split_last()) {
                (true, Some((last, first))) => Transformed::yes(first_of(first, last)),
                _ => Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args })),
            }
        }
        other => Transformed::no(other),
    }
}

/// Returns a CASE for the first argument that is not null.
fn first_of(first: &[Expr], last: &Expr) -> Expr {
    let boxed = |arg: &Expr| (Box::new(arg.clone().is_not_null()), Box::new(arg.clone()));
    Expr::Case(Case {
        expr: Some(Box::new(lit(true))),
        when_then_expr: first.iter().map(boxed).collect(),
        else_expr: Some(Box::new(last.clone())),
    })
}

fn is_boolean(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|of| of == DataType::Boolean)
}

/// Whether evaluating an expression may fail for some values. With subqueries it is left alone: they become joins anyway.
fn may_fail(expr: &Expr, schema: &DFSchema) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    let fails = |expr: &Expr| match expr {
        Expr::BinaryExpr(binary) => matches!(binary.op, Plus | Minus | Multiply | Divide | Modulo),
        Expr::Negative(_) | Expr::ScalarFunction(_) => true,
        Expr::Cast(Cast { expr, field }) => {
            expr.get_type(schema).is_ok_and(|from| !keeps_all(&from, field.data_type()))
        }
        _ => false,
    };
    let is_subquery =
        |expr: &Expr| matches!(expr, Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_));
    let has = |is: &dyn Fn(&Expr) -> bool| expr.exists(|expr| Ok(is(expr))).unwrap_or(false);
    has(&fails) && !has(&is_subquery)
}

/// Whether a cast never fails.
fn keeps_all(from: &DataType, to: &DataType) -> bool {
    let is_number = |of: &DataType| of.is_integer() || of.is_floating();
    becomes(from, to) || to.is_string() || to.is_floating() && is_number(from)
}
