//! What can be typed.

mod amount;
mod checkpoint;
mod convert;

pub(crate) use amount::bytes;
pub(crate) use convert::{
    CompatArg, ConvertArgs, InferRows, InputArgs, OfColumn, Report, Source, Target, WriteArgs,
};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use marquetry::arrow::arrow_reader::OnCorrupt;
use marquetry::predicate::Predicate;
use std::path::PathBuf;

/// Look inside Parquet files, and convert them.
#[derive(Debug, Parser)]
#[command(name = "marquetry", version, max_term_width = 110, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How facts and rows are printed
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How facts and rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object a line: one for each file, or for each row with head and cat
    Json,
    /// One SARIF 2.1.0 document: verify only
    Sarif,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the schema
    #[command(after_help = SCHEMA_HELP)]
    Schema(SchemaArgs),
    /// Print what the footer says of the file, its row groups and columns; set and unset change it
    #[command(after_help = META_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Meta(MetaArgs),
    /// List every page: kind, place, sizes, encodings, checksum
    #[command(after_help = PAGES_HELP)]
    Pages(PagesArgs),
    /// Print the entries of a column's dictionaries
    #[command(after_help = DICTIONARY_HELP)]
    Dictionary(DictionaryArgs),
    /// Print column indexes, offset indexes and bloom filters
    #[command(after_help = INDEX_HELP)]
    Index(IndexArgs),
    /// Print the first rows
    #[command(after_help = HEAD_HELP)]
    Head(HeadArgs),
    /// Print all rows
    #[command(after_help = CAT_HELP)]
    Cat(CatArgs),
    /// Count rows
    #[command(after_help = COUNT_HELP)]
    Count(CountArgs),
    /// Show what a predicate lets be skipped, stage by stage, and what would help
    #[command(after_help = crate::commands::explain::EXPLAIN_HELP)]
    Explain(crate::commands::explain::ExplainArgs),
    /// Print the bytes of each column, largest first
    #[command(after_help = SIZE_HELP)]
    Size(SizeArgs),
    /// Write Parquet from CSV, JSON Lines, Arrow or Parquet, or any of these from Parquet
    #[command(after_help = convert::HELP)]
    Convert(Box<ConvertArgs>),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Write a Parquet file again, with another codec, encodings, columns, or what it lacks
    #[command(after_help = crate::commands::rewrite::REWRITE_HELP)]
    Rewrite(Box<crate::commands::rewrite::RewriteArgs>),
    /// Put the row groups of several files into one
    #[command(after_help = crate::commands::merge::MERGE_HELP)]
    Merge(crate::commands::merge::MergeArgs),
    /// Cut a file into files of so many rows
    #[command(after_help = crate::commands::split::SPLIT_HELP)]
    Split(crate::commands::split::SplitArgs),
    /// Put the row groups of files behind those of a file, in place
    #[command(after_help = crate::commands::append::APPEND_HELP)]
    Append(crate::commands::append::AppendArgs),
    /// Take row groups out of a file, in place
    #[command(after_help = crate::commands::drop_row_group::DROP_ROW_GROUP_HELP)]
    DropRowGroup(crate::commands::drop_row_group::DropRowGroupArgs),
    /// Write _metadata and _common_metadata for the files of a directory
    #[command(after_help = crate::commands::summary::SUMMARY_HELP)]
    Summary(crate::commands::summary::SummaryArgs),
    /// Check that files keep the format's rules, and that what they say of themselves is true
    #[command(after_help = crate::commands::verify::VERIFY_HELP)]
    Verify(crate::commands::verify::VerifyArgs),
    /// Save what is left of a broken file, with or without its footer
    #[command(after_help = crate::commands::recover::RECOVER_HELP)]
    Recover(crate::commands::recover::RecoverArgs),
    /// List the rules that verify checks
    #[command(after_help = crate::commands::rules::RULES_HELP)]
    Rules(crate::commands::rules::RulesArgs),
}

/// How many files become one table.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Many files as one table")]
pub(crate) struct Together {
    /// Have the columns of all files, null where a file has none, in the narrowest types that hold all values
    #[arg(long)]
    pub(crate) union_by_name: bool,
    /// Make no columns of directories called key=value
    #[arg(long)]
    pub(crate) no_partitions: bool,
    /// The type of a key=value directory's column, as after convert's --schema: 'year int16'
    #[arg(long, value_name = "KEY TYPE", value_parser = crate::tables::partition_type)]
    pub(crate) partition_type: Vec<(String, arrow_schema::DataType)>,
}

