//! Bytes that are missing before a footer that is whole: its schema is as good as before, its places are not.

use crate::chunk::file::footer;
use crate::sample::{PLAIN, SCHEMA, Style, contents, ends, file, footer_start, given, rewritten, saved};
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_core::schema::Schema;
use marquetry_core::write::PageVersion;
use marquetry_format::{FooterTail, parse_metadata};
use marquetry_recover::{Confidence, RecoverOptions, SchemaOrigin};

fn without(bytes: &Bytes, at: usize, len: usize) -> Bytes {
    [&bytes[..at], &bytes[at + len..]].concat().into()
}

#[test]
fn a_byte_that_is_missing_costs_no_more_than_its_row_group() {
    for style in [PLAIN, Style { codec: Codec::Snappy, v2: true, ..PLAIN }] {
        let good = file(style, &[40, 30, 50]);
        let (all, ends, schema) = (contents(&good).unwrap(), ends(&good), Schema::parse(SCHEMA).unwrap());
        let mut unharmed = 0;
        for at in (4..*ends.last().unwrap() as usize).step_by(13) {
            let broken = without(&good, at, 1);
            let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
            let report = recovery.report();
            let hit = ends.iter().filter(|end| **end <= at as u64).count();
            let expected: Vec<_> = (0..all.len()).filter(|i| *i != hit).map(|i| all[i].clone()).collect();
            let kept = rewritten(&recovery);
            if kept == all {
                // A header that lacks one of its bytes may still read the same.
                unharmed += 1;
                continue;
            }
            assert_eq!(kept, expected, "byte {at}: {report}");
            assert_eq!(report.schema, Some(SchemaOrigin::Footer));
            assert_eq!(recovery.schema(), schema.to_thrift(), "byte {at}");
            let told = report.decisions.iter().find(|decision| decision.what.contains("searched for"));
            assert!(told.is_some_and(|told| told.why.contains("bytes may be missing")), "{report}");
            assert!(report.losses.iter().any(|lost| lost.rows == Some([40, 30, 50][hit])), "{report}");
            // What is before the hole is where the footer says.
            assert!(report.row_groups[..hit].iter().all(|group| group.confidence == Confidence::Exact));
        }
        assert!(unharmed < 10, "{unharmed}");
    }
}

/// The schema of the file, and not the one that is given.
#[test]
fn a_hole_before_the_footer() {
    let good = file(PLAIN, &[400, 300]);
    let other = given(
        "message m { required int64 a; optional byte_array b; optional int32 c; required boolean d; required double e; }",
    );
    let recovery = saved(&without(&good, 30, 700), &other).unwrap();
    assert_eq!(recovery.report().schema, Some(SchemaOrigin::Footer), "{}", recovery.report());
    assert_eq!(rewritten(&recovery), contents(&good).unwrap()[1..]);
    // Where nothing is left but the footer, nothing is kept.
    let alone = without(&good, 0, footer_start(&good) - 4);
    let recovery = saved(&alone, &RecoverOptions::default()).unwrap();
    assert_eq!((recovery.report().rows(), recovery.report().losses.len()), (0, 2), "{}", recovery.report());
}

/// The schema comes first: whatever is cut off behind it, names and types are those of the file, and no row is lost.
#[test]
fn a_footer_that_is_cut_off_has_its_schema() {
    for style in [PLAIN, Style { codec: Codec::Snappy, checksums: false, ..PLAIN }] {
        let good = file(style, &[40, 30, 50]);
        let (all, schema, start) =
            (contents(&good).unwrap(), Schema::parse(SCHEMA).unwrap(), footer_start(&good));
        let mut with_schema = 0;
        for len in start + 4..good.len() {
            let Ok(recovery) = saved(&good.slice(..len), &RecoverOptions::default()) else { continue };
            let report = recovery.report();
            if report.schema != Some(SchemaOrigin::Footer) {
                assert_eq!(with_schema, 0, "cut at {len}: {report}");
                continue;
            }
            with_schema += 1;
            assert_eq!(recovery.schema(), schema.to_thrift(), "cut at {len}");
            assert_eq!(rewritten(&recovery), all, "cut at {len}: {report}");
            assert!(report.losses.is_empty(), "cut at {len}: {report}");
        }
        // The schema is a third of it.
        assert!(with_schema * 2 > good.len() - start, "{with_schema} of {}", good.len() - start);
        // The bytes that end the file are damaged.
        for at in good.len() - 8..good.len() {
            let mut broken = good.to_vec();
            broken[at] ^= 0x40;
            let recovery = saved(&broken.into(), &RecoverOptions::default()).unwrap();
            assert_eq!(recovery.report().schema, Some(SchemaOrigin::Footer), "byte {at}");
            let told = &recovery.report().decisions[0];
            assert!(
                told.why.contains("missing or damaged") && told.confidence == Confidence::High,
                "{told:?}"
            );
            assert_eq!(rewritten(&recovery), all, "byte {at}: {}", recovery.report());
            assert!(recovery.report().losses.is_empty(), "byte {at}: {}", recovery.report());
        }
    }
}

/// The orders of bounds come last: without them nobody knows what bounds mean.
#[test]
fn bounds_without_their_order_are_left_out() {
    let good = crate::beside_pages::file(true, PageVersion::V1);
    let has_bounds = |bytes: &Bytes| {
        let metadata = crate::beside_pages::metadata(bytes);
        metadata.row_group(0).column(0).unwrap().statistics().is_some_and(|said| said.min_value.is_some())
    };
    assert!(has_bounds(&good));
    for (missing, is_kept) in [(8, true), (40, false)] {
        let recovery = saved(&good.slice(..good.len() - missing), &RecoverOptions::default()).unwrap();
        let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
        assert_eq!(contents(&new).unwrap(), contents(&good).unwrap(), "{}", recovery.report());
        assert_eq!(has_bounds(&new), is_kept, "{missing} bytes are missing: {}", recovery.report());
    }
}

/// Pages that a footer says are in another file are not searched for in this one. If all are, the file is a summary.
#[test]
fn pages_in_other_files_are_told() {
    let good = file(PLAIN, &[40, 30]);
    let start = footer_start(&good);
    let elsewhere = |groups: std::ops::Range<usize>, pages: &[u8]| -> Bytes {
        let mut metadata = parse_metadata(&good[start..good.len() - 8], &Limits::default()).unwrap();
        for group in &mut metadata.row_groups[groups] {
            // A path in all chunks may be the file's own.
            group.columns[0].file_path = Some(format!("part-{}.parquet", group.num_rows).into());
        }
        let footer = footer(&metadata);
        let tail = FooterTail::Plain { metadata_len: footer.len() as u32 };
        [pages, &footer, &tail.to_bytes()].concat().into()
    };
    let recovery = saved(&elsewhere(1..2, &good[..start]), &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap()[..1], "{report}");
    let [loss] = &report.losses[..] else { panic!("{report}") };
    assert!(loss.rows == Some(30) && loss.why.contains("in another file, part-30.parquet"), "{report}");
    let error = saved(&elsewhere(0..2, b"PAR1"), &RecoverOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("in part-40.parquet and 1 other file"), "{error}");
}
