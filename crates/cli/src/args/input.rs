//! Arguments of commands that read text: which format, which types.

use clap::{Args as ClapArgs, ValueEnum};
use std::num::NonZeroU64;
use std::str::FromStr;

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
