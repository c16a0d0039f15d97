//! `memory`: how much memory a full scan in batches takes at most, ours and the peer's.
//!
//! Each scan has a process of its own, whose peak the kernel tells: what is resident, allocated or mapped. Files are read from
//! the disk, not from memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::compare_readers::count;
use crate::error::Result;
use crate::report::when_and_where;
use crate::row::BATCH_SIZE;
use crate::scan::{Data, GENERATED};
use crate::{marquetry_side, parquet_side};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    data: Data,
    /// Print JSON: a list of {name, ours, peer, difference}, in bytes
    #[arg(long)]
    json: bool,
    /// Run only the rows whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
}

/// Scans a file, and prints the peak of the process: what `memory` starts for each row and side.
#[derive(Args)]
pub(crate) struct Scan {
    /// Who reads
    side: Side,
    file: PathBuf,
}

/// Whose reader.
#[derive(Clone, Copy, ValueEnum)]
enum Side {
    Ours,
    Peer,
}

/// Peaks in bytes.
#[derive(Serialize)]
struct Peaks {
    name: &'static str,
    ours: u64,
    peer: u64,
    /// By how much ours exceeds the peer's.
    difference: i64,
}

/// Ours may exceed the peer's by this much.
const ALLOWED_MORE: i64 = 64 << 20;

/// Measures, and prints a row for each file.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut all = Vec::new();
    for file in GENERATED.iter().filter(|file| file.name.contains(&options.filter)) {
        let path = file.path(&options.data)?;
        let (ours, peer) = (peak_of(Side::Ours, &path)?, peak_of(Side::Peer, &path)?);
        all.push(Peaks { name: file.name, ours, peer, difference: ours.cast_signed() - peer.cast_signed() });
    }
    if all.is_empty() {
        return Err(format!("no row's name contains {:?}", options.filter).into());
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{}. The peer is {}.\n", when_and_where(), parquet_side::NAME);
    println!("| scan | ours, MB | peer, MB | difference | at most 64 MiB more |\n|---|--:|--:|--:|---|");
    for peaks in all {
        let [ours, peer] = [peaks.ours, peaks.peer].map(|bytes| bytes as f64 / 1e6);
        let within = if peaks.difference <= ALLOWED_MORE { "yes" } else { "no" };
        println!("| `{}` | {ours:.0} | {peer:.0} | {:+.0} | {within} |", peaks.name, ours - peer);
    }
    Ok(())
}

/// The peak of a process that scans the file.
fn peak_of(side: Side, path: &Path) -> Result<u64> {
    let side = side.to_possible_value().ok_or("a side has a name")?;
    let output =
        Command::new(std::env::current_exe()?).args(["memory-of", side.get_name()]).arg(path).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}, {}: {}", path.display(), side.get_name(), said.trim_end()).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().parse()?)
}

/// Runs in the child process.
pub(crate) fn scan(options: &Scan) -> Result<()> {
    let file = File::open(&options.file)?;
    match options.side {
        Side::Ours => count(marquetry_side::open(file, None, BATCH_SIZE, 1)?, RecordBatch::num_rows)?,
        Side::Peer => count(parquet_side::open(file, None, BATCH_SIZE)?, RecordBatch60::num_rows)?,
    };
    println!(
        "{}",
        peak(&fs::read_to_string("/proc/self/status")?).ok_or("the kernel does not tell the peak")?
    );
    Ok(())
}

/// The peak of resident bytes, from the status that Linux reports of a process.
fn peak(status: &str) -> Option<u64> {
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?;
    Some(kilobytes.trim_end().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_found() {
        assert_eq!(peak("VmPeak:\t    9000 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1000 kB\n"), Some(2 << 20));
        assert_eq!(peak("VmPeak:\t    9000 kB\n"), None);
    }
}
