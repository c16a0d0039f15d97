//! Small files of the corpus with every byte flipped in turn, and cut off at every length: an error or rows, in bounded
//! time and memory, never a panic.
//!
//! `MARQUETRY_SLOW` makes it all bytes of all files, and single bits too; otherwise a part, always the same.

mod corpus;

use bytes::Bytes;
use peak_alloc::PeakAlloc;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test: the allocator counts for all threads.
#[test]
fn damage() {
    let Some(root) = corpus::root() else { return };
    let slow = std::env::var_os("MARQUETRY_SLOW").is_some();
    let files = small_files(&root, if slow { usize::MAX } else { FILES });
    assert!(files.len() >= FILES);
    let (mut outcomes, mut wrong) = ([0usize; 2], Vec::new());
    for path in &files {
        let good = corpus::bytes(&root, path);
        let step = if slow { 1 } else { good.len().div_ceil(FLIPS) };
        let masks: &[u8] = if slow { &[0xff, 0x80, 0x40, 0x10, 0x02, 0x01] } else { &[0xff] };
        let flips = (0..good.len()).step_by(step).flat_map(|at| masks.iter().map(move |mask| (at, mask)));
        let flips = flips.map(|(at, mask)| (flipped(&good, at, *mask), "flipped", at));
        let cuts = (0..good.len()).step_by(if slow { 1 } else { 7 * step });
        let cuts = cuts.map(|len| (good.slice(..len), "cut", len));
        for (bytes, what, at) in flips.chain(cuts) {
            match judge(bytes) {
                Ok(read) => outcomes[usize::from(read)] += 1,
                Err(words) => wrong.push(format!("{path}: {what} at {at}: {words}")),
            }
        }
    }
    println!("{} files, {} errors, {} read", files.len(), outcomes[0], outcomes[1]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const FILES: usize = 60;
const FLIPS: usize = 2000;

/// Files below 8 KiB, spread evenly over the corpus.
fn small_files(root: &Path, count: usize) -> Vec<String> {
    let mut files = corpus::files(root, "parquet-testing");
    files.extend(
        corpus::expectations(root).into_iter().filter(|line| line.expect == "read").map(|line| line.path),
    );
    files.retain(|path| {
        let len = root.join(path).metadata().unwrap().len();
        (13..8192).contains(&len)
            && path.contains(".par")
            && !path.ends_with("large_string_map.brotli.parquet")
    });
    files.sort();
    files.dedup();
    let step = (files.len() / count).max(1);
    files.into_iter().step_by(step).collect()
}

fn flipped(good: &Bytes, at: usize, mask: u8) -> Bytes {
    let mut bytes = good.to_vec();
    bytes[at] ^= mask;
    bytes.into()
}

/// Whether it was read, or what is wrong with the way it was read.
fn judge(bytes: Bytes) -> Result<bool, String> {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(bytes)));
    let (time, memory) = (start.elapsed(), MEMORY.peak_usage() - before);
    match outcome {
        Err(_) => Err("a panic".to_owned()),
        Ok(_) if time > TIME => Err(format!("{time:?}")),
        Ok(_) if memory > MEMORY_BOUND => Err(format!("{memory} bytes of memory")),
        Ok(read) => Ok(read),
    }
}

/// Far above what a good file takes.
const TIME: Duration = Duration::from_secs(5);
const MEMORY_BOUND: usize = 64 << 20;

/// Reads everything, without checksums: they would hide what is behind them.
fn read(bytes: Bytes) -> bool {
    let Ok(file) = marquetry::open_bytes(bytes) else { return false };
    let Ok(mut reader) = file.verify_checksums(false).batches() else { return false };
    // Damaged footers may promise any number of rows of nothing.
    for _ in 0..BATCHES {
        match reader.next_batch() {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(_)) => {}
        }
    }
    true
}

const BATCHES: usize = 1000;
