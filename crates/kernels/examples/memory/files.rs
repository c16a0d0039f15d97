//! A file that is in the page cache: mapped, and read.

use crate::region::{KIB, MIB, Region, Times, faults};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// How a file is read.
#[derive(Clone, Copy)]
enum Way {
    /// Mapped and unmapped in each round.
    NewMap,
    /// Mapped in each round, with all pages entered while it is mapped.
    PopulatedMap,
    /// Mapped once, and touched before the measurement.
    OldMap,
    /// Positioned reads, each into a new vector.
    NewVec,
    /// Positioned reads, all into one buffer.
    OneBuffer,
}

const WAYS: [(Way, &str); 5] = [
    (Way::NewMap, "new map"),
    (Way::PopulatedMap, "new map, MAP_POPULATE"),
    (Way::OldMap, "map touched before"),
    (Way::NewVec, "pread, new Vec"),
    (Way::OneBuffer, "pread, one buffer"),
];

pub(crate) fn all(file: &File) -> io::Result<()> {
    let len = file.metadata()?.len() as usize;
    let old = Region::of_file(file, len, false)?;
    let expected = sum(old.bytes());
    println!("A file of {:.1} MB, in the page cache. Every byte is summed.\n", len as f64 / 1e6);
    println!("| chunks | order | way | GB/s, best | median | faults |\n|---|---|---|--:|--:|--:|");
    for (size, name) in [(64 * KIB, "64 KiB"), (MIB, "1 MiB"), (8 * MIB, "8 MiB")] {
        for random in [false, true] {
            let order = chunks(len, size, random);
            let mut times = WAYS.map(|_| (Times::default(), 0));
            for _ in 0..5 {
                for ((way, _), (times, faults_of_one)) in WAYS.iter().zip(&mut times) {
                    let (start, before) = (Instant::now(), faults());
                    assert_eq!(sum_of_file(*way, file, &old, &order)?, expected);
                    times.0.push(start.elapsed().as_secs_f64());
                    *faults_of_one = faults() - before;
                }
            }
            let order = if random { "random" } else { "ascending" };
            for ((_, way), (times, faults)) in WAYS.iter().zip(&times) {
                println!("| {name} | {order} | {way} | {} | {faults} |", times.speeds(len));
            }
        }
    }
    Ok(())
}

/// Offset and length of each chunk.
fn chunks(len: usize, size: usize, random: bool) -> Vec<(usize, usize)> {
    let mut chunks: Vec<_> = (0..len).step_by(size).map(|from| (from, size.min(len - from))).collect();
    if random {
        chunks.sort_by_key(|&(from, _)| (from as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    chunks
}

fn sum_of_file(way: Way, file: &File, old: &Region, chunks: &[(usize, usize)]) -> io::Result<u64> {
    let new;
    let mapped = match way {
        Way::OldMap => old.bytes(),
        Way::NewMap | Way::PopulatedMap => {
            new = Region::of_file(file, old.len, matches!(way, Way::PopulatedMap))?;
            new.bytes()
        }
        Way::NewVec | Way::OneBuffer => &[],
    };
    let mut buffer = Vec::new();
    let mut total = 0u64;
    for &(from, len) in chunks {
        let part = match way {
            Way::OldMap | Way::NewMap | Way::PopulatedMap => sum(&mapped[from..from + len]),
            Way::NewVec => {
                let mut bytes = vec![0; len];
                file.read_exact_at(&mut bytes, from as u64)?;
                sum(&bytes)
            }
            Way::OneBuffer => {
                buffer.resize(len.max(buffer.len()), 0);
                file.read_exact_at(&mut buffer[..len], from as u64)?;
                sum(&buffer[..len])
            }
        };
        total = total.wrapping_add(part);
    }
    Ok(total)
}

/// Adds up all words, and the remaining bytes: the same however the file is cut at word boundaries.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().fold(0, |sum: u64, &word| sum.wrapping_add(u64::from_le_bytes(word)));
    rest.iter().fold(words, |sum, &byte| sum.wrapping_add(byte.into()))
}
