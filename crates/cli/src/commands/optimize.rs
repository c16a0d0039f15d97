//! `optimize`: a file again, smaller, with the same rows.

use super::advise::{WantedArgs, rewrite_options};
use super::rewrite::{RewriteArgs, rewrite_if};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::overwrite::{refuse, refuse_existing};
use crate::rewrite::{Input, report_failure};
use crate::text_table::TextTable;
use clap::{Args as ClapArgs, Command, FromArgMatches};
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::Int96Unit;
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use marquetry::file::metadata::ParquetMetaData;
use marquetry_inspect::{Advice, DiffFile, DiffOptions, column_bytes, diff_rows};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The arguments of `optimize`.
#[derive(Debug, ClapArgs)]
pub(crate) struct OptimizeArgs {
    /// The Parquet file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    output: PathBuf,
    /// Replace OUT if it is there
    #[arg(long)]
    overwrite: bool,
    /// Do not compare the rows of both files
    #[arg(long)]
    no_proof: bool,
    #[command(flatten)]
    wanted: WantedArgs,
}

pub(crate) fn run(args: &OptimizeArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    optimize(args, output).or_else(|failure| report_failure(&args.input, failure, outcome))
}

fn optimize(args: &OptimizeArgs, output: &mut Output) -> Result<(), Failure> {
    refuse_existing(&args.output, [args.input.as_path()], args.overwrite)?;
    let input = Input::open(&args.input)?;
    if input.metadata.encryption().is_some() {
        let why = "is encrypted: `marquetry rewrite --encrypt-file` writes it again";
        return Err(refuse(&args.input, why));
    }
    let advice = args.wanted.advice(&input)?;
    let options = rewrite_options(&advice);
    let mut written = None;
    if !options.is_empty() {
        let (size, no_proof) = (advice.file_bytes, args.no_proof);
        written = rewrite_if(&rewrite_args(args, options)?, |temporary| {
            let new =
                fs::metadata(temporary).map_err(|error| Error::io("cannot look at the new file", error))?;
            if new.len() >= size {
                return Ok(false);
            }
            if !no_proof {
                prove(&args.input, temporary)?;
            }
            Ok(true)
        })?;
    }
    match &written {
        Some(written) => {
            print(args, &advice, &written.metadata, written.size, output)?;
            if output.is_json() { Ok(()) } else { written.log.print(output) }
        }
        None => {
            copy(&input, &args.output)?;
            print(args, &advice, &input.metadata, advice.file_bytes, output)?;
            if output.is_json() {
                return Ok(());
            }
            Ok(output.line("nothing would be smaller by enough: OUT is a copy")?)
        }
    }
}

/// As if what `advise` prints had been called.
fn rewrite_args(args: &OptimizeArgs, options: Vec<String>) -> Result<RewriteArgs, Failure> {
    let mut words: Vec<OsString> = vec!["rewrite".into()];
    words.extend(options.into_iter().map(OsString::from));
    words.extend(["--overwrite".into(), "--".into(), args.input.clone().into(), args.output.clone().into()]);
    let matches = RewriteArgs::augment_args(Command::new("rewrite")).try_get_matches_from(words);
    let parsed = matches.and_then(|matches| RewriteArgs::from_arg_matches(&matches));
    parsed.map_err(|error| Failure::Usage(error.to_string()))
}

/// Fails if the rows of both files are not the same.
fn prove(before: &Path, after: &Path) -> Result<(), Failure> {
    let options =
        || keys::reader_options().with_text(StringLayout::Utf8View).with_int96(Int96Unit::Nanoseconds);
    let left = DiffFile::open(crate::remote::source(before)?, options())?;
    let right = DiffFile::open(crate::remote::source(after)?, options())?;
    let diff = diff_rows(&left, &right, &DiffOptions::default())?;
    match diff.is_same() && diff.not_compared.is_empty() {
        true => Ok(()),
        false => Err(refuse(before, "would not have the same rows: nothing is written")),
    }
}

fn copy(input: &Input, path: &Path) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    let (mut at, end) = (0, input.source.len());
    while at < end {
        let bytes = input.source.read_at(at, (end - at).min(COPIED_AT_ONCE) as usize)?;
        file.write_all(&bytes).map_err(|error| Error::io("cannot write the copy", error))?;
        at += bytes.len() as u64;
    }
    Ok(file.finish()?)
}

/// What was predicted of each column, and what came of it.
fn print(
    args: &OptimizeArgs,
    advice: &Advice,
    metadata: &ParquetMetaData,
    size: u64,
    output: &mut Output,
) -> Result<(), Failure> {
    let got = advice.columns.iter().map(|column| column_bytes(metadata, column.leaf));
    let got = got.collect::<Result<Vec<_>, _>>()?;
    let rows = || advice.columns.iter().zip(&got);
    if output.is_json() {
        let columns = rows().map(|(column, got)| {
            json!({"column": column.column, "before": column.bytes, "predicted": column.predicted, "got": got})
        });
        return Ok(output.json(&json!({
            "file": file_name::shown(&args.output), "before": advice.file_bytes, "predicted": advice.predicted_bytes,
            "size": size, "columns": columns.collect::<Vec<_>>(),
        }))?);
    }
    let mut table = TextTable::new(&["column", ">before", ">predicted", ">got"]);
    for (column, got) in rows() {
        let numbers = [column.bytes, column.predicted, *got].map(|number| number.to_string());
        table.row([column.column.clone()].into_iter().chain(numbers));
    }
    table.print(output)?;
    Ok(output.line(format!(
        "file: {} bytes, predicted: {}, got: {size}",
        advice.file_bytes, advice.predicted_bytes
    ))?)
}

const COPIED_AT_ONCE: u64 = 1 << 20;

/// What stands behind the options in `--help`.
pub(crate) const OPTIMIZE_HELP: &str = "\
Does what `marquetry advise` finds: columns get encodings and codecs that make them smaller, measured within the budget; all others
are copied, and gain what rewrite adds (checksums, offset indexes). Row groups, types, and the order of rows stay. OUT appears once it
is whole and its rows were compared with those of IN. Where it would not be smaller, OUT is a copy of IN, byte for byte. The
budget is for measuring; writing and comparing take what they take.

JSON: {file, before, predicted, size, columns: [{column, before, predicted, got}]}: bytes, of columns with their indexes.

Examples:
  marquetry optimize big.parquet small.parquet
  marquetry optimize big.parquet fast.parquet --for scan --budget 60s";
