//! Bloom filters: what was inserted is found, what was not is rarely found, and the bytes are those of BloomFilter.md.

use crate::bounds::{column, plain};
use crate::files;
use marquetry_base::ErrorKind;
use marquetry_core::statistics::BloomFilter;
use marquetry_encoding::Values;
use proptest::prelude::*;

/// The share of values that are found, of many that were not inserted.
fn share_found(filter: &BloomFilter) -> f64 {
    let found = (1u64 << 40..).take(100_000).filter(|value| filter.might_contain(&value.to_le_bytes()));
    found.count() as f64 / 100_000.0
}

fn filled(mut filter: BloomFilter, ndv: u64) -> BloomFilter {
    filter.insert(&Values::W64((0..ndv).collect()), 0..ndv as usize);
    filter
}

#[test]
fn values_that_were_not_inserted_are_found_as_often_as_asked_for() {
    for (ndv, fpp) in [(1, 0.1), (50, 0.01), (1_000, 0.1), (20_000, 0.01), (26_214, 0.0126), (30_000, 0.001)]
    {
        let found = share_found(&filled(BloomFilter::new(ndv, fpp), ndv));
        assert!(found <= 2.0 * fpp, "{ndv} {fpp}: {found}");
    }
}

#[test]
fn the_example_sizes_of_bloom_filter_md() {
    // "A filter that uses 1024 blocks and has had 26,214 hash values inserted": around 1.26 %; with half as many 0.04 %,
    // with twice as many 18 %.
    for (ndv, fpp) in [(26_214, 0.0126), (13_107, 0.0004), (52_428, 0.18)] {
        assert_eq!(BloomFilter::new(ndv, fpp * 1.05).num_bytes(), 1024 * 32, "{ndv}");
        assert_eq!(BloomFilter::new(ndv, fpp * 0.90).num_bytes(), 2048 * 32, "{ndv}");
    }
    // Bits of space per insert.
    for (bits, fpp) in [(6.0, 0.1), (10.5, 0.01), (16.9, 0.001), (26.4, 0.0001), (41.0, 0.00001)] {
        let ndv = ((1u64 << 23) as f64 / bits) as u64;
        assert_eq!(BloomFilter::new(ndv, fpp * 1.1).num_bytes(), 1 << 20, "{bits}");
        assert_eq!(BloomFilter::new(ndv, fpp * 0.9).num_bytes(), 2 << 20, "{bits}");
    }
}

#[test]
fn sizes_are_32_bytes_to_128_mib() {
    assert_eq!(BloomFilter::new(0, 0.01).num_bytes(), 32);
    assert_eq!(BloomFilter::new(1_000, 1.0).num_bytes(), 32);
    assert_eq!(BloomFilter::new(u64::MAX, 0.01).num_bytes(), 128 << 20);
    assert_eq!(BloomFilter::new(1_000, 0.0).num_bytes(), 128 << 20);
    assert_eq!(BloomFilter::new(1_000, f64::NAN).num_bytes(), 128 << 20);
}

#[test]
fn a_shrunk_filter_is_what_it_were_if_made_so_small() {
    let mut filter = filled(BloomFilter::new(1_000_000, 0.01), 1_000);
    filter.shrink(0.01);
    let small = filled(BloomFilter::new(1_000, 0.01), 1_000);
    assert_eq!(filter, small);
    let mut empty = BloomFilter::new(1_000_000, 0.01);
    empty.shrink(0.01);
    assert_eq!(empty.num_bytes(), 32);
}

