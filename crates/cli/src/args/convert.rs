//! What can be typed after `convert`.

use super::checkpoint::checkpoint;
use super::{Selection, Together, bytes};
use clap::{Args as ClapArgs, ValueEnum};
use marquetry_core::write::{CheckpointEvery, Compression, EnabledStatistics, Encoding};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, ClapArgs)]
pub(crate) struct ConvertArgs {
    /// The file to read: .parquet, .csv, .tsv, .jsonl, .ndjson or .arrow, or the URL of one; - is standard input. Several
    /// Parquet files, a directory of them or a pattern are read as one table
    #[arg(value_name = "IN", required = true, num_args = 1..)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write: .parquet, .arrow, .csv or .jsonl; - is standard output
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    pub(crate) output: PathBuf,
    /// What to write, whatever OUT is called; JSON Lines on standard output if not given
    #[arg(long, value_enum)]
    pub(crate) to: Option<Target>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write at most so many rows
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Rows in each record batch
    #[arg(long, value_name = "ROWS", default_value = "8192")]
    pub(crate) batch_size: NonZeroUsize,
    /// Sort the chosen rows: columns with commas between, each with :asc or :desc and :nulls-first or :nulls-last
    #[arg(long, value_name = "A,B:desc", value_delimiter = ',')]
    pub(crate) sort_by: Vec<String>,
    /// Memory for rows that are sorted or written; what needs more goes to temporary files
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = bytes)]
    pub(crate) memory_limit: usize,
    #[command(flatten)]
    pub(crate) together: Together,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) writing: WriteArgs,
}

/// What rows are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// Parquet
    Parquet,
    /// Arrow IPC: the file format, on standard output the stream format
    Arrow,
    /// Comma-separated values with a header line
    Csv,
    /// One JSON object a line for each row
    Jsonl,
}

/// What rows are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// Comma-separated values
    Csv,
    /// One JSON object a line
    Jsonl,
    /// Arrow IPC, file or stream
    Arrow,
    /// Parquet
    Parquet,
}

/// How the input is understood.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Reading text")]
pub(crate) struct InputArgs {
    /// What to read, whatever IN is called
    #[arg(long, value_enum)]
    pub(crate) from: Option<Source>,
    /// Types of columns: `name type, ..`, or a file with that; others are guessed
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) schema: Option<String>,
    /// Guess types from so many rows at the beginning (and at most 8 MiB), or from all
    #[arg(long, value_name = "ROWS|all", default_value = "10000")]
    pub(crate) infer_rows: InferRows,
    /// CSV: the first line has values, not names; columns are column_1, column_2, ..
    #[arg(long)]
    pub(crate) no_header: bool,
    /// CSV: what stands between cells; a comma, in .tsv files a tab
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<char>,
    /// CSV: what stands around cells with delimiters or line ends in them
    #[arg(long, value_name = "CHAR")]
    pub(crate) quote: Option<char>,
    /// CSV: cells that are null, with commas between; the empty cell unless given
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) null_values: Option<Vec<String>>,
}

/// From how many rows types are guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InferRows {
    All,
    First(u64),
}

impl Default for InferRows {
    fn default() -> Self {
        InferRows::First(10_000)
    }
}

impl FromStr for InferRows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(InferRows::All),
            _ => match text.parse::<NonZeroU64>() {
                Ok(rows) => Ok(InferRows::First(rows.get())),
                Err(_) => Err("is neither a number of rows nor `all`".to_owned()),
            },
        }
    }
}

