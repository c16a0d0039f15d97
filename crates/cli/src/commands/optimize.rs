//! `optimize`: writes a file anew, smaller, with the same rows.

mod options;
mod run;

pub use options::{OptimizeOptions, Optimized, OptimizedColumn};
pub use run::optimize;

use super::advise::WantedArgs;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys::EncryptArgs;
use crate::output::Output;
use crate::printable::printable;
use crate::rewrite::report_failure;
use crate::text_table::TextTable;
use clap::Args as ClapArgs;
use run::optimize_file;
use serde_json::json;
use std::path::PathBuf;

/// The arguments of `optimize`.
#[derive(Debug, ClapArgs)]
pub(crate) struct OptimizeArgs {
    /// The Parquet file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    output: PathBuf,
    /// Replace OUT if it exists
    #[arg(long)]
    overwrite: bool,
    /// Do not compare the rows of both files
    #[arg(long)]
    no_proof: bool,
    /// Sort the rows if an order makes the file smaller or lets the queries skip more
    #[arg(long)]
    sort: bool,
    /// Narrow the types of columns where every value stays exact
    #[arg(long)]
    types: bool,
    #[command(flatten)]
    wanted: WantedArgs,
    #[command(flatten)]
    encrypt: EncryptArgs,
}

/// `memory_limit` is for sorting and writing, in bytes.
pub(crate) fn run(
    args: &OptimizeArgs,
    memory_limit: usize,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let mut optimize = || {
        let options = OptimizeOptions::default()
            .with_advise(args.wanted.options()?)
            .with_sort(args.sort)
            .with_types(args.types)
            .with_proof(!args.no_proof)
            .with_overwrite(args.overwrite)
            .with_encryption(args.encrypt.asked()?)
            .with_decrypt(args.encrypt.decrypt)
            .with_memory_limit(Some(memory_limit));
        let done = optimize_file(&args.input, &args.output, &options, output)?;
        print(args, &done, output)
    };
    optimize().or_else(|failure| report_failure(&args.input, failure, outcome))
}

/// Prints the prediction and the result for each column.
fn print(args: &OptimizeArgs, done: &Optimized, output: &mut Output) -> Result<(), Failure> {
    let kinds: Vec<&str> = done.also.iter().map(|kind| kind.name()).collect();
    if output.is_json() {
        let columns = done.columns.iter().map(
            |it| json!({"column": it.column, "before": it.before, "predicted": it.predicted, "got": it.got}),
        );
        return Ok(output.json(&json!({
            "file": file_name::shown(&args.output), "before": done.before, "predicted": done.predicted,
            "size": done.size, "columns": columns.collect::<Vec<_>>(), "also": kinds,
        }))?);
    }
    let mut table = TextTable::new(&["column", ">before", ">predicted", ">got"]).fitted();
    for it in &done.columns {
        let numbers = [it.before, it.predicted, it.got].map(|number| number.to_string());
        table.row([it.column.clone()].into_iter().chain(numbers));
    }
    table.print(output)?;
    if !kinds.is_empty() {
        output.line(format!("also: {}", kinds.join(", ")))?;
    }
    output.line(format!("file: {} bytes, predicted: {}, got: {}", done.before, done.predicted, done.size))?;
    if done.is_copy {
        output.line("nothing would be smaller by enough: OUT is a copy")?;
    }
    Ok(done.notes.iter().try_for_each(|note| output.line(format!("note: {}", printable(note))))?)
}

/// Text after the options in `--help`.
pub(crate) const OPTIMIZE_HELP: &str = "\
Applies the advice of `marquetry advise` that keeps rows, their order and types. Columns get encodings and codecs that
make them smaller, measured within the budget; row groups and pages get other sizes where that saves bytes. --for scan
also makes row groups that threads can share. --for filter also adds statistics, page indexes, and bloom filters for
what --where and --queries compare. All other columns are copied, and gain what rewrite adds (checksums, offset
indexes). --sort sorts the rows as advised. --types narrows types: every value is checked to stay exact. Both write
columns by their Arrow types: INT96 becomes TIMESTAMP, ENUM becomes text. Neither is done where INT96 times would lose
digits.

An encrypted file needs --key-file, and OUT is encrypted like IN: the same columns, with the same keys. --encrypt-file
and --decrypt change that, and OUT may be larger then. Rows that --sort has no memory for go to unnamed temporary
files (in TMPDIR), which are not encrypted.

OUT appears when it is complete and its rows were compared with those of IN. It is never larger than IN: filters and
indexes are dropped first, and if that is not enough OUT is a copy of IN, byte for byte. The budget is for measuring;
writing and comparing come on top. Files of up to 4 MiB are written twice, first to learn the size of their footer and
indexes.

JSON: {file, before, predicted, size, columns: [{column, before, predicted, got}], also}: bytes, columns with their
indexes; `also` is what was done besides encodings and codecs. Predictions of columns cover encodings and codecs only.

Examples:
  marquetry optimize big.parquet small.parquet
  marquetry optimize big.parquet fast.parquet --for scan --budget 60s
  marquetry optimize big.parquet sorted.parquet --sort --for filter --where \"country = 'DE'\"
  marquetry optimize big.parquet narrow.parquet --types
  marquetry optimize salaries.parquet small.parquet --key-file keys.json";
