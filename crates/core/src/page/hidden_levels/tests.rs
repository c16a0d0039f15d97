use super::*;
use marquetry_encoding::{Values, levels as encoded_levels, plain, rle};

/// Returns the V1 levels of entries that are values or nulls, and the number of values.
fn levels_of(entries: &[bool]) -> (Vec<u8>, usize) {
    let levels: Vec<u8> = entries.iter().copied().map(u8::from).collect();
    let mut out = Vec::new();
    encoded_levels::encode_v1(encoded_levels::LevelSlice::Levels(&levels), 1, &mut out);
    (out, entries.iter().filter(|is_value| **is_value).count())
}

/// Returns pages of `n` values, with the encoding and the type of each.
fn values(n: usize) -> Vec<(Vec<u8>, i32, PhysicalType)> {
    let words: Vec<u32> = (0..n as u32).map(|i| i % 5).collect();
    let runs = rle::encode(&words.iter().map(|word| word & 1).collect::<Vec<_>>(), 1);
    let plain_of = |values: &Values| plain::encode(values).unwrap();
    let strings = words.iter().map(|word| "abcdefg"[..*word as usize].to_owned()).collect();
    vec![
        (plain_of(&Values::W32(words.clone())), PLAIN, PhysicalType::Int32),
        (
            plain_of(&Values::W64(words.iter().map(|word| u64::from(*word)).collect())),
            PLAIN,
            PhysicalType::Double,
        ),
        (plain_of(&Values::Bit(words.iter().map(|word| *word == 3).collect())), PLAIN, PhysicalType::Boolean),
        (vec![7; n * 3], PLAIN, PhysicalType::FixedLenByteArray(3)),
        (plain_of(&Values::Bytes(strings)), PLAIN, PhysicalType::ByteArray),
        ([&(runs.len() as u32).to_le_bytes()[..], &runs].concat(), RLE, PhysicalType::Boolean),
        ([&[3][..], &rle::encode(&words, 3)].concat(), RLE_DICTIONARY, PhysicalType::Int64),
        ([&[3][..], &rle::encode(&words, 3)].concat(), PLAIN_DICTIONARY, PhysicalType::ByteArray),
    ]
}

#[test]
fn levels_are_found_and_values_are_not_taken_for_levels() {
    for n in [1, 2, 7, 8, 9, 20, 64, 500, 9_000] {
        for null in [usize::MAX, 0, n / 2, n - 1] {
            let entries: Vec<bool> = (0..n).map(|entry| entry != null).collect();
            let (levels, present) = levels_of(&entries);
            for (page, encoding, physical) in values(n) {
                assert!(check_no_levels(&page, n, encoding, physical).is_ok(), "{n} {encoding} {physical}");
            }
            for (page, encoding, physical) in values(present) {
                let page = [levels.as_slice(), &page].concat();
                // Undecided if the levels take as many bytes as the nulls would. Levels also look like one string.
                let is_undecided = plain_len(n, physical)
                    .filter(|_| encoding == PLAIN)
                    .map_or(encoding == PLAIN && present + 1 == n, |len| len == page.len());
                let is_nothing = encoding == RLE && present == 0;
                let found = check_no_levels(&page, n, encoding, physical).is_err();
                assert_eq!(found, !is_undecided && !is_nothing, "{n}, null {null}: {encoding} {physical}");
            }
        }
    }
}

#[test]
fn a_repeated_field_has_two_kinds_of_levels() {
    for n in [1, 20, 500] {
        let (repetition, _) = levels_of(&vec![false; n]);
        let (definition, _) = levels_of(&vec![true; n]);
        for (page, encoding, physical) in values(n) {
            let page = [repetition.as_slice(), &definition, &page].concat();
            assert!(check_no_levels(&page, n, encoding, physical).is_err(), "{n}: {encoding} {physical}");
        }
    }
}

/// DuckDB packs 256 levels, even if the page has fewer.
#[test]
fn a_page_of_duckdb() {
    let mut page = vec![33, 0, 0, 0, 0x41, 0b1101];
    page.extend([0xff; 31]);
    page.extend([7; 12]);
    assert!(check_no_levels(&page, 4, PLAIN, PhysicalType::Int32).is_err());
    page.pop();
    assert!(check_no_levels(&page, 4, PLAIN, PhysicalType::Int32).is_ok());
}

/// Padding, which some writers leave behind values, does not make values look like levels.
#[test]
fn padding_is_none() {
    for n in 1..40 {
        for (page, encoding, physical) in values(n) {
            for padding in 1..17 {
                let page = [page.as_slice(), &vec![0; padding]].concat();
                assert!(check_no_levels(&page, n, encoding, physical).is_ok(), "{n} {encoding} {physical}");
            }
        }
    }
    // If empty runs counted, this would be a run of two nulls, and no values.
    let small: Vec<u8> = [12u32, 4, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    assert!(check_no_levels(&small, 2, PLAIN, PhysicalType::Int32).is_ok());
}

#[test]
fn any_bytes_are_looked_at() {
    let (levels, _) = levels_of(&[true; 300]);
    for n in [0, 1, 300, usize::MAX] {
        for len in 0..levels.len() {
            for (_, encoding, physical) in values(1) {
                let _ = check_no_levels(&levels[..len], n, encoding, physical);
            }
        }
    }
    let packed = [5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3];
    assert!(check_no_levels(&packed, usize::MAX, PLAIN, PhysicalType::Int32).is_ok());
}
