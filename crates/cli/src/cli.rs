//! The command line: its options, and a subcommand for each file below `commands`.

use crate::args::Format;
use crate::commands;
use crate::help::ALL_COMMANDS;
use crate::hyperlinks::Hyperlinks;
use crate::keys::KeyArgs;
use crate::memory::MemoryArgs;
use clap::{Parser, Subcommand};

/// Inspect, verify, convert, optimize and recover Parquet files.
#[derive(Debug, Parser)]
#[command(name = "marquetry", version, max_term_width = 110, after_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    /// How facts and rows are printed
    #[arg(long, global = true, help_heading = ALL_COMMANDS, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Do not show long text in a pager (MARQUETRY_PAGER, PAGER, or less)
    #[arg(long, global = true, help_heading = ALL_COMMANDS)]
    pub(crate) no_pager: bool,
    /// Where names of files, rules and addresses are links
    #[arg(long, global = true, help_heading = ALL_COMMANDS, value_enum, value_name = "WHERE", default_value_t = Hyperlinks::Auto)]
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
    /// Print the metadata of the footer: file, row groups, columns, statistics; `set` and `unset` change key-value pairs
    #[command(after_help = commands::meta::META_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Meta(commands::meta::MetaArgs),
    /// List every page: kind, offset, sizes, encodings, checksum
    #[command(after_help = commands::pages::PAGES_HELP)]
    Pages(commands::pages::PagesArgs),
    /// Print the entries of a column's dictionaries
    #[command(after_help = commands::dictionary::DICTIONARY_HELP)]
    Dictionary(commands::dictionary::DictionaryArgs),
    /// Print column indexes, offset indexes and bloom filters
    #[command(after_help = commands::index::INDEX_HELP)]
    Index(commands::index::IndexArgs),
    /// Print the bytes of each column, largest first
    #[command(after_help = commands::size::SIZE_HELP)]
    Size(commands::size::SizeArgs),
    /// Print the first rows
    #[command(after_help = commands::head::HEAD_HELP)]
    Head(commands::head::HeadArgs),
    /// Print all rows
    #[command(after_help = commands::cat::CAT_HELP)]
    Cat(commands::cat::CatArgs),
    /// Count rows
    #[command(after_help = commands::count::COUNT_HELP)]
    Count(commands::count::CountArgs),
    /// Profile columns: nulls, distinct and common values, bounds, means, quartiles
    #[command(after_help = commands::stats::STATS_HELP)]
    Stats(commands::stats::StatsArgs),
    /// Show what a predicate prunes, stage by stage, and what would help
    #[command(after_help = commands::explain::EXPLAIN_HELP)]
    Explain(commands::explain::ExplainArgs),
    /// Show how two files differ: schema, metadata, layout, rows
    #[command(after_help = commands::diff::DIFF_HELP)]
    Diff(commands::diff::DiffArgs),
    /// Check files by the rules of the format, and their metadata against their pages
    #[command(after_help = commands::verify::VERIFY_HELP)]
    Verify(commands::verify::VerifyArgs),
    /// Check files by your team's rules: severities, limits on sizes
    #[command(after_help = commands::lint::LINT_HELP)]
    Lint(commands::lint::LintArgs),
    /// List the rules that verify checks
    #[command(after_help = commands::rules::RULES_HELP)]
    Rules(commands::rules::RulesArgs),
    /// Write an HTML page that shows where a file's bytes are, and what a predicate prunes
    #[command(after_help = commands::report::REPORT_HELP)]
    Report(commands::report::ReportArgs),
    /// Show the files of a folder in a browser on this machine: reports, search, rows
    #[command(after_help = commands::serve::SERVE_HELP)]
    Serve(commands::serve::ServeArgs),
    /// Explore a file in the terminal: schema, row groups, columns, pages, bytes, rows
    #[command(after_help = commands::dive::DIVE_HELP)]
    Dive(commands::dive::DiveArgs),
    /// Measure what would make files smaller or faster: encodings, codecs, layout, types
    #[command(after_help = commands::advise::ADVISE_HELP)]
    Advise(commands::advise::AdviseArgs),
    /// Write a smaller file with the same rows, which are compared before it appears
    #[command(after_help = commands::optimize::OPTIMIZE_HELP)]
    Optimize(commands::optimize::OptimizeArgs),
    /// Convert between Parquet, CSV, JSON Lines, GeoJSON and Arrow
    #[command(after_help = commands::convert::CONVERT_HELP)]
    Convert(Box<commands::convert::ConvertArgs>),
    /// Rewrite a Parquet file with another codec, encodings, columns or missing indexes
    #[command(after_help = commands::rewrite::REWRITE_HELP)]
    Rewrite(Box<commands::rewrite::RewriteArgs>),
    /// Merge files into one by copying their row groups
    #[command(after_help = commands::merge::MERGE_HELP)]
    Merge(commands::merge::MergeArgs),
    /// Split a file into files of a number of rows
    #[command(after_help = commands::split::SPLIT_HELP)]
    Split(commands::split::SplitArgs),
    /// Write _metadata and _common_metadata for the files of a directory
    #[command(after_help = commands::summary::SUMMARY_HELP)]
    Summary(commands::summary::SummaryArgs),
    /// Save what is left of a broken file, with or without its footer
    #[command(after_help = commands::recover::RECOVER_HELP)]
    Recover(commands::recover::RecoverArgs),
    /// Append the row groups of other files to a file, in place
    #[command(after_help = commands::append::APPEND_HELP)]
    Append(commands::append::AppendArgs),
    /// Remove row groups from a file, in place
    #[command(after_help = commands::drop_row_group::DROP_ROW_GROUP_HELP)]
    DropRowGroup(commands::drop_row_group::DropRowGroupArgs),
    /// Rewrap the keys of encrypted files with the newest versions of their master keys
    #[command(after_help = commands::rotate_keys::ROTATE_KEYS_HELP)]
    RotateKeys(commands::rotate_keys::RotateKeysArgs),
    /// Query files with SQL, by the program marquetry-sql, which is installed separately
    #[command(after_help = commands::sql::SQL_HELP)]
    Sql(commands::sql::SqlArgs),
    /// Print the script that completes commands and options in a shell
    #[command(after_help = commands::completions::COMPLETIONS_HELP)]
    Completions(commands::completions::CompletionsArgs),
}

impl Command {
    /// Whether a command only prints, and may print more than fits on a screen.
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
Keys come from a file that only its owner can read, or from an environment variable, never from arguments, which all users can
see. Without keys, columns that are not encrypted can be read if the footer is not encrypted; meta shows which columns are.
  marquetry cat salaries.parquet --key-file keys.json

URLs:
Files, patterns and directories may be URLs: s3://, gs://, az:// and http(s)://; web servers cannot list files. The usual
environment variables configure a store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL,
AWS_SKIP_SIGNATURE=true for public buckets; GOOGLE_APPLICATION_CREDENTIALS; AZURE_STORAGE_ACCOUNT_NAME,
AZURE_STORAGE_ACCOUNT_KEY; HTTPS_PROXY. URLs need a command that was built with the feature `remote`; one that was not says how
to build it.";

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
