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
    /// Print at most so many rows
    #[arg(long, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Shorten no values and leave out no columns
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
JSON: one object a row; see `marquetry convert --help` for how values look. Memory does not grow with the file.

Several files are read as one table, as are those of a directory: *.parquet, *.parq and *.pq in it and below it, but for
what begins with _ or . , or all files if none is called so. They have the schema of the first, or that of all with
--union-by-name; a file that does not fit is an error. A _metadata stands for the files that it names. Directories called
key=value make columns: integers, dates as 2024-12-31, or text; __HIVE_DEFAULT_PARTITION__ is null.

With --on-corrupt whatever is whole is read, and rows stay together. The exit code is 0 if nothing is lost, else 1.
Then --offset counts rows of the file, --limit those that are given; losses that no wanted row meets are not looked for.
With --where both count rows of which it is true: it is asked about what is whole, nothing is true of a value that is lost
and null but that it is null, and the losses are those of all rows that are read, wanted or not.
The report (--loss-report) replaces no file, and appears when the command is over, whether all rows could be read or not.
It has a line for each file: {file, rows_left_out, values_made_null, losses: [{row_group, column, page, first_row,
end_row, first_byte, end_byte, reason}]}; ends are behind the last row and byte, `page` is null where it is no single page.

With --resolve columns of FILE have the bytes that their values refer to. Nothing is opened but the file itself, files below the
directories that --allow names, whatever symbolic links lead there, and URLs that begin as it says, without steps upwards. Relative
URIs are relative to the directory of the file. A value that leads to no bytes, to too many, or to others than its checksum
says, is an error with its row. Of several files each row's values lead to ranges of the file that the row is of, and relative URIs
to its directory.

Examples:
  marquetry cat wines.parquet --columns name,producer.founded
  marquetry cat wines.parquet --offset 100 --limit 50 --format json
  marquetry cat 'warehouse/wines/year=202?' --columns year,name
  marquetry cat broken.parquet --on-corrupt skip-page --loss-report lost.json \\
      --format json > rows.jsonl
  marquetry cat images.parquet --resolve --allow images/ --format json
  marquetry cat .being-written.parquet.tmp --unfinished";
