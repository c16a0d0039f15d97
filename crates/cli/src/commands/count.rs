//! `count`: rows.

use crate::args::CountArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::tables::Table;
use arrow_array::RecordBatch;
use marquetry::errors::Error;
use serde_json::json;

pub(crate) fn run(args: &CountArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.tables.are_several();
    let mut total = 0u64;
    args.tables.for_each(outcome, |path, table| {
        let rows = match (table, &args.condition) {
            (Table::File(file), None) => file.metadata().num_rows(),
            (Table::Files(files), None) => files.num_rows()?,
            (Table::File(file), Some(condition)) => {
                let mut reader = file.columns(NONE).filter(condition.clone()).batches()?;
                counted(|| reader.next_batch())?
            }
            (Table::Files(files), Some(condition)) => {
                let mut reader = files.columns(NONE).filter(condition.clone()).batches()?;
                counted(|| reader.next_batch())?
            }
        };
        total = total.saturating_add(rows);
        match (output.is_json(), are_several) {
            (true, _) => output.json(&json!({"file": path.display().to_string(), "rows": rows}))?,
            (false, true) => output.line(format!("{rows:>12}  {}", path.display()))?,
            (false, false) => output.line(rows.to_string())?,
        }
        Ok(())
    })?;
    match (output.is_json(), are_several) {
        (true, true) => output.json(&json!({"file": null, "rows": total}))?,
        (false, true) => output.line(format!("{total:>12}  total"))?,
        (_, false) => {}
    }
    Ok(())
}

/// The rows of all batches.
fn counted(mut next: impl FnMut() -> Option<Result<RecordBatch, Error>>) -> Result<u64, Failure> {
    let mut rows = 0;
    while let Some(batch) = next() {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// The columns that are needed to count rows.
const NONE: [String; 0] = [];
