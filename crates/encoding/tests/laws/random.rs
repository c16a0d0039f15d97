//! Round trips of random values; those that fail are shrunk to the smallest.

use crate::data::{PHYSICAL, values};
use crate::pages::{Page, part};
use marquetry_encoding::registry::ENCODINGS;
use marquetry_encoding::{PhysicalType, StringViews, Values};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_words_come_back(words in words(), physical in prop::sample::select(&PHYSICAL[..]), cut in any::<prop::sample::Index>()) {
        round_trip(physical, &values(physical, &words), cut)?;
    }

    #[test]
    fn random_strings_come_back(strings in strings(), cut in any::<prop::sample::Index>()) {
        round_trip(PhysicalType::ByteArray, &Values::Bytes(StringViews::from_iter(strings)), cut)?;
    }

    #[test]
    fn random_decimals_come_back(digits in prop::collection::vec(-9_999_999i64..9_999_999, 0..1_500), places in 0..12, cut in any::<prop::sample::Index>()) {
        let doubles = || digits.iter().map(|&digits| digits as f64 / 10f64.powi(places));
        round_trip(PhysicalType::Double, &Values::W64(doubles().map(f64::to_bits).collect()), cut)?;
        round_trip(PhysicalType::Float, &Values::W32(doubles().map(|value| (value as f32).to_bits()).collect()), cut)?;
    }
}

/// Encodes with every row that is legal, and decodes in two parts.
fn round_trip(
    physical: PhysicalType,
    values: &Values,
    cut: prop::sample::Index,
) -> Result<(), TestCaseError> {
    let n = values.len();
    let cut = cut.index(n + 1);
    for row in ENCODINGS.iter().filter(|row| (row.supports)(physical)) {
        let page = Page::write(row, physical, values);
        let mut decoder = page.open().unwrap();
        let mut out = page.next(&mut *decoder, cut).unwrap();
        decoder.decode(n - cut, &mut out).unwrap();
        prop_assert_eq!(&out, values, "{} of {}", row.name, physical);
        let mut decoder = page.open().unwrap();
        decoder.skip(cut).unwrap();
        let rest = page.next(&mut *decoder, n - cut).unwrap();
        prop_assert_eq!(rest, part(values, cut..n), "{} of {} after {}", row.name, physical, cut);
    }
    Ok(())
}

/// Stretches of words that are random, in a small range, equal, or ascending.
fn words() -> impl Strategy<Value = Vec<u64>> {
    let stretch = prop_oneof![
        prop::collection::vec(any::<u64>(), 0..80),
        prop::collection::vec(0u64..20, 0..200),
        (any::<u64>(), 0usize..400).prop_map(|(word, n)| vec![word; n]),
        (any::<u64>(), 0u64..1_000, 0usize..200)
            .prop_map(|(first, step, n)| (0..n as u64).map(|i| first.wrapping_add(i * step)).collect()),
        prop::collection::vec(
            prop::sample::select(&[0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 31, (1 << 31) - 1][..]),
            0..40
        ),
    ];
    prop::collection::vec(stretch, 0..8).prop_map(|stretches| stretches.concat())
}

/// Strings of any length, some of which share a prefix with the previous one.
fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let string = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..14),
        2 => prop::collection::vec(any::<u8>(), 0..80),
        1 => Just(vec![]),
    ];
    let kept = prop_oneof![2 => Just(0usize), 3 => 0usize..60, 1 => Just(usize::MAX)];
    prop::collection::vec((kept, string), 0..300).prop_map(|edits| {
        let mut before: Vec<u8> = Vec::new();
        let edit = |(kept, string): (usize, Vec<u8>)| {
            // Keeps strings from becoming longer and longer.
            before.truncate(kept.min(200));
            before.extend(string);
            before.clone()
        };
        edits.into_iter().map(edit).collect()
    })
}
