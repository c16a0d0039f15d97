//! `drop-row-group`: removes row groups from the footer; their bytes stay in the file.

use super::edit::{EditArgs, report};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::rewrite::{ColumnLog, report_failure};
use clap::Args as ClapArgs;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
pub(crate) struct DropRowGroupArgs {
    /// The Parquet file
    #[arg(value_name = "FILE", value_parser = crate::remote::local())]
    file: PathBuf,
    /// The row groups, counted from 0 as they are in the file now
    #[arg(value_name = "N", required = true)]
    row_groups: Vec<usize>,
    #[command(flatten)]
    how: EditArgs,
}

pub(crate) const DROP_ROW_GROUP_HELP: &str = "\
The row groups behind get other numbers. FILE is changed in place: a new footer that leaves the row groups out goes behind
the old one, and their bytes stay, with the old footer that refers to them; follow with `marquetry rewrite` to be rid of
them. How that is safe, and what the JSON is, `marquetry append --help` tells. An encrypted file is refused, since its row
groups are encrypted for their numbers: `marquetry rewrite --decrypt` comes first.

Examples:
  marquetry drop-row-group wines.parquet 0
  marquetry drop-row-group served.parquet 0 --copy
  marquetry drop-row-group wines.parquet 0 1 && marquetry rewrite wines.parquet smaller.parquet";

pub(crate) fn run(
    args: &DropRowGroupArgs,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    drop_row_groups(args, output).or_else(|failure| report_failure(&args.file, failure, outcome))
}

fn drop_row_groups(args: &DropRowGroupArgs, output: &mut Output) -> Result<(), Failure> {
    let mut edit = args.how.open(&args.file)?;
    let before = edit.len();
    // From the last one on, so that earlier numbers stay valid.
    for index in args.row_groups.iter().collect::<BTreeSet<_>>().into_iter().rev() {
        edit.drop_row_group(*index)?;
    }
    let edited = edit.finish()?;
    report(&args.file, before, &edited, &ColumnLog::new(0), output)
}
