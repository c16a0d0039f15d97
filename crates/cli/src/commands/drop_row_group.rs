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
    /// The row groups to remove, counted from 0 in the file as it is now
    #[arg(value_name = "N", required = true)]
    row_groups: Vec<usize>,
    #[command(flatten)]
    how: EditArgs,
}

pub(crate) const DROP_ROW_GROUP_HELP: &str = "\
The row groups after a removed one get new numbers. FILE is changed in place: a new footer without the row groups
follows the old one. Their bytes stay, and so does the old footer; `marquetry rewrite` drops them. `marquetry append
--help` tells how this is safe, and describes the JSON. An encrypted file is refused, because its row groups are
encrypted by their numbers: run `marquetry rewrite --decrypt` first.

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
