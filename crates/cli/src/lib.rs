//! The command line `marquetry`: look inside Parquet files, and convert them. A program calls [`main`], and ends with what it gives.
//!
//! ```text
//! cli                    the command line: options and subcommands
//! args                   arguments that several commands share
//! caller                 who wants the work done: a person or a program
//! help                   wraps help texts to the terminal
//! printable, file_name   printable text; file names as they are shown
//! files                  expands patterns, and opens files
//! standard_input         standard input in the place of a file
//! remote                 files by path or URL
//! keys                   keys of encrypted files
//! memory                 memory limits for reading and writing
//! metrics                prints the cost of reading and writing
//! bounded_rows           batches of a file, bounded by bytes as well as rows
//! table_source           a file, or many files as one table
//! commands               one file for each command
//! inputs                 rows of Parquet, CSV, JSON Lines and Arrow files
//! schema_parser          parses types of columns
//! sort                   an external sort
//! convert                writes rows to Parquet, Arrow, CSV and JSON Lines files
//! rewrite                writes Parquet files from Parquet files, by copying where possible
//! leaf_sizes             the columns of Parquet that an Arrow type becomes, and what an array holds for each
//! column_list            columns in arguments
//! geo_labels             columns that only the metadata of GeoParquet says are geometries
//! shred_plan             the shredding plan of VARIANT columns
//! resolve                resolves FILE columns to the bytes that they refer to
//! text_table, row_table  tables of text; rows as a table
//! plain_value            the values in statistics and dictionaries as JSON
//! loss_report            the loss report of damaged files
//! report_file            a report in a file
//! serve                  a folder as a web site on this machine
//! unreferenced           bytes of a file that nothing refers to
//! ordered_map            a parallel map that keeps the order
//! other_format           recognizes files that are not Parquet
//! suggestions            suggestions for misspelled words
//! other_names            what other tools call commands and options
//! thousands              parses numbers with separators
//! output                 standard output: text or JSON
//! json_stream            streams JSON
//! overwrite              overwrite checks
//! terminal, spinner      safe output to a terminal; a spinner
//! hyperlinks             names that lead somewhere
//! percent                percent-encoding of URLs
//! pager                  pages long text
//! failure                failures: the line on standard error and the exit code
//! signals                signal handling
//! open_files             raises the limit on open files
//! ```
//!
//! # JSON
//! With `--format json` each command that prints facts writes one object for each file, on a line of its own. Names of
//! members are stable: members may be added, but none is renamed, removed or given another type. A member that the file
//! says nothing about is `null`. `head` and `cat` write one object for each row instead. Each command's file documents
//! its object.
#![forbid(unsafe_code)]

mod args;
mod bounded_rows;
mod caller;
mod cli;
mod column_list;
mod commands;
mod convert;
mod failure;
mod file_name;
mod files;
mod geo_labels;
mod help;
mod hyperlinks;
mod inputs;
mod json_stream;
mod keys;
mod leaf_sizes;
mod loss_report;
mod memory;
mod metrics;
#[cfg(unix)]
mod open_files;
mod ordered_map;
mod other_format;
mod other_names;
mod output;
mod overwrite;
mod pager;
mod percent;
mod plain_value;
mod printable;
mod remote;
mod report_file;
mod resolve;
mod rewrite;
mod row_table;
mod schema_parser;
mod serve;
mod shred_plan;
#[cfg(unix)]
mod signals;
mod sort;
mod spinner;
mod standard_input;
mod suggestions;
mod table_source;
mod terminal;
mod text_table;
mod thousands;
mod unreferenced;

pub use commands::optimize::{OptimizeOptions, Optimized, OptimizedColumn, optimize};

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use cli::{Command, CommandLine};
use failure::{Failure, Outcome};
use marquetry_base::{steers_terminal, text_without_secrets};
use output::Output;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};

/// Runs the command in `arguments`, the first of which is the program's name, and returns the exit code. It must be the
/// last thing that a process does: from here on signals that end the process are handled, and `sql` may replace the
/// process by another program.
///
/// ```
/// let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// assert_eq!(marquetry_cli::main(["marquetry", "count", wines].map(Into::into)), 0);
/// ```
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(arguments) = commands::sql::arguments(arguments.iter().cloned()) {
        return hand_over(&arguments);
    }
    let parsed = help::flowing(CommandLine::command()).try_get_matches_from(&arguments).and_then(|matches| {
        CommandLine::from_arg_matches(&matches).map_err(|error| with_usage(error, &matches))
    });
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            let error = other_names::with_tip(error, &CommandLine::command(), &arguments);
            return refused(&thousands::with_tip(suggestions::only_near(error)));
        }
    };
    args.memory.apply();
    #[cfg(unix)]
    {
        signals::clean_up();
        open_files::raise_limit();
    }
    let mut outcome = Outcome::new();
    let output = Output::new(args.format, args.command.may_be_long() && !args.no_pager);
    let mut output = output.with_hyperlinks(args.hyperlinks);
    let keys = args.keys.apply(reads_plain_files(&args));
    let run = keys.and_then(|()| run(&args, &mut output, &mut outcome)).and_then(|()| Ok(output.flush()?));
    let is_closed = matches!(run, Err(Failure::ClosedPipe));
    match run {
        // The reader has seen enough.
        Ok(()) | Err(Failure::ClosedPipe) => {}
        Err(failure) => outcome.report(None, &failure),
    }
    let is_paged = output.is_paged();
    // The reader of a pager keeps the terminal as long as they like.
    drop(output);
    match is_closed && !is_paged {
        true => end_of_closed_pipe(),
        // A user who left the pager has seen enough.
        false => outcome.exit_code(),
    }
}

