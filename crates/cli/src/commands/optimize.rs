//! `optimize`: a file again, smaller, with the same rows.

use super::advise::{Allowed, Applied, TRIED_BYTES, TrialFolder, WantedArgs, rewrite_args};
use super::convert::{ConvertArgs, convert};
use super::rewrite::rewrite_if;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::overwrite::{refuse, refuse_existing};
use crate::rewrite::{ColumnLog, Input, report_failure};
use crate::spinner::Spinner;
use crate::text_table::TextTable;
use arrow_schema::TimeUnit;
use clap::{Args as ClapArgs, Command, FromArgMatches};
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::Int96Unit;
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::AtomicFile;
use marquetry::file::metadata::ParquetMetaData;
use marquetry_inspect::{Advice, AdviceKind, DiffFile, DiffOptions, column_bytes, diff_rows};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Sort the rows as is advised, if an order makes the file smaller, or lets the queries skip more
    #[arg(long)]
    sort: bool,
    /// Give columns types that are narrower, as is advised; each value would come back as it was
    #[arg(long)]
    types: bool,
    #[command(flatten)]
    wanted: WantedArgs,
}

/// `memory_limit` is what sorting and writing may hold, in bytes.
pub(crate) fn run(
    args: &OptimizeArgs,
    memory_limit: usize,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    optimize(args, memory_limit, output).or_else(|failure| report_failure(&args.input, failure, outcome))
}

/// What was written.
struct Got {
    metadata: Arc<ParquetMetaData>,
    size: u64,
    log: Option<ColumnLog>,
}

fn optimize(args: &OptimizeArgs, memory_limit: usize, output: &mut Output) -> Result<(), Failure> {
    refuse_existing(&args.output, [args.input.as_path()], args.overwrite)?;
    let input = Input::open(&args.input)?;
    if input.metadata.encryption().is_some() {
        let why = "is encrypted: `marquetry rewrite --encrypt-file` writes it again";
        return Err(refuse(&args.input, why));
    }
    let advice = args.wanted.advice(&input)?;
    let allowed = Allowed { sort: args.sort, types: args.types };
    let mut applied = args.wanted.applied(&input, &advice, allowed)?;
    if applied.converts && advice.file_bytes <= TRIED_BYTES {
        applied.predicted = tried(args, &applied, advice.file_bytes, memory_limit, output)?;
    }
    let mut got = None;
    for options in &applied.attempts {
        let _spinner = Spinner::new("writing");
        got = match applied.converts {
            true => converted(args, options, &applied, advice.file_bytes, memory_limit, output)?,
            false => rewritten(args, options, &applied, advice.file_bytes)?,
        };
        if got.is_some() {
            break;
        }
    }
    let is_copy = got.is_none();
    let got = match got {
        Some(got) => got,
        None => {
            copy(&input, &args.output)?;
            Got { metadata: input.metadata.clone(), size: advice.file_bytes, log: None }
        }
    };
    print(args, &advice, &applied, &got, output)?;
    if output.is_json() {
        return Ok(());
    }
    if is_copy {
        output.line("nothing would be smaller by enough: OUT is a copy")?;
    }
    got.log.map_or(Ok(()), |log| log.print(output))
}

/// Writes the file with columns as they are stored; `None` if it gets no smaller.
fn rewritten(
    args: &OptimizeArgs,
    options: &[String],
    applied: &Applied,
    size: u64,
) -> Result<Option<Got>, Failure> {
    let rewrite = rewrite_args(&args.input, &args.output, options)?;
    let written = rewrite_if(&rewrite, |temporary| {
        let is_smaller = bytes_of(temporary)? < size;
        if is_smaller && !args.no_proof {
            prove(&args.input, temporary, applied)?;
        }
        Ok(is_smaller)
    })?;
    Ok(written.map(|written| Got {
        metadata: Arc::new(written.metadata),
        size: written.size,
        log: Some(written.log),
    }))
}

/// Writes the file with rows or types that change; `None` if it gets no smaller.
fn converted(
    args: &OptimizeArgs,
    options: &[String],
    applied: &Applied,
    size: u64,
    memory_limit: usize,
    output: &mut Output,
) -> Result<Option<Got>, Failure> {
    let mut name = OsString::from(".");
    name.push(args.output.file_name().unwrap_or_default());
    name.push(".converted");
    let temporary = Removed(args.output.with_file_name(name));
    convert_to(args, options, &temporary.0, memory_limit, output)?;
    let bytes = bytes_of(&temporary.0)?;
    if bytes >= size {
        return Ok(None);
    }
    if !args.no_proof {
        prove(&args.input, &temporary.0, applied)?;
    }
    let metadata = Input::open_plain(&temporary.0)?.metadata.clone();
    let cannot = |error| Error::io("cannot rename the finished file", error);
    fs::rename(&temporary.0, &args.output).map_err(cannot)?;
    Ok(Some(Got { metadata, size: bytes, log: None }))
}

/// As if `convert` had been called with these options.
fn convert_to(
    args: &OptimizeArgs,
    options: &[String],
    path: &Path,
    memory_limit: usize,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut words: Vec<OsString> = vec!["convert".into()];
    words.extend(options.iter().map(OsString::from));
    words.extend(["--to=parquet", "--report=none", "--overwrite", "--"].map(OsString::from));
    words.extend([args.input.clone().into(), path.into()]);
    let matches = ConvertArgs::augment_args(Command::new("convert")).try_get_matches_from(words);
    let parsed = matches.and_then(|matches| ConvertArgs::from_arg_matches(&matches));
    let convert_args = parsed.map_err(|error| Failure::Usage(error.to_string()))?;
    convert(&convert_args, memory_limit, output)
}

