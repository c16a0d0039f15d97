//! The interactive shell.

use crate::args::CommandLine;
use crate::cluster_errors::without_wrappers;
use crate::completion::Completion;
use crate::script;
use crate::table::harmless;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

const HELP: &str = "\
Statements end with a semicolon; Tab completes words, and files between quotes. Files are tables: select * from 'file.parquet' limit 10;
  \\d         the tables
  \\d NAME    the columns of a table
  \\timing    whether the time that each statement takes is shown
  \\?         this
  \\q         ends it, as Ctrl-D does";

/// Reads statements and commands until the input ends, or the reader of the output leaves. Returns whether it stayed.
pub(crate) async fn run(ctx: &SessionContext, args: &CommandLine) -> Result<bool> {
    let mut editor = Editor::<Completion, DefaultHistory>::new().map_err(terminal)?;
    let history = history();
    if let Some(history) = &history {
        // The first time there is none.
        let _ = editor.load_history(history);
    }
    let mut is_read = print(format_args!("marquetry-sql {}. \\? for help.", env!("CARGO_PKG_VERSION")))?;
    let (mut text, mut shows_time) = (String::new(), false);
    while is_read {
        // A statement may have created tables.
        editor.set_helper(Some(Completion::of(ctx).await));
        let prompt = if text.is_empty() { "> " } else { ". " };
        let line = match editor.readline(prompt) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                text.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) if is_closed_pipe(&error) => {
                is_read = false;
                break;
            }
            Err(error) => return Err(terminal(error)),
        };
        if text.is_empty() && line.trim_start().starts_with('\\') {
            editor.add_history_entry(line.trim()).map_err(terminal)?;
            match line.trim() {
                "\\q" => break,
                "\\timing" => {
                    shows_time = !shows_time;
                    is_read = print(format_args!("timing is {}", if shows_time { "on" } else { "off" }))?;
                }
                command => {
                    is_read = match statement_of(command) {
                        Some(statement) => reported(script::run(ctx, &statement, args).await),
                        None => print(HELP)?,
                    };
                }
            }
            continue;
        }
        text.push_str(&line);
        text.push('\n');
        if !line.trim_end().ends_with(';') {
            text = if text.trim().is_empty() { String::new() } else { text };
            continue;
        }
        let statement = std::mem::take(&mut text);
        editor.add_history_entry(statement.trim()).map_err(terminal)?;
        let start = Instant::now();
        is_read = reported(script::run(ctx, &statement, args).await);
        if is_read && shows_time {
            is_read = print(format_args!("{:.3} s", start.elapsed().as_secs_f64()))?;
        }
    }
    if let Some(history) = &history
        && let Err(error) = editor.save_history(history)
    {
        eprintln!("cannot save the history: {error}");
    }
    Ok(is_read)
}

/// The statement that a command stands for; `None` if there is no such command.
fn statement_of(command: &str) -> Option<String> {
    match command.strip_prefix("\\d") {
        Some("") => Some("show tables".to_owned()),
        Some(name) if name.starts_with(' ') => Some(format!("describe {}", name.trim())),
        _ => None,
    }
}

/// Prints a line. Returns whether the output still has a reader.
fn print(line: impl Display) -> Result<bool> {
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Reports an error, which ends a statement but not the shell. Returns whether the output still has a reader.
fn reported(result: Result<bool>) -> bool {
    result.unwrap_or_else(|error| {
        eprintln!("{}", harmless(&without_wrappers(&error.to_string())));
        true
    })
}

fn history() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
    Some(PathBuf::from(home).join(".marquetry_sql_history"))
}

/// Whether the prompt could not be written because the reader of the output has left.
fn is_closed_pipe(error: &ReadlineError) -> bool {
    match error {
        ReadlineError::Io(error) => error.kind() == io::ErrorKind::BrokenPipe,
        #[cfg(unix)]
        ReadlineError::Errno(error) => io::Error::from(*error).kind() == io::ErrorKind::BrokenPipe,
        _ => false,
    }
}

fn terminal(error: ReadlineError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_statements() {
        assert_eq!(statement_of("\\d"), Some("show tables".to_owned()));
        assert_eq!(statement_of("\\d  t"), Some("describe t".to_owned()));
        assert_eq!(statement_of("\\dance"), None);
        assert_eq!(statement_of("\\?"), None);
    }
}
