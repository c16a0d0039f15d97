//! Runs the statements of a script, one after the other.

use crate::args::{CommandLine, Explain, Format};
use crate::copied_rows::with_writable_rows;
use crate::distinct_from::with_tight_operands;
use crate::file_url::with_exact_targets;
use crate::folder_tables::{next_stays, of_missing_file};
use crate::format;
use crate::key_names::with_bare_keys;
use crate::prepared::{check_parameters, with_prepared};
use datafusion::dataframe::DataFrame;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{LogicalPlan, Statement};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::{DFParser, Statement as ParsedStatement};
use datafusion::sql::sqlparser::ast::Statement as SqlStatement;
use std::collections::VecDeque;

/// Runs all statements of a text, up to the first that fails, or until the reader of the output leaves. Returns whether it stayed.
pub(crate) async fn run(ctx: &SessionContext, text: &str, args: &CommandLine) -> Result<bool> {
    let statements: VecDeque<_> = DFParser::parse_sql(text)?;
    let mut is_written = false;
    for statement in statements {
        let statement = with_bare_keys(with_tight_operands(statement));
        let state = ctx.state();
        let tables = state.resolve_table_references(&statement).unwrap_or_default();
        next_stays(&state, outlives(&statement));
        let plan =
            state.statement_to_plan(statement).await.map_err(|error| of_missing_file(&tables, error))?;
        let plan = with_exact_targets(plan)?;
        let plan = with_writable_rows(plan, state.config_options(), args.cluster().is_none())?;
        check_parameters(&plan)?;
        let plan = with_prepared(ctx, plan).await?;
        let gives_rows = gives_rows(&plan);
        // It was planned after the statement before had run.
        let frame = ctx.execute_logical_plan(plan).await?;
        if !gives_rows {
            frame.collect().await?;
            continue;
        }
        if args.output.is_some() && std::mem::replace(&mut is_written, true) {
            return Err(DataFusionError::Plan(
                "--output is one file: give one statement that has rows".to_owned(),
            ));
        }
        if !give(ctx, explained(frame, args.explain)?, args).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether later statements read the tables of this one again.
fn outlives(statement: &ParsedStatement) -> bool {
    let ParsedStatement::Statement(statement) = statement else { return false };
    matches!(**statement, SqlStatement::CreateView { .. } | SqlStatement::Prepare { .. })
}

/// Whether a statement returns rows, as the execution of a prepared one may.
fn gives_rows(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Statement(statement) => matches!(statement, Statement::Execute(_)),
        LogicalPlan::Ddl(_) => false,
        _ => true,
    }
}

fn explained(frame: DataFrame, explain: Option<Explain>) -> Result<DataFrame> {
    match explain {
        // A plan is not explained again.
        Some(_) if matches!(frame.logical_plan(), LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) => {
            Ok(frame)
        }
        Some(explain) => frame.explain(false, explain == Explain::Analyze),
        None => Ok(frame),
    }
}

/// Outputs rows. Returns whether the reader of the output stayed.
async fn give(ctx: &SessionContext, frame: DataFrame, args: &CommandLine) -> Result<bool> {
    let is_read = |()| true;
    match (args.format().map_err(DataFusionError::Plan)?, &args.output) {
        (Format::Parquet, Some(_)) if args.cluster().is_some() => Err(DataFusionError::Plan(
            "--output cannot write Parquet from a cluster: let the cluster write the file, with COPY (..) TO"
                .to_owned(),
        )),
        (Format::Parquet, Some(path)) => format::parquet(ctx, frame, path).await.map(is_read),
        (Format::Parquet, None) => Err(DataFusionError::Plan(
            "Parquet is not written to standard output: give a file with --output".to_owned(),
        )),
        (format, Some(path)) => format::to_file(frame, format, path, args.overwrite).await.map(is_read),
        (format, None) => format::to_stdout(frame, format).await,
    }
}

/// Fails if rows cannot go to the output, before any statement runs.
pub(crate) fn check_output(args: &CommandLine) -> Result<()> {
    args.format().map_err(DataFusionError::Plan)?;
    match &args.output {
        // A symbolic link to nothing exists, too.
        Some(path) if !args.overwrite && path.symlink_metadata().is_ok() => Err(DataFusionError::Plan(
            format!("{} already exists; use --overwrite to replace it", path.display()),
        )),
        _ => Ok(()),
    }
}
