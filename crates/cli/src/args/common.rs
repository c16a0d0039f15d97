//! Arguments of commands that read: files, tables, columns and rows.

use crate::column_list::{ColumnList, column_list};
use clap::{Args as ClapArgs, ValueEnum};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, DecimalOverflow, InvalidUtf8, OnCorrupt};
use marquetry::errors::Error;
use marquetry::predicate::{Literal, Predicate};
use std::path::PathBuf;

/// How facts and rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables and text for people
    Text,
    /// JSON Lines: an object for each file; for each row of head and cat; for each rule of rules
    Json,
    /// One SARIF 2.1.0 document: verify and lint only
    Sarif,
    /// Annotations of GitHub's workflows: verify and lint only
    Github,
}

/// How many files become one table.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct TableArgs {
    /// Read the columns of all files, null where a file lacks one, in the narrowest types that hold all values
    #[arg(long, help_heading = TOGETHER)]
    pub(crate) union_by_name: bool,
    /// Do not read directories called key=value as partition columns
    #[arg(long, help_heading = TOGETHER)]
    pub(crate) no_partitions: bool,
    /// The type of a partition column, as in the --schema of convert: 'year int16'
    #[arg(long, help_heading = TOGETHER, value_name = "KEY TYPE", value_parser = crate::schema_parser::partition_type)]
    pub(crate) partition_type: Vec<(String, arrow_schema::DataType)>,
}

/// The help heading of [`TableArgs`]. A heading of the struct would apply to all arguments behind it.
const TOGETHER: &str = "Many files as one table";

/// Files and directories that a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct InputTables {
    /// Parquet files, or their URLs: s3://, gs://, az://, http(s)://. Patterns with *, ?, [] and ** match names that do not begin
    /// with _ or a dot. A directory is one table; - is standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Read a file without a footer, whose writer died or is still writing, up to its last checkpoint
    #[arg(long)]
    pub(crate) unfinished: bool,
    #[command(flatten)]
    pub(crate) together: TableArgs,
}

/// The files that a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct Files {
    /// Parquet files, or their URLs: s3://, gs://, az://, http(s)://. Patterns with *, ?, [] and ** match names that do not begin
    /// with _ or a dot; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Which rows are read, and of which columns.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct Selection {
    /// Only these columns with all their children, in this order: dotted paths separated by commas, and paths into VARIANT with an
    /// optional type: payload:user.id::bigint
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    pub(crate) columns: Option<Vec<ColumnList>>,
    /// Only rows that match this SQL condition: "country = 'DE' and amount > 100", "url like '%shop%'", "sent < due",
    /// "payload:user.id::bigint > 5"; `explain --help` lists all forms
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    pub(crate) condition: Option<Predicate>,
    /// Skip this many rows first
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Do not verify the checksums of pages
    #[arg(long)]
    pub(crate) no_verify: bool,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// What to do with a page of a Parquet file that cannot be read; lost rows are reported on standard error
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnCorruptArg::Fail)]
    pub(crate) on_corrupt: OnCorruptArg,
    /// Also write the loss report to this new file: one JSON object for each Parquet file
    #[arg(long, value_name = "FILE.json", value_parser = crate::remote::local())]
    pub(crate) loss_report: Option<PathBuf>,
}

/// What happens to values that are not of their column's type.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct ValueArgs {
    /// What to do with text of a Parquet file that is not UTF-8
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = InvalidUtf8Arg::Error)]
    pub(crate) invalid_utf8: InvalidUtf8Arg,
    /// What to do with decimals of a Parquet file that are too wide for their column's precision
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = DecimalOverflowArg::Error)]
    pub(crate) decimal_overflow: DecimalOverflowArg,
}

impl ValueArgs {
    /// The options with these choices.
    pub(crate) fn apply(self, options: ArrowReaderOptions) -> ArrowReaderOptions {
        let options = options.with_invalid_utf8(self.invalid_utf8.into());
        options.with_decimal_overflow(self.decimal_overflow.into())
    }

    /// The file, read with these choices.
    pub(crate) fn apply_to(self, file: OpenFile) -> OpenFile {
        file.invalid_utf8(self.invalid_utf8.into()).decimal_overflow(self.decimal_overflow.into())
    }
}

/// Parses the condition of `--where`.
pub(crate) fn condition(text: &str) -> Result<Predicate, String> {
    Predicate::parse_with_lists(text, &values_in).map_err(|error| error.message().to_owned())
}

/// The values in a file, one on each line; empty lines are ignored.
fn values_in(path: &str) -> Result<Vec<Literal>, Error> {
    let text = std::fs::read(path).map_err(|error| Error::io("cannot read the list", error));
    let text = String::from_utf8(text.map_err(|error| error.in_file(path))?);
    let text = text.map_err(|_| Error::argument("the list is not UTF-8").in_file(path))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(Literal::from).collect())
}

/// What to do with text that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InvalidUtf8Arg {
    /// Stop
    Error,
    /// Replace invalid bytes by U+FFFD
    Replace,
    /// Read all text as binary
    Binary,
}

impl From<InvalidUtf8Arg> for InvalidUtf8 {
    fn from(arg: InvalidUtf8Arg) -> Self {
        match arg {
            InvalidUtf8Arg::Error => InvalidUtf8::Error,
            InvalidUtf8Arg::Replace => InvalidUtf8::Replace,
            InvalidUtf8Arg::Binary => InvalidUtf8::Binary,
        }
    }
}

/// What to do with decimals that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecimalOverflowArg {
    /// Stop
    Error,
    /// Read columns that may have such values as decimals of up to 76 digits
    Widen,
    /// Make them null
    Null,
}

impl From<DecimalOverflowArg> for DecimalOverflow {
    fn from(arg: DecimalOverflowArg) -> Self {
        match arg {
            DecimalOverflowArg::Error => DecimalOverflow::Error,
            DecimalOverflowArg::Widen => DecimalOverflow::Widen,
            DecimalOverflowArg::Null => DecimalOverflow::Null,
        }
    }
}

/// What to do where a page cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnCorruptArg {
    /// Stop
    Fail,
    /// Skip its rows, in all columns
    SkipPage,
    /// Make its values null
    NullPage,
    /// Skip its row group
    SkipRowGroup,
}

impl From<OnCorruptArg> for OnCorrupt {
    fn from(arg: OnCorruptArg) -> Self {
        match arg {
            OnCorruptArg::Fail => OnCorrupt::Fail,
            OnCorruptArg::SkipPage => OnCorrupt::SkipPage,
            OnCorruptArg::NullPage => OnCorrupt::NullPage,
            OnCorruptArg::SkipRowGroup => OnCorrupt::SkipRowGroup,
        }
    }
}
