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
use crate::files::is_pattern;
use bad_input::bad;
use byte_stream::ByteStream;
pub(crate) use input::{Batches, Input, InputOptions};
use jsonl::JsonText;
use kind::Kind;
use std::path::{Path, PathBuf};
pub(crate) use wide_keys::wide_schema;

/// Opens the input at `paths`: one file, `-` for standard input, or many Parquet files.
pub(crate) fn open(paths: &[PathBuf], wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    match paths {
        [path] if path.is_file() || ByteStream::new(path).path().is_none() => open_one(path, wanted),
        paths => {
            let is_other = |path: &&PathBuf| {
                !path.is_dir() && !matches!(Kind::of(path, wanted.args.from), Ok(Kind::Parquet))
            };
            match (paths, paths.iter().find(is_other)) {
                ([_, _, ..], Some(other)) => Err(Failure::usage_of(other, ONLY_PARQUET)),
                ([path], Some(_)) if is_pattern(path) && !path.exists() => {
                    Err(Failure::usage_of(path, ONLY_PARQUET))
                }
                ([path], Some(_)) => open_one(path, wanted),
                _ => {
                    let first = paths.first().map_or(Path::new("-"), PathBuf::as_path);
                    without_effect::refuse(wanted.args, first, Kind::Parquet)?;
                    parquet::open_many(paths, wanted)
                }
            }
        }
    }
}

const ONLY_PARQUET: &str = "only Parquet files can be read as one table";

fn open_one(path: &Path, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let origin = ByteStream::new(path);
    let kind = Kind::of(path, wanted.args.from)?;
    without_effect::refuse(wanted.args, path, kind)?;
    if kind != Kind::Parquet && wanted.selection.on_corrupt != OnCorruptArg::Fail {
        return Err(bad("is no Parquet file: there are no pages that --on-corrupt could leave out"));
    }
    if kind != Kind::Parquet && wanted.selection.condition.is_some() {
        return Err(bad("is no Parquet file: --where works on those alone"));
    }
    let input = match kind {
        Kind::Parquet => return parquet::open(origin, wanted),
        Kind::Csv | Kind::Tsv => csv::open(origin, kind, wanted)?,
        Kind::Jsonl => jsonl::open(origin, wanted, JsonText::Lines)?,
        Kind::Geojson => geojson::open(origin, wanted)?,
        Kind::Arrow => arrow::open(origin, wanted)?,
    };
    project::project(input, wanted)
}
