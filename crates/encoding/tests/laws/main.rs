//! Laws that hold for every encoding: each is run over every row of the registry, every physical type that the row is
//! legal for, and every set of values in `data.rs`. A new encoding is tested as soon as it has its row.
//! What happens to damaged pages is in `tests/damage`.

mod builder;
mod data;
mod levels;
mod pages;
mod random;

use data::{Case, PHYSICAL, cases, mix, sets};
use marquetry_base::{ErrorKind, MemoryBudget};
use marquetry_encoding::registry::{self, ENCODINGS};
use marquetry_encoding::{Bitmap, EncodedPage, OffsetStrings, PhysicalType, Values};
use pages::{Page, part};

/// Enough values for two vectors, many blocks and miniblocks, and an incomplete one of each.
const N: usize = 2_100;

/// Sizes of reads around the sizes of words, blocks and vectors.
const READS: [usize; 9] = [0, 1, 7, 31, 32, 33, 1_023, 1_024, 1_025];

#[test]
fn what_is_encoded_comes_back() {
    for case in cases(N) {
        let page = write(&case);
        let n = case.values.len();
        assert_eq!(page.decode(n).unwrap(), case.values, "{case}");
        assert_eq!(page.with_dictionary_page().decode(n).unwrap(), case.values, "{case}");
    }
}

#[test]
fn nulls_may_be_counted_with_the_values() {
    for case in cases(100) {
        let n = case.values.len();
        let page = Page { max_values: n + 1_000, ..write(&case) };
        assert_eq!(page.decode(n).unwrap(), case.values, "{case}");
    }
}

#[test]
fn any_split_of_reads_gives_the_same() {
    for case in cases(N) {
        let (page, n) = (write(&case), case.values.len());
        for size in READS.into_iter().filter(|&size| size > 0) {
            let (mut decoder, mut out) = (page.open().unwrap(), case.values.shape().empty());
            while out.len() < n {
                decoder.decode(size.min(n - out.len()), &mut out).unwrap();
            }
            assert!(out == case.values, "{case} in reads of {size}");
        }
        let (mut decoder, mut out) = (page.open().unwrap(), case.values.shape().empty());
        for step in 0.. {
            let left = n - out.len();
            let size = READS[mix(step) as usize % READS.len()].min(left);
            decoder.decode(size, &mut out).unwrap();
            if left == 0 {
                break;
            }
        }
        assert!(out == case.values, "{case} in mixed reads");
    }
}

#[test]
fn skipping_is_decoding_and_dropping() {
    for case in cases(N) {
        let (page, n) = (write(&case), case.values.len());
        for before in READS {
            for skipped in READS.into_iter().chain([n]) {
                let before = before.min(n);
                let skipped = skipped.min(n - before);
                let after = n - before - skipped;
                let mut decoder = page.open().unwrap();
                let mut out = page.next(&mut *decoder, before).unwrap();
                decoder.skip(skipped).unwrap();
                decoder.decode(after.min(40), &mut out).unwrap();
                decoder.skip(after - after.min(40)).unwrap();
                let mut expected = part(&case.values, 0..before);
                expected
                    .push_range(&case.values, before + skipped..before + skipped + after.min(40))
                    .unwrap();
                assert!(out == expected, "{case}: {skipped} skipped after {before}");
            }
        }
    }
}

