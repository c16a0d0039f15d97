//! Any bytes are verified without a panic, and damage of pages with a checksum is found.

use crate::chunk::{PLAIN, RLE_DICTIONARY};
use crate::make::Make;
use crate::{broken, file_rules, found_at_each_level, report, value_rules};
use bytes::Bytes;
use marquetry_codec::Codec;
use marquetry_format::Repetition;
use marquetry_verify::{Level, VerifyOptions, verify};
use std::sync::Arc;

#[test]
fn every_flipped_byte_of_a_page_is_found() {
    let good = Make::optional().good();
    let bytes = good.finish().to_vec();
    for (page, start) in good.pages[0].iter().zip(&good.file.offsets[0]) {
        let body = *start as usize + page.header_len();
        for at in body..body + page.body.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            let report = report(&Bytes::from(flipped), Level::Default);
            assert_eq!(broken(&report).into_iter().collect::<Vec<_>>(), ["page-checksum"], "byte {at}");
        }
    }
}

#[test]
fn no_bytes_make_it_panic_and_deeper_levels_find_more() {
    let samples = [value_rules::good(), file_rules::nesting(), value_rules::index()].concat();
    for (_, bytes) in samples {
        for at in 0..bytes.len() {
            report(&bytes.slice(0..at), Level::Deep);
            for flip in [0x01, 0x80, 0xff] {
                let mut flipped = bytes.to_vec();
                flipped[at] ^= flip;
                let [quick, default, deep] = found_at_each_level(&Bytes::from(flipped));
                assert!(quick.is_subset(&default), "byte {at}: {quick:?}, by default {default:?}");
                assert!(default.is_subset(&deep), "byte {at}: by default {default:?}, deep {deep:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut make = Make::ints();
    make.layout.cuts = vec![1; 9];
    let bytes = make.of(|pages| pages.iter_mut().for_each(|page| page.header.crc = Some(1))).edited(|made| {
        let row_group = made.file.metadata.row_groups[0].clone();
        made.file.metadata.row_groups.extend(vec![row_group; 30]);
    });
    let run = |threads| {
        let options = VerifyOptions::default().with_threads(threads).with_findings_per_rule(100);
        verify(Arc::new(bytes.clone()), &options).unwrap()
    };
    let one = run(1);
    assert_eq!(one.pages, 310);
    for threads in [2, 3, 16] {
        assert_eq!(run(threads), one);
    }
}

/// One bit of a footer makes a column required. Its pages show that they have levels: numbers by their length, others
/// once they are decompressed.
#[test]
fn levels_in_a_required_column_are_found() {
    for (codec, encoding, levels) in [
        (Codec::Uncompressed, PLAIN, &[Level::Default, Level::Deep][..]),
        (Codec::Zstd, PLAIN, &[Level::Default, Level::Deep]),
        (Codec::Uncompressed, RLE_DICTIONARY, &[Level::Default, Level::Deep]),
        (Codec::Zstd, RLE_DICTIONARY, &[Level::Deep]),
    ] {
        let mut make = Make::optional();
        (make.layout.codec, make.layout.encoding) = (codec, encoding);
        let good = make.good();
        let broken_file =
            good.edited(|made| made.file.metadata.schema[1].repetition_type = Some(Repetition::REQUIRED));
        for level in levels {
            assert!(report(&make.good().finish(), *level).findings.is_empty(), "{codec:?} {encoding}");
            let report = report(&broken_file, *level);
            let found = report.findings.iter().find(|finding| finding.rule.id == "page-unreadable");
            let found = found.unwrap_or_else(|| panic!("{codec:?} {encoding}: {report:?}"));
            assert!(found.message.contains("has definition levels"), "{}", found.message);
            assert_eq!(found.place.page, Some(usize::from(encoding == RLE_DICTIONARY)));
        }
    }
}
