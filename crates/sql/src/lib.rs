//! SQL over Parquet files on the command line: what `marquetry-sql` does, with any session of DataFusion.
//!
//! ```text
//! args            the command line
//! cluster_errors  unwraps the errors of a cluster
//! session         the session that statements run in: tables, memory, threads
//! script          runs the statements of a script
//! closed_pipe     ends the process when the reader of its output has left
//! folder_tables   files, folders and patterns as tables
//! disk_tables     those of local files
//! store_tables    those of object stores
//! files_table     a table that scans an exact list of local files
//! lookup          the result of looking up a location
//! file_url        escapes file names as URLs
//! prepared        prepared statements
//! copied_rows     converts rows for DataFusion's writers
//! format          output formats: a table, CSV, JSON Lines, Arrow or Parquet
//! table           prints rows as a table
//! shell           the interactive shell
//! completion      Tab completion
//! stores          object stores by URL, configured by the environment
//! empty_files     refuses Parquet files of zero bytes
//! ```
#![forbid(unsafe_code)]

mod args;
mod closed_pipe;
mod cluster_errors;
mod completion;
mod copied_rows;
mod disk_tables;
mod distinct_from;
mod empty_files;
mod file_url;
mod files_table;
mod folder_tables;
mod format;
mod key_names;
mod lookup;
mod prepared;
mod script;
mod session;
mod shell;
mod store_tables;
#[cfg(feature = "remote")]
mod stores;
mod table;

pub use args::CommandLine;
pub use folder_tables::with_sent_folder_tables;
pub use session::{local, with_right_answers};
#[cfg(feature = "remote")]
pub use stores::Stores;

use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

/// Runs the statements of a command line in a session, which is created in the runtime that they run in.
///
/// Errors are reported on standard error. The exit code is 2 if a statement is at fault, and 1 if files or the machine are.
///
/// ```
/// # use clap::Parser;
/// # let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let args = marquetry_sql::CommandLine::parse_from(["marquetry-sql", &format!("select count(*) from '{wines}'")]);
/// marquetry_sql::run(&args, async || marquetry_sql::local(&args));
/// ```
pub fn run(args: &CommandLine, session: impl AsyncFnOnce() -> Result<SessionContext>) -> ExitCode {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.worker_threads(args.threads()).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    match runtime.block_on(statements(args, session)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            // Temporary files are removed.
            drop(runtime);
            closed_pipe::end()
        }
        Err(error) => failed(&error),
    }
}

/// Returns whether the reader of the output stayed to the end.
async fn statements(
    args: &CommandLine,
    session: impl AsyncFnOnce() -> Result<SessionContext>,
) -> Result<bool> {
    script::check_output(args)?;
    let ctx = session().await?;
    session::add_tables(&ctx, &args.tables).await?;
    let text = match (&args.statement, &args.file) {
        (Some(statement), _) => statement.clone(),
        (None, Some(path)) => std::fs::read_to_string(path)
            .map_err(|error| DataFusionError::External(format!("{}: {error}", path.display()).into()))?,
        (None, None) if std::io::stdin().is_terminal() => {
            return shell::run(&ctx, args).await;
        }
        (None, None) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
    };
    script::run(&ctx, &text, args).await
}

/// Reports an error. Returns exit code 2 if the statement is at fault, and 1 if files or the machine are.
fn failed(error: &DataFusionError) -> ExitCode {
    let message = error.to_string();
    eprintln!("marquetry-sql: {}", table::harmless(&cluster_errors::without_wrappers(&message)));
    let is_usage = matches!(
        error.find_root(),
        DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::Configuration(_)
            | DataFusionError::NotImplemented(_)
    );
    ExitCode::from(if is_usage { 2 } else { 1 })
}
