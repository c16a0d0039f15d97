//! `cat`: prints all rows.

use crate::args::{InputTables, Selection};
use crate::convert::write_formatted;
use crate::failure::{Failure, Outcome};
use crate::loss_report::Losses;
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::resolve::ResolveArgs;
use crate::row_table::RowTable;
use crate::table_source::TableSource;
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry_text::format::json;

/// The arguments of `cat`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CatArgs {
    #[command(flatten)]
    pub(crate) tables: InputTables,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print at most this many rows
    #[arg(long, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Do not shorten values or omit columns that are too wide
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) resolve: ResolveArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

pub(crate) fn run(args: &CatArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    match cat(args, output) {
        Ok(()) => Ok(()),
        Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => Err(failure),
        Err(failure) => {
            outcome.report(Some(&failure.file(&args.tables.files[0])), &failure);
            Ok(())
        }
    }
}

fn cat(args: &CatArgs, output: &mut Output) -> Result<(), Failure> {
    let mut losses = Losses::new(&args.selection, &args.tables.files, None)?;
    let printed = print(args, &mut losses, output);
    losses.finish(printed)
}

fn print(args: &CatArgs, losses: &mut Losses, output: &mut Output) -> Result<(), Failure> {
    let path = &args.tables.files[0];
    let table = match (args.tables.unfinished, args.tables.files.as_slice()) {
        (false, files) => TableSource::open(files, &args.tables.together)?,
        (true, [file]) => TableSource::open_unfinished(file)?,
        (true, _) => return Err(Error::argument("--unfinished is for one file").into()),
    };
    let mut resolver = args.resolve.resolver()?;
    let mut rows = table.plain_rows(&args.selection, args.limit, BLOCK)?;
    let schema = match &resolver {
        Some(resolver) => resolver.schema(&rows.schema()),
        None => rows.schema(),
    };
    let mut table = RowTable::new(&schema, args.full);
    let mut is_empty = true;
    while let Some(batch) = rows.next_batch() {
        let batch = batch.map_err(|error| losses.before(&rows.losses(path), error))?;
        is_empty = false;
        let batch = match &mut resolver {
            Some(resolver) => resolver.resolve(&batch, rows.file(path))?,
            None => batch,
        };
        if !output.is_json() {
            // Each block is a table of its own, as the widths of later values are not known yet.
            table.add(&batch)?;
            table.print(output)?;
            continue;
        }
        write_formatted(&batch, json::write_lines, output)?;
    }
    if is_empty && !output.is_json() {
        table.print(output)?;
    }
    args.metrics.tell_read(path, &rows.metrics(), output)?;
    losses.tell(&rows.losses(path))
}

/// Rows in each table.
const BLOCK: usize = 1024;

/// Text after the options in `--help`.
pub(crate) const CAT_HELP: &str = "\
JSON: one object a row; `marquetry convert --help` shows how values look. Memory does not grow with the file.

Several files, and the files of a directory, are read as one table. A directory has its *.parquet, *.parq and *.pq
files, also in directories below, but none whose name begins with _ or .; if there are no such names, it has all its
files. The table has the schema of the first file, or with --union-by-name that of all; a file that does not fit is an
error. A _metadata file stands for the files that it names. Directories called key=value are partition columns:
integers, dates as 2024-12-31, or text; __HIVE_DEFAULT_PARTITION__ is null.

--on-corrupt reads all undamaged rows, and keeps the columns of a row together. The exit code is 0 if nothing is lost,
else 1. --offset then counts rows of the file and --limit counts rows that are printed; damage outside of them is not
looked for. With --where both count matching rows: a lost value that becomes null matches IS NULL only, and the report
covers all rows that were read, whether they match or not. The report (--loss-report) never replaces a file, and is
written at the end, also after an error. It has a line for each file: {file, rows_left_out, values_made_null, losses:
[{row_group, column, page, first_row, end_row, first_byte, end_byte, reason}]}; ends are exclusive, and `page` is null
if more than one page is lost.

--resolve prints the bytes that values of FILE columns refer to. They may be in the file itself, in files below the
directories of --allow, wherever symbolic links lead, and at URLs that begin with an --allow, without steps upwards.
Relative URIs are relative to the directory of the row's own file, and ranges without a URI are ranges of that file. A
value without bytes, with too many, or with bytes that its checksum contradicts, is an error with its row.

Examples:
  marquetry cat wines.parquet --columns name,producer.founded
  marquetry cat wines.parquet --offset 100 --limit 50 --format json
  marquetry cat 'warehouse/wines/year=202?' --columns year,name
  marquetry cat broken.parquet --on-corrupt skip-page --loss-report lost.json \\
      --format json > rows.jsonl
  marquetry cat images.parquet --resolve --allow images/ --format json
  marquetry cat .being-written.parquet.tmp --unfinished";
