//! `overhead`: what costs time during a scan although it reads nothing.
//!
//! Metrics are always counted: they are priced in the scan itself. Tasks may run on the threads of a host: these and our own scan in
//! turn. A scan can be cancelled: how long it takes to end is measured at random moments of it.
//! The file is TPC-H lineitem, in memory.

mod cancelling;
mod host_pool;
mod metrics_cost;
mod whole_file;

use std::fs;

use bytes::Bytes;
use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::report::when_and_where;
use crate::scan::Data;
use crate::tables;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    data: Data,
    /// The codec of the file
    #[arg(long, value_name = "CODEC", default_value = "uncompressed")]
    codec: String,
    /// How many threads scan
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Scan N times in each way
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Cancel N scans
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    cancels: u32,
    /// Measure these alone
    #[arg(long, value_name = "WHAT", num_args = 1.., value_enum, default_values_t = [Part::Metrics, Part::Pool, Part::Cancel])]
    only: Vec<Part>,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    Metrics,
    Pool,
    Cancel,
}

/// Prints a list.
pub(crate) fn run(options: &Options) -> Result<()> {
    let path = tables::parquet(&options.data.data_dir, "lineitem", options.data.sf, &options.codec)?;
    let file = Bytes::from(fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?);
    let (threads, rounds) = (usize::from(options.threads), options.rounds);
    println!(
        "{}: lineitem SF{}, {}, {} MB in memory, {threads} threads.\n",
        when_and_where(),
        options.data.sf,
        options.codec,
        file.len() / 1_000_000
    );
    for part in &options.only {
        match part {
            Part::Metrics => metrics_cost::run(&file, threads, rounds)?,
            Part::Pool => host_pool::run(&file, threads, rounds)?,
            Part::Cancel => cancelling::run(&file, threads, options.cancels)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_lineitem() {
        let dir = tempfile::tempdir().unwrap();
        let data = Data { sf: 0.02, data_dir: dir.path().to_owned() };
        let only = vec![Part::Metrics, Part::Pool, Part::Cancel];
        for codec in ["uncompressed", "snappy"] {
            let (codec, data, only) = (codec.to_owned(), data.clone(), only.clone());
            run(&Options { data, codec, threads: 2, rounds: 1, cancels: 10, only }).unwrap();
        }
    }
}
