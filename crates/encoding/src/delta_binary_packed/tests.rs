use super::{DeltaReader, DeltaWriter, decode, encode};
use crate::shape::PhysicalType;
use crate::values::Values;
use marquetry_base::PaddedBytes;
use proptest::prelude::*;

/// A header of one block of 128 values in 4 miniblocks.
const HEAD: [u8; 3] = [
    0x80, 0x01, // values in a block
    0x04, // miniblocks in a block
];

fn page(parts: &[&[u8]]) -> Vec<u8> {
    [&[HEAD.as_slice()], parts].concat().concat()
}

fn round_trip(values: &Values, physical: PhysicalType) {
    let bytes = encode(values).unwrap();
    assert_eq!(&decode(&bytes, physical, values.len()).unwrap(), values);
    assert!(decode(&bytes, physical, values.len() + 1).is_err());
    let bytes = PaddedBytes::copy_of(&bytes);
    assert_eq!(DeltaReader::<u64>::new(&bytes, 0).unwrap().end().unwrap(), bytes.len());
}

#[test]
fn the_ends_of_both_types_wrap_around() {
    let ends = [i32::MIN, i32::MAX, 0, i32::MAX, i32::MIN, -1, 1, i32::MIN];
    round_trip(&Values::W32(ends.map(|v| v as u32).to_vec()), PhysicalType::Int32);
    let ends = [i64::MIN, i64::MAX, 0, i64::MAX, i64::MIN, -1, 1, i64::MIN];
    round_trip(&Values::W64(ends.map(|v| v as u64).to_vec()), PhysicalType::Int64);
}

#[test]
fn any_number_of_values_around_block_and_miniblock_ends() {
    for n in [0, 1, 2, 32, 33, 34, 127, 128, 129, 130, 160, 161, 256, 257, 258, 1000] {
        let values = (0..n).map(|i: u64| i * i % 1009);
        round_trip(&Values::W64(values.clone().collect()), PhysicalType::Int64);
        round_trip(&Values::W32(values.map(|v| v as u32).collect()), PhysicalType::Int32);
        round_trip(&Values::W32(vec![7; n as usize]), PhysicalType::Int32);
    }
}

#[test]
fn no_value_and_one_value_are_a_header_alone() {
    let none = page(&[&[0x00, 0x00]]); // values, first value
    assert_eq!(encode(&Values::W32(vec![])).unwrap(), none);
    let one = page(&[&[0x01, 0x09]]);
    assert_eq!(encode(&Values::W32(vec![-5i32 as u32])).unwrap(), one);
    assert!(decode(&none, PhysicalType::Int32, 1).is_err());
    // A page that has only nulls may have no bytes.
    let page = PaddedBytes::copy_of(&[]);
    assert!(DeltaReader::<u32>::new(&page, 0).unwrap().decode(1, &mut vec![]).is_err());
    assert_eq!(DeltaReader::<u32>::new(&page, 0).unwrap().end().unwrap(), 0);
}

#[test]
fn what_is_not_needed_is_not_looked_at() {
    let bytes = page(&[
        &[0x03],                // values
        &[0x00],                // first value 0
        &[0x02],                // least delta 1
        &[0x08, 0xff, 0x43, 8], // widths: two of them impossible
        &[0x00, 0x01],          // deltas 1, 2; not filled up
    ]);
    let values = Values::W32(vec![0, 1, 3]);
    assert_eq!(decode(&bytes, PhysicalType::Int32, 3).unwrap(), values);
    assert!(decode(&bytes[..bytes.len() - 1], PhysicalType::Int32, 3).is_err());
    let mut filled = bytes.clone();
    filled.extend([0xee; 40]); // 30 bytes of filling, and what follows
    let filled = PaddedBytes::copy_of(&filled);
    assert_eq!(DeltaReader::<u32>::new(&filled, 0).unwrap().end().unwrap(), bytes.len() + 30);
}

#[test]
fn int32_may_come_in_more_than_32_bits() {
    let mut bytes = page(&[
        &[0x02],        // values
        &[0x01],        // first value -1
        &[0x00],        // least delta 0
        &[33, 0, 0, 0], // widths
    ]);
    bytes.extend(0x1_0000_0003u64.to_le_bytes()); // delta 3, but for bit 32
    assert_eq!(decode(&bytes, PhysicalType::Int32, 2).unwrap(), Values::W32(vec![u32::MAX, 2]));
    bytes[6] = 65;
    bytes.extend([0; 9]);
    assert!(decode(&bytes, PhysicalType::Int64, 2).is_err());
}

#[test]
fn impossible_sizes_are_refused() {
    for (block, miniblocks) in [(0, 1), (128, 0), (128, 3), (128, 8), (64, 2), (100, 1), (4, 1)] {
        let bytes = [block as u8 | 0x80, (block >> 7) as u8, miniblocks, 1, 0];
        let error = decode(&bytes, PhysicalType::Int32, 1).unwrap_err();
        assert!(error.to_string().contains("delta blocks"), "{block} {miniblocks}: {error}");
    }
    let huge = [0xff; 9];
    let huge = [&huge, [1].as_slice(), &[0x80, 0x01, 0, 0]].concat();
    assert!(decode(&huge, PhysicalType::Int32, 0).is_err());
}

#[test]
fn a_count_that_is_a_lie_costs_nothing() {
    let bytes = [
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, // values in a block: 2^47
        0x01, // miniblocks in a block
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, // values: 2^46
        0x00, // first value
        0x02, // least delta 1
        0x00, // width
    ];
    assert_eq!(decode(&bytes, PhysicalType::Int64, 3).unwrap(), Values::W64(vec![0, 1, 2]));
    let deltas = DeltaReader::<u64>::new(&PaddedBytes::copy_of(&bytes), 0).unwrap();
    assert_eq!(deltas.end().unwrap(), bytes.len());
}

proptest! {
    #[test]
    fn any_split_of_reads_and_skips(
        widths in proptest::collection::vec(0u32..=64, 1..8),
        seeds in proptest::collection::vec(any::<u64>(), 1..700),
        splits in proptest::collection::vec((0usize..200, any::<bool>()), 1..20),
    ) {
        let part = |i: usize| widths[i / 50 % widths.len()];
        let values: Vec<u64> = seeds.iter().enumerate().map(|(i, s)| s.checked_shr(part(i)).unwrap_or(0)).collect();
        let mut encoder = DeltaWriter::new();
        let mut from = 0;
        for (n, _) in &splits {
            let to = (from + n).min(values.len());
            encoder.push(&values[from..to]);
            from = to;
        }
        encoder.push(&values[from..]);
        let (size, mut bytes) = (encoder.size(), Vec::new());
        encoder.finish(&mut bytes);
        prop_assert_eq!(bytes.len(), size);
        let mut deltas = DeltaReader::<u64>::new(&PaddedBytes::copy_of(&bytes), 0).unwrap();
        let mut from = 0;
        for (n, skip) in splits {
            prop_assert_eq!(deltas.end().unwrap(), bytes.len());
            let to = (from + n).min(values.len());
            if skip {
                deltas.skip(to - from).unwrap();
            } else {
                let mut out = Vec::new();
                deltas.decode(to - from, &mut out).unwrap();
                prop_assert_eq!(&out, &values[from..to]);
            }
            from = to;
        }
    }
}