/// How large a small file gets, by writing it once.
fn tried(
    args: &OptimizeArgs,
    applied: &Applied,
    size: u64,
    memory_limit: usize,
    output: &mut Output,
) -> Result<u64, Failure> {
    let folder = TrialFolder::new()?;
    let path = folder.0.join("trial.parquet");
    for options in &applied.attempts {
        convert_to(args, options, &path, memory_limit, output)?;
        let bytes = bytes_of(&path)?;
        if bytes < size {
            return Ok(bytes);
        }
    }
    Ok(size)
}

fn bytes_of(path: &Path) -> Result<u64, Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::io("cannot look at the new file", error))?;
    Ok(metadata.len())
}

/// A file that is removed where it has not got another name.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Fails if the rows of both files are not the same. Values of another type were looked at one by one when they were changed.
fn prove(before: &Path, after: &Path, applied: &Applied) -> Result<(), Failure> {
    match prove_with(before, after, applied, Int96Unit::Nanoseconds) {
        // INT96 beyond what nanoseconds reach.
        Err(Failure::File(error)) if error.kind() == ErrorKind::Limit => {
            prove_with(before, after, applied, Int96Unit::Unit(TimeUnit::Microsecond))
        }
        proved => proved,
    }
}

fn prove_with(before: &Path, after: &Path, applied: &Applied, int96: Int96Unit) -> Result<(), Failure> {
    let options = || keys::reader_options().with_text(StringLayout::Utf8View).with_int96(int96);
    let left = DiffFile::open(crate::remote::source(before)?, options())?;
    let right = DiffFile::open(crate::remote::source(after)?, options())?;
    let mut diff_options = DiffOptions::default();
    if !applied.retyped.is_empty() {
        let roots = left.metadata().schema().fields().iter().map(|field| field.name().clone());
        let same: Vec<String> = roots.filter(|name| !applied.retyped.contains(name)).collect();
        if same.is_empty() {
            return Ok(());
        }
        diff_options = diff_options.with_columns(same);
    }
    let diff = diff_rows(&left, &right, &diff_options)?;
    let are_same = match applied.kinds.contains(&AdviceKind::SortOrder) {
        true => diff.removed == 0 && diff.added == 0 && diff.changed == 0,
        false => diff.is_same(),
    };
    if let [first, ..] = &diff.not_compared[..] {
        let why = format!("column {first} would get a type that cannot be compared: nothing is written");
        return Err(refuse(before, &why));
    }
    match are_same {
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
    applied: &Applied,
    got: &Got,
    output: &mut Output,
) -> Result<(), Failure> {
    let (size, predicted) = (got.size, applied.predicted);
    let columns = advice.columns.iter().map(|column| column_bytes(&got.metadata, column.leaf));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let rows = || advice.columns.iter().zip(&columns);
    let kinds: Vec<&str> = applied.kinds.iter().map(|kind| kind.name()).collect();
    if output.is_json() {
        let columns = rows().map(|(column, got)| {
            json!({"column": column.column, "before": column.bytes, "predicted": column.predicted, "got": got})
        });
        return Ok(output.json(&json!({
            "file": file_name::shown(&args.output), "before": advice.file_bytes, "predicted": predicted,
            "size": size, "columns": columns.collect::<Vec<_>>(), "also": kinds,
        }))?);
    }
    let mut table = TextTable::new(&["column", ">before", ">predicted", ">got"]);
    for (column, got) in rows() {
        let numbers = [column.bytes, column.predicted, *got].map(|number| number.to_string());
        table.row([column.column.clone()].into_iter().chain(numbers));
    }
    table.print(output)?;
    if !kinds.is_empty() {
        output.line(format!("also: {}", kinds.join(", ")))?;
    }
    Ok(output.line(format!("file: {} bytes, predicted: {predicted}, got: {size}", advice.file_bytes))?)
}

const COPIED_AT_ONCE: u64 = 1 << 20;

/// What stands behind the options in `--help`.
pub(crate) const OPTIMIZE_HELP: &str = "\
Does what `marquetry advise` finds, as far as rows, their order and types stay: columns get encodings and codecs that make them smaller,
measured within the budget, and row groups and pages other sizes where that saves bytes; with --for scan row groups that threads can
share, too, and with --for filter statistics, page indexes, and bloom filters for what --where and --queries ask. All other columns
are copied, and gain what rewrite adds (checksums, offset indexes). With --sort rows get the order that is advised, with --types columns
narrower types: each value is looked at, and would come back as it was. Both write columns by their Arrow types: INT96 becomes a
TIMESTAMP, ENUM text.

OUT appears once it is whole and its rows were compared with those of IN. It is never larger: where it would be, filters and indexes
are left out, and then OUT is a copy of IN, byte for byte. The budget is for measuring; writing and comparing take what they take. Files
of up to 4 MiB are written twice, the first time to predict how large their footer and indexes get.

JSON: {file, before, predicted, size, columns: [{column, before, predicted, got}], also}: bytes, of columns with their indexes, and what
was done beside encodings and codecs. What is predicted of columns is of their encodings and codecs alone.

Examples:
  marquetry optimize big.parquet small.parquet
  marquetry optimize big.parquet fast.parquet --for scan --budget 60s
  marquetry optimize big.parquet sorted.parquet --sort --for filter --where \"country = 'DE'\"
  marquetry optimize big.parquet narrow.parquet --types";
