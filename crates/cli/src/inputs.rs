//! What is read: Parquet, CSV, JSON Lines and Arrow files, and standard input, as batches of rows.
//!
//! ```text
//! kind         which format a file has
//! origin       bytes of a file or of standard input, decompressed, counted
//! csv jsonl arrow parquet   one format each
//! chunks       text in pieces that several threads parse
//! texts        columns of texts, wherever they are
//! words        looking at eight bytes at a time
//! guess        what the texts of a column are: numbers, dates, ..
//! guess_json   what the values of JSON objects are
//! typed        texts become values, none of them another one
//! nested       the same inside of lists, structs and maps
//! time         dates and times in text
//! decimal number   decimals in text, and short numbers of any kind
//! schema_text  what is typed after --schema
//! choose       some columns, some rows
//! ```
//!
//! The text formats are read as text first. Our own code makes values of it, because no value may become another one
//! without a word: a column that looked like integers fails at a later `00123` or `1.5`.

mod arrow;
mod choose;
mod chunks;
mod csv;
mod decimal;
mod guess;
mod guess_json;
mod jsonl;
mod kind;
mod nested;
mod number;
mod origin;
mod parquet;
mod schema_text;
mod texts;
mod time;
mod typed;
mod words;

use crate::args::{InputArgs, OnCorruptArg, Selection, Together};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use kind::Kind;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::LossReport;
use origin::Origin;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows that are read.
pub(crate) struct Input {
    /// The schema of every batch.
    pub(crate) schema: SchemaRef,
    /// The rows.
    pub(crate) batches: Batches,
    /// How many rows will come, if that is known.
    pub(crate) rows: Option<u64>,
    /// How many bytes the input has, if that is known, and how far it is read.
    pub(crate) bytes: Option<u64>,
    /// Bytes of the input that were read so far; not counted for Parquet.
    pub(crate) bytes_read: Arc<AtomicU64>,
    /// The file, if it is a Parquet file.
    pub(crate) parquet: Option<OpenFile>,
    /// What was lost of each Parquet file; complete after the last batch.
    pub(crate) losses: Arc<Mutex<Losses>>,
    /// The files of directories and patterns that are read.
    pub(crate) files: Vec<PathBuf>,
}

/// What was lost, by file.
pub(crate) type Losses = Vec<(PathBuf, LossReport)>;

/// Batches of rows.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Failure>> + Send>;

/// What is read of an input.
pub(crate) struct Wanted<'a> {
    /// How the input is understood.
    pub(crate) args: &'a InputArgs,
    /// How many files become one table.
    pub(crate) together: &'a Together,
    /// Which columns and rows.
    pub(crate) selection: &'a Selection,
    /// At most so many rows.
    pub(crate) limit: Option<usize>,
    /// Rows in a batch.
    pub(crate) batch_rows: usize,
    /// Whether all batches but the last have exactly so many; else at most.
    pub(crate) exact_batches: bool,
    /// Threads that parse text.
    pub(crate) threads: NonZeroUsize,
    /// Whether dictionaries and runs are read as their values, and text as views: for outputs that know no others.
    pub(crate) plain: bool,
}

/// Opens the input at `paths`: one file, `-` for standard input, or many Parquet files.
pub(crate) fn open(paths: &[PathBuf], wanted: &Wanted<'_>) -> Result<Input, Failure> {
    match paths {
        [path] if path.is_file() || Origin::new(path).path().is_none() => open_one(path, wanted),
        paths => {
            let is_other = |path: &&PathBuf| {
                !path.is_dir() && !matches!(Kind::of(path, wanted.args.from), Ok(Kind::Parquet))
            };
            match (paths, paths.iter().find(is_other)) {
                ([_, _, ..], Some(other)) => Err(Failure::Usage(format!(
                    "{}: only Parquet files can be read as one table",
                    other.display()
                ))),
                ([path], Some(_)) => open_one(path, wanted),
                _ => parquet::open_many(paths, wanted),
            }
        }
    }
}

/// The schema that a text after `--schema` means.
pub(crate) fn schema_of(text: &str) -> Result<arrow_schema::Schema, String> {
    schema_text::parse(text)
}

fn open_one(path: &Path, wanted: &Wanted<'_>) -> Result<Input, Failure> {
    let origin = Origin::new(path);
    let kind = Kind::of(path, wanted.args.from)?;
    if kind != Kind::Parquet && wanted.selection.on_corrupt != OnCorruptArg::Fail {
        return Err(bad("is no Parquet file: there are no pages that --on-corrupt could leave out"));
    }
    if kind != Kind::Parquet && wanted.selection.condition.is_some() {
        return Err(bad("is no Parquet file: --where works on those alone"));
    }
    let input = match kind {
        Kind::Parquet => return parquet::open(origin, wanted),
        Kind::Csv | Kind::Tsv => csv::open(origin, kind, wanted)?,
        Kind::Jsonl => jsonl::open(origin, wanted)?,
        Kind::Arrow => arrow::open(origin)?,
    };
    choose::choose(input, wanted)
}

/// Puts down what was lost.
fn set_losses(losses: &Mutex<Losses>, found: Losses) {
    *losses.lock().unwrap_or_else(PoisonError::into_inner) = found;
}

/// The input is bad.
fn bad(error: impl Display) -> Failure {
    Failure::Check(error.to_string())
}

/// A value that is none of its column's type; `place` is `row 5` or `line 5`.
fn bad_value(place: &str, column: &str, message: &str, sample: Sample) -> Failure {
    let hint = match sample {
        Sample::First(rows) => {
            format!(
                "; types are guessed from the first {rows} rows: say --infer-rows all, or give the column's type by --schema"
            )
        }
        Sample::All | Sample::None => String::new(),
    };
    bad(format!("{place}, column {column}: {message}{hint}"))
}

/// Which rows the types of a column were guessed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    /// So many at the beginning.
    First(u64),
    /// All.
    All,
    /// None: the type was given.
    None,
}
