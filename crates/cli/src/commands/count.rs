//! `count`: rows.

use crate::args::CountArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use serde_json::json;

pub(crate) fn run(args: &CountArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    let mut total = 0u64;
    args.files.for_each(outcome, |path, file| {
        let rows = match &args.condition {
            None => file.metadata().num_rows(),
            Some(condition) => {
                let mut rows = 0;
                let mut reader = file.columns(Vec::<String>::new()).filter(condition.clone()).batches()?;
                while let Some(batch) = reader.next_batch() {
                    rows += batch?.num_rows() as u64;
                }
                rows
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