/// How Parquet is written.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Writing Parquet")]
pub(crate) struct WriteArgs {
    /// Codec and level: zstd:3, snappy, gzip:6, brotli, lz4_raw, none; of one column as COLUMN=zstd:9
    #[arg(long, value_name = "[COLUMN=]CODEC", value_parser = of_column::<Compression>)]
    pub(crate) compression: Vec<OfColumn<Compression>>,
    /// Encoding, or auto: PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, ..
    #[arg(long, value_name = "[COLUMN=]ENCODING", value_parser = of_column::<Encoding>)]
    pub(crate) encoding: Vec<OfColumn<Encoding>>,
    /// Whether dictionaries may be tried
    #[arg(long, value_name = "[COLUMN=]on|off", value_parser = of_column::<Switch>)]
    pub(crate) dictionary: Vec<OfColumn<Switch>>,
    /// Which readers must be able to read what is chosen where --encoding says nothing
    #[arg(long, value_enum)]
    pub(crate) compat: Option<CompatArg>,
    /// Most rows in a row group
    #[arg(long, value_name = "ROWS")]
    pub(crate) row_group_rows: Option<NonZeroUsize>,
    /// Most bytes in a row group, encoded
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) row_group_bytes: Option<usize>,
    /// Bytes after which a data page ends, before compression
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) page_size: Option<usize>,
    /// Rows after which a data page ends
    #[arg(long, value_name = "ROWS")]
    pub(crate) page_rows: Option<NonZeroUsize>,
    /// Leave checkpoints in the file: after so many row groups (1rg), so many bytes (64MiB) or so much time (10s), or auto
    #[arg(long, value_name = "STEP", value_parser = checkpoint)]
    pub(crate) checkpoint_every: Option<CheckpointEvery>,
    /// Version of data page headers
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) page_version: Option<u8>,
    /// Add bloom filters to a column, with the given rate of false positives
    #[arg(long, value_name = "COLUMN[:FPP]", value_parser = Bloom::parse)]
    pub(crate) bloom: Vec<Bloom>,
    /// Statistics: none, of column chunks, or of pages as well
    #[arg(long, value_name = "[COLUMN=]none|chunk|page", value_parser = of_column::<EnabledStatistics>)]
    pub(crate) statistics: Vec<OfColumn<EnabledStatistics>>,
    /// Write pages without checksums
    #[arg(long)]
    pub(crate) no_checksums: bool,
    /// Do not store the Arrow schema
    #[arg(long)]
    pub(crate) no_arrow_schema: bool,
    /// Add an entry to the file's key-value metadata
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) metadata: Vec<(String, String)>,
    /// The name of the writer in the footer
    #[arg(long, value_name = "TEXT")]
    pub(crate) created_by: Option<String>,
    /// Threads that encode columns; as many as there are processors unless given
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// How the report of sizes after writing is printed; as --format says unless given
    #[arg(long, value_enum)]
    pub(crate) report: Option<Report>,
}

/// How the report after writing is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    /// A table
    Text,
    /// One JSON object on a line
    Json,
    /// Not at all
    None,
}

/// Which readers must be able to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompatArg {
    /// All of the last ten years
    Maximum,
    /// All current ones
    Modern,
    /// Those that know all encodings
    Latest,
}

/// A setting of the columns that a pattern fits, or of all.
#[derive(Debug, Clone)]
pub(crate) struct OfColumn<T> {
    pub(crate) column: Option<String>,
    pub(crate) value: T,
}

fn of_column<T: FromStr>(text: &str) -> Result<OfColumn<T>, String>
where
    T::Err: ToString,
{
    // A column's name may have a `=` in it, what stands after it has none.
    let (column, value) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("no column stands before the =".to_owned()),
        Some((column, value)) => (Some(column.to_owned()), value),
        None => (None, text),
    };
    let value = value.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(OfColumn { column, value })
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch(pub(crate) bool);

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" | "true" | "yes" => Ok(Switch(true)),
            "off" | "false" | "no" => Ok(Switch(false)),
            _ => Err("say on or off".to_owned()),
        }
    }
}

/// Bloom filters for a column.
#[derive(Debug, Clone)]
pub(crate) struct Bloom {
    pub(crate) column: String,
    /// The rate of false positives.
    pub(crate) fpp: Option<f64>,
}

impl Bloom {
    fn parse(text: &str) -> Result<Self, String> {
        match text.rsplit_once(':') {
            Some((column, fpp)) => match fpp.parse::<f64>() {
                Ok(fpp) if fpp > 0.0 && fpp < 1.0 => Ok(Bloom { column: column.to_owned(), fpp: Some(fpp) }),
                Ok(_) => Err("the rate of false positives must be between 0 and 1".to_owned()),
                // The colon is in the name.
                Err(_) => Ok(Bloom { column: text.to_owned(), fpp: None }),
            },
            None => Ok(Bloom { column: text.to_owned(), fpp: None }),
        }
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("say KEY=VALUE".to_owned()),
    }
}

