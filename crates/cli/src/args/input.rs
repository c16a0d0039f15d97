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
    /// What to read, whatever IN is called
    #[arg(long, value_enum)]
    pub(crate) from: Option<Source>,
    /// Types of columns: `name type, ..`, or a file with that; others are guessed
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) schema: Option<String>,
    /// Guess types from so many rows at the beginning (and at most 8 MiB), or from all
    #[arg(long, value_name = "ROWS|all", default_value = "10000")]
    pub(crate) infer_rows: InferRows,
    /// Numbers that a double would change, such as 0.12345678901234567890 or 9223372036854775808, where types are guessed
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Decimals::Auto)]
    pub(crate) decimals: Decimals,
    /// JSON: what to do where values of several kinds stand in one column
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Mixed::Error)]
    pub(crate) mixed: Mixed,
    /// JSON: what to do with members that are in none of the first rows, nor in --schema
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = UnknownKeys::Error)]
    pub(crate) unknown_keys: UnknownKeys,
    /// CSV: the first line has values, not names; columns are column_1, column_2, ..
    #[arg(long)]
    pub(crate) no_header: bool,
    /// CSV: what stands between cells, `tab` or '\t' for a tab. If not given, in .tsv files a tab, in others the one of
    /// comma, semicolon, tab and | that the first records agree on
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<char>,
    /// CSV: lines that begin with this are comments
    #[arg(long, value_name = "CHAR")]
    pub(crate) comment: Option<char>,
    /// CSV: pass over so many lines before the header
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub(crate) skip_lines: u64,
    /// CSV: what to do with rows that have not as many cells as the header
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Ragged::Error)]
    pub(crate) ragged: Ragged,
    /// How characters are encoded: utf-8, utf-16, latin1 (as windows-1252), shift_jis, .. as web pages call them; utf-8 if
    /// not given, or utf-16 if the text begins with its mark
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(crate) text_encoding: Option<&'static Encoding>,
    /// CSV: what stands around cells with delimiters or line ends in them
    #[arg(long, value_name = "CHAR")]
    pub(crate) quote: Option<char>,
    /// CSV: what stands before quotes that belong to a cell, as MySQL and Spark write them: '\'. It also stands before
    /// itself and line ends; before anything else, and in cells without quotes, it is text. Doubled quotes are one besides
    #[arg(long, value_name = "CHAR")]
    pub(crate) escape: Option<char>,
    /// CSV: cells that are null, with commas between; the empty cell unless given
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) null_values: Option<Vec<String>>,
}

/// What to do with rows of CSV that have more or fewer cells than the header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ragged {
    /// Stop
    #[default]
    Error,
    /// Have null for cells that are missing; too many are an error
    Null,
    /// The same, and leave out the cells that are too many
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
    /// They are decimals, or text where those have not enough digits
    #[default]
    Auto,
    /// They are doubles next to them, and text if they have no fraction
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
    /// Stop where objects and lists stand beside others; numbers, true and false beside text are text
    #[default]
    Error,
    /// All are text: objects and lists their JSON. So are objects that never have a member
    Text,
    /// All are VARIANT, as what they are: so are objects that never have a member, and what is always null. A member that is not
    /// there is NULL, `null` a variant
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

/// What becomes of members of JSON objects that are no columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownKeys {
    /// Stop
    #[default]
    Error,
    /// Leave them out
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
