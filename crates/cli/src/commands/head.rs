//! `head`: the first rows.

use super::heading::title;
use crate::args::{InputTables, Selection};
use crate::convert::write_formatted;
use crate::failure::{Failure, Outcome};
use crate::loss_report::Losses;
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::rewrite::report_failure;
use crate::row_table::RowTable;
use clap::Args as ClapArgs;
use marquetry_text::format::json;

/// The arguments of `head`.
#[derive(Debug, ClapArgs)]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    pub(crate) tables: InputTables,
    /// How many rows to print
    #[arg(long, short = 'n', visible_alias = "limit", value_name = "ROWS", default_value_t = 10)]
    pub(crate) rows: usize,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Do not shorten values or omit columns that are too wide
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

pub(crate) fn run(args: &HeadArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let losses = Losses::new(&args.selection, &args.tables.files, None);
    let mut losses = match losses {
        Ok(losses) => losses,
        Err(failure) => return report_failure(&args.tables.files[0], failure, outcome),
    };
    let printed = print(args, &mut losses, output, outcome);
    losses.finish(printed)
}

fn print(
    args: &HeadArgs,
    losses: &mut Losses,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let are_several = args.tables.are_several();
    args.tables.for_each(outcome, |path, table| {
        // A batch as large as the result, unless that is large.
        let batch_rows = args.rows.clamp(1, MOST_ROWS);
        let mut rows = table.plain_rows(&args.selection, Some(args.rows), batch_rows)?;
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        let mut table = RowTable::new(&rows.schema(), args.full);
        while let Some(batch) = rows.next_batch() {
            let batch = batch.map_err(|error| losses.before(&rows.losses(path), error))?;
            if !output.is_json() {
                table.add(&batch)?;
                continue;
            }
            write_formatted(&batch, json::write_lines, output)?;
        }
        if !output.is_json() {
            table.print(output)?;
        }
        args.metrics.tell_read(path, &rows.metrics(), output)?;
        losses.tell(&rows.losses(path))
    })
}

const MOST_ROWS: usize = 8192;

/// Text after the options in `--help`.
pub(crate) const HEAD_HELP: &str = "\
JSON: one object a row; `marquetry convert --help` shows how values look.
With --on-corrupt the exit code is 1 if anything is lost; `marquetry cat --help` describes the report.

Examples:
  marquetry head wines.parquet
  marquetry head -n 3 --columns name,price --format json 'data/*.parquet'
  marquetry head warehouse/wines";
