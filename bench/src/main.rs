//! Measures Marquetry against the `parquet` crate: the same bytes, the same process, runs taken in turn.
//!
//! `decode` reads one column a file, one file for each encoding and type; `scan` reads whole tables;
//! `write` writes both; `table` does all three and prints README's table;
//! `filter` reads some rows of a file, found by a condition;
//! `footer` opens files, wide ones above all;
//! `memory` asks for the peak of a scan;
//! `kernels` runs the inner loops alone;
//! `ciphers` runs the ciphers alone;
//! `encrypted` reads and writes lineitem in the open and encrypted;
//! `host_write` has a host's threads write what ours do;
//! `overhead` asks what metrics, a host's threads and cancelling cost;
//! `sizes` writes files for `sizes.py` to compare, and `codecs` shows what codecs cost.
//! Absolute speeds drift with the machine from run to run, so the figure to quote is the ratio in one run.

#![forbid(unsafe_code)]

mod bridge;
mod ciphers;
mod codecs;
mod columns;
mod common;
mod compare_readers;
mod datasets;
mod decode;
mod encrypted;
mod error;
mod filter;
mod footer;
mod generate;
mod host_write;
mod kernels;
mod marquetry_side;
mod memory;
mod output_size;
mod overhead;
mod pages;
mod parquet_side;
mod parquet_write;
mod questions;
mod report;
mod row;
mod same_values;
mod scan;
mod sink;
mod sizes;
mod table;
mod tables;
mod timing;
mod write;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;

/// Marquetry against the `parquet` crate, in one process.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Decode single columns to Arrow: one in-memory file for each encoding and type
    Decode(decode::Options),
    /// Read every column of TPC-H lineitem, of a table like ClickBench's, of nested and wide ones, or of any files
    Scan(scan::Options),
    /// Write single columns with one encoding each, and lineitem with defaults on one thread and on two
    Write(write::Options),
    /// Write TPC-H lineitem and orders and a table of strings, floats and lists, with both sides' defaults, to files
    Sizes(sizes::Options),
    /// Read the rows that a condition wants, a few to all of them, clustered or anywhere
    Filter(filter::Options),
    /// Ask for text by patterns, two columns, lists and long lists of values, beside the kernels of arrow-string and arrow-ord
    Questions(questions::Options),
    /// Run decode, scan and write, and print the tables of README.md and bench/RESULTS.md
    Table(table::Options),
    /// Open files: decode wide footers, and read one column of thousands
    Footer(footer::Options),
    /// How fast pages are encrypted and decrypted: by ring, or by RustCrypto if built without `ring`
    Ciphers(ciphers::Options),
    /// Read and write lineitem in the open, and encrypted by AES-GCM and AES-CTR
    Encrypted(encrypted::Options),
    /// Write lineitem by our own threads and by those of a host, in turn
    #[command(name = "host_write")]
    HostWrite(host_write::Options),
    /// Scan lineitem: what metrics and the threads of a host cost, and how soon it ends when it is cancelled
    Overhead(overhead::Options),
    /// Write and read the same tables with several codecs, by Marquetry alone
    Codecs(codecs::Options),
    /// The most memory that reading a file takes, each side in a process of its own
    Memory(memory::Options),
    #[command(hide = true)]
    MemoryOf(memory::Scan),
    /// The inner loops alone, at each level that the CPU has
    Kernels(kernels::Options),
}

fn run(cli: &Cli) -> Result<bool> {
    let (common, rows) = match &cli.command {
        Command::Decode(options) => (&options.common, decode::run(options)?),
        Command::Scan(options) => (&options.common, scan::run(options)?),
        Command::Write(options) => (&options.common, write::run(options)?),
        Command::Encrypted(options) => (&options.common, encrypted::run(options)?),
        Command::Table(options) => return table::run(options),
        Command::Ciphers(options) => return ciphers::run(options).map(|()| true),
        Command::Sizes(options) => return sizes::run(options).map(|()| true),
        Command::Filter(options) => return filter::run(options).map(|()| true),
        Command::Questions(options) => return questions::run(options).map(|()| true),
        Command::Footer(options) => return footer::run(options).map(|()| true),
        Command::HostWrite(options) => return host_write::run(options).map(|()| true),
        Command::Overhead(options) => return overhead::run(options).map(|()| true),
        Command::Codecs(options) => return codecs::run(options).map(|()| true),
        Command::Memory(options) => return memory::run(options).map(|()| true),
        Command::MemoryOf(options) => return memory::scan(options).map(|()| true),
        Command::Kernels(options) => return kernels::run(options).map(|()| true),
    };
    if rows.is_empty() {
        return Err(format!("no row's name contains {:?}", common.filter).into());
    }
    if common.json {
        println!("{}", report::json(&rows)?);
    } else if common.markdown {
        print!("{}", report::markdown(&rows));
    } else {
        print!("{}", report::text(&rows));
    }
    Ok(rows.iter().all(|row| row.ours.is_some()))
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
