//! `marquetry-sql`: SQL over Parquet files.
#![forbid(unsafe_code)]

mod hand_over;

use clap::Parser;
use marquetry_sql::CommandLine;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = CommandLine::parse();
    match args.cluster() {
        Some(_) => hand_over::to_ballista(),
        None => marquetry_sql::run(&args, async || marquetry_sql::local(&args)),
    }
}
