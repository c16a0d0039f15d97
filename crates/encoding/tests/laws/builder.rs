//! Laws of the dictionary builder: it gives the indices that a map gives, for any values and any split into calls.

use crate::data::{PHYSICAL, mix, values};
use crate::pages::part;
use marquetry_base::{ErrorKind, PaddedBytes};
use marquetry_encoding::dictionary::{DictionaryBuilder, IndexDecoder, encode_indices, index_width, look_up};
use marquetry_encoding::{Decode, FixedLenBytes, PhysicalType, Shape, StringViews, Values, plain};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// The bytes of each value.
fn bytes(values: &Values) -> Vec<Vec<u8>> {
    match values {
        Values::Bit(_) => vec![],
        Values::W32(words) => words.iter().map(|word| word.to_le_bytes().to_vec()).collect(),
        Values::W64(words) => words.iter().map(|word| word.to_le_bytes().to_vec()).collect(),
        Values::Fixed(fixed) => (0..fixed.len()).map(|i| fixed.get(i).to_vec()).collect(),
        Values::Bytes(views) => views.iter().map(<[u8]>::to_vec).collect(),
        Values::Offsets(strings) => strings.iter().map(<[u8]>::to_vec).collect(),
    }
}

/// The indices that a map gives.
fn expected(values: &Values) -> Vec<u32> {
    let mut map = HashMap::new();
    bytes(values)
        .into_iter()
        .map(|value| {
            let next = map.len() as u32;
            *map.entry(value).or_insert(next)
        })
        .collect()
}

/// Checks a builder against the values and the indices that it gave them.
fn check(builder: &DictionaryBuilder, values: &Values, indices: &[u32]) {
    assert!(indices == expected(values), "indices of {} values", values.len());
    let distinct = indices.iter().max().map_or(0, |max| *max as usize + 1);
    assert_eq!((builder.len(), builder.is_empty()), (distinct, distinct == 0));
    let mut out = values.shape().empty();
    look_up(builder.values(), indices, &mut out).unwrap();
    assert!(out == *values, "looked up again");
    assert_eq!(builder.page_bytes(), plain::encode(builder.values()).unwrap().len());
    assert!(builder.memory() >= builder.values().data_bytes(0..builder.len()));
    assert_eq!(builder.dictionary().values(), builder.values());
}

/// Interns the values in parts of these sizes, which repeat.
fn intern(values: &Values, sizes: &[usize]) -> (DictionaryBuilder, Vec<u32>) {
    let (mut builder, mut indices, mut from) = (DictionaryBuilder::new(values.shape()), Vec::new(), 0);
    for size in sizes.iter().cycle() {
        let size = (*size).min(values.len() - from);
        builder.intern(values, from..from + size, &mut indices).unwrap();
        from += size;
        if from == values.len() {
            break;
        }
    }
    (builder, indices)
}

/// The last `width` bytes of each number, big-endian as in decimals.
fn fixed(width: usize, numbers: impl Iterator<Item = i128>) -> Values {
    let bytes = numbers.flat_map(|number| number.to_be_bytes().into_iter().skip(16 - width)).collect();
    Values::Fixed(FixedLenBytes::from_bytes(width, bytes))
}

