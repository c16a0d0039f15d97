//! Every rule has its file.

use crate::chunk::file::footer;
use crate::chunk::{Column, Layout};
use crate::make::Make;
use crate::value_rules::PARQUET_CPP;
use crate::{
    broken, encryption_rules, file_rules, found_at_each_level, geoparquet_rules, logical_type_rules, report,
    value_rules,
};
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits};
use marquetry_format::{Encoding, FooterTail, Statistics, parse_metadata};
use marquetry_verify::{Level, RULES, Severity, VerifyOptions, verify};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn cases() -> Vec<file_rules::Case> {
    [
        file_rules::footer(),
        encryption_rules::encryption(),
        file_rules::schema(),
        file_rules::nesting(),
        logical_type_rules::variants(),
        logical_type_rules::file_references(),
        geoparquet_rules::geoparquet(),
        file_rules::chunk(),
        file_rules::page(),
        value_rules::index(),
        value_rules::statistics(),
        value_rules::bloom(),
        value_rules::values(),
        value_rules::sorting(),
    ]
    .concat()
}

#[test]
fn each_rule_is_broken_by_a_file_that_breaks_no_other() {
    let mut failures = Vec::new();
    for (ids, bytes) in cases() {
        let report = report(&bytes, Level::Deep);
        let expected: BTreeSet<_> = ids.split(' ').collect();
        if broken(&report) != expected {
            failures.push(format!("{ids}: {:#?}", report.findings));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn each_rule_has_a_file() {
    let cases = cases();
    let tested: BTreeSet<_> = cases.iter().flat_map(|(ids, _)| ids.split(' ')).collect();
    let rules: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tested, rules);
    assert_eq!(rules.len(), RULES.len(), "ids are unique");
    // COVERAGE.md says so of these, and file_rules.rs why.
    let alone: BTreeSet<_> = cases.iter().map(|(ids, _)| *ids).filter(|ids| !ids.contains(' ')).collect();
    assert_eq!(rules.difference(&alone).collect::<Vec<_>>(), [&"map-key-null"]);
}

#[test]
fn a_rule_is_checked_from_its_level_on() {
    for (ids, bytes) in cases() {
        for level in [Level::Quick, Level::Default] {
            let broken = broken(&report(&bytes, level));
            for id in ids.split(' ') {
                let rule = RULES.iter().find(|rule| rule.id == id).unwrap();
                // An unchecked part is reported at the level that reads it.
                let is_due = rule.level <= level && id != "unchecked";
                assert!(!is_due || broken.contains(id), "{id} at {}", level.name());
                assert!(rule.level <= level || !broken.contains(id), "{id} at {}", level.name());
            }
        }
    }
}

/// The file with a footer that is wrong about each chunk: sizes, kinds of pages, nulls.
fn with_lies(bytes: &Bytes) -> Option<Bytes> {
    let FooterTail::Plain { metadata_len } = FooterTail::parse(bytes.last_chunk()?).ok()? else {
        return None;
    };
    let start = bytes.len().checked_sub(8 + metadata_len as usize)?;
    let mut metadata = parse_metadata(&bytes[start..], &Limits::default()).ok()?;
    let chunks = metadata.row_groups.iter_mut().flat_map(|row_group| &mut row_group.columns);
    for meta in chunks.filter_map(|chunk| chunk.meta_data.as_mut()) {
        meta.total_uncompressed_size += 1;
        meta.encoding_stats = Some(vec![]);
        let statistics = meta.statistics.get_or_insert_default();
        statistics.null_count = Some(meta.num_values.clamp(0, 3));
    }
    let footer = footer(&metadata);
    let tail = FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes();
    Some(Bytes::from([&bytes[..start], &footer, &tail].concat()))
}

#[test]
fn a_deeper_level_finds_all_that_others_find() {
    let files: Vec<_> = cases().into_iter().chain(value_rules::doubly()).collect();
    for (ids, bytes) in files {
        for bytes in with_lies(&bytes).into_iter().chain([bytes]) {
            let [quick, default, deep] = found_at_each_level(&bytes);
            assert!(quick.is_subset(&default), "{ids}: {quick:?}, by default {default:?}");
            assert!(default.is_subset(&deep), "{ids}: by default {default:?}, deep {deep:?}");
        }
    }
}

#[test]
fn null_counts_of_pages_are_checked_where_levels_are_at_hand() {
    for (make, is_found) in value_rules::wrong_null_counts() {
        let default = broken(&report(&make, Level::Default));
        assert_eq!(default.contains("statistics-null-count"), is_found);
        assert!(broken(&report(&make, Level::Deep)).contains("statistics-null-count"));
    }
}

#[test]
fn statistics_of_pages_are_looked_at_by_default() {
    let impossible = |entries| Some(Statistics { null_count: Some(entries + 1), ..Statistics::default() });
    for v2 in [false, true] {
        let bytes = value_rules::in_page_headers(v2, impossible);
        assert!(broken(&report(&bytes, Level::Quick)).is_empty());
        let default = broken(&report(&bytes, Level::Default));
        assert_eq!(default.into_iter().collect::<Vec<_>>(), ["statistics-counts", "statistics-null-count"]);
    }
}

#[test]
fn good_files_break_nothing() {
    let files = ("references to files", logical_type_rules::good_file_references());
    for (name, bytes) in
        value_rules::good().into_iter().chain(logical_type_rules::good_variants()).chain([files])
    {
        for level in [Level::Quick, Level::Default, Level::Deep] {
            let report = report(&bytes, level);
            assert_eq!(report.findings, [], "{name}");
            assert_eq!(report.pages > 0, level > Level::Quick, "{name}");
        }
    }
}

/// A count of suffixes is accepted from the writer that counts them, in the encoding that has them.
#[test]
fn counts_of_suffixes_are_those_of_one_writer() {
    let other = "parquet-mr version 1.15.0";
    for (created_by, encoding, said, expected) in [
        (PARQUET_CPP, 7, 3, &["size-statistics-suffixes"][..]),
        (other, 7, 3, &["offset-index-bytes", "size-statistics"]),
        (PARQUET_CPP, 0, 3, &["offset-index-bytes", "size-statistics"]),
        (PARQUET_CPP, 7, 6, &["offset-index-bytes", "size-statistics"]),
        (other, 7, 5, &[]),
    ] {
        let report = report(&value_rules::with_suffixes(created_by, encoding, said), Level::Deep);
        let found: Vec<_> = broken(&report).into_iter().collect();
        assert_eq!(found, expected, "{created_by}, encoding {encoding}, {said} bytes");
    }
}

#[test]
fn parts_that_overlap_are_told_in_words() {
    let index = Make::ints().good().with_offset_index(|_| ()).edited(|made| {
        made.chunk().offset_index_offset = Some(9);
    });
    let (_, pages) = file_rules::chunk().into_iter().find(|(id, _)| *id == "chunk-overlap").unwrap();
    for (bytes, expected) in [
        (index, "the offset index begins inside the pages of column x, row group 0"),
        (pages, "the pages begin inside the pages of column x, row group 0"),
    ] {
        let findings = report(&bytes, Level::Quick).findings;
        let overlap = findings.iter().find(|finding| finding.rule.id == "chunk-overlap").unwrap();
        assert_eq!(overlap.message, expected);
    }
}

#[test]
fn a_finding_says_where() {
    let (_, bytes) = file_rules::page().into_iter().find(|(id, _)| *id == "page-checksum").unwrap();
    let report = report(&bytes, Level::Default);
    let finding = &report.findings[0];
    assert_eq!(finding.rule.severity, Severity::Corrupt);
    assert_eq!((finding.place.row_group, finding.place.page), (Some(0), Some(1)));
    assert_eq!(finding.place.column.as_deref(), Some("x"));
    assert!(finding.place.offset.is_some());
    assert_eq!(report.worst(), Some(Severity::Corrupt));
}

#[test]
fn rules_are_chosen_and_left_out() {
    let bytes = Make::ints().good().edited(|made| {
        made.file.metadata.version = 7;
        made.file.metadata.num_rows = 3;
    });
    let run = |options: VerifyOptions| verify(Arc::new(bytes.clone()), &options);
    let broken = |options| broken(&run(options).unwrap()).into_iter().collect::<Vec<_>>();
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(broken(VerifyOptions::default()), ["footer-rows", "footer-version"]);
    let only = VerifyOptions::default().with_rules(Some(ids(&["footer-version"])));
    assert_eq!(broken(only), ["footer-version"]);
    let without = VerifyOptions::default().with_ignore(ids(&["footer-version"]));
    assert_eq!(broken(without), ["footer-rows"]);
    let wrong = VerifyOptions::default().with_ignore(ids(&["no-such-rule"]));
    assert_eq!(run(wrong).unwrap_err().kind(), ErrorKind::Argument);
}

/// A footer may list millions of encodings, and each page is looked for among them.
#[test]
fn a_long_list_of_encodings_is_not_read_for_each_page() {
    let layout = Layout { cuts: vec![1; 4_999], ..Layout::default() };
    let good = Make::flat(Column::ints(0..5_000), layout).good();
    let bytes = good.edited(|made| made.meta().encodings = vec![Encoding::BIT_PACKED; 4_000_000]);
    let started = Instant::now();
    assert!(broken(&report(&bytes, Level::Default)).contains("page-encoding-listed"));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn findings_are_bounded_and_counted() {
    let mut make = Make::ints();
    make.layout.cuts = vec![1; 9];
    let bytes = make.of(|pages| pages.iter_mut().for_each(|page| page.header.crc = Some(1))).finish();
    let options = VerifyOptions::default().with_findings_per_rule(3);
    let report = verify(Arc::new(bytes.clone()), &options).unwrap();
    assert_eq!(report.findings.len(), 3);
    assert_eq!(
        report.omitted.iter().map(|(rule, more)| (rule.id, *more)).collect::<Vec<_>>(),
        [("page-checksum", 7)]
    );
    // Findings that are not kept are as bad.
    let options = VerifyOptions::default().with_findings_per_rule(0);
    let report = verify(Arc::new(bytes), &options).unwrap();
    assert_eq!((report.findings.len(), report.worst()), (0, Some(Severity::Corrupt)));
}
