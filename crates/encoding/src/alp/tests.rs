//! Quirks and edges; the laws that hold for every encoding are in `tests/laws`.

use super::{Decoder, decode, encode};
use crate::shape::PhysicalType;
use crate::traits::EncodedPage;
use crate::values::Values;
use marquetry_base::{MemoryBudget, PaddedBytes};

/// A page of two vectors of FLOATs: 8 values of 0 bits each, then 2 of 4 bits with an exception.
const PAGE: [u8; 41] = [
    0, 0, // mode, integer encoding
    3, // 2^3 values in a vector
    10, 0, 0, 0, // 10 values
    8, 0, 0, 0, // offset of vector 0
    17, 0, 0, 0, // offset of vector 1
    1, 0, // exponent, factor
    0, 0, // no exceptions
    15, 0, 0, 0, // least integer
    0, // bits of an integer
    2, 1, // exponent, factor
    1, 0, // 1 exception
    0xff, 0xff, 0xff, 0xff, // least integer: -1
    4,    // bits of an integer
    0x51, // 1 5
    0, 0, // exception at position 0
    0, 0, 0x80, 0xff, // -infinity
    0xee, // belongs to no vector
];

fn floats(values: &[f32]) -> Values {
    Values::W32(values.iter().map(|value| value.to_bits()).collect())
}

#[test]
fn vectors_of_any_size_are_read() {
    let mut expected = [1.5; 10];
    // Two multiplications, each rounded, do not give the float that is nearest to 0.4.
    (expected[8], expected[9]) = (f32::NEG_INFINITY, 4.0 * 10.0 * 0.01);
    assert_eq!(decode(&PAGE, PhysicalType::Float, 10).unwrap(), floats(&expected));
    assert!(decode(&PAGE, PhysicalType::Float, 11).is_err());
}

#[test]
fn what_the_format_forbids_is_refused() {
    for (at, value) in [
        (0, 1),    // mode
        (1, 1),    // integer encoding
        (2, 2),    // vectors too small
        (2, 16),   // vectors too large
        (3, 17),   // a third vector, but no offset for it
        (6, 0x80), // a negative number of values
        (7, 9),    // first vector not behind the offsets
        (11, 7),   // second vector before the first
        (11, 35),  // second vector behind the end
        (15, 11),  // exponent
        (16, 2),   // factor over exponent
        (17, 1),   // exceptions behind the end of the vector
        (23, 33),  // width
        (32, 20),  // integers behind the end of the page
        (34, 2),   // exception behind the last value
    ] {
        let mut page = PAGE;
        page[at] = value;
        assert!(decode(&page, PhysicalType::Float, 10).is_err(), "byte {at} is {value}");
    }
    let page = EncodedPage {
        bytes: PaddedBytes::copy_of(&PAGE),
        max_values: 9,
        physical: PhysicalType::Float,
        dictionary: None,
        memory: MemoryBudget::default(),
    };
    assert!(Decoder::new(&page).is_err());
}

#[test]
fn no_values() {
    let bytes = encode(&floats(&[])).unwrap();
    assert_eq!(bytes, [0, 0, 10, 0, 0, 0, 0]);
    assert_eq!(decode(&bytes, PhysicalType::Float, 0).unwrap(), floats(&[]));
    assert_eq!(decode(&[], PhysicalType::Float, 0).unwrap(), floats(&[]));
    assert!(decode(&[], PhysicalType::Float, 1).is_err());
}

#[test]
fn every_bit_comes_back() {
    let ends = [f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NEG_INFINITY];
    let integers = [-(1i64 << 53), (1 << 51) - 1, 1 << 51, i64::MAX, i64::MIN].map(|i| i as f64);
    let mut bits: Vec<u64> =
        ends.into_iter().chain(integers).chain([0.0, -0.0, 1e18, 0.1]).map(f64::to_bits).collect();
    bits.extend([0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0001, u64::MAX]);
    for values in [bits.clone(), bits.iter().map(|bits| vec![*bits; 3]).collect::<Vec<_>>().concat()] {
        let n = values.len();
        let values = Values::W64(values);
        assert_eq!(decode(&encode(&values).unwrap(), PhysicalType::Double, n).unwrap(), values);
    }
    for bits in bits {
        let value = Values::W64(vec![bits; 9]);
        assert_eq!(decode(&encode(&value).unwrap(), PhysicalType::Double, 9).unwrap(), value);
    }
}

#[test]
fn decimals_shrink() {
    let prices: Vec<u64> =
        (0..5000u64).map(|i| (i * 7919 % 100_000) as f64 / 100.0).map(f64::to_bits).collect();
    let bytes = encode(&Values::W64(prices.clone())).unwrap();
    assert!(bytes.len() < 5000 * 18 / 8, "{} bytes", bytes.len());
    assert_eq!(decode(&bytes, PhysicalType::Double, 5000).unwrap(), Values::W64(prices));
}
