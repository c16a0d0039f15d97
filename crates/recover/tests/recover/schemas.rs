//! Where the schema is from, if there is no footer: the caller, or a guess.

use crate::sample::{
    PHYSICAL, PLAIN, SCHEMA, Style, contents, file, file_of, footer_start, given, rewritten, saved,
};
use marquetry_codec::Codec;
use marquetry_recover::{Confidence, RecoverOptions, SchemaOrigin};

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

/// Four columns in two row groups whose kinds repeat, or two columns in four: nothing in the pages decides, so neither
/// is kept.
#[test]
fn kinds_of_few_columns_that_repeat_tell_nothing() {
    let text = "message m { required boolean a; required int64 b; required boolean c; required int64 d; }";
    let good = file_of(text, Style { nulls_from: 0, page_rows: 50, ..PLAIN }, &[150, 150]);
    let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
    for (len, likeliest) in [(footer, 2), (footer + 8, 4)] {
        let recovery = saved(&good.slice(..len), &RecoverOptions::default()).unwrap();
        let report = recovery.report();
        assert!(report.row_groups.is_empty() && report.schema.is_none(), "{report}");
        let why = &report.losses[0].why;
        for reading in ["2 columns in 4 row groups", "4 columns in 2 row groups", "give the schema"] {
            assert!(why.contains(reading), "{report}");
        }
        let [first, other] = &report.decisions[..] else { panic!("{report}") };
        let first = first.why.split_once("the likeliest is: ").unwrap().1;
        let other = other.why.split_once("that is possible, too: ").unwrap().1;
        let (two, four) = if likeliest == 2 { (first, other) } else { (other, first) };
        assert_eq!(two.matches("required").count(), 2, "{report}");
        // Who knows which one is right gives it.
        let recovery = saved(&good.slice(..len), &given(four)).unwrap();
        assert_eq!(rewritten(&recovery), all, "{}", recovery.report());
    }
    // The root of the schema is there, which says how many fields it has.
    let recovery = saved(&good.slice(..footer + 10), &RecoverOptions::default()).unwrap();
    assert_eq!(rewritten(&recovery), all, "{}", recovery.report());
    let decided = &recovery.report().decisions[0];
    assert!(decided.what == "4 columns" && decided.why.contains("schema"), "{}", recovery.report());
}

/// Values that rise from row group to row group belong to one column, all the more if they are those of a counter.
#[test]
fn rising_values_tell_a_column() {
    let text = "message m { required int64 id; required byte_array name; }";
    for (rows, rising, comes_back) in [
        (&[40, 40, 40, 40][..], true, true),
        (&[40, 40, 40, 40, 40, 40], true, true),
        (&[40, 40, 40], true, true),
        (&[40, 40, 40, 40], false, false),
        (&[40, 40, 40], false, false),
        (&[40, 40], true, false),
    ] {
        let good = file_of(text, Style { rising, ..PLAIN }, rows);
        let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
        let recovery = saved(&good.slice(..footer), &RecoverOptions::default()).unwrap();
        let report = recovery.report();
        assert_eq!(!report.row_groups.is_empty(), comes_back, "{rows:?} {rising}: {report}");
        if comes_back {
            assert_eq!(rewritten(&recovery), all, "{report}");
        }
        // So does the number of elements of the schema.
        let recovery = saved(&good.slice(..footer + 4), &RecoverOptions::default()).unwrap();
        assert_eq!(rewritten(&recovery), all, "{rows:?} {rising}: {}", recovery.report());
    }
}

/// Some writers put the metadata of each chunk behind it: the column path in it decides everything.
#[test]
fn metadata_behind_chunks_tells_columns() {
    for text in [
        "message m { required boolean a; required int64 b; required boolean c; required int64 d; }",
        "message m { required int64 a; required int64 b; required int64 c; }",
        "message m { required int64 a; }",
    ] {
        for (with_metadata, rows) in [(true, &[150, 150][..]), (true, &[90, 90, 90]), (false, &[150, 150])] {
            let style = Style { nulls_from: 0, page_rows: 50, with_metadata, ..PLAIN };
            let good = file_of(text, style, rows);
            let recovery = saved(&good.slice(..footer_start(&good)), &RecoverOptions::default()).unwrap();
            let report = recovery.report();
            assert_eq!(!report.row_groups.is_empty(), with_metadata, "{text} {rows:?}: {report}");
            if with_metadata {
                assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{text} {rows:?}: {report}");
            }
        }
    }
}

