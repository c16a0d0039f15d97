//! Arguments of commands that read text: which format, which types.

use clap::{Args as ClapArgs, ValueEnum};
use encoding_rs::Encoding;
use marquetry_text::parse::{csv_records, infer_json, infer_number};
use std::num::NonZeroU64;
use std::str::FromStr;

/// What rows are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// Comma-separated values
    Csv,
    /// One JSON object a line, or an array of objects
    Jsonl,
    /// A FeatureCollection of GeoJSON
    Geojson,
    /// Arrow IPC, file or stream
    Arrow,
    /// Parquet
    Parquet,
}

/// How the input is understood.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Reading text")]
pub(crate) struct InputArgs {
    /// The format of the input, whatever the name of IN
    #[arg(long, value_enum)]
    pub(crate) from: Option<Source>,
    /// Types of columns: `name type, ..`, or a file that has this text; types of other columns are inferred
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) schema: Option<String>,
    /// Infer types from this many rows at the beginning (and at most 8 MiB), or from all
    #[arg(long, value_name = "ROWS|all", default_value = "10000")]
    pub(crate) infer_rows: InferRows,
    /// How to infer the type of numbers that a double would change, such as 0.12345678901234567890 or 9223372036854775808
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Decimals::Auto)]
    pub(crate) decimals: Decimals,
    /// JSON: what to do with a column that has values of several types
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Mixed::Error)]
    pub(crate) mixed: Mixed,
    /// JSON: what to do with members that are neither in the first rows nor in --schema
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = UnknownKeys::Error)]
    pub(crate) unknown_keys: UnknownKeys,
    /// CSV: the first line has values; columns are named column_1, column_2, ..
    #[arg(long)]
    pub(crate) no_header: bool,
    /// CSV: the delimiter of cells, `tab` or '\t' for a tab. By default a tab in .tsv files, and in others the one of comma,
    /// semicolon, tab and | that the first records agree on
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<char>,
    /// CSV: skip lines that begin with this character
    #[arg(long, value_name = "CHAR")]
    pub(crate) comment: Option<char>,
    /// CSV: skip this many lines before the header
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub(crate) skip_lines: u64,
    /// CSV: what to do with rows that have fewer or more cells than the header
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Ragged::Error)]
    pub(crate) ragged: Ragged,
    /// The character encoding: utf-8, utf-16, latin1 (as windows-1252), shift_jis and the other labels of the web. By default
    /// utf-8, or utf-16 if the text begins with its byte order mark
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(crate) text_encoding: Option<&'static Encoding>,
    /// CSV: the quote around cells that contain delimiters or line ends
    #[arg(long, value_name = "CHAR")]
    pub(crate) quote: Option<char>,
    /// CSV: the escape before quotes inside of quoted cells, as MySQL and Spark write it: '\'. It also escapes itself and line
    /// ends; before anything else, and in cells without quotes, it is text. Doubled quotes are still one quote
    #[arg(long, value_name = "CHAR")]
    pub(crate) escape: Option<char>,
    /// CSV: cells that are null, separated by commas; by default the empty cell
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) null_values: Option<Vec<String>>,
}

/// What to do with rows of CSV that have more or fewer cells than the header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ragged {
    /// Stop
    #[default]
    Error,
    /// Missing cells are null; extra cells are an error
    Null,
    /// Missing cells are null; extra cells are dropped
    Truncate,
}

impl From<Ragged> for csv_records::Ragged {
    fn from(ragged: Ragged) -> Self {
        match ragged {
            Ragged::Error => Self::Error,
            Ragged::Null => Self::Null,
            Ragged::Truncate => Self::Truncate,
        }
    }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err("say one character, or `tab`".to_owned()),
    }
}

fn encoding(text: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(text.as_bytes()).ok_or_else(|| "no encoding of text is called that".to_owned())
}

/// What becomes of numbers in text that a double would change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decimals {
    /// As decimals, or as text if they have more digits than decimals can
    #[default]
    Auto,
    /// As the nearest doubles, and as text if they have no fraction
    Never,
}

impl From<Decimals> for infer_number::Decimals {
    fn from(decimals: Decimals) -> Self {
        match decimals {
            Decimals::Auto => Self::Auto,
            Decimals::Never => Self::Never,
        }
    }
}

/// What becomes of values in JSON that have no type in common with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mixed {
    /// Stop at objects or lists beside other values; numbers, true and false beside text become text
    #[default]
    Error,
    /// All become text, objects and lists as JSON; so do objects that never have a member
    Text,
    /// The column becomes VARIANT, each value as it is; so do objects that never have a member, and columns that are always null. A
    /// missing member is NULL, `null` is a variant null
    Variant,
}

impl From<Mixed> for infer_json::Mixed {
    fn from(mixed: Mixed) -> Self {
        match mixed {
            Mixed::Error => Self::Error,
            Mixed::Text => Self::Text,
            Mixed::Variant => Self::Variant,
        }
    }
}

/// What becomes of members of JSON objects that are not columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownKeys {
    /// Stop
    #[default]
    Error,
    /// Drop them
    Ignore,
}

/// The number of rows from which types are inferred.
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
