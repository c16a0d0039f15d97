//! What is read: Parquet, CSV, JSON Lines and Arrow files, and standard input, as batches of rows.
//!
//! ```text
//! input        an input that is open, and how it is to be read
//! kind         which format a file has
//! byte_stream  bytes of a file or of standard input, decompressed, counted
//! decoded      text in other encodings
//! csv jsonl geojson arrow parquet   one format each
//! chunks       text in pieces that several threads parse
//! project      some columns, some rows
//! chosen_fields  columns and parts of columns by their names
//! without_effect  options that the format of the input has no use for
//! zstd_text    text in Zstandard frames
//! wide_keys    dictionaries whose keys count the values of several
//! bad_input    errors of input that is not what it should be
//! ```
//!
//! The text formats are read as text first, of which [`parse`](marquetry_text::parse) makes values.

mod arrow;
mod bad_input;
mod byte_stream;
mod chosen_fields;
mod chunks;
mod csv;
mod decoded;
mod geojson;
mod input;
mod jsonl;
mod kind;
mod parquet;
mod project;
mod wide_keys;
mod without_effect;
mod zstd_text;

use crate::args::OnCorruptArg;
use crate::failure::Failure;
use crate::files::{all_files, is_pattern};
use bad_input::bad;
use byte_stream::ByteStream;
pub(crate) use input::{Batches, Input, InputOptions};
use jsonl::JsonText;
use kind::Kind;
use std::path::{Path, PathBuf};
pub(crate) use wide_keys::wide_schema;

/// Opens the input at `paths`: one file, `-` for standard input, or many files of one kind that form a table.
pub(crate) fn open(paths: &[PathBuf], wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    if let [path] = paths
        && (path.is_file() || ByteStream::new(path).path().is_none())
    {
        return open_one(path, wanted);
    }
    let is_parquet =
        |path: &PathBuf| path.is_dir() || matches!(Kind::of(path, wanted.args.from), Ok(Kind::Parquet));
    if paths.iter().all(is_parquet) {
        let first = paths.first().map_or(Path::new("-"), PathBuf::as_path);
        without_effect::refuse(wanted.args, first, Kind::Parquet)?;
        return parquet::open_many(paths, wanted);
    }
    match paths {
        [path] if !is_pattern(path) || path.exists() => open_one(path, wanted),
        paths => open_texts(paths, wanted),
    }
}

/// Opens several files of text, all of one kind.
fn open_texts(paths: &[PathBuf], wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let files = all_files(paths)?;
    let kind_of =
        |path: &PathBuf| if path.is_dir() { Ok(Kind::Parquet) } else { Kind::of(path, wanted.args.from) };
    let kinds = files.iter().map(kind_of).collect::<Result<Vec<_>, _>>()?;
    let is_alike = |kind: &Kind| match kinds[0] {
        Kind::Csv | Kind::Tsv => matches!(kind, Kind::Csv | Kind::Tsv),
        first => *kind == first,
    };
    let other = kinds.iter().position(|kind| !is_alike(kind));
    if other.is_some() || !matches!(kinds[0], Kind::Csv | Kind::Tsv | Kind::Jsonl) {
        return Err(Failure::usage_of(&files[other.unwrap_or(0)], OF_ONE_KIND));
    }
    files.iter().zip(&kinds).try_for_each(|(path, kind)| refuse_rest(path, *kind, wanted))?;
    refuse_tables(&files, paths, wanted)?;
    let origins = files.iter().map(|path| ByteStream::new(path));
    let input = match kinds.first() {
        Some(Kind::Jsonl) => jsonl::open(origins.collect(), wanted, JsonText::Lines)?,
        _ => csv::open(origins.zip(kinds).collect(), wanted)?,
    };
    project::project(Input { files, ..input }, wanted)
}

const OF_ONE_KIND: &str = "files that are read as one table are all Parquet, all CSV or all JSON Lines";

/// Fails if an option, or a directory called key=value, would add or change columns, as it does for Parquet files.
fn refuse_tables(files: &[PathBuf], given: &[PathBuf], wanted: &InputOptions<'_>) -> Result<(), Failure> {
    let first = files.first().map_or(Path::new("-"), PathBuf::as_path);
    if wanted.together.union_by_name || !wanted.together.partition_type.is_empty() {
        let message =
            "--union-by-name and --partition-type are for Parquet: files of text have the same columns";
        return Err(Failure::usage_of(first, message));
    }
    let has_value = |path: &Path| {
        let mut names = path.parent().into_iter().flat_map(Path::components);
        names.any(|name| name.as_os_str().to_string_lossy().contains('='))
    };
    // The directories of a file that was named are not partitions.
    let found = files.iter().find(|file| !given.contains(file) && has_value(file));
    match found {
        Some(file) if !wanted.together.no_partitions => {
            let message =
                "directories called key=value make columns of Parquet files only: say --no-partitions";
            Err(Failure::usage_of(file, message))
        }
        _ => Ok(()),
    }
}

/// Fails if an option is given that only other formats support.
fn refuse_rest(path: &Path, kind: Kind, wanted: &InputOptions<'_>) -> Result<(), Failure> {
    without_effect::refuse(wanted.args, path, kind)?;
    if kind != Kind::Parquet && wanted.selection.on_corrupt != OnCorruptArg::Fail {
        return Err(bad("is not a Parquet file: there are no pages that --on-corrupt could leave out"));
    }
    if kind != Kind::Parquet && wanted.selection.condition.is_some() {
        return Err(bad("is not a Parquet file: --where works on those alone"));
    }
    Ok(())
}

fn open_one(path: &Path, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let origin = ByteStream::new(path);
    let kind = Kind::of(path, wanted.args.from)?;
    refuse_rest(path, kind, wanted)?;
    let input = match kind {
        Kind::Parquet => return parquet::open(origin, wanted),
        Kind::Csv | Kind::Tsv => csv::open(vec![(origin, kind)], wanted)?,
        Kind::Jsonl => jsonl::open(vec![origin], wanted, JsonText::Lines)?,
        Kind::Geojson => geojson::open(origin, wanted)?,
        Kind::Arrow => arrow::open(origin, wanted)?,
    };
    project::project(input, wanted)
}
