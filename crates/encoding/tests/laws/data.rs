//! Physical types, and named sets of values for each of them.

use marquetry_encoding::registry::{ENCODINGS, EncodingEntry};
use marquetry_encoding::{FixedLenBytes, PhysicalType, StringViews, Values};
use std::fmt;

/// One row of the registry with values to encode.
pub(crate) struct Case {
    pub(crate) row: &'static EncodingEntry,
    pub(crate) physical: PhysicalType,
    pub(crate) set: &'static str,
    pub(crate) values: Values,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, n) = (self.row.name, self.values.len());
        write!(f, "{name} of {} {} values of {}", n, self.set, self.physical)
    }
}

/// All physical types, with fixed widths for which there are kernels of their own, and others.
pub(crate) const PHYSICAL: [PhysicalType; 13] = [
    PhysicalType::Boolean,
    PhysicalType::Int32,
    PhysicalType::Int64,
    PhysicalType::Int96,
    PhysicalType::Float,
    PhysicalType::Double,
    PhysicalType::ByteArray,
    PhysicalType::FixedLenByteArray(0),
    PhysicalType::FixedLenByteArray(1),
    PhysicalType::FixedLenByteArray(2),
    PhysicalType::FixedLenByteArray(5),
    PhysicalType::FixedLenByteArray(12),
    PhysicalType::FixedLenByteArray(16),
];

/// Every row of the registry with every type that it is legal for and every set of about `n` values.
pub(crate) fn cases(n: usize) -> impl Iterator<Item = Case> {
    PHYSICAL.into_iter().flat_map(move |physical| {
        let rows = ENCODINGS.iter().filter(move |row| (row.supports)(physical));
        rows.flat_map(move |row| {
            sets(physical, n).into_iter().map(move |(set, values)| Case { row, physical, set, values })
        })
    })
}

/// Sets of values of a type, with their names.
pub(crate) fn sets(physical: PhysicalType, n: usize) -> Vec<(&'static str, Values)> {
    let mut sets: Vec<_> =
        words(n).into_iter().map(|(name, words)| (name, values(physical, &words))).collect();
    match physical {
        PhysicalType::ByteArray => sets.extend(strings(n)),
        PhysicalType::Float => {
            sets.push(("decimal", Values::W32(decimals(n).map(|v| (v as f32).to_bits()).collect())));
        }
        PhysicalType::Double => sets.push(("decimal", Values::W64(decimals(n).map(f64::to_bits).collect()))),
        _ => {}
    }
    sets
}

/// A value of the type for each word. Similar words give similar values.
pub(crate) fn values(physical: PhysicalType, words: &[u64]) -> Values {
    match physical {
        PhysicalType::Boolean => Values::Bit(words.iter().map(|word| word & 1 == 1).collect()),
        PhysicalType::Int32 | PhysicalType::Float => {
            Values::W32(words.iter().map(|&word| word as u32).collect())
        }
        PhysicalType::Int64 | PhysicalType::Double => Values::W64(words.to_vec()),
        PhysicalType::Int96 => fixed(12, words),
        PhysicalType::FixedLenByteArray(width) => fixed(width, words),
        PhysicalType::ByteArray => Values::Bytes(words.iter().map(|&word| string(word)).collect()),
    }
}

/// Values that end with the big-endian word, so that small words share a long prefix.
fn fixed(width: usize, words: &[u64]) -> Values {
    let mut values = FixedLenBytes::new(width);
    for word in words {
        let mut bytes = [0; 24];
        bytes[16..].copy_from_slice(&word.to_be_bytes());
        values.push(&bytes[24 - width..]);
    }
    Values::Fixed(values)
}

/// 0 to 30 bytes, whose length and content depend on the word.
fn string(word: u64) -> Vec<u8> {
    let bytes = word.to_be_bytes();
    bytes.iter().copied().cycle().take((word % 31) as usize).collect()
}

fn words(n: usize) -> Vec<(&'static str, Vec<u64>)> {
    let indices = || 0..n as u64;
    let (low, high) = (i64::MIN as u64, i64::MAX as u64);
    let ends = [0, u64::MAX, low, high, 1 << 31, (1 << 31) - 1, 1, 0x7ff0_0000_0000_0001, 0xffc0_0001];
    vec![
        ("no", vec![]),
        ("single", vec![42]),
        ("nine", (0..9).collect()),
        ("equal", indices().map(|_| 5).collect()),
        ("running", indices().map(|i| if i % 200 < 150 { i / 200 } else { mix(i) % 4 }).collect()),
        ("small", indices().map(|i| mix(i) % 100).collect()),
        ("ascending", indices().map(|i| 1_000_000 + i * 3 + mix(i) % 3).collect()),
        ("descending", indices().map(|i| (500 - i as i64 * 1_000) as u64).collect()),
        ("random", indices().map(mix).collect()),
        ("extreme", indices().map(|i| ends[mix(i) as usize % ends.len()]).collect()),
    ]
}

fn strings(n: usize) -> Vec<(&'static str, Values)> {
    let bytes = |string: fn(usize) -> String| Values::Bytes(StringViews::from_iter((0..n).map(string)));
    vec![
        ("empty", bytes(|_| String::new())),
        ("inline", bytes(|i| "abcdefghijkl"[..mix(i as u64) as usize % 13].to_string())),
        ("long", bytes(|i| format!("{:0>90}", mix(i as u64)))),
        ("long running", bytes(|i| format!("{:0>40}", mix(i as u64 / 60)))),
        ("path-like", bytes(|i| format!("/home/{}/{}/{}", i / 70, i / 7, i))),
        ("nested", bytes(|i| "x".repeat(i % 40))),
    ]
}

fn decimals(n: usize) -> impl Iterator<Item = f64> {
    (0..n as u64).map(|i| match i % 50 {
        7 => f64::NAN,
        8 => f64::NEG_INFINITY,
        9 => -0.0,
        _ => (mix(i) % 200_000) as f64 / 100.0 - 1_000.0,
    })
}

/// A number that looks random and is always the same for `i` (the finisher of splitmix64).
pub(crate) fn mix(i: u64) -> u64 {
    let mut word = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
