//! `append`: the row groups of other files behind those of a file, which stays where it is.

use super::edit::{EditArgs, report};
use super::merge::{CopyTarget, copy_row_groups};
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::rewrite::{ColumnLog, Input, Same, leaf_map_of_file, report_failure};
use clap::Args as ClapArgs;
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, parse_stored_schema};
use marquetry::errors::Error;
use marquetry::file::metadata::ParquetMetaData;
use marquetry_core::io::is_same_file;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
pub(crate) struct AppendArgs {
    /// The Parquet file that is changed
    #[arg(value_name = "FILE", value_parser = crate::remote::local())]
    file: PathBuf,
    /// The Parquet files whose rows are appended
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Columns may stand in another order, have other field ids, and be required in IN where they are optional in FILE
    #[arg(long)]
    compatible: bool,
    /// FILE is encrypted and IN are not: their rows are encrypted in FILE. Without this IN have FILE's keys
    #[arg(long)]
    plain_inputs: bool,
    #[command(flatten)]
    how: EditArgs,
}

pub(crate) const APPEND_HELP: &str = "\
Row groups are copied in the order of the files; nothing is decoded, and row groups keep their size. All files must have
FILE's schema, as for `marquetry merge`. Key-value metadata and the name of the writer stay as they are in FILE. Rows of
other formats go through `marquetry convert` first.

FILE is changed in place: what is new goes behind its last byte, and a new footer behind that; the old footer and all that
it refers to stay. Until the new footer is on the disk, the old file is all there: after a failure FILE is cut to what it
was, and after a crash `marquetry recover` brings it back. In between, other programs cannot open FILE. Meanwhile FILE is
locked against others that change it. Bytes that nothing refers to any more are reported; `marquetry rewrite`
leaves them behind.

With --copy all of this happens to a copy beside FILE, which takes FILE's place in one step when it is complete: at any
moment, and after a crash, FILE is the old file or the new one, for all readers. That costs the time and the room of
writing FILE once more, whatever its size, and other hard links of FILE keep the old one; so it is not the default.

An encrypted FILE is changed with --key-file or --key-env, and needs the keys of all its columns: what is new is encrypted as
the same columns are in FILE, what the footer says of each column is encrypted anew, and every module keeps a number of
its own. IN are read with the same keys, or are not encrypted, with --plain-inputs. Rows of encrypted files are not appended to
one that is not: `marquetry rewrite --decrypt` comes first.

JSON: {file, rows, row_groups, size, grown, unreferenced, notes}; `grown` is by how many bytes, `unreferenced` are bytes
that nothing refers to.

Examples:
  marquetry append wines.parquet new-wines.parquet
  marquetry append year.parquet 'days/*.parquet' --format json
  marquetry append served.parquet today.parquet --copy
  marquetry append secret.parquet today.parquet --key-file keys.json --plain-inputs";

pub(crate) fn run(args: &AppendArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let files = Files { files: args.inputs.clone() }.expanded(outcome);
    if files.is_empty() {
        // Each pattern without files was reported.
        return Ok(());
    }
    append(args, &files, output).or_else(|failure| report_failure(&args.file, failure, outcome))
}

fn append(args: &AppendArgs, files: &[PathBuf], output: &mut Output) -> Result<(), Failure> {
    let is_file = |input: &PathBuf| is_same_file(input, &args.file).unwrap_or(false);
    if files.iter().any(is_file) {
        return Err(Failure::Usage("FILE cannot be appended to itself".to_owned()));
    }
    let mut edit = args.how.open(&args.file)?;
    let before = edit.len();
    let metadata = edit.metadata().clone();
    let mut log = ColumnLog::new(metadata.schema().num_columns());
    // Of all files, before the first is written.
    let mut inputs = Vec::new();
    for file in files {
        let input = match args.plain_inputs {
            true => Input::open_plain(file)?,
            false => Input::open(file)?,
        };
        let map = columns_of(&metadata, &input, args.compatible)?;
        check_arrow_schema(&metadata, &input, &mut log)?;
        inputs.push((input, map));
    }
    let counters = Arc::default();
    for (input, map) in &inputs {
        let (schema, orders) = (metadata.schema(), metadata.column_orders());
        let target =
            CopyTarget { schema, orders, counters: &counters, is_encrypted: metadata.encryption().is_some() };
        copy_row_groups(input, map, target, &mut log, |rows, chunks, sorting| {
            Ok(edit.write_row_group(rows, chunks, sorting)?)
        })?;
    }
    let edited = edit.finish()?;
    report(Path::new(&args.file), before, &edited, &log, output)
}

/// Which column of `input` each column of the file is.
fn columns_of(metadata: &ParquetMetaData, input: &Input, compatible: bool) -> Result<Vec<usize>, Error> {
    let same = if compatible { Same::Fitting } else { Same::Exactly };
    leaf_map_of_file(metadata.schema(), input.metadata.schema(), same, input.name())
}

/// Rows will be read by the file's stored Arrow schema.
///
/// QUIRK: pyarrow reads columns that the stored Arrow schema has as dictionaries from PLAIN and dictionary pages only, so
/// that pages of others must not come under such a schema.
fn check_arrow_schema(metadata: &ParquetMetaData, input: &Input, log: &mut ColumnLog) -> Result<(), Error> {
    let stored = |metadata: &ParquetMetaData| parse_stored_schema(&metadata.value_of(ARROW_SCHEMA_META_KEY)?);
    let Some(own) = stored(metadata) else { return Ok(()) };
    let types = |schema: &arrow_schema::Schema| -> Vec<_> {
        schema.fields().iter().map(|field| field.data_type().clone()).collect()
    };
    if stored(&input.metadata).is_some_and(|other| types(&other) == types(&own)) {
        return Ok(());
    }
    let is_dictionary =
        |field: &&arrow_schema::Field| matches!(field.data_type(), arrow_schema::DataType::Dictionary(..));
    match own.flattened_fields().iter().any(is_dictionary) {
        false => log.note("the stored Arrow schemas differ: FILE's is kept"),
        true => {
            return Err(Error::argument(
                "FILE's stored Arrow schema has dictionaries, and this file has not the same: not all readers would \
                 take its pages; merge makes a file of both without a stored Arrow schema",
            )
            .in_file(input.name()));
        }
    }
    Ok(())
}