#[test]
fn blocks_and_bits_are_chosen_by_the_halves_of_the_hash() {
    let mut filter = BloomFilter::new(40, 0.01);
    assert_eq!(filter.num_bytes(), 64);
    filter.insert_hash(0x8000_0000_0000_0001);
    let mut expected = vec![
        0x15, 0x80, 0x01, // numBytes = 64
        0x1c, 0x1c, 0x00, 0x00, // algorithm = BLOCK
        0x1c, 0x1c, 0x00, 0x00, // hash = XXHASH
        0x1c, 0x1c, 0x00, 0x00, // compression = UNCOMPRESSED
        0x00,
    ];
    expected.extend([0; 32]); // block 0: the upper half of the hash chooses block 1
    let bits = [
        0x47b6137bu32 >> 27, // the salt times the lower half, 1
        0x44974d91 >> 27,
        0x8824ad5b >> 27,
        0xa2b7289d >> 27,
        0x705495c7 >> 27,
        0x2df1424b >> 27,
        0x9efc4947 >> 27,
        0x5c6bfb31 >> 27,
    ];
    bits.iter().for_each(|bit| expected.extend((1u32 << bit).to_le_bytes()));
    let mut bytes = vec![];
    filter.write(&mut bytes);
    assert_eq!(bytes, expected);
    assert_eq!(BloomFilter::read(&bytes).unwrap(), filter);
}

#[test]
fn the_hash_is_xxhash64_of_seed_0() {
    assert_eq!(BloomFilter::hash(b""), 0xef46_db37_51d8_e999);
    assert_eq!(BloomFilter::hash(b"abc"), 0x44bc_2cf5_ad77_0999);
}

#[test]
fn what_is_damaged_or_of_another_kind_is_refused() {
    let mut bytes = vec![];
    BloomFilter::new(100, 0.01).write(&mut bytes);
    for n in 0..bytes.len() {
        assert!(BloomFilter::read(&bytes[..n]).is_err(), "{n}");
    }
    let header = |num_bytes: &[u8], algorithm: u8| {
        let mut bytes = vec![0x15];
        bytes.extend(num_bytes);
        bytes.extend([0x1c, algorithm, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x1c, 0x1c, 0x00, 0x00, 0x00]);
        bytes.extend([0; 64]);
        BloomFilter::read(&bytes).map_err(|error| error.kind())
    };
    assert!(header(&[0x40], 0x1c).is_ok()); // 32
    assert_eq!(header(&[0x40], 0x2c), Err(ErrorKind::Unsupported));
    assert_eq!(header(&[0x00], 0x1c), Err(ErrorKind::Corrupt)); // 0
    assert_eq!(header(&[0x3f], 0x1c), Err(ErrorKind::Corrupt)); // -32
    assert_eq!(header(&[0x42], 0x1c), Err(ErrorKind::Corrupt)); // 33
    assert_eq!(header(&[0x80, 0x04], 0x1c), Err(ErrorKind::Truncated)); // 256
    assert_eq!(header(&[0xc0, 0x80, 0x80, 0x80, 0x01], 0x1c), Err(ErrorKind::Limit)); // 128 MiB + 32
}

/// Written by parquet-mr, with four strings.
#[test]
fn the_filter_of_parquet_testing() {
    let Some(root) = files::root() else { return };
    let bytes = std::fs::read(root.join("bloom_filter.xxhash.bin")).unwrap();
    let filter = BloomFilter::read(&bytes).unwrap();
    let strings = ["hello", "parquet", "bloom", "filter"];
    assert!(strings.iter().all(|string| filter.might_contain(string.as_bytes())));
    assert!(!["world", "", "Hello"].iter().any(|string| filter.might_contain(string.as_bytes())));
    let mut rewritten = vec![];
    filter.write(&mut rewritten);
    assert_eq!(rewritten, bytes);
    // The same strings in a filter of that size.
    let mut ours = BloomFilter::read(
        &[&bytes[..bytes.len() - filter.num_bytes()], &vec![0; filter.num_bytes()]].concat(),
    )
    .unwrap();
    strings.iter().for_each(|string| ours.insert_hash(BloomFilter::hash(string.as_bytes())));
    assert_eq!(ours, filter);
}

proptest! {
    #[test]
    fn all_that_was_inserted_is_found((_, values) in column(), ndv in 0u64..100) {
        let mut filter = BloomFilter::new(ndv, 0.01);
        filter.insert(&values, 0..values.len());
        filter.shrink(0.1);
        let mut bytes = vec![];
        filter.write(&mut bytes);
        let filter = BloomFilter::read(&bytes).unwrap();
        for value in plain(&values) {
            prop_assert!(filter.might_contain(&value));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = BloomFilter::read(&bytes);
    }
}