#[test]
fn byte_strings_are_the_same_end_to_end() {
    for case in cases(N) {
        let Values::Bytes(views) = &case.values else { continue };
        let (page, n) = (write(&case), case.values.len());
        for size in READS.into_iter().filter(|&size| size > 0) {
            let mut decoder = page.open().unwrap();
            let (mut out, mut expected) = (Values::Offsets(OffsetStrings::new()), OffsetStrings::new());
            let mut at = 0;
            for step in 0.. {
                let take = size.min(n - at);
                match step % 3 {
                    0 => decoder.skip(take).unwrap(),
                    // Every other slot is null.
                    1 if take > 1 => {
                        let validity: Bitmap = (0..2 * take).map(|i| i % 2 == 1).collect();
                        let mut dense = Values::Offsets(OffsetStrings::new());
                        out.with_scratch(&mut dense, |dense| decoder.decode(take, dense)).unwrap();
                        out.push_spaced(&dense, &validity, 0, 2 * take);
                        let slots = (at..at + take).flat_map(|i| [&[][..], views.get(i)]);
                        expected = expected.iter().chain(slots).collect();
                    }
                    _ => {
                        decoder.decode(take, &mut out).unwrap();
                        expected = expected.iter().chain((at..at + take).map(|i| views.get(i))).collect();
                    }
                }
                at += take;
                // Stops early for the smallest sizes, because each step copies all values before it.
                if at == n || step == 60 {
                    break;
                }
            }
            let Values::Offsets(out) = out else { unreachable!() };
            assert_eq!(out, expected, "{case} in reads of {size}");
        }
        if !is_unbounded(&case) {
            let mut out = Values::Offsets(OffsetStrings::new());
            assert!(page.open().unwrap().decode(n + 8, &mut out).is_err(), "{case}");
        }
    }
}

#[test]
fn more_than_there_are_is_an_error() {
    for case in cases(N) {
        if is_unbounded(&case) {
            continue;
        }
        let (page, n) = (write(&case), case.values.len());
        // The last byte, or packed group, may have room for up to 7 more.
        let more = n + 8;
        assert!(page.decode(more).is_err(), "{case}");
        let mut decoder = page.open().unwrap();
        assert!(decoder.skip(more).is_err(), "{case}: skip");
        let mut decoder = page.open().unwrap();
        decoder.skip(n).unwrap();
        assert!(page.next(&mut *decoder, 8).is_err(), "{case}: decode after skip");
        assert!(page.decode(usize::MAX).is_err(), "{case}: all there could ever be");
        let mut decoder = page.open().unwrap();
        let _ = decoder.skip(n.min(1));
        assert!(decoder.skip(usize::MAX).is_err(), "{case}: skip all there could ever be");
    }
}

#[test]
fn a_page_is_spent_with_its_last_value() {
    for case in cases(N) {
        let (page, n) = (write(&case), case.values.len());
        let mut decoder = page.open().unwrap();
        decoder.skip(n).unwrap();
        assert!(decoder.is_exhausted(), "{case}: skipped");
        let mut decoder = page.open().unwrap();
        page.next(&mut *decoder, n.saturating_sub(8)).unwrap();
        assert!(!decoder.is_exhausted() || n < 8 || page.bytes.is_empty(), "{case}: 8 are left");
        page.next(&mut *decoder, n.min(8)).unwrap();
        assert!(decoder.is_exhausted(), "{case}: decoded");
    }
}

#[test]
fn what_was_there_stays() {
    for case in cases(200) {
        let (page, n) = (write(&case).with_dictionary_page(), case.values.len());
        for there in [1, 3, n].map(|there| there.min(n)) {
            let mut expected = part(&case.values, 0..there);
            let mut out = expected.clone();
            // Twice, because the second time `out` already has buffers of byte strings.
            for _ in 0..2 {
                let mut decoder = page.open().unwrap();
                decoder.decode(n, &mut out).unwrap();
                decoder.decode(0, &mut out).unwrap();
                expected.push_range(&case.values, 0..n).unwrap();
            }
            assert_eq!(out, expected, "{case} after {there}");
        }
    }
}

#[test]
fn a_finished_page_is_followed_by_another() {
    for case in cases(1_500) {
        let n = case.values.len();
        let mut encoder = (case.row.encoder)(case.physical).unwrap();
        let ranges = [0..n, 0..0, n / 3..n, 0..n / 3];
        let pages = ranges.clone().map(|range| {
            let n = range.len();
            encoder.encode(&case.values, range).unwrap();
            Page::finish(case.row, case.physical, &mut *encoder, n)
        });
        let dictionary = pages[3].dictionary.clone();
        for (page, range) in pages.into_iter().zip(ranges) {
            let page = Page { dictionary: dictionary.clone(), ..page };
            let expected = part(&case.values, range.clone());
            assert_eq!(page.decode(range.len()).unwrap(), expected, "{case}: {range:?}");
        }
    }
}

