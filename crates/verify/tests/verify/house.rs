//! Limits of a house: each is a rule of its own, and none is checked unasked.

use bytes::Bytes;
use marquetry_verify::{HOUSE_RULES, HouseLimits, Level, RULES, VerifyOptions, verify};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The rules of houses that the example breaks.
fn broken(limits: HouseLimits) -> Vec<(&'static str, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    let options = VerifyOptions::default().with_level(Level::Quick).with_house_limits(limits);
    let report = verify(Arc::new(bytes), &options).unwrap();
    report.findings.into_iter().map(|finding| (finding.rule.id, finding.message)).collect()
}

#[test]
fn each_limit_has_a_rule() {
    let none = HouseLimits::default;
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let cases = [
        (
            "house-row-group-rows",
            none().with_row_group_rows(None, Some(99)),
            none().with_row_group_rows(Some(10), Some(100)),
        ),
        (
            "house-row-group-bytes",
            none().with_row_group_bytes(Some(100)),
            none().with_row_group_bytes(Some(1 << 20)),
        ),
        (
            "house-file-bytes",
            none().with_file_bytes(Some(1 << 20), None),
            none().with_file_bytes(Some(1), Some(1 << 20)),
        ),
        ("house-footer-bytes", none().with_footer_bytes(Some(10)), none().with_footer_bytes(Some(1 << 20))),
        ("house-columns", none().with_columns(Some(3)), none().with_columns(Some(9))),
        (
            "house-codec",
            none().with_codecs(Some(names(&["lzo"]))),
            none().with_codecs(Some(names(&["Snappy", "zstd"]))),
        ),
        (
            "house-bloom-filter",
            none().with_bloom_filters(names(&["absent"])),
            none().with_bloom_filters(names(&[])),
        ),
        ("house-sorted", none().with_sorted_by(names(&["year"])), none().with_sorted_by(names(&[]))),
    ];
    for (rule, breaking, keeping) in cases {
        let found = broken(breaking);
        assert!(!found.is_empty() && found.iter().all(|(id, _)| *id == rule), "{rule}: {found:?}");
        assert_eq!(broken(keeping), [], "{rule}");
    }
    assert_eq!(broken(none()), []);
    // What the example has.
    assert_eq!(broken(none().with_statistics(true).with_page_index(true)), []);
}

#[test]
fn they_are_no_rules_of_the_format() {
    let of_format: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    let of_houses: BTreeSet<_> = HOUSE_RULES.iter().map(|rule| rule.id).collect();
    assert!(of_houses.len() == HOUSE_RULES.len() && of_format.is_disjoint(&of_houses));
    assert!(of_houses.iter().all(|id| id.starts_with("house-")));
}