/// Chunks that differ from their neighbours, but not from those two further on, belong to twice as many columns.
#[test]
fn columns_that_alternate_are_not_taken_for_one() {
    let text = "message m { required int64 a; required byte_array b; required int32 c; required boolean d;
        required int64 e; required byte_array f; required int32 g; required boolean h; }";
    let good = file_of(text, Style { nulls_from: 0, ..PLAIN }, &[300, 300]);
    let recovery = saved(&good.slice(..footer_start(&good)), &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert!(report.row_groups.is_empty(), "{report}");
    let why = &report.losses[0].why;
    assert!(why.contains("4 columns in 4 row groups, or 8 columns in 2 row groups"), "{report}");
}

/// Four columns in four row groups, or eight columns in two whose kinds repeat: the second is far less likely, and
/// reported.
#[test]
fn a_wider_table_that_is_possible_is_told() {
    let text = "message m { required int64 a; required byte_array b; required int32 c; required boolean d; }";
    let good = file_of(text, Style { nulls_from: 0, ..PLAIN }, &[300, 300, 300, 300]);
    let recovery = saved(&good.slice(..footer_start(&good)), &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{report}");
    let told = report.decisions.iter().find(|decision| decision.what == "not 8 columns in 2 row groups");
    assert_eq!(told.map(|told| told.confidence), Some(Confidence::Low), "{report}");
}

/// V2 pages that compression did not make smaller are stored as they are, in a chunk of any codec: they do not show
/// that there is none.
#[test]
fn pages_that_are_not_compressed_tell_no_codec() {
    for codec in [Codec::Snappy, Codec::Gzip, Codec::Zstd, Codec::Lz4Raw, Codec::Brotli] {
        let good = file(Style { codec, v2: true, stored: true, ..PLAIN }, &[400, 300]);
        let broken = good.slice(..footer_start(&good));
        for options in [given(SCHEMA), RecoverOptions::default()] {
            let recovery = saved(&broken, &options).unwrap();
            assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{codec}: {}", recovery.report());
        }
    }
}

/// Pages of as many rows as writers put into one, of which the last is full or not, in one row group or several.
#[test]
fn columns_are_told_apart_without_a_schema() {
    for (rows, page_rows) in [
        (vec![60_000], 20_000),
        (vec![60_000, 60_000], 20_000),
        (vec![50_000, 30_000], 20_000),
        (vec![45_000, 45_000, 5_000], 5_000),
        (vec![7_000], 20_000),
    ] {
        let good = file(Style { codec: Codec::Snappy, page_rows, ..PLAIN }, &rows);
        let all = contents(&good).unwrap();
        let footer = footer_start(&good);
        // The beginning of the footer shows that the last row group is whole.
        let recovery = saved(&good.slice(..footer + 8), &RecoverOptions::default()).unwrap();
        assert!(recovery.report().rows() > 0, "{rows:?} {page_rows}: {}", recovery.report());
        assert!(rewritten(&recovery) == all, "{rows:?} {page_rows}: {}", recovery.report());
        // With a hole, what is kept is still of the right columns.
        for at in (4..footer - 40_000).step_by(footer / 7) {
            let hole: Vec<u8> = [&good[..at], &vec![0; 40_000], &good[at + 40_000..footer]].concat();
            let Ok(recovery) = saved(&hole.into(), &RecoverOptions::default()) else { continue };
            let report = recovery.report();
            let kept = if report.row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
            for group in kept {
                assert!(all.contains(&group), "{rows:?} {page_rows} hole at {at}: {report}");
            }
        }
    }
}

/// A single row group may have more columns behind the cut. The report has the likeliest schema.
#[test]
fn a_row_group_is_not_taken_for_whole_if_nothing_shows_it() {
    let good = file(Style { codec: Codec::Snappy, ..PLAIN }, &[500]);
    let broken = good.slice(..footer_start(&good));
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert!(report.row_groups.is_empty() && report.schema.is_none(), "{report}");
    assert!(report.losses[0].why.contains("give the schema"), "{report}");
    let (_, text) = report.decisions[0].why.split_once("the likeliest is: ").unwrap();
    let recovery = saved(&broken, &given(text)).unwrap();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
}

/// Full pages of one type may be those of one column or of many: rather none than the wrong ones.
#[test]
fn nothing_is_guessed_where_nothing_tells_columns_apart() {
    let text = "message m { required int64 a; required int64 b; }";
    let good = file_of(text, Style { page_rows: 20_000, nulls_from: 0, ..PLAIN }, &[60_000]);
    let recovery = saved(&good.slice(..footer_start(&good)), &RecoverOptions::default()).unwrap();
    assert!(recovery.report().row_groups.is_empty(), "{}", recovery.report());
    assert!(recovery.report().losses[0].why.contains("give the schema"), "{}", recovery.report());
}

#[test]
fn another_schema_than_the_pages_have_keeps_nothing() {
    let good = file(PLAIN, &[40]);
    let broken = good.slice(..footer_start(&good));
    let recovery = saved(&broken, &given("message m { required int32 a; required int32 b; }")).unwrap();
    assert!(recovery.report().row_groups.is_empty());
    assert!(!recovery.report().losses.is_empty());
}

/// Behind a hole columns that are all alike cannot be identified: nothing is kept rather than the wrong one.
#[test]
fn columns_that_look_alike_are_not_mixed_up_behind_damage() {
    let text = "message m { required int64 a; required int64 b; required double c; }";
    let good = file_of(text, PLAIN, &[40, 40, 31]);
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
    // Pages of 30, 30, 30 and 20, 20, 20 rows prove nothing; with 30, 30, 31 rows the end of each chunk shows.
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

/// Columns of one width without dictionaries: only the lengths of pages show where one ends. Kept rows must be those
/// that were written, whichever row groups there are and wherever the file is cut. If the last page of each chunk is
/// shorter than the others, all must be found.
#[test]
fn columns_of_one_width_are_never_taken_for_each_other() {
    let mut kept = 0;
    for text in [
        "message m { required int64 a; required int64 b; }",
        "message m { required int64 a; required double b; required double c; }",
        "message m { required double a; required double b; required double c; required double d; }",
    ] {
        for (rows, is_clear) in [
            (vec![35, 35], true),
            (vec![25, 25, 25, 25], true),
            (vec![55, 55, 35], true),
            (vec![33, 33, 33], true),
            (vec![40, 40], false),
            (vec![20, 20, 20, 20], false),
            (vec![20, 35, 20, 35], false),
            (vec![15, 15], false),
            (vec![55, 55, 15], false),
        ] {
            for v2 in [false, true] {
                let good = file_of(text, Style { v2, nulls_from: 0, page_rows: 20, ..PLAIN }, &rows);
                let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
                let cuts = (4..footer).step_by(61).chain([footer, good.len() - 1]);
                for (len, partial) in cuts.flat_map(|len| [(len, false), (len, true)]) {
                    let options = given(text).with_partial(partial);
                    let Ok(recovery) = saved(&good.slice(..len), &options) else { continue };
                    let report = recovery.report();
                    let groups = if report.row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
                    for group in &groups {
                        assert!(all.contains(group), "{text} {rows:?} cut at {len}: {report}");
                    }
                    if is_clear && len >= footer {
                        assert_eq!(groups, all, "{text} {rows:?} cut at {len}: {report}");
                    }
                    kept += groups.len();
                }
            }
        }
    }
    assert!(kept > 1000, "{kept}");
}

/// One column cannot be taken for another: where its row groups end does not matter.
#[test]
fn a_lone_column_is_found_to_the_last_page() {
    let text = "message m { required int64 a; }";
    for rows in [vec![35, 35], vec![40, 40, 40], vec![15]] {
        let good = file_of(text, Style { page_rows: 20, ..PLAIN }, &rows);
        let recovery = saved(&good.slice(..footer_start(&good)), &given(text)).unwrap();
        let cells = |groups: Vec<Vec<String>>| {
            let numbers = |text: String| text.split_once("] [[").unwrap().1.replace("]]", "], [");
            groups.into_iter().flatten().map(numbers).collect::<String>()
        };
        assert_eq!(cells(rewritten(&recovery)), cells(contents(&good).unwrap()), "{}", recovery.report());
    }
}

/// The same, with columns that can be null, so that a part of a row group can be kept.
#[test]
fn parts_of_row_groups_are_of_the_right_columns() {
    let text = "message m { optional double a; optional double b; optional double c; optional double d; }";
    let (mut kept, mut whole) = (0, 0);
    for rows in [vec![35, 35], vec![55, 55], vec![40, 40], vec![15, 15, 15]] {
        let good = file_of(text, Style { nulls_from: 1000, page_rows: 20, ..PLAIN }, &rows);
        let (all, footer) = (contents(&good).unwrap(), footer_start(&good));
        for len in 4..footer {
            let options = given(text).with_partial(true);
            let Ok(recovery) = saved(&good.slice(..len), &options) else { continue };
            let report = recovery.report();
            let groups = if report.row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
            for (group, about) in groups.iter().zip(&report.row_groups) {
                let columns = ["a", "b", "c", "d"].iter().enumerate();
                let there: Vec<usize> = columns
                    .filter(|(_, name)| !about.nulls.iter().any(|lost| lost == *name))
                    .map(|(i, _)| i)
                    .collect();
                let is_right = all.iter().any(|good| there.iter().all(|&i| good[i] == group[i]));
                assert!(is_right, "{rows:?} cut at {len}: {report}");
                kept += 1;
                whole += usize::from(there.len() == 4);
            }
        }
    }
    assert!(whole > 100 && kept > whole + 100, "{kept} {whole}");
}
