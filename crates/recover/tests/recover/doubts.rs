//! A footer that contradicts itself: it has no checksum, so what it says may be damaged though it can be read.

use crate::key_values::with_footer;
use crate::sample::{PLAIN, Style, contents, file_of, footer_start, given, rewritten, saved};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_core::io::read_metadata;
use marquetry_format::{
    ColumnOrder, ConvertedType, FileMetaData, LogicalType, SchemaElement, ThriftString, TimeUnit, Type,
};
use marquetry_recover::{Confidence, RecoverOptions, Report, SchemaOrigin};

const TEXT: &str = "message m {
  required int64 id;
  optional byte_array name (STRING);
  optional int32 day (DATE);
  required int64 at (TIMESTAMP(MICROS, true));
}";

/// Recovers a file with a damaged footer, all of whose values come back.
fn damaged(change: impl FnOnce(&mut FileMetaData)) -> (Report, Vec<SchemaElement>) {
    let good = file_of(TEXT, PLAIN, &[40, 30]);
    let recovery = saved(&with_footer(&good, change), &RecoverOptions::default()).unwrap();
    assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{}", recovery.report());
    (recovery.report().clone(), recovery.schema().to_vec())
}

#[track_caller]
fn assert_doubted(report: &Report, what: &str, why: &str) {
    let told = report.decisions.iter().find(|decision| decision.what.contains(what)).expect(what);
    assert!(told.why.contains(why) && told.confidence == Confidence::Medium, "{report}");
    let is_doubted = |confidence| confidence >= Confidence::Medium;
    assert!(report.row_groups.iter().all(|group| is_doubted(group.confidence)), "{report}");
    assert!(
        report.row_groups.iter().all(|group| group.why.contains("schema that may be damaged")),
        "{report}"
    );
}

#[test]
fn nothing_is_doubted_without_a_reason() {
    let (report, _) = damaged(|_| {});
    assert_eq!(report.decisions.len(), 1, "{report}");
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Exact), "{report}");
}

#[test]
fn names_that_chunks_do_not_have() {
    let (report, schema) = damaged(|footer| footer.schema[1].name = "if".into());
    assert_doubted(&report, "column if is not called id", "chunks of it are called so");
    assert_eq!(&*schema[1].name, "if");
    // A name that is not text is replaced by that of the chunks.
    let (report, schema) = damaged(|footer| footer.schema[2].name = ThriftString::from_bytes(b"n\xe1me"));
    assert_doubted(&report, "is called name", "is not text");
    assert_eq!(&*schema[2].name, "name");
    // A different name in a single chunk is only reported.
    let (report, schema) = damaged(|footer| {
        let meta = footer.row_groups[1].columns[0].meta_data.as_mut().unwrap();
        meta.path_in_schema = vec!["it".into()];
    });
    assert!(report.decisions[1].what.contains("column id is not called it"), "{report}");
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Exact), "{report}");
    assert_eq!(&*schema[1].name, "id");
}

#[test]
fn annotations_that_contradict_each_other() {
    let (report, _) =
        damaged(|footer| footer.schema[4].converted_type = Some(ConvertedType::TIMESTAMP_MILLIS));
    assert_doubted(&report, "at means Timestamp", "its older annotation means Timestamp");
}

/// Integers of 8 bits, with one bit of the annotation flipped.
#[test]
fn an_annotation_that_the_writer_does_not_have() {
    let lone_millis = |footer: &mut FileMetaData, writer: &str| {
        footer.created_by = Some(writer.into());
        (footer.schema[3].logical_type, footer.schema[3].converted_type) =
            (None, Some(ConvertedType::TIME_MILLIS));
    };
    let (report, _) = damaged(|footer| lone_millis(footer, "DuckDB version v2.0.1 (build 8d78114e90)"));
    assert_doubted(&report, "day has times in milliseconds", "DuckDB's times are in microseconds");
    let (report, _) = damaged(|footer| lone_millis(footer, "parquet-mr version 1.8.1 (build 4aba4da)"));
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Exact), "{report}");
}

/// Readers refuse them.
#[test]
fn annotations_that_do_not_fit_are_left_out() {
    let (report, schema) = damaged(|footer| footer.schema[3].converted_type = Some(ConvertedType::UTF8));
    assert_doubted(&report, "an annotation of day is left out", "does not fit");
    assert_eq!((schema[3].converted_type, &schema[3].logical_type), (None, &Some(LogicalType::Date)));
    let (report, schema) = damaged(|footer| {
        footer.schema[3].logical_type = Some(LogicalType::Decimal { scale: 9, precision: 4 });
        footer.schema[3].converted_type = None;
    });
    assert_doubted(&report, "an annotation of day is left out", "does not fit");
    assert_eq!(schema[3].logical_type, None);
    let unit = TimeUnit::Unknown(9);
    let wrong = LogicalType::Timestamp { is_adjusted_to_utc: true, unit };
    let (report, schema) = damaged(|footer| footer.schema[4].logical_type = Some(wrong));
    assert_doubted(&report, "an annotation of at is left out", "does not fit");
    assert_eq!(schema[4].logical_type, None);
    assert_eq!(schema[4].converted_type, Some(ConvertedType::TIMESTAMP_MICROS));
}

