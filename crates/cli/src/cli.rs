//! The command line: its options, and a subcommand for each file below `commands`.

use crate::args::Format;
use crate::commands;
use crate::hyperlinks::Hyperlinks;
use crate::keys::KeyArgs;
use crate::memory::MemoryArgs;
use clap::{Parser, Subcommand};

/// Look inside Parquet files, and convert them.
#[derive(Debug, Parser)]
#[command(name = "marquetry", version, max_term_width = 110, after_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    /// How facts and rows are printed
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Show long text as it comes, and not page by page (MARQUETRY_PAGER, PAGER, or less)
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Where names of files, rules and addresses lead somewhere
    #[arg(long, global = true, value_enum, value_name = "WHERE", default_value_t = Hyperlinks::Auto)]
    pub(crate) hyperlinks: Hyperlinks,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the schema
    #[command(after_help = commands::schema::SCHEMA_HELP)]
    Schema(commands::schema::SchemaArgs),
    /// Print what the footer says of the file, its row groups and columns; set and unset change it
    #[command(after_help = commands::meta::META_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Meta(commands::meta::MetaArgs),
    /// List every page: kind, place, sizes, encodings, checksum
    #[command(after_help = commands::pages::PAGES_HELP)]
    Pages(commands::pages::PagesArgs),
    /// Print the entries of a column's dictionaries
    #[command(after_help = commands::dictionary::DICTIONARY_HELP)]
    Dictionary(commands::dictionary::DictionaryArgs),
    /// Print column indexes, offset indexes and bloom filters
    #[command(after_help = commands::index::INDEX_HELP)]
    Index(commands::index::IndexArgs),
    /// Print the first rows
    #[command(after_help = commands::head::HEAD_HELP)]
    Head(commands::head::HeadArgs),
    /// Print all rows
    #[command(after_help = commands::cat::CAT_HELP)]
    Cat(commands::cat::CatArgs),
    /// Count rows
    #[command(after_help = commands::count::COUNT_HELP)]
    Count(commands::count::CountArgs),
    /// Show what a predicate lets be skipped, stage by stage, and what would help
    #[command(after_help = commands::explain::EXPLAIN_HELP)]
    Explain(commands::explain::ExplainArgs),
    /// Print the bytes of each column, largest first
    #[command(after_help = commands::size::SIZE_HELP)]
    Size(commands::size::SizeArgs),
    /// Print what columns hold: nulls, distinct and common values, bounds, means
    #[command(after_help = commands::stats::STATS_HELP)]
    Stats(commands::stats::StatsArgs),
    /// Tell what would make columns smaller: encodings and codecs, each measured
    #[command(after_help = commands::advise::ADVISE_HELP)]
    Advise(commands::advise::AdviseArgs),
    /// Write a file again, smaller, and prove that its rows are the same
    #[command(after_help = commands::optimize::OPTIMIZE_HELP)]
    Optimize(commands::optimize::OptimizeArgs),
    /// Check files by a profile: rules on, off or of another severity, limits of a house
    #[command(after_help = commands::lint::LINT_HELP)]
    Lint(commands::lint::LintArgs),
    /// Tell in what two files differ: schemas, metadata, layouts, rows
    #[command(after_help = commands::diff::DIFF_HELP)]
    Diff(commands::diff::DiffArgs),
    /// Make a page that shows where the bytes of files are, and what can be skipped
    #[command(after_help = commands::report::REPORT_HELP)]
    Report(commands::report::ReportArgs),
    /// Show the files of a folder in a browser on this machine: reports, search, rows
    #[command(after_help = commands::serve::SERVE_HELP)]
    Serve(commands::serve::ServeArgs),
    /// Walk through a file in the terminal: schema, row groups, columns, pages, bytes, rows
    #[command(after_help = commands::dive::DIVE_HELP)]
    Dive(commands::dive::DiveArgs),
    /// Convert Parquet, CSV, JSON Lines, GeoJSON and Arrow into each other
    #[command(after_help = commands::convert::CONVERT_HELP)]
    Convert(Box<commands::convert::ConvertArgs>),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = commands::completions::COMPLETIONS_HELP)]
    Completions(commands::completions::CompletionsArgs),
    /// Write a Parquet file again, with another codec, encodings, columns, or what it lacks
    #[command(after_help = commands::rewrite::REWRITE_HELP)]
    Rewrite(Box<commands::rewrite::RewriteArgs>),
    /// Put the row groups of several files into one
    #[command(after_help = commands::merge::MERGE_HELP)]
    Merge(commands::merge::MergeArgs),
    /// Cut a file into files of so many rows
    #[command(after_help = commands::split::SPLIT_HELP)]
    Split(commands::split::SplitArgs),
    /// Put the row groups of files behind those of a file, in place
    #[command(after_help = commands::append::APPEND_HELP)]
    Append(commands::append::AppendArgs),
    /// Take row groups out of a file, in place
    #[command(after_help = commands::drop_row_group::DROP_ROW_GROUP_HELP)]
    DropRowGroup(commands::drop_row_group::DropRowGroupArgs),
    /// Wrap the keys of encrypted files with the newest versions of their master keys
    #[command(after_help = commands::rotate_keys::ROTATE_KEYS_HELP)]
    RotateKeys(commands::rotate_keys::RotateKeysArgs),
    /// Write _metadata and _common_metadata for the files of a directory
    #[command(after_help = commands::summary::SUMMARY_HELP)]
    Summary(commands::summary::SummaryArgs),
    /// Check that files keep the format's rules, and that what they say of themselves is true
    #[command(after_help = commands::verify::VERIFY_HELP)]
    Verify(commands::verify::VerifyArgs),
    /// Save what is left of a broken file, with or without its footer
    #[command(after_help = commands::recover::RECOVER_HELP)]
    Recover(commands::recover::RecoverArgs),
    /// Ask files in SQL; a program of its own, marquetry-sql, does that
    #[command(after_help = commands::sql::SQL_HELP)]
    Sql(commands::sql::SqlArgs),
    /// List the rules that verify checks
    #[command(after_help = commands::rules::RULES_HELP)]
    Rules(commands::rules::RulesArgs),
}

