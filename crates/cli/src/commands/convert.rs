//! `convert`: rows into a file of another kind, or of another form.

use crate::args::{ConvertArgs, Report, Target};
use crate::convert::{
    Destination, Part, Progress, Sink, SizeReport, Total, formatted, properties, renamed, with_names,
};
use crate::failure::{Failure, Outcome};
use crate::inputs::{self, Batches, Input, Wanted};
use crate::losses::Losses;
use crate::ordered_map::default_threads;
use crate::output::Output;
use crate::rows;
use crate::sort::{self, Budget, Keys, SortKey};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn run(args: &ConvertArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    match convert(args, output) {
        Err(failure @ (Failure::File(_) | Failure::Check(_))) => {
            outcome.report(Some(&failure.file(&args.inputs[0])), &failure)
        }
        Err(failure @ (Failure::Write(_) | Failure::Usage(_))) => {
            outcome.report(Some(&args.output), &failure);
        }
        other => return other,
    }
    Ok(())
}

fn convert(args: &ConvertArgs, output: &mut Output) -> Result<(), Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    let out = Some(args.output.as_path()).filter(|_| !to_stdout);
    let mut lost = Losses::new(&args.selection, &args.inputs, out)?;
    let converted = convert_rows(args, to_stdout, &mut lost, output);
    lost.finish(converted)
}

fn convert_rows(
    args: &ConvertArgs,
    to_stdout: bool,
    lost: &mut Losses,
    output: &mut Output,
) -> Result<(), Failure> {
    let target = match (args.to, to_stdout) {
        (Some(target), _) => target,
        (None, true) => Target::Jsonl,
        (None, false) => by_extension(&args.output)?,
    };
    let threads = args.writing.threads.unwrap_or_else(default_threads);
    let input = inputs::open(&args.inputs, &wanted(args, target, threads))?;
    let schema = match target {
        // A Parquet file keeps its names, the empty ones too.
        Target::Parquet => input.schema.clone(),
        _ => with_names(input.schema.clone()),
    };
    let keys = args.sort_by.iter().map(|key| SortKey::parse(key, &schema)).collect::<Result<Vec<_>, _>>()?;
    let report = report_format(args, to_stdout, output)?;
    let losses = input.losses.clone();
    let mut destination = match to_stdout {
        true => Destination::stdout(output),
        false => Destination::create(&args.output, args.inputs.iter().chain(&input.files))?,
    };
    let written = destination.written();
    let mut progress = Progress::new(total(&input), to_stdout, written.clone());
    let mut sink = match target {
        Target::Parquet => parquet_sink(args, &input, &keys, &mut destination)?,
        _ => Sink::new(target, to_stdout, &mut destination, &schema)?,
    };
    let batches = {
        let schema = schema.clone();
        input.batches.map(move |batch| Ok(renamed(batch?, &schema)?))
    };
    let batches: Batches = match keys.is_empty() {
        true => Box::new(batches),
        false => {
            progress.begin("sorting ", None);
            let budget = Budget::new(args.memory_limit, args.batch_size.get(), threads);
            let advance = |rows| progress.advance(rows);
            let sorted = sort::sorted(Box::new(batches), &schema, Keys::new(keys)?, budget, advance)?;
            progress.begin("writing ", Some(Total::Rows(progress.rows())));
            sorted
        }
    };
    for part in parts(batches, target, threads) {
        let part = part.map_err(|failure| lost.before(&locked(&losses), failure))?;
        sink.write(&part)?;
        progress.advance(part.num_rows());
    }
    let sizes = sink.finish()?;
    destination.complete()?;
    drop(progress);
    if let Some(sizes) = sizes {
        print(&sizes, report, &args.output, written.load(Ordering::Relaxed), output)?;
    }
    lost.tell(&locked(&losses))
}

/// The rows as the output takes them.
fn parts(
    batches: Batches,
    target: Target,
    threads: NonZeroUsize,
) -> Box<dyn Iterator<Item = Result<Part, Failure>>> {
    match target {
        Target::Csv => Box::new(formatted(batches, rows::csv::write_lines, threads)),
        Target::Jsonl => Box::new(formatted(batches, rows::json::write_lines, threads)),
        Target::Parquet | Target::Arrow => Box::new(batches.map(|batch| batch.map(Part::Rows))),
    }
}

fn locked(losses: &Mutex<inputs::Losses>) -> MutexGuard<'_, inputs::Losses> {
    losses.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wanted(args: &ConvertArgs, target: Target, threads: NonZeroUsize) -> Wanted<'_> {
    Wanted {
        args: &args.reading,
        together: &args.together,
        selection: &args.selection,
        limit: args.limit,
        batch_rows: args.batch_size.get(),
        exact_batches: target == Target::Arrow,
        threads,
        plain: target != Target::Parquet,
    }
}

fn parquet_sink<'a, 'b>(
    args: &ConvertArgs,
    input: &Input,
    keys: &[SortKey],
    destination: &'a mut Destination<'b>,
) -> Result<Sink<'a, 'b>, Failure> {
    let pairs = input.parquet.as_ref().map_or(&[][..], |file| file.metadata().key_value_metadata());
    // Merging takes a quarter at most.
    let memory_limit = if keys.is_empty() { args.memory_limit } else { args.memory_limit / 4 * 3 };
    let properties = properties(&args.writing, memory_limit, keys, pairs);
    // Bytes of some rows cannot be told from those of all.
    let has_all_rows =
        args.selection.offset == 0 && args.limit.is_none() && args.selection.condition.is_none();
    let source = input.parquet.clone().filter(|_| has_all_rows);
    Sink::parquet(destination, &input.schema, properties, source)
}

fn total(input: &Input) -> Total {
    match (input.rows, input.bytes) {
        (Some(rows), _) => Total::Rows(rows),
        (None, Some(bytes)) => Total::Bytes(bytes, input.bytes_read.clone()),
        (None, None) => Total::Unknown,
    }
}

/// How the report is printed: not where the rows go.
fn report_format(args: &ConvertArgs, to_stdout: bool, output: &Output) -> Result<Report, Failure> {
    match (args.writing.report, to_stdout) {
        (Some(Report::Text | Report::Json), true) => {
            Err(Failure::Usage("standard output has the rows: there is no place for a report".to_owned()))
        }
        (Some(report), false) => Ok(report),
        (_, true) => Ok(Report::None),
        (None, false) if output.is_json() => Ok(Report::Json),
        (None, false) => Ok(Report::Text),
    }
}

fn print(
    sizes: &SizeReport,
    report: Report,
    path: &Path,
    size: u64,
    output: &mut Output,
) -> Result<(), Failure> {
    match report {
        Report::Text => Ok(sizes.print(path, size, output)?),
        Report::Json => Ok(output.json(&sizes.json(path, size))?),
        Report::None => Ok(()),
    }
}

fn by_extension(output: &Path) -> Result<Target, Failure> {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("parquet" | "parq" | "pq") => Ok(Target::Parquet),
        Some("arrow" | "arrows" | "feather" | "ipc") => Ok(Target::Arrow),
        Some("csv") => Ok(Target::Csv),
        Some("jsonl" | "ndjson") => Ok(Target::Jsonl),
        _ => Err(Failure::Usage(
            "which format? End the name in .parquet, .arrow, .csv or .jsonl, or say --to".to_owned(),
        )),
    }
}
