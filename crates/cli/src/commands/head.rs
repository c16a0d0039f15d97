//! `head`: the first rows.

use super::title;
use crate::args::HeadArgs;
use crate::convert::plain_columns;
use crate::failure::{Failure, Outcome};
use crate::losses::Losses;
use crate::output::Output;
use crate::rows::json;
use crate::rows::table::RowTable;
use arrow_array::RecordBatchReader;
use std::io::Write;

pub(crate) fn run(args: &HeadArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut losses = Losses::new(&args.selection)?;
    args.files.for_each(outcome, |path, file| {
        let file = args
            .selection
            .of(plain_columns(file.on_corrupt(args.selection.on_corrupt.into()))?)
            .limit(args.rows);
        // A batch as large as what is wanted, unless that is much.
        let mut reader = file.batch_size(args.rows.clamp(1, MOST_ROWS)).batches()?;
        if !output.is_json() && are_several {
            title(path, output)?;
        }
        let mut table = RowTable::new(&reader.schema(), args.full);
        let mut line = String::new();
        while let Some(batch) = reader.next_batch() {
            let batch = batch.map_err(|error| losses.before(path, &reader.loss_report(), error))?;
            if !output.is_json() {
                table.add(&batch);
                continue;
            }
            for row in 0..batch.num_rows() {
                line.clear();
                json::write_row(&batch, row, &mut line);
                line.push('\n');
                output.write_all(line.as_bytes())?;
            }
        }
        if !output.is_json() {
            table.print(output)?;
        }
        losses.tell(path, &reader.loss_report())
    })
}

const MOST_ROWS: usize = 8192;