impl Command {
    /// Whether it only prints, and may print more than a screen has.
    pub(crate) fn may_be_long(&self) -> bool {
        if let Command::Meta(args) = self {
            return args.edit.is_none();
        }
        matches!(
            self,
            Command::Schema(_)
                | Command::Pages(_)
                | Command::Dictionary(_)
                | Command::Index(_)
                | Command::Head(_)
                | Command::Cat(_)
                | Command::Explain(_)
                | Command::Size(_)
                | Command::Stats(_)
                | Command::Advise(_)
                | Command::Diff(_)
                | Command::Rules(_)
        )
    }
}

const AFTER_HELP: &str = "\
Exit codes:
  0  success
  1  a file is bad, cannot be read or written, or part of it is lost; diff: files differ
  2  wrong usage, such as a column that does not exist
A command that writes to a pipe whose reader leaves, as in `marquetry cat wines.parquet | head -1`, ends by SIGPIPE and without a
message, as `cat` does: a shell shows 141, with `set -o pipefail` also for the pipeline.

Examples:
  marquetry head wines.parquet
  marquetry meta 'data/*.parquet' --format json
  marquetry convert wines.parquet wines.csv
  marquetry convert data.csv data.parquet
  marquetry cat 's3://bucket/events/*.parquet' --where \"amount > 100\" --columns id,amount

Encrypted files:
Keys are in a file that only its owner can read, or in a variable of the environment; never among the arguments, which
all users can see. Without keys the columns that are not encrypted can be read, if the footer is not encrypted; meta tells
which columns are.
  marquetry cat salaries.parquet --key-file keys.json

URLs:
Files may be read from s3://, gs://, az:// and http(s)://, as with patterns and directories on a disk; web servers list no
files. What a store needs to know is in the environment variables that its other tools use: AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_SKIP_SIGNATURE=true for public buckets;
GOOGLE_APPLICATION_CREDENTIALS; AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY; HTTPS_PROXY. A command that was built
without the feature `remote` reads no URLs, and says how to get one that does.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// No two arguments of a command have one name, among much else.
    #[test]
    fn arguments_go_together() {
        CommandLine::command().debug_assert();
    }

    /// Of tables and examples; paragraphs flow.
    #[test]
    fn lines_of_help_fit_a_terminal() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 98, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&CommandLine::command());
    }
}