#[test]
fn a_type_that_chunks_do_not_have() {
    let (report, _) = damaged(|footer| footer.schema[1].type_ = Some(Type::DOUBLE));
    assert_doubted(&report, "column id is of DOUBLE", "its chunks are of INT64");
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Low), "{report}");
}

/// DIA-NN ends in a row group without rows, none of whose places is right.
#[test]
fn a_row_group_without_rows_is_no_loss() {
    let (report, _) = damaged(|footer| {
        let mut empty = footer.row_groups[1].clone();
        empty.num_rows = 0;
        for meta in empty.columns.iter_mut().flat_map(|column| &mut column.meta_data) {
            (meta.num_values, meta.data_page_offset) = (0, -1);
        }
        footer.row_groups.push(empty);
    });
    assert!(report.losses.is_empty(), "{report}");
}

/// An unknown field, as a flipped bit in a field's number results in.
#[test]
fn what_is_not_known_of_a_schema() {
    let good = file_of(TEXT, PLAIN, &[40, 30]);
    let start = footer_start(&good);
    // The older annotation of `name`: field 6, two behind the name.
    let at = start + good[start..].windows(6).position(|bytes| bytes == b"name\x25\x00").unwrap() + 4;
    let mut broken = good.to_vec();
    broken[at] ^= 0x80;
    let recovery = saved(&broken.into(), &RecoverOptions::default()).unwrap();
    assert_doubted(recovery.report(), "what is not known here", "damaged");
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
}

#[test]
fn another_schema_than_the_one_that_is_given() {
    let good = file_of(TEXT, PLAIN, &[40, 30]);
    let same = saved(&good, &given(TEXT)).unwrap();
    assert_eq!(same.report().decisions.len(), 1, "{}", same.report());
    let other = saved(&good, &given(&TEXT.replace("(DATE)", ""))).unwrap();
    assert_doubted(other.report(), "not the one that was given", "they differ first in day and day");
    assert_eq!(rewritten(&other), contents(&good).unwrap());
}

/// There is one order of bounds for each column, or none.
#[test]
fn orders_of_other_columns_are_left_out() {
    let good = crate::beside_pages::file(true, marquetry_core::write::PageVersion::V1);
    let broken = with_footer(&good, |footer| footer.column_orders = Some(vec![ColumnOrder::TypeOrder; 99]));
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let told = recovery.report().decisions.iter().any(|decision| decision.what.contains("orders of columns"));
    assert!(told, "{}", recovery.report());
    let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
    let metadata = read_metadata(&new, &Limits::default()).unwrap().metadata;
    assert!(metadata.column_orders().is_none_or(|orders| orders.len() == metadata.schema().num_columns()));
    let statistics = metadata.row_group(0).column(0).unwrap().statistics();
    assert!(statistics.is_none_or(|said| said.min_value.is_none()));
    assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
}

/// The place of a chunk is that of another with as many rows: all values can be decoded, but belong to another column.
#[test]
fn chunks_at_the_same_place() {
    let schema = "message m { required int64 a; required int64 b; }";
    let good = file_of(schema, Style { checksums: true, ..PLAIN }, &[40, 30]);
    let broken = with_footer(&good, |footer| {
        let columns = &mut footer.row_groups[1].columns;
        let (first, second) = columns.split_at_mut(1);
        let place = first[0].meta_data.as_ref().unwrap().clone();
        let meta = second[0].meta_data.as_mut().unwrap();
        meta.data_page_offset = place.data_page_offset;
        meta.total_compressed_size = place.total_compressed_size;
    });
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    let expected = [Confidence::Exact, Confidence::Low];
    assert!(report.row_groups.iter().map(|group| group.confidence).eq(expected), "{report}");
    let why = &report.row_groups[1].why;
    assert!(
        why.contains("bytes of a are also those of b") || why.contains("bytes of b are also those of a"),
        "{why}"
    );
}

