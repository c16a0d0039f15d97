//! `append`: adds the row groups of other files to a file, in place.

use super::edit::{EditArgs, report};
use super::merge::{CopyTarget, copy_row_groups};
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::rewrite::{
    ColumnLog, Input, Same, check_appended, geo_of_input, leaf_map_of_file, report_failure, without_geo,
};
use crate::standard_input;
use clap::Args as ClapArgs;
use marquetry::arrow::ARROW_SCHEMA_META_KEY;
use marquetry::errors::Error;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::internals::format::KeyValue;
use marquetry_core::io::is_same_file;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
pub(crate) struct AppendArgs {
    /// The Parquet file to change
    #[arg(value_name = "FILE", value_parser = crate::remote::local())]
    file: PathBuf,
    /// The Parquet files to append
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Accept columns in another order, with other field ids, or required in IN and optional in FILE
    #[arg(long)]
    compatible: bool,
    /// Encrypt the rows of IN, which are not encrypted, with the keys of FILE. Otherwise IN must have FILE's keys
    #[arg(long)]
    plain_inputs: bool,
    #[command(flatten)]
    how: EditArgs,
}

pub(crate) const APPEND_HELP: &str = "\
Row groups are copied in the order of the files, without decoding, and keep their size. All files must have FILE's
schema, as for `marquetry merge`, and Arrow types that mean the same. FILE keeps its key-value metadata and its
writer's name; GeoParquet metadata is extended to the new geometries. Convert rows of other formats with `marquetry
convert` first.

FILE is changed in place. The new row groups follow its last byte, and a new footer follows them; the old footer and
everything it refers to stay. Until the new footer is on the disk, the old file is complete: a failure cuts FILE back
to it, and after a crash `marquetry recover` restores it. In between, other programs cannot open FILE, and it is
locked against other changes. The report tells how many bytes nothing refers to any more; `marquetry rewrite` drops
them.

--copy makes the change to a copy beside FILE, which replaces FILE in one step when it is complete. At any moment, and
after a crash, every reader sees the old file or the new one. This takes the time and the space of writing FILE again,
and other hard links of FILE keep the old file; so it is not the default.

An encrypted FILE needs the keys of all its columns, by --key-file or --key-env. New row groups are encrypted as
FILE's columns are, the footer's column metadata is encrypted again, and every module keeps its own number. IN have
the same keys, or are not encrypted (--plain-inputs). To append encrypted rows to a file that is not encrypted, run
`marquetry rewrite --decrypt` first.

JSON: {file, rows, row_groups, size, grown, unreferenced, notes}; `grown` is the number of new bytes, `unreferenced`
the number of bytes that nothing refers to.

Examples:
  marquetry append wines.parquet new-wines.parquet
  marquetry append year.parquet 'days/*.parquet' --format json
  marquetry append served.parquet today.parquet --copy
  marquetry append secret.parquet today.parquet --key-file keys.json --plain-inputs";

pub(crate) fn run(args: &AppendArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let files = Files { files: args.inputs.clone() }.expanded(outcome);
    if outcome.has_failed() {
        // A pattern without files, or a directory, was reported: the result would lack its rows.
        return Ok(());
    }
    append(args, &files, output).or_else(|failure| report_failure(&args.file, failure, outcome))
}

fn append(args: &AppendArgs, files: &[PathBuf], output: &mut Output) -> Result<(), Failure> {
    let is_file = |input: &Path| is_same_file(input, &args.file).unwrap_or(false);
    // A file cannot be read while it is changed.
    if files.iter().any(|input| is_file(standard_input::named(input))) {
        return Err(Failure::Usage("FILE cannot be appended to itself".to_owned()));
    }
    let mut edit = args.how.open(&args.file)?;
    let before = edit.len();
    let metadata = edit.metadata().clone();
    let mut log = ColumnLog::new(metadata.schema().num_columns());
    // All files are checked before the first is written.
    let (mut inputs, mut maps) = (Vec::new(), Vec::new());
    for file in files {
        let input = match args.plain_inputs {
            true => Input::open_plain(file)?,
            false => Input::open(file)?,
        };
        let map = columns_of(&metadata, &input, args.compatible)?;
        check_appended(&metadata, &input, &mut log)?;
        inputs.push(input);
        maps.push(map);
    }
    let geo = geo_metadata(&metadata, &inputs)?;
    let keys = crate::keys::given().filter(|_| metadata.encryption().is_some());
    log.note_filters(&inputs, keys.map(|keys| keys.dialect()));
    let counters = Arc::default();
    for (input, map) in inputs.iter().zip(&maps) {
        let (schema, orders) = (metadata.schema(), metadata.column_orders());
        let target =
            CopyTarget { schema, orders, counters: &counters, is_encrypted: metadata.encryption().is_some() };
        copy_row_groups(input, map, target, &mut log, |rows, chunks, sorting| {
            Ok(edit.write_row_group(rows, chunks, sorting)?)
        })?;
    }
    geo.into_iter().try_for_each(|pair| edit.set_key_value(pair))?;
    let edited = edit.finish()?;
    report(Path::new(&args.file), before, &edited, &log, output)
}

/// The column of `input` for each column of the file.
fn columns_of(metadata: &ParquetMetaData, input: &Input, compatible: bool) -> Result<Vec<usize>, Error> {
    let same = if compatible { Same::Fitting } else { Same::Exactly };
    leaf_map_of_file(metadata.schema(), input.metadata.schema(), same, input.name())
}

/// GeoParquet's metadata with these rows included, and the stored Arrow schema without the old metadata, where readers
/// look first. Empty if FILE has none: its bytes stay bytes.
///
/// Fails if geometries of FILE have another reference system, or other edges or encodings.
fn geo_metadata(metadata: &ParquetMetaData, inputs: &[Input]) -> Result<Vec<KeyValue>, Error> {
    let own = metadata.value_of(KEY).and_then(|text| GeoParquet::parse(&text).ok());
    let Some(own) = own else { return Ok(Vec::new()) };
    let old = own.clone();
    let all: Vec<_> = std::iter::once(Some(own)).chain(inputs.iter().map(geo_of_input)).collect();
    let Some(new) = GeoParquet::merged(&all)?.filter(|new| *new != old) else { return Ok(Vec::new()) };
    let stored = metadata.value_of(ARROW_SCHEMA_META_KEY).and_then(|stored| without_geo(&stored));
    let stored = stored.map(|stored| KeyValue::new(ARROW_SCHEMA_META_KEY, stored));
    Ok(std::iter::once(KeyValue::new(KEY, new.to_json())).chain(stored).collect())
}
