//! Small files of the corpus with every byte flipped in turn, and cut off at every length: an error or rows, in bounded
//! time and memory, never a panic. In all ways to read: as it is, salvaged in each mode, verified at each level, recovered.
//!
//! `MARQUETRY_SLOW` makes it all bytes of all files, which takes half an hour; `MARQUETRY_SLOW=bits` single bits too, which takes
//! two; otherwise a part, always the same. `MARQUETRY_PART=0/4` is one of four processes that share the files.

mod corpus;

use bytes::Bytes;
use marquetry::arrow::arrow_reader::OnCorrupt;
use marquetry_recover::{RecoverOptions, recover};
use marquetry_verify::{Level, VerifyOptions, verify};
use peak_alloc::PeakAlloc;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test: the allocator counts for all threads.
#[test]
fn damage() {
    let Some(root) = corpus::root() else { return };
    let slow = std::env::var("MARQUETRY_SLOW").ok();
    let (slow, bits) = (slow.is_some(), slow.is_some_and(|slow| slow == "bits"));
    let files = small_files(&root, if slow { usize::MAX } else { FILES });
    assert!(files.len() >= FILES);
    let (part, parts) = part();
    let (mut outcomes, mut wrong) = ([0usize; 2], Vec::new());
    for (done, path) in files.iter().skip(part).step_by(parts).enumerate() {
        if done % 50 == 0 {
            println!("{done} files, {} wrong", wrong.len());
        }
        let good = corpus::bytes(&root, path);
        let step = if slow { 1 } else { good.len().div_ceil(FLIPS) };
        let masks: &[u8] = if bits { &[0xff, 0x80, 0x40, 0x10, 0x02, 0x01] } else { &[0xff] };
        let flips = (0..good.len()).step_by(step).flat_map(|at| masks.iter().map(move |mask| (at, mask)));
        let flips = flips.map(|(at, mask)| (flipped(&good, at, *mask), "flipped", at));
        let cuts = (0..good.len()).step_by(if slow { 1 } else { 7 * step });
        let cuts = cuts.map(|len| (good.slice(..len), "cut", len));
        for (i, (bytes, what, at)) in flips.chain(cuts).enumerate() {
            // Plain reading is the fastest. The other ways take turns.
            let other = &WAYS[1 + i % (WAYS.len() - 1)];
            let ways = if slow { WAYS } else { &[WAYS[0], *other] };
            for (way, read) in if slow || i % 4 == 0 { ways } else { &ways[..1] } {
                match judge(bytes.clone(), *read) {
                    Ok(read) => outcomes[usize::from(read)] += 1,
                    Err(words) => wrong.push(format!("{path}: {what} at {at}, {way}: {words}")),
                }
            }
        }
    }
    println!("{} files, {} without anything, {} read", files.len(), outcomes[0], outcomes[1]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns which of how many processes this is.
fn part() -> (usize, usize) {
    let Ok(part) = std::env::var("MARQUETRY_PART") else { return (0, 1) };
    let (part, parts) = part.split_once('/').expect("MARQUETRY_PART is like 0/4");
    (part.parse().unwrap(), parts.parse().unwrap())
}

const FILES: usize = 60;
const FLIPS: usize = 1000;

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

/// Returns whether the file was read, or what is wrong with the way it was read.
fn judge(bytes: Bytes, read: fn(Bytes) -> bool) -> Result<bool, String> {
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

/// A name, and a function that reads a file and returns whether anything was there.
type Way = (&'static str, fn(Bytes) -> bool);

/// The ways to read a file, which say whether anything was there.
const WAYS: &[Way] = &[
    ("read", |bytes| read(bytes, OnCorrupt::Fail)),
    ("skip-page", |bytes| read(bytes, OnCorrupt::SkipPage)),
    ("null-page", |bytes| read(bytes, OnCorrupt::NullPage)),
    ("skip-row-group", |bytes| read(bytes, OnCorrupt::SkipRowGroup)),
    ("verify --quick", |bytes| checked(bytes, Level::Quick)),
    ("verify", |bytes| checked(bytes, Level::Default)),
    ("verify --deep", |bytes| checked(bytes, Level::Deep)),
    ("recover", |bytes| recovered(bytes, false)),
    ("recover --partial", |bytes| recovered(bytes, true)),
];

/// Whether nothing is wrong with it.
fn checked(bytes: Bytes, level: Level) -> bool {
    let options = VerifyOptions::default().with_level(level).with_threads(1);
    verify(Arc::new(bytes), &options).unwrap().worst().is_none()
}

/// A recovered file has the rows that the report states.
fn recovered(bytes: Bytes, partial: bool) -> bool {
    let options = RecoverOptions::default().with_partial(partial);
    let Ok(recovery) = recover(Arc::new(bytes), &options) else { return false };
    let rows = recovery.report().rows();
    if recovery.report().row_groups.is_empty() {
        return false;
    }
    let Ok(file) = recovery.write(Vec::new(), None) else { return false };
    assert_eq!(marquetry::open_bytes(file).unwrap().metadata().num_rows(), rows);
    true
}

/// Reads everything without verifying checksums, because they would stop it before other damage.
fn read(bytes: Bytes, on_corrupt: OnCorrupt) -> bool {
    let Ok(file) = marquetry::open_bytes(bytes) else { return false };
    let Ok(mut reader) = file.verify_checksums(false).on_corrupt(on_corrupt).batches() else { return false };
    // Damaged footers may promise any number of rows without data.
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
