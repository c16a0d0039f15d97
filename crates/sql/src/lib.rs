//! SQL over Parquet files on the command line: what `marquetry-sql` does, with any session of DataFusion.
//!
//! ```text
//! args        the command line
//! cluster_errors  errors of a cluster
//! session     what statements run in: tables, memory, threads
//! script      statements of a text, one after the other
//! folder_tables  files, folders and patterns as tables
//! disk_tables  those of this machine
//! store_tables  those of stores
//! files_table  files of this machine as a table that DataFusion scans
//! found       what is found at a location
//! file_url    names of files as URLs, in which no character stands for others
//! prepared    statements that were prepared
//! copied_rows  rows as DataFusion's writers take them
//! format      rows as a table, CSV, JSON Lines, Arrow or Parquet
//! table       rows as a table of text, as wide as the terminal
//! shell       statements that are typed
//! completion  what a word that is begun may become
//! stores      object stores by URL, with what the environment says
//! empty_files  a store in which Parquet files of no bytes are errors
//! ```
#![forbid(unsafe_code)]

mod args;
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
pub use session::{local, with_right_answers};
#[cfg(feature = "remote")]
pub use stores::Stores;

use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

/// Runs the statements of a command line in a session, which is made where they run.
///
/// What goes wrong is said on standard error. The exit code is 2 where a statement is at fault, and 1 where files or the machine are.
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
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

async fn statements(args: &CommandLine, session: impl AsyncFnOnce() -> Result<SessionContext>) -> Result<()> {
    script::check_output(args)?;
    let ctx = session().await?;
    session::add_tables(&ctx, &args.tables).await?;
    let text = match (&args.statement, &args.file) {
        (Some(statement), _) => statement.clone(),
        (None, Some(path)) => std::fs::read_to_string(path)
            .map_err(|error| DataFusionError::External(format!("{}: {error}", path.display()).into()))?,
        (None, None) if std::io::stdin().is_terminal() => return shell::run(&ctx, args).await,
        (None, None) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
    };
    script::run(&ctx, &text, args).await
}

/// Says what went wrong. 2 where the statement is at fault, 1 where files or the machine are.
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