/// Ends the process by SIGPIPE, as programs end whose reader has left. Without signals, returns the exit code that shells show for it.
fn end_of_closed_pipe() -> u8 {
    #[cfg(unix)]
    signals::end_by_sigpipe();
    CLOSED_PIPE
}

/// 128 and the number of SIGPIPE.
const CLOSED_PIPE: u8 = 141;

/// Whether plaintext files are read although keys are given.
fn reads_plain_files(args: &CommandLine) -> bool {
    match args.command {
        // The file that is changed is encrypted anyway.
        Command::Append(_) => false,
        // It lists a folder, and writes nothing.
        Command::Serve(_) => true,
        _ => args.keys.plain_inputs,
    }
}

/// The error with the usage of the command.
fn with_usage(error: clap::Error, matches: &ArgMatches) -> clap::Error {
    let mut whole = CommandLine::command();
    let name = matches.subcommand_name();
    match name.and_then(|name| whole.find_subcommand_mut(name)) {
        Some(command) => error.format(command),
        None => error.format(&mut whole),
    }
}

/// Hands over to another program; if that fails, reports it.
fn hand_over(arguments: &[OsString]) -> u8 {
    commands::sql::run(arguments).unwrap_or_else(|failure| {
        let mut outcome = Outcome::new();
        outcome.report(None, &failure);
        outcome.exit_code()
    })
}

/// Reports why arguments are invalid, or prints the help that they ask for.
fn refused(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    let shown = text_without_secrets(&text);
    let shown = terminal::escaped(&shown, |c| steers_terminal(c) && !matches!(c, '\n' | '\t'));
    let printed = match shown == text || !error.use_stderr() {
        true => error.print(),
        // Secrets of the user are left out, and so are colours, whose sequences would be escaped, too.
        false => std::io::stderr().write_all(shown.as_bytes()),
    };
    match printed {
        Err(failed) if !error.use_stderr() && failed.kind() == ErrorKind::BrokenPipe => end_of_closed_pipe(),
        Err(failed) if !error.use_stderr() => {
            let mut outcome = Outcome::new();
            outcome.report(None, &Failure::Write(failed));
            outcome.exit_code()
        }
        // There is nowhere left to report that an error could not be written.
        _ => u8::try_from(error.exit_code()).unwrap_or(2),
    }
}

fn run(args: &CommandLine, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let CommandLine { command, memory, .. } = args;
    if (output.is_sarif() || output.is_github()) && !matches!(command, Command::Verify(_) | Command::Lint(_))
    {
        return Err(Failure::Usage("only verify and lint write SARIF and annotations of GitHub".to_owned()));
    }
    match command {
        Command::Schema(args) => commands::schema::run(args, output, outcome),
        Command::Meta(args) => commands::meta::run(args, output, outcome),
        Command::Pages(args) => commands::pages::run(args, output, outcome),
        Command::Dictionary(args) => commands::dictionary::run(args, output, outcome),
        Command::Index(args) => commands::index::run(args, output, outcome),
        Command::Head(args) => commands::head::run(args, output, outcome),
        Command::Cat(args) => commands::cat::run(args, output, outcome),
        Command::Count(args) => commands::count::run(args, output, outcome),
        Command::Explain(args) => commands::explain::run(args, output, outcome),
        Command::Size(args) => commands::size::run(args, output, outcome),
        Command::Advise(args) => commands::advise::run(args, output, outcome),
        Command::Optimize(args) => commands::optimize::run(args, memory.to_write(), output, outcome),
        Command::Lint(args) => commands::lint::run(args, output, outcome),
        Command::Diff(args) => commands::diff::run(args, output, outcome),
        Command::Report(args) => commands::report::run(args, output, outcome),
        Command::Serve(args) => commands::serve::run(args, output),
        Command::Dive(args) => commands::dive::run(args),
        Command::Stats(args) => commands::stats::run(args, output, outcome),
        Command::Convert(args) => commands::convert::run(args, memory.to_write(), output, outcome),
        Command::Completions(args) => commands::completions::run(args, CommandLine::command(), output),
        Command::Recover(args) => commands::recover::run(args, output, outcome),
        Command::Rewrite(args) => commands::rewrite::run(args, output, outcome),
        Command::Merge(args) => commands::merge::run(args, output, outcome),
        Command::Split(args) => commands::split::run(args, output, outcome),
        Command::Append(args) => commands::append::run(args, output, outcome),
        Command::RotateKeys(args) => commands::rotate_keys::run(args, output, outcome),
        Command::DropRowGroup(args) => commands::drop_row_group::run(args, output, outcome),
        Command::Summary(args) => commands::summary::run(args, output, outcome),
        Command::Verify(args) => commands::verify::run(args, output, outcome),
        // An option before it would be one of ours, which that program does not know.
        Command::Sql(_) => Err(Failure::Usage("`sql` comes first: marquetry sql ..".to_owned())),
        Command::Rules(args) => commands::rules::run(args, output),
    }
}
