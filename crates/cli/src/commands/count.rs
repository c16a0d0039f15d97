//! `count`: rows.

use crate::args::{InputTables, ValueArgs, condition};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::hyperlinks;
use crate::keys;
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::table_source::TableSource;
use arrow_array::RecordBatch;
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry::metrics::ReadMetrics;
use marquetry::predicate::Predicate;
use serde_json::json;
use std::io::Write;

/// The arguments of `count`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) tables: InputTables,
    /// Only rows that match this SQL condition: "country = 'DE' and amount > 100"
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    pub(crate) condition: Option<Predicate>,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

pub(crate) fn run(args: &CountArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.tables.are_several();
    let (mut total, mut is_any_counted) = (0u64, false);
    args.tables.for_each(outcome, |path, table| {
        // Footers have the number of all rows.
        let (rows, metrics) = match (table, &args.condition) {
            (TableSource::File(file), None) => (file.metadata().num_rows(), ReadMetrics::default()),
            (TableSource::Files(files), None) => (files.num_rows()?, ReadMetrics::default()),
            (TableSource::File(file), Some(condition)) => {
                let file = args.values.apply_to(file);
                let mut reader = file.columns(NONE).filter(condition.clone()).batches()?;
                (counted(|| reader.next_batch())?, reader.metrics())
            }
            (TableSource::Files(files), Some(condition)) => {
                let files = files.options(args.values.apply(keys::reader_options()));
                let mut reader = files.columns(NONE).filter(condition.clone()).batches()?;
                (counted(|| reader.next_batch())?, reader.metrics())
            }
        };
        (total, is_any_counted) = (total.saturating_add(rows), true);
        match (output.is_json(), are_several) {
            (true, _) => output.json(&json!({"file": file_name::shown(path), "rows": rows}))?,
            (false, true) => {
                write!(output, "{rows:>12}  ")?;
                output.linked(&file_name::shown_on_line(path), hyperlinks::of_file(path))?;
                output.line("")?;
            }
            (false, false) => output.line(rows.to_string())?,
        }
        args.metrics.tell_read(path, &metrics, output)
    })?;
    match (output.is_json(), are_several && is_any_counted) {
        (true, true) => output.json(&json!({"file": null, "rows": total}))?,
        (false, true) => output.line(format!("{total:>12}  total"))?,
        (_, false) => {}
    }
    Ok(())
}

/// The number of rows in all batches.
fn counted(mut next: impl FnMut() -> Option<Result<RecordBatch, Error>>) -> Result<u64, Failure> {
    let mut rows = 0;
    while let Some(batch) = next() {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// Counting rows needs no columns.
const NONE: [String; 0] = [];

/// Text after the options in `--help`.
pub(crate) const COUNT_HELP: &str = "\
--where reads only the predicate's columns, and of them only the pages that statistics, bloom filters, dictionaries
and page indexes leave: see explain.

JSON: {file, rows}, a line for each file; a directory is one. After several files comes a line with their sum, whose
file is null, unless none could be counted.

Examples:
  marquetry count warehouse/wines
  marquetry count 'data/*.parquet'
  marquetry count wines.parquet --where \"country = 'France' and price between 10 and 20\"";
