//! Prepared statements: their parameters and plans.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::logical_plan::{Analyze, Explain};
use datafusion::logical_expr::{ExplainOption, LogicalPlan, LogicalPlanBuilder, Statement};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Fails if a prepared statement has parameters without a type, beside others that have one.
///
/// QUIRK: DataFusion 55 does not count these, and fails at the number of parameters, or casts their values to NULL.
pub(crate) fn check_parameters(plan: &LogicalPlan) -> Result<()> {
    let LogicalPlan::Statement(Statement::Prepare(prepared)) = plan else { return Ok(()) };
    // Parameters with two types are reported by whoever binds them.
    let Ok(types) = prepared.input.get_parameter_fields() else { return Ok(()) };
    let is_unknown = |data_type: Option<&DataType>| data_type.is_none_or(|of| *of == DataType::Null);
    let unknown = types.iter().filter(|(_, field)| is_unknown(field.as_ref().map(|field| field.data_type())));
    let mut unknown: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
    unknown.sort_unstable();
    // Where none has a type, each has that of its value.
    match unknown.first() {
        Some(first) if !prepared.fields.is_empty() => plan_err!(
            "nothing in the statement says of which type {first} is: name the types of all parameters, as in \
             PREPARE {} (BIGINT, VARCHAR) AS ..",
            prepared.name
        ),
        _ => Ok(()),
    }
}

/// The plan, with `EXPLAIN EXECUTE` explaining the prepared statement.
pub(crate) async fn with_prepared(ctx: &SessionContext, plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Explain(explain) if is_execute(&explain.plan) => {
            let Explain { plan, verbose, explain_format, show_statistics, .. } = explain;
            let option =
                ExplainOption { verbose, format: explain_format, show_statistics, ..Default::default() };
            LogicalPlanBuilder::from(bound(ctx, &plan).await?).explain_option_format(option)?.build()
        }
        LogicalPlan::Analyze(analyze) if is_execute(&analyze.input) => {
            let input = Arc::new(bound(ctx, &analyze.input).await?);
            Ok(LogicalPlan::Analyze(Analyze { input, ..analyze }))
        }
        other => Ok(other),
    }
}

fn is_execute(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Statement(Statement::Execute(_)))
}

/// The prepared statement, with its parameters bound.
async fn bound(ctx: &SessionContext, execute: &LogicalPlan) -> Result<LogicalPlan> {
    Ok(ctx.execute_logical_plan(execute.clone()).await?.into_unoptimized_plan())
}