/// Files and directories that a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct Tables {
    /// Parquet files, or URLs of some: s3://, gs://, az://, http(s)://; patterns with *, ? and [] are expanded where the
    /// shell did not. A directory is one table
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Read a file that has no footer yet, as its writer died or is still at it, up to its last checkpoint
    #[arg(long)]
    pub(crate) unfinished: bool,
    #[command(flatten)]
    pub(crate) together: Together,
}

/// The files that a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct Files {
    /// Parquet files, or URLs of some: s3://, gs://, az://, http(s)://; patterns with *, ? and [] are expanded where the
    /// shell did not
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Which rows are read, and of which columns.
#[derive(Debug, ClapArgs)]
pub(crate) struct Selection {
    /// Only these columns, and all below them, in this order: dotted paths with commas between
    #[arg(long, short, value_name = "A,B.C", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Only rows of which this is true, as SQL has it: "country = 'DE' and amount > 100"
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    pub(crate) condition: Option<Predicate>,
    /// Pass over so many rows first
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Read pages whose checksum is wrong, too
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// What to do where a page of a Parquet file cannot be read; what is lost is told on standard error
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnCorruptArg::Fail)]
    pub(crate) on_corrupt: OnCorruptArg,
    /// Write what is lost to this new file, too: one JSON object for each Parquet file
    #[arg(long, value_name = "FILE.json", value_parser = crate::remote::local())]
    pub(crate) loss_report: Option<PathBuf>,
}

/// What is typed after --where.
pub(crate) fn condition(text: &str) -> Result<Predicate, String> {
    Predicate::parse(text).map_err(|error| error.message().to_owned())
}

/// What to do where a page cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnCorruptArg {
    /// Stop
    Fail,
    /// Leave out its rows, of all columns
    SkipPage,
    /// Make its values null
    NullPage,
    /// Leave out its row group
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

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// Print the Arrow schema that the file is read as, instead of its own
    #[arg(long)]
    pub(crate) arrow: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MetaArgs {
    #[command(subcommand)]
    pub(crate) edit: Option<crate::commands::meta_edit::MetaEdit>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Do not shorten long values
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PagesArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
    /// Only this column, and all below it: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: Option<String>,
    /// Do not read the pages to compute their checksums
    #[arg(long)]
    pub(crate) no_verify: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DictionaryArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The column: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: String,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    pub(crate) row_group: Option<usize>,
    /// Only this column, and all below it: a dotted path
    #[arg(long, short, value_name = "PATH")]
    pub(crate) column: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// How many rows
    #[arg(long, short = 'n', value_name = "ROWS", default_value_t = 10)]
    pub(crate) rows: usize,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Shorten no values and leave out no columns
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CatArgs {
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print at most so many rows
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Shorten no values and leave out no columns
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// Only rows of which this is true, as SQL has it: "country = 'DE' and amount > 100"
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    pub(crate) condition: Option<Predicate>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  success
  1  a file is bad or cannot be read or written, or part of it is lost; each has its line on standard error
  2  wrong usage, such as a column that does not exist

Examples:
  marquetry head wines.parquet
  marquetry meta 'data/*.parquet' --format json
  marquetry convert wines.parquet wines.csv
  marquetry convert data.csv data.parquet
  marquetry cat 's3://bucket/events/*.parquet' --where \"country = 'DE' and amount > 100\" --columns id,amount

URLs:
  Files may be read from s3://, gs://, az:// and http(s)://, as with patterns and directories on a disk; web servers list no
  files. What a store needs to know is in the environment variables that its other tools use: AWS_ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_SKIP_SIGNATURE=true for public buckets;
  GOOGLE_APPLICATION_CREDENTIALS; AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY; HTTPS_PROXY.";

const SCHEMA_HELP: &str = "\
JSON: {file, name, fields: [{name, repetition, type, logical, field_id, column, fields}]}; `column` is the number of a
leaf, `fields` are those of a group. With --arrow: {file, metadata, fields: [{name, type, nullable, metadata}]}. The schema of
a directory's files, and of those that a _metadata names, is that as which they are read together, as with --arrow.

Examples:
  marquetry schema wines.parquet
  marquetry schema warehouse/wines --union-by-name
  marquetry schema --arrow wines.parquet";

const META_HELP: &str = "\
JSON: {file, size, unreferenced, version, created_by, rows, declared_rows, columns, key_values: [{key, value}], column_orders,
row_groups: [{row_group, rows, compressed_size, uncompressed_size, sorted_by, columns: [{column, type, logical, values,
codec, encodings, compressed_size, uncompressed_size, data_page_offset, dictionary_page_offset, column_index_offset,
offset_index_offset, bloom_filter_offset, encrypted, statistics: {min, max, min_exact, max_exact, deprecated_bounds, null_count,
distinct_count, nan_count}}]}]}. `unreferenced` are bytes that nothing in the file refers to: checkpoints, and what changes in
place left; null if the footer does not tell.

Examples:
  marquetry meta wines.parquet
  marquetry meta set wines.parquet license=CC-BY-4.0
  marquetry meta wines.parquet --format json | jq '.row_groups[].columns[].codec'";

const PAGES_HELP: &str = "\
Checksum: none (the page has none), ok, BAD, untrusted (wrong, by a writer whose checksums mean nothing), unread
(--no-verify). A BAD one makes the exit code 1.
JSON: {file, pages: [{row_group, column, page, kind, offset, header_size, compressed_size, uncompressed_size, values,
nulls, rows, encoding, definition_levels, repetition_levels, checksum}]}.

Examples:
  marquetry pages wines.parquet
  marquetry pages wines.parquet --row-group 0 --column grapes.list.element";

const DICTIONARY_HELP: &str = "\
JSON: {file, column, dictionaries: [{row_group, entries: [..]}]}; row groups without a dictionary are left out.

Examples:
  marquetry dictionary wines.parquet --column country";

const INDEX_HELP: &str = "\
JSON: {file, columns: [{row_group, column, boundary_order, pages: [{page, offset, size, first_row, null_page, min, max,
null_count, nan_count}], bloom_filter: {offset, bytes}}]}; `pages` is null without an offset or column index.