#[test]
fn any_split_of_writes_gives_the_same() {
    for case in cases(N) {
        let (whole, n) = (write(&case), case.values.len());
        let mut encoder = (case.row.encoder)(case.physical).unwrap();
        let mut done = 0;
        for step in 0.. {
            let size = READS[mix(step) as usize % READS.len()].min(n - done);
            encoder.encode(&case.values, done..done + size).unwrap();
            done += size;
            if done == n {
                break;
            }
        }
        let page = Page::finish(case.row, case.physical, &mut *encoder, n);
        assert!(page.bytes == whole.bytes, "{case}");
    }
}

#[test]
fn a_page_is_appended_to_what_was_there() {
    for case in cases(50) {
        let mut encoder = (case.row.encoder)(case.physical).unwrap();
        encoder.encode(&case.values, 0..case.values.len()).unwrap();
        let mut bytes = b"levels".to_vec();
        encoder.finish(&mut bytes).unwrap();
        assert_eq!(bytes[..6], *b"levels", "{case}");
        assert_eq!(bytes[6..], write(&case).bytes, "{case}");
    }
}

#[test]
fn the_size_is_about_that_of_the_page() {
    for case in cases(N) {
        let mut encoder = (case.row.encoder)(case.physical).unwrap();
        let empty = encoder.size();
        encoder.encode(&case.values, 0..case.values.len()).unwrap();
        let size = encoder.size();
        let mut page = Vec::new();
        encoder.finish(&mut page).unwrap();
        // Writers end a page by this size. It may be an overestimate, but the page must not be much larger.
        assert!(page.len() <= size + size / 2 + 64, "{case}: {size} said, {} written", page.len());
        assert_eq!(encoder.size(), empty, "{case}: size of an empty page");
    }
}

#[test]
fn values_of_another_shape_are_refused() {
    for row in &ENCODINGS {
        for physical in PHYSICAL.into_iter().filter(|physical| (row.supports)(*physical)) {
            let values = data::values(physical, &[1, 2, 3]);
            let page = Page::write(row, physical, &values);
            for other in PHYSICAL.into_iter().filter(|other| other.shape() != physical.shape()) {
                let name = row.name;
                let mut out = other.shape().empty();
                let error = page.open().unwrap().decode(1, &mut out).unwrap_err();
                assert_eq!(
                    error.kind(),
                    ErrorKind::Argument,
                    "{name} of {physical} decoded as {other}: {error}"
                );
                let mut encoder = (row.encoder)(physical).unwrap();
                let error = encoder.encode(&data::values(other, &[1]), 0..1).unwrap_err();
                assert_eq!(
                    error.kind(),
                    ErrorKind::Argument,
                    "{other} encoded as {name} of {physical}: {error}"
                );
            }
        }
    }
}

#[test]
fn a_page_of_no_bytes_has_no_values() {
    // Values of width 0 can be decoded without any bytes.
    for case in cases(0).filter(|case| case.physical != PhysicalType::FixedLenByteArray(0)) {
        let page = Page { bytes: vec![], max_values: 10, ..write(&case) };
        assert!(page.decode(1).is_err(), "{case}");
    }
}

#[test]
fn codes_are_unique_and_illegal_types_are_refused() {
    for row in &ENCODINGS {
        assert_eq!(ENCODINGS.iter().filter(|other| other.code == row.code).count(), 1, "{}", row.name);
        for physical in PHYSICAL {
            let page = EncodedPage {
                bytes: vec![].into(),
                max_values: 0,
                physical,
                dictionary: None,
                memory: MemoryBudget::default(),
            };
            let refused = registry::decoder(row.code, &page).is_err();
            assert!(refused || (row.supports)(physical), "{} of {physical}", row.name);
        }
    }
}

#[test]
fn every_set_has_a_name_of_its_own() {
    for physical in PHYSICAL {
        let sets = sets(physical, 50);
        for (name, _) in &sets {
            assert_eq!(sets.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }
}

fn write(case: &Case) -> Page {
    Page::write(case.row, case.physical, &case.values)
}

/// Whether a page does not limit the number of its values: in PLAIN, values of width 0 take no bytes.
fn is_unbounded(case: &Case) -> bool {
    case.physical == PhysicalType::FixedLenByteArray(0) && case.row.name == "PLAIN"
}