/// The bytes behind the schema cannot be read to the end: the schema is used, unless one is given.
#[test]
fn a_footer_that_is_damaged_behind_its_schema() {
    let good = file_of(TEXT, PLAIN, &[40, 30]);
    let start = footer_start(&good);
    let at = start + good[start..].windows(3).position(|bytes| bytes == b"\x16\x8c\x01").unwrap();
    let mut broken = good.to_vec();
    // The list of row groups, of what is not a type.
    broken[at + 4] = 0x1f;
    let broken = Bytes::from(broken);
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert_eq!(report.schema, Some(SchemaOrigin::Footer), "{report}");
    assert!(report.decisions[0].why.contains("damaged behind its schema"), "{report}");
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Medium), "{report}");
    assert_eq!(rewritten(&recovery), contents(&good).unwrap(), "{report}");
    assert_eq!(recovery.schema(), saved(&good, &RecoverOptions::default()).unwrap().schema());
    let recovery = saved(&broken, &given(TEXT)).unwrap();
    assert_eq!(recovery.report().schema, Some(SchemaOrigin::Text), "{}", recovery.report());
    assert_eq!(rewritten(&recovery), contents(&good).unwrap());
}

/// A name that claims to be longer swallows what comes behind it: that is not a schema. Whatever bit is wrong, no other
/// values are called certain.
#[test]
fn any_bit_of_a_schema() {
    let good = file_of(TEXT, PLAIN, &[40, 30]);
    let (start, all) = (footer_start(&good), contents(&good).unwrap());
    let end = start + good[start..].windows(3).position(|bytes| bytes == b"\x16\x8c\x01").unwrap();
    let schema = saved(&good, &RecoverOptions::default()).unwrap().schema().to_vec();
    let mut by_footer = 0;
    for bit in (start + 4) * 8..end * 8 {
        let mut broken = good.to_vec();
        broken[bit / 8] ^= 1 << (bit % 8);
        let Ok(recovery) = saved(&broken.into(), &RecoverOptions::default()) else { continue };
        let report = recovery.report();
        if report.schema != Some(SchemaOrigin::Footer) || report.row_groups.is_empty() {
            continue;
        }
        by_footer += 1;
        let is_name =
            |name: &str| !name.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER);
        assert!(recovery.schema().iter().all(|element| is_name(&element.name)), "bit {bit}: {report}");
        // Nothing else says whether times are those of UTC.
        let mut named = recovery.schema()[1..].to_vec();
        if let Some(LogicalType::Timestamp { is_adjusted_to_utc, .. }) = &mut named[3].logical_type {
            *is_adjusted_to_utc = true;
        }
        let is_right = named == schema[1..] && rewritten(&recovery) == all;
        let is_certain = report.row_groups.iter().any(|group| group.confidence < Confidence::Medium);
        assert!(
            is_right || !is_certain,
            "bit {} of the footer: {report}\n{:?}",
            bit - start * 8,
            recovery.schema()
        );
    }
    assert!(by_footer > 100, "{by_footer}");
}

/// A flipped bit in the number of a field made it an older annotation.
#[test]
fn digits_of_what_is_no_decimal() {
    let (report, _) = damaged(|footer| footer.schema[1].scale = Some(17));
    assert_doubted(&report, "id is not a decimal", "scale or precision");
}

/// Metadata behind a chunk names its column: behind a cut come other columns of the row group than the first.
#[test]
fn columns_behind_a_cut_are_not_taken_for_the_first() {
    let alike = "message m { optional int64 a; optional int64 b; optional int64 c; optional int64 d; optional int64 e; }";
    let required = "message m { required int64 a; required int64 b; required int64 c; required int64 d; }";
    let kinds = "message m { required int64 a; required int64 b; required int32 c; required int64 d; required int64 e; required int32 f; }";
    let mut found = 0;
    for schema in [alike, required, kinds] {
        for (page_rows, rows) in [(0, &[40][..]), (16, &[40]), (40, &[40]), (16, &[40, 40]), (40, &[40, 40])]
        {
            let good = file_of(schema, Style { with_metadata: true, page_rows, ..PLAIN }, rows);
            let metadata = read_metadata(&good, &Limits::default()).unwrap().metadata;
            let first = metadata.row_group(0).column(0).unwrap().byte_range().unwrap().end as usize;
            let all = contents(&good).unwrap();
            // Nothing is cut, or all of the first chunk except its metadata.
            for (cut, is_partial) in [(4, true), (first, false), (first, true)] {
                let broken: Bytes = [b"PAR1", &good[cut..footer_start(&good)]].concat().into();
                let options = given(schema).with_partial(is_partial);
                let recovery = saved(&broken, &options).unwrap();
                let report = recovery.report();
                for (group, kept) in rewritten(&recovery).iter().zip(&report.row_groups) {
                    let names = metadata.schema().columns().iter().map(|leaf| leaf.name().to_owned());
                    for (column, name) in names.enumerate().filter(|(_, name)| !kept.nulls.contains(name)) {
                        found += 1;
                        let is_of = all.iter().any(|row_group| row_group[column] == group[column]);
                        assert!(is_of, "{name} of {schema}, pages of {page_rows}: {report}");
                    }
                }
            }
        }
    }
    assert!(found > 0);
}