pub(super) const HELP: &str = "\
OUT appears once it is complete: until then, and after a failure, what was there before stays. Text inputs may be
compressed with gzip or Zstandard: a.csv.gz, b.jsonl.zst.

COLUMN is a dotted path such as producer.name, or a pattern: * stands for any characters of one name, ** for any number
of names. What is said of a column wins over what is said of all.

Types of CSV columns are guessed so that no value changes: a column with 007 or +1 in it is text, as is a mixture. JSON
keeps its kinds: only numbers and true and false are not text. A later value that does not fit is an error, with its row.
A row of CSV is counted without the header.

Types after --schema, with ! or `not null` behind the type of a column that has no nulls:
  bool, int8 .. int64, uint8 .. uint64, float16, float32, float64, utf8, large_utf8, utf8_view, binary, large_binary,
  binary_view, fixed(BYTES), decimal(PRECISION, SCALE), date, date64, time(UNIT), timestamp(UNIT), timestamp(UNIT, UTC),
  duration(UNIT), interval, list<TYPE>, large_list<TYPE>, fixed_list<TYPE, LENGTH>, struct<NAME TYPE, ..>,
  map<TYPE, TYPE>, dictionary<TYPE>; UNIT is s, ms, us or ns
Cells of CSV with nested values hold JSON; fixed(BYTES) is read from hexadecimal digits or a UUID.

--sort-by orders text by its bytes, takes NaN as the largest number, and puts nulls last unless said otherwise. Equal
rows keep their order. Rows are chosen by --offset and --limit before they are sorted.

With --checkpoint-every a command that is killed leaves its temporary file, .OUT.*, beside OUT; `marquetry recover` makes
a file of all that was written before its last checkpoint. The report has the bytes and the time that checkpoints took.
`marquetry rewrite` drops them from a finished file.

The report after writing Parquet has the bytes of each column: those of the Parquet file that was read, or in memory,
and those that were written. JSON: {file, rows, row_groups, size, before, columns: [{column, values, before, after,
uncompressed, ratio, codec, encodings: [{encoding, pages}], reason}], checkpoints: {count, bytes, seconds}}; `before` of the
file is \"parquet\" or \"memory\", `checkpoints` is null without --checkpoint-every: `seconds` is how long they were waited for.

Values in JSON Lines, and in the cells of CSV:
  numbers       their digits; decimals with all digits of their scale; \"NaN\", \"Infinity\" and \"-Infinity\" as text
  dates, times  ISO 8601: 2013-07-30, 12:30:00.500, 2013-07-30T12:30:00Z (UTC), 2013-07-30T12:30:00 (local), P1M2DT3S
  byte strings  their text; bytes that are not printable UTF-8 as \\xNN, a backslash as \\x5C
  fixed-length  byte strings of fixed length, and geometries: hexadecimal digits; UUIDs in their usual form
  nested        lists [..], structs {..}; maps {..} if the keys are text, else [{\"key\":..,\"value\":..}, ..]
  null          null; in CSV an empty cell (an empty text is \"\")
Nested values are JSON text in CSV. Dictionary and run-end encoded columns are written as their values. A column without
a name is called C and its number.

Examples:
  marquetry convert data.csv data.parquet
  marquetry convert data.csv.gz data.parquet --schema 'zip utf8, price decimal(15, 2) !, at timestamp(us, UTC)'
  marquetry convert events.jsonl events.parquet --sort-by user,at:desc --bloom user --compression zstd:3
  marquetry convert old.parquet new.parquet --encoding '**.id=DELTA_BINARY_PACKED' --row-group-rows 500000
  psql -c 'COPY t TO STDOUT CSV HEADER' | marquetry convert - t.parquet --from csv
  marquetry convert big.csv big.parquet --checkpoint-every 10s
  marquetry convert wines.parquet wines.arrow
  marquetry convert warehouse/wines wines.parquet --union-by-name
  marquetry convert wines.parquet - --columns name,grapes --limit 5
  marquetry convert wines.parquet - --to csv | head";