Examples:
  marquetry index wines.parquet
  marquetry index wines.parquet --column year";

const HEAD_HELP: &str = "\
JSON: one object a row; see `marquetry convert --help` for how values look.
With --on-corrupt the exit code is 1 if anything is lost; see `marquetry cat --help` for the report.

Examples:
  marquetry head wines.parquet
  marquetry head -n 3 --columns name,price --format json 'data/*.parquet'
  marquetry head warehouse/wines";

const CAT_HELP: &str = "\
JSON: one object a row; see `marquetry convert --help` for how values look. Memory does not grow with the file.

Several files are read as one table, as are those of a directory: *.parquet, *.parq and *.pq in it and below it, but for
what begins with _ or . , or all files if none is called so. They have the schema of the first, or that of all with
--union-by-name; a file that does not fit is an error. A _metadata stands for the files that it names. Directories called
key=value make columns: integers, dates as 2024-12-31, or text; __HIVE_DEFAULT_PARTITION__ is null.

With --on-corrupt whatever is whole is read, and rows stay together. The exit code is 0 if nothing is lost, else 1.
Then --offset counts rows of the file, --limit those that are given; losses that no wanted row meets are not looked for.
With --where both count rows of which it is true: it is asked about what is whole, nothing is true of a value that is lost
and null but that it is null, and the losses are those of all rows that are read, wanted or not.
The report (--loss-report) replaces no file, and appears when the command is over, whether all rows could be read or not.
It has a line for each file: {file, rows_left_out, values_made_null, losses: [{row_group, column, page, first_row,
end_row, first_byte, end_byte, reason}]}; ends are behind the last row and byte, `page` is null where it is no single page.

Examples:
  marquetry cat wines.parquet --columns name,producer.founded
  marquetry cat wines.parquet --offset 100 --limit 50 --format json
  marquetry cat 'warehouse/wines/year=202?' --columns year,name
  marquetry cat broken.parquet --on-corrupt skip-page --loss-report lost.json --format json > rows.jsonl
  marquetry cat .being-written.parquet.tmp --unfinished";

const COUNT_HELP: &str = "\
With --where only columns of the predicate are read, and of them only what statistics, bloom filters, dictionaries and page
indexes leave: see explain.

JSON: {file, rows}; of several files there is a last line with their sum, whose file is null. A directory is one line.

Examples:
  marquetry count warehouse/wines
  marquetry count 'data/*.parquet'
  marquetry count wines.parquet --where \"country = 'FR' and price between 10 and 20\"";

const SIZE_HELP: &str = "\
JSON: {file, compressed_size, uncompressed_size, size, unreferenced, columns: [{column, compressed_size, uncompressed_size, ratio, share,
codecs, encodings}]}; `ratio` is uncompressed by compressed, `share` is the part of the file's compressed bytes; `size`
is that of the file, `unreferenced` are bytes that nothing in it refers to, null if the footer does not tell.

Examples:
  marquetry size wines.parquet";

const COMPLETIONS_HELP: &str = "\
Examples:
  marquetry completions bash > ~/.local/share/bash-completion/completions/marquetry
  marquetry completions zsh > ~/.zfunc/_marquetry";
