//! `cat`: all rows, block by block.

use crate::args::CatArgs;
use crate::failure::{Failure, Outcome};
use crate::losses::Losses;
use crate::output::Output;
use crate::rows::json;
use crate::rows::table::RowTable;
use crate::tables::Table;
use marquetry::errors::Error;
use std::io::Write;

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
        (false, files) => Table::open(files, &args.tables.together)?,
        (true, [file]) => Table::open_unfinished(file)?,
        (true, _) => return Err(Error::argument("--unfinished is for one file").into()),
    };
    let mut rows = table.plain_rows(&args.selection, args.limit, BLOCK)?;
    let mut table = RowTable::new(&rows.schema(), args.full);
    let mut lines = String::new();
    let mut is_empty = true;
    while let Some(batch) = rows.next_batch() {
        let batch = batch.map_err(|error| losses.before(&rows.losses(path), error))?;
        is_empty = false;
        if !output.is_json() {
            // Each block is a table of its own: the widths of later values are not known yet.
            table.add(&batch);
            table.print(output)?;
            continue;
        }
        lines.clear();
        json::write_lines(&batch, &mut lines);
        output.write_all(lines.as_bytes())?;
    }
    if is_empty && !output.is_json() {
        table.print(output)?;
    }
    losses.tell(&rows.losses(path))
}

/// Rows in one table.
const BLOCK: usize = 1024;
