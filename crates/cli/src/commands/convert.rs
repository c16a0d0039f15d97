//! `convert`: rows into a file of another kind.

use crate::args::{ConvertArgs, Target};
use crate::convert::{Destination, Progress, Sink, plain_columns, renamed, with_names};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use arrow_array::RecordBatchReader;
use std::path::Path;

pub(crate) fn run(args: &ConvertArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    match convert(args, output) {
        Err(failure @ Failure::File(_)) => outcome.report(Some(&args.input), &failure),
        Err(failure @ (Failure::Write(_) | Failure::Usage(_))) => {
            outcome.report(Some(&args.output), &failure);
        }
        other => return other,
    }
    Ok(())
}

fn convert(args: &ConvertArgs, output: &mut Output) -> Result<(), Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    let target = match (args.to, to_stdout) {
        (Some(target), _) => target,
        (None, true) => Target::Jsonl,
        (None, false) => by_extension(&args.output)?,
    };
    let file = plain_columns(marquetry::open(&args.input)?)?;
    let mut file = args.selection.of(file).batch_size(args.batch_size.get());
    if let Some(limit) = args.limit {
        file = file.limit(limit);
    }
    let rows = file.metadata().num_rows().saturating_sub(args.selection.offset as u64);
    let mut reader = file.batches()?;
    let mut progress = Progress::new(rows.min(args.limit.map_or(u64::MAX, |limit| limit as u64)), to_stdout);
    let mut destination = match to_stdout {
        true => Destination::Stdout(output),
        false => Destination::create(&args.output, &args.input)?,
    };
    let schema = with_names(reader.schema());
    let mut sink = Sink::new(target, to_stdout, &mut destination, &schema)?;
    while let Some(batch) = reader.next_batch() {
        let batch = renamed(batch?, &schema)?;
        sink.write(&batch)?;
        progress.advance(batch.num_rows());
    }
    sink.finish()?;
    destination.complete()
}

fn by_extension(output: &Path) -> Result<Target, Failure> {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("arrow" | "arrows" | "feather" | "ipc") => Ok(Target::Arrow),
        Some("csv") => Ok(Target::Csv),
        Some("jsonl" | "ndjson") => Ok(Target::Jsonl),
        _ => Err(Failure::Usage(
            "which format? End the name in .arrow, .csv or .jsonl, or say --to".to_owned(),
        )),
    }
}
