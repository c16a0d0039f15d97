//! Where the schema is from, if there is no footer: the caller, or a guess.

use crate::sample::{PHYSICAL, PLAIN, Style, contents, file, file_of, footer_start, given, rewritten, saved};
use marquetry_codec::Codec;
use marquetry_core::recover::{Confidence, RecoverOptions, SchemaOrigin};

#[test]
fn types_are_guessed() {
    for codec in [Codec::Uncompressed, Codec::Snappy, Codec::Gzip, Codec::Zstd, Codec::Lz4Raw, Codec::Brotli]
    {
        for v2 in [false, true] {
            let good = file(Style { codec, v2, ..PLAIN }, &[400, 300]);
            let recovery = saved(&good.slice(..footer_start(&good)), &RecoverOptions::default()).unwrap();
            let report = recovery.report();
            assert_eq!(report.schema, Some(SchemaOrigin::Inferred));
            let schema =
                marquetry_core::schema::Schema::from_thrift(recovery.schema(), &Default::default()).unwrap();
            let types: Vec<_> = schema.columns().iter().map(|leaf| leaf.physical()).collect();
            assert_eq!(types, PHYSICAL, "{codec} {v2}: {report}");
            assert_eq!(schema.column(1).path_in_schema(), ["c1"]);
            assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{codec} {v2}: {report}");
            assert!(report.decisions.iter().any(|decision| decision.confidence == Confidence::Medium));
        }
    }
}

#[test]
fn another_schema_than_the_pages_have_keeps_nothing() {
    let good = file(PLAIN, &[40]);
    let broken = good.slice(..footer_start(&good));
    let recovery = saved(&broken, &given("message m { required int32 a; required int32 b; }")).unwrap();
    assert!(recovery.report().row_groups.is_empty());
    assert!(!recovery.report().losses.is_empty());
}

/// Behind a hole nobody knows which column is which, if they are all alike: rather nothing than the wrong one.
#[test]
fn columns_that_look_alike_are_not_mixed_up_behind_damage() {
    let text = "message m { required int64 a; required int64 b; required double c; }";
    let good = file_of(text, PLAIN, &[40, 40, 30]);
    let footer = footer_start(&good);
    let all = contents(&good).unwrap();

    let whole = saved(&good.slice(..footer), &given(text)).unwrap();
    assert!(rewritten(&whole) == all, "{}", whole.report());
    for at in (4..footer - 300).step_by(31) {
        let hole: Vec<u8> = [&good[..at], &good[at + 300..footer]].concat();
        let recovery = saved(&hole.into(), &given(text)).unwrap();
        let kept = if recovery.report().row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
        for group in kept {
            assert!(all.contains(&group), "hole at {at}: {}", recovery.report());
        }
    }
}

/// DELTA_BINARY_PACKED pages of one integer type can be read as the other: a row group that ends in the first of two such
/// columns must not be taken for one whose second column is the rest of the first.
#[test]
fn integers_of_two_widths_are_not_mixed_up() {
    let text = "message m { required int32 a; required int64 b; required int32 c; }";
    // Pages of 30, 30, 30 and 20, 20, 20 rows tell nothing; of 30, 30, 31 rows each chunk is seen to end.
    for (rows, least) in [([90, 60, 90], 0), ([91, 61, 91], 1)] {
        let good = file_of(text, Style { delta: true, ..PLAIN }, &rows);
        let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
        let mut kept = 0;
        for len in 4..=footer {
            let Ok(recovery) = saved(&good.slice(..len), &given(text)) else { continue };
            kept = recovery.report().row_groups.len();
            let groups = if kept == 0 { Vec::new() } else { rewritten(&recovery) };
            assert_eq!(groups, all[..groups.len()], "cut at {len}: {}", recovery.report());
        }
        assert!(kept >= least, "{rows:?}: {kept}");
    }
}

/// Pages of nulls are of any type: where a file ends behind some, they must not be taken for chunks of the columns that follow.
#[test]
fn pages_of_nulls_are_not_taken_for_other_columns() {
    let text = "message m { optional int32 a; optional double b; optional int64 c; }";
    for (v2, codec) in [(false, Codec::Uncompressed), (true, Codec::Zstd), (false, Codec::Snappy)] {
        let style = Style { v2, codec, nulls_from: 30, ..PLAIN };
        for (rows, least) in [([90, 90, 90], 0), ([91, 91, 91], 2)] {
            let good = file_of(text, style, &rows);
            let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
            let mut kept = 0;
            for len in 4..=footer {
                let Ok(recovery) = saved(&good.slice(..len), &given(text)) else { continue };
                kept = recovery.report().row_groups.len();
                let groups = if kept == 0 { Vec::new() } else { rewritten(&recovery) };
                assert_eq!(groups, all[..groups.len()], "cut at {len}: {}", recovery.report());
            }
            assert!(kept >= least, "{rows:?}: {kept}");
        }
    }
}