const WITH_DICTIONARY: [PhysicalType; 9] = [
    PhysicalType::Int32,
    PhysicalType::Double,
    PhysicalType::Int96,
    PhysicalType::ByteArray,
    PhysicalType::FixedLenByteArray(0),
    PhysicalType::FixedLenByteArray(1),
    PhysicalType::FixedLenByteArray(5),
    PhysicalType::FixedLenByteArray(16),
    PhysicalType::FixedLenByteArray(17),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interned_words_have_the_indices_of_a_map(
        words in prop::collection::vec(prop_oneof![0u64..20, 0u64..3000, any::<u64>(), Just(0), Just(1 << 63)], 0..3_000),
        physical in prop::sample::select(&WITH_DICTIONARY[..]),
        size in 1usize..500,
    ) {
        let values = values(physical, &words);
        let (builder, indices) = intern(&values, &[size, 0, 1, 64]);
        check(&builder, &values, &indices);
    }

    #[test]
    fn interned_strings_have_the_indices_of_a_map(
        strings in prop::collection::vec(prop_oneof![
            prop::collection::vec(0u8..3, 0..5),
            prop::collection::vec(0u8..2, 10..16),
            prop::collection::vec(any::<u8>(), 0..100),
            Just(b"a string that comes often".to_vec()),
        ], 0..1_000),
        size in 1usize..300,
    ) {
        let values = Values::Bytes(StringViews::from_iter(strings));
        let (builder, indices) = intern(&values, &[size, 0, 1, 64]);
        check(&builder, &values, &indices);
    }

    #[test]
    fn keys_are_the_values_they_stand_for(
        words in prop::collection::vec(0u64..200, 1..300),
        keys in prop::collection::vec((any::<prop::sample::Index>(), 0usize..2), 0..4_000),
        physical in prop::sample::select(&WITH_DICTIONARY[..]),
        size in 1usize..1_500,
    ) {
        // Two dictionaries that share values and have duplicates.
        let dictionaries = [&words[..], &words[..words.len().div_ceil(2)]].map(|words| Arc::new(values(physical, words)));
        let (mut builder, mut indices) = (DictionaryBuilder::new(physical.shape()), Vec::new());
        let mut all = physical.shape().empty();
        for part in keys.chunk_by(|a, b| a.1 == b.1).flat_map(|same| same.chunks(size)) {
            let dictionary = &dictionaries[part[0].1];
            let keys: Vec<u32> = part.iter().map(|(key, _)| key.index(dictionary.len()) as u32).collect();
            look_up(dictionary, &keys, &mut all).unwrap();
            builder.intern_keys(&keys, dictionary, &mut indices).unwrap();
        }
        check(&builder, &all, &indices);
    }

    #[test]
    fn indices_come_back(indices in prop::collection::vec((0u32..1_000, 1usize..40), 0..200), width in 10u32..33) {
        let indices: Vec<u32> = indices.into_iter().flat_map(|(index, n)| std::iter::repeat_n(index, n)).collect();
        let mut page = b"levels".to_vec();
        encode_indices(&indices, width, &mut page);
        prop_assert_eq!(u32::from(page[6]), width);
        let mut out = Shape::W32.empty();
        IndexDecoder::new(&PaddedBytes::copy_of(&page[6..])).unwrap().decode(indices.len(), &mut out).unwrap();
        prop_assert_eq!(out, Values::W32(indices));
    }
}

#[test]
fn every_set_of_values_is_interned() {
    for physical in PHYSICAL.into_iter().filter(|physical| *physical != PhysicalType::Boolean) {
        for (_, values) in crate::data::sets(physical, 3_000) {
            let (builder, indices) = intern(&values, &[1_000, 1]);
            check(&builder, &values, &indices);
        }
    }
}

#[test]
fn values_that_were_made_to_collide_are_interned() {
    // Words whose products with the multiplier of the hash are 0, 1, 2, and so on.
    let mut inverse = 1u64;
    (0..6).for_each(|_| {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(inverse)))
    });
    let words = Values::W64((0..100_000).map(|i: u64| i.wrapping_mul(inverse)).collect());
    let (builder, indices) = intern(&words, &[8_192]);
    check(&builder, &words, &indices);
    // The same for 16-byte numbers: the hash combines the halves of each to 0.
    let halves =
        |i: i128| i << 64 | i128::from((i as u64).wrapping_mul(0x5822_cb77_f4de_2c09).wrapping_neg());
    let wide = fixed(16, (0..100_000).map(halves));
    let (builder, indices) = intern(&wide, &[8_192]);
    check(&builder, &wide, &indices);

    // Strings in which the hash multiplies by 0: inline ones of twelve bytes, and long ones.
    let zero = 0x1319_8a2e_0370_7344u64.to_le_bytes();
    for tail in ["", "tail that makes it a long string"] {
        let string =
            |i: u32| [&i.to_le_bytes()[..], &zero, &[0; 4][..tail.len().min(4)], tail.as_bytes()].concat();
        let strings = Values::Bytes(StringViews::from_iter((0..50_000).map(string)));
        let (builder, indices) = intern(&strings, &[8_192]);
        check(&builder, &strings, &indices);
    }
    let string = |i: u64| [&i.to_le_bytes()[..], &zero, b"the same at the end"].concat();
    let strings: Vec<Vec<u8>> = (0..50_000).map(string).collect();
    let all = Values::Bytes(StringViews::from_iter(&strings));
    let (builder, indices) = intern(&all, &[8_192]);
    check(&builder, &all, &indices);
    let all = Values::Fixed(FixedLenBytes::from_bytes(strings[0].len(), strings.concat()));
    let (builder, indices) = intern(&all, &[8_192]);
    check(&builder, &all, &indices);
}

