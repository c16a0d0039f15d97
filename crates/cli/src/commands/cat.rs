//! `cat`: all rows, block by block.

use super::title;
use crate::args::CatArgs;
use crate::convert::plain_columns;
use crate::failure::{Failure, Outcome};
use crate::losses::Losses;
use crate::output::Output;
use crate::rows::json;
use crate::rows::table::RowTable;
use arrow_array::RecordBatchReader;
use std::io::Write;

pub(crate) fn run(args: &CatArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut losses = Losses::new(&args.selection)?;
    args.files.for_each(outcome, |path, file| {
        let mut file = args
            .selection
            .of(plain_columns(file.on_corrupt(args.selection.on_corrupt.into()))?)
            .batch_size(BLOCK);
        if let Some(limit) = args.limit {
            file = file.limit(limit);
        }
        let mut reader = file.batches()?;
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        let mut table = RowTable::new(&reader.schema(), args.full);
        let mut line = String::new();
        let mut is_empty = true;
        while let Some(batch) = reader.next_batch() {
            let batch = batch.map_err(|error| losses.before(path, &reader.loss_report(), error))?;
            is_empty = false;
            if !output.is_json() {
                // Each block is a table of its own: the widths of later values are not known yet.
                table.add(&batch);
                table.print(output)?;
                continue;
            }
            for row in 0..batch.num_rows() {
                line.clear();
                json::write_row(&batch, row, &mut line);
                line.push('\n');
                output.write_all(line.as_bytes())?;
            }
        }
        if is_empty && !output.is_json() {
            table.print(output)?;
        }
        losses.tell(path, &reader.loss_report())
    })
}

/// Rows in one table.
const BLOCK: usize = 1024;
