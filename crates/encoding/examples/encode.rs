//! Measures every encoder: `cargo run --profile dist -p marquetry-encoding --example encode`.
//!
//! Prints million values per second, the best of some rounds. Each round encodes a chunk in blocks of 8,192 values and
//! ends a page after every 20,480 or so, as a writer does. An argument selects the lines that contain it.

use marquetry_encoding::registry::ENCODINGS;
use marquetry_encoding::{PhysicalType, StringViews, Values};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of values in a chunk.
const CHUNK: usize = 1 << 18;
/// Number of values in a block, and of blocks in a page.
const BLOCK: usize = 8192;
const BLOCKS_IN_PAGE: usize = 3;
/// Number of rounds: short and many, because a shared machine is seldom undisturbed for long.
const ROUNDS: usize = 30;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    for (name, physical, values) in sets() {
        for row in ENCODINGS.iter().filter(|row| (row.supports)(physical) && row.code != 2) {
            // Leaves out ALP, which encodes by trial.
            let line = format!("{} {name}", row.name);
            if row.code == 10 || !line.contains(&filter) {
                continue;
            }
            let (mut best, mut bytes) = (Duration::MAX, 0);
            for _ in 0..ROUNDS {
                let start = Instant::now();
                bytes = encode(row.encoder, physical, &values);
                best = best.min(start.elapsed());
            }
            let n = values.len() as f64;
            println!("{line:44} {:8.0} M/s  {:7.3} bytes", n / best.as_secs_f64() / 1e6, bytes as f64 / n);
        }
    }
}

/// Encodes all values and returns the total size of the data pages in bytes.
fn encode(
    encoder: fn(PhysicalType) -> marquetry_base::Result<Box<dyn marquetry_encoding::Encode>>,
    physical: PhysicalType,
    values: &Values,
) -> usize {
    let mut encoder = encoder(physical).expect("legal");
    let (mut page, mut bytes) = (Vec::new(), 0);
    for (i, from) in (0..values.len()).step_by(BLOCK).enumerate() {
        let end = (from + BLOCK).min(values.len());
        encoder.encode(black_box(values), from..end).expect("of the shape");
        black_box(encoder.size());
        if i % BLOCKS_IN_PAGE == BLOCKS_IN_PAGE - 1 || end == values.len() {
            page.clear();
            encoder.finish(&mut page).expect("not too large");
            bytes += black_box(&page).len();
        }
    }
    bytes
}

fn sets() -> Vec<(&'static str, PhysicalType, Values)> {
    let all = || (0..CHUNK as u64).map(mix);
    let i32s = |of: fn(u64) -> u64| Values::W32(all().map(|word| of(word) as u32).collect());
    let i64s = |of: fn(u64) -> u64| Values::W64(all().map(of).collect());
    let strings = |of: fn(u64) -> String| {
        // As a decoder or a user has them: end to end in one buffer.
        let mut text = String::new();
        let ends: Vec<usize> = all().map(|word| (text.push_str(&of(word)), text.len()).1).collect();
        let mut views = StringViews::new();
        let buffer = views.add_buffer(&text.into_bytes().into());
        let mut start = 0;
        for end in ends {
            views.push_slice(buffer, start..end);
            start = end;
        }
        Values::Bytes(views)
    };
    let ascending = (0..CHUNK as u64).map(|i| 1_700_000_000_000 + i * 1000 + mix(i) % 900);
    let runs = (0..CHUNK as u64).map(|i| mix(i / 50) % 100);
    vec![
        ("bool random", PhysicalType::Boolean, Values::Bit(all().map(|word| word & 1 == 1).collect())),
        ("bool runs", PhysicalType::Boolean, Values::Bit((0..CHUNK).map(|i| i % 3000 < 2900).collect())),
        ("i32 of 15", PhysicalType::Int32, i32s(|word| word % 15)),
        ("i32 of 1000", PhysicalType::Int32, i32s(|word| word % 1000)),
        ("i32 random", PhysicalType::Int32, i32s(|word| word)),
        ("i64 ascending", PhysicalType::Int64, Values::W64(ascending.collect())),
        ("i64 runs of 50", PhysicalType::Int64, Values::W64(runs.collect())),
        ("i64 of 15", PhysicalType::Int64, i64s(|word| (word % 15) << 20)),
        ("i64 of 1000", PhysicalType::Int64, i64s(|word| mix(word % 1000))),
        ("i64 of 100k", PhysicalType::Int64, i64s(|word| mix(word % 100_000))),
        ("i64 unique", PhysicalType::Int64, i64s(|word| word)),
        (
            "f64 of 2 decimals",
            PhysicalType::Double,
            i64s(|word| ((word % 1_000_000) as f64 / 100.0).to_bits()),
        ),
        ("short strings of 15", PhysicalType::ByteArray, strings(|word| format!("kind {}", word % 15))),
        (
            "strings of 1000",
            PhysicalType::ByteArray,
            strings(|word| format!("some value, {}", mix(word % 1000))),
        ),
        (
            "strings of 100k",
            PhysicalType::ByteArray,
            strings(|word| format!("value {}", mix(word % 100_000))),
        ),
        ("strings unique", PhysicalType::ByteArray, strings(|word| format!("/home/{}", mix(word)))),
        ("decimals of 16 bytes", PhysicalType::FixedLenByteArray(16), decimals()),
    ]
}

fn decimals() -> Values {
    let bytes = (0..CHUNK as u64).flat_map(|i| u128::from(mix(i) % 1_000_000_000).to_be_bytes());
    Values::Fixed(marquetry_encoding::FixedLenBytes::from_bytes(16, bytes.collect()))
}

/// Returns a number that looks random and is always the same for `i`.
fn mix(i: u64) -> u64 {
    let mut word = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