#[test]
fn numbers_near_each_other_and_far_away() {
    // Numbers that ascend, descend, alternate around 0, begin at either end of the range, or are dense except for one.
    let ways: [fn(i64) -> i64; 6] = [
        |i| i,
        |i| -3 * i,
        |i| if i % 2 == 0 { i } else { -i },
        |i| i64::MAX - i,
        |i| i64::MIN + 2 * i,
        |i| if i == 5_000 { i64::MIN } else { (mix(i as u64) % 3_000) as i64 },
    ];
    for way in ways {
        let numbers = (0..10_000).map(way).chain([0, i64::MAX, i64::MIN, -1]).chain((0..200_000).map(way));
        let numbers: Vec<i64> = numbers.collect();
        let words = Values::W64(numbers.iter().map(|i| *i as u64).collect());
        let (builder, indices) = intern(&words, &[1, 31, 8_192]);
        check(&builder, &words, &indices);
        let words = Values::W32(numbers.iter().map(|i| *i as u32).collect());
        let (builder, indices) = intern(&words, &[1, 31, 8_192]);
        check(&builder, &words, &indices);
        for width in [1, 3, 7, 8, 9, 15, 16] {
            let fixed = fixed(width, numbers.iter().map(|i| i128::from(*i)));
            let (builder, indices) = intern(&fixed, &[1, 31, 8_192]);
            check(&builder, &fixed, &indices);
        }
    }
}

#[test]
fn bits_that_differ_are_values_that_differ() {
    let floats = [0.0f64, -0.0, f64::NAN, -f64::NAN, f64::from_bits(f64::NAN.to_bits() + 1), 0.0];
    let (builder, indices) = intern(&Values::W64(floats.map(f64::to_bits).to_vec()), &[10]);
    assert_eq!((builder.len(), &indices[..]), (5, &[0, 1, 2, 3, 4, 0][..]));
}

#[test]
fn what_cannot_be_interned_is_refused() {
    let mut builder = DictionaryBuilder::new(Shape::Fixed(4));
    let mut indices = Vec::new();
    let other = Values::Fixed(FixedLenBytes::from_bytes(2, vec![0; 8]));
    assert_eq!(builder.intern(&other, 0..1, &mut indices).unwrap_err().kind(), ErrorKind::Argument);
    let other = Arc::new(Values::W32(vec![1]));
    assert_eq!(builder.intern_keys(&[0], &other, &mut indices).unwrap_err().kind(), ErrorKind::Argument);
    let bits = Values::Bit([true].into_iter().collect());
    assert_eq!(
        DictionaryBuilder::new(Shape::Bit).intern(&bits, 0..1, &mut indices).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let mut builder = DictionaryBuilder::new(Shape::W32);
    assert_eq!(builder.intern_keys(&[0, 1], &other, &mut indices).unwrap_err().kind(), ErrorKind::Argument);
    builder.intern_keys(&[], &Arc::new(Values::W32(vec![])), &mut indices).unwrap();
    assert!(indices.is_empty() && builder.is_empty());
}

#[test]
fn widths_are_those_of_the_last_index() {
    let widths = [0, 1, 2, 3, 4, 5, 256, 257].map(index_width);
    assert_eq!(widths, [0, 0, 1, 2, 2, 3, 8, 9]);
}

#[test]
fn copied_strings_share_few_buffers() {
    let strings: Vec<String> =
        (0..2_000).map(|i| format!("{:>1$}", mix(i), (mix(i) % 60) as usize)).collect();
    let all = StringViews::from_iter(&strings);
    let mut copy = StringViews::new();
    copy.push_copied(&all, 0..2_000).unwrap();
    assert_eq!((&copy, copy.buffers().len()), (&all, 1));
    for i in 0..2_000 {
        copy.push_copied(&all, i..i + 1).unwrap();
    }
    assert!(copy.buffers().len() < 20, "{} buffers", copy.buffers().len());
    // A clone shares the buffers, so appending must not change them.
    let clone = copy.clone();
    copy.push_copied(&all, 5..10).unwrap();
    assert_eq!(part(&Values::Bytes(copy), 0..4_000), Values::Bytes(clone));
}
