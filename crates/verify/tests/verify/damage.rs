//! Any bytes are verified without a panic, and damage of pages with a checksum is found.

use crate::make::Make;
use crate::{broken, file_rules, found_at_each_level, report, value_rules};
use bytes::Bytes;
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
