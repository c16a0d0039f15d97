//! Columns that contradict each other, the schema or the footer: a row group that no reader could read is not kept, and values that may be
//! wrong are told.

use crate::chunk::file::footer;
use crate::sample::{contents, footer_start, given, rewritten, saved};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, FileWriter, PageVersion, Workspace,
};
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{
    DataPageHeaderV2, Encoding, FooterTail, OffsetIndex, PageEncodingStats, PageHeader, PageType, Reader,
    Writer, parse_metadata,
};
use marquetry_recover::{Confidence, RecoverOptions, Report};

/// Definition levels, repetition levels and values of a column of INT32.
#[derive(Clone)]
struct Levels {
    def: Vec<u8>,
    rep: Vec<u8>,
    values: Vec<u32>,
}

fn column(def: &[u8], rep: &[u8], max_def: u8) -> Levels {
    let values = (0..def.iter().filter(|level| **level == max_def).count() as u32).map(|i| i * 7 % 50);
    Levels { def: def.to_vec(), rep: rep.to_vec(), values: values.collect() }
}

/// A file of these row groups, whose columns have `rows` rows.
fn file(schema: &str, checksums: bool, rows: usize, groups: &[Vec<Levels>]) -> Bytes {
    let schema = Schema::parse(schema).unwrap();
    let settings = ColumnSettings::default()
        .with_codec(Codec::Uncompressed)
        .with_level(None)
        .with_encoding(EncodingPolicy::Auto { dictionary: false })
        .with_checksums(checksums);
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
    let mut workspace = Workspace::default();
    for group in groups {
        let chunks = group.iter().zip(schema.columns()).map(|(levels, leaf)| {
            let def = match leaf.max_def() {
                0 => DefinitionLevels::Max,
                _ => DefinitionLevels::Levels(levels.def.clone()),
            };
            let values = ColumnValues::Values(Values::W32(levels.values.clone()));
            let column = match leaf.max_rep() {
                0 => ShreddedColumn::flat(rows, def, values),
                _ => ShreddedColumn::nested(rows, def, levels.rep.clone(), values),
            };
            let mut writer = ColumnWriter::new(leaf, &settings).unwrap();
            writer.write(&column, &mut workspace).unwrap();
            writer.close(&mut workspace).unwrap().0
        });
        file.write_row_group(rows as u64, chunks.collect(), None).unwrap();
    }
    file.finish().unwrap().0.into()
}

const STRUCT: &str =
    "message m { optional group point { required int32 x; optional int32 y; } optional int32 n; }";
const LIST: &str = "message m {
  optional group points (LIST) { repeated group list { optional group element { required int32 x; optional int32 y; } } }
  required int32 n;
}";
const MAP: &str = "message m {
  optional group numbers (MAP) { repeated group key_value { required int32 key; optional int32 value; } }
  required int32 n;
}";

/// A schema, a row group that is right, and one whose columns are nested in different ways.
fn nested() -> Vec<(&'static str, [Vec<Levels>; 2])> {
    let n = column(&[1, 1, 0, 1], &[], 1);
    let required = column(&[0; 4], &[], 0);
    let x = column(&[1, 0, 1, 1], &[], 1);
    let (rep, other_rep) = ([0, 1, 0, 0, 0], [0, 0, 1, 0, 0]);
    let points = column(&[3, 2, 3, 0, 1], &rep, 3);
    let keys = column(&[2, 2, 2, 0, 1], &rep, 2);
    vec![
        (
            STRUCT,
            [
                vec![x.clone(), column(&[2, 0, 1, 2], &[], 2), n.clone()],
                vec![x, column(&[2, 1, 1, 2], &[], 2), n],
            ],
        ),
        (
            LIST,
            [
                vec![points.clone(), column(&[4, 2, 3, 0, 1], &rep, 4), required.clone()],
                vec![points, column(&[4, 3, 2, 0, 1], &other_rep, 4), required.clone()],
            ],
        ),
        (
            MAP,
            [
                vec![keys.clone(), column(&[3, 2, 3, 0, 1], &rep, 3), required.clone()],
                vec![keys, column(&[3, 2, 3, 2], &[0, 0, 0, 0], 3), required],
            ],
        ),
    ]
}

#[test]
fn columns_of_a_group_that_disagree_are_not_kept() {
    for (schema, [good, bad]) in nested() {
        for checksums in [true, false] {
            let broken = file(schema, checksums, 4, &[good.clone(), bad.clone(), good.clone()]);
            let all = contents(&broken).unwrap();
            for (bytes, options) in [
                (broken.clone(), RecoverOptions::default()),
                (broken.slice(..footer_start(&broken)), given(schema)),
            ] {
                let recovery = saved(&bytes, &options).unwrap();
                let report = recovery.report();
                assert_eq!(rewritten(&recovery), [all[0].clone(), all[2].clone()], "{schema}: {report}");
                let [lost] = &report.losses[..] else { panic!("{report}") };
                assert!(lost.why.contains("not nested as column"), "{report}");
                assert_eq!(lost.rows, Some(4));
            }
        }
    }
}

/// The whole field is lost, not one of its columns.
#[test]
fn a_group_that_disagrees_becomes_null() {
    let (schema, [good, bad]) = nested().remove(0);
    let broken = file(schema, false, 4, &[good, bad]);
    let recovery = saved(&broken, &RecoverOptions::default().with_partial(true)).unwrap();
    let (report, groups) = (recovery.report(), rewritten(&recovery));
    assert_eq!(report.row_groups[1].nulls, ["point.x", "point.y"], "{report}");
    assert!(groups[1][1].starts_with("[0, 0, 0, 0]"), "{}", groups[1][1]);
    assert_eq!(groups[1][2], contents(&broken).unwrap()[1][2]);
}

/// A list continues whose levels state that it has no element.
#[test]
fn levels_that_contradict_each_other_are_not_kept() {
    let schema = "message m { optional group a { repeated int32 tag; } required int32 n; }";
    let n = column(&[0; 4], &[], 0);
    let good = vec![column(&[2, 2, 1, 0, 2], &[0, 1, 0, 0, 0], 2), n.clone()];
    let bad = vec![column(&[2, 1, 1, 0, 2], &[0, 1, 0, 0, 0], 2), n];
    let broken = file(schema, false, 4, &[good, bad]);
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    assert_eq!(rewritten(&recovery), contents(&broken).unwrap()[..1], "{report}");
    assert!(report.losses[0].why.contains("repetition level 1 and definition level 1"), "{report}");
}

fn tells(report: &Report, what: &str) -> bool {
    report.decisions.iter().any(|decision| decision.what.contains(what))
}

/// The largest value that each type allows, and one beyond it; -1 is not a time.
#[test]
fn values_that_the_schema_forbids_are_doubted() {
    for (annotation, most, over) in [
        ("INTEGER(8,false)", 255, 838_860_947),
        ("INTEGER(8,true)", 127, 128),
        ("TIME(MILLIS,true)", 86_400_000, u32::MAX),
        ("DECIMAL(5,2)", 99_999, 100_000),
    ] {
        let schema = format!("message m {{ optional int32 n ({annotation}); required int32 id; }}");
        let with = |value: u32| {
            let mut n = column(&[1, 0, 1], &[], 1);
            n.values[1] = value;
            vec![n, column(&[0; 3], &[], 0)]
        };
        for checksums in [true, false] {
            let bytes = file(&schema, checksums, 3, &[with(most), with(over)]);
            let all = contents(&bytes).unwrap();
            let cut = bytes.slice(..footer_start(&bytes));
            for (bytes, options, least) in [
                (&bytes, RecoverOptions::default(), Confidence::Low),
                (&cut, given(&schema), Confidence::Medium),
            ] {
                let recovery = saved(bytes, &options).unwrap();
                let report = recovery.report();
                assert_eq!(rewritten(&recovery), all, "{report}");
                let [first, second] = &report.row_groups[..] else { panic!("{report}") };
                assert!(!first.why.contains("does not allow"), "{report}");
                // A checksum proves that the value was written like this.
                assert_eq!(tells(report, "the values of n in the row group"), !checksums, "{report}");
                assert_eq!(second.why.contains("does not allow"), !checksums, "{report}");
                assert!(checksums || second.confidence >= least, "{report}");
            }
        }
    }
}

#[test]
fn a_key_of_a_map_that_is_null_is_doubted() {
    let schema = "message m { optional group a (MAP) { repeated group key_value { optional int32 key; optional int32 value; } } }";
    let keys = |last: u8| column(&[3, 3, last, 0, 1], &[0, 1, 0, 0, 0], 3);
    let values = column(&[3, 2, 3, 0, 1], &[0, 1, 0, 0, 0], 3);
    let bytes = file(schema, false, 4, &[vec![keys(3), values.clone()], vec![keys(2), values]]);
    let recovery = saved(&bytes, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    let confidences: Vec<_> = report.row_groups.iter().map(|group| group.confidence).collect();
    assert_eq!(confidences, [Confidence::High, Confidence::Low], "{report}");
    assert_eq!(rewritten(&recovery), contents(&bytes).unwrap());
}

/// The encoding in a page header is in no checksum: either it is wrong, or the footer is.
#[test]
fn counts_of_pages_that_are_wrong_are_left_out() {
    let group = || vec![column(&[1, 0, 1], &[], 1), column(&[0; 3], &[], 0)];
    let good = file("message m { optional int32 n; required int32 id; }", true, 3, &[group(), group()]);
    let start = footer_start(&good);
    let mut metadata = parse_metadata(&good[start..], &Limits::default()).unwrap();
    let stats =
        |encoding| Some(vec![PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count: 1 }]);
    for (group, encoding) in metadata.row_groups.iter_mut().zip([Encoding::PLAIN, Encoding::RLE_DICTIONARY]) {
        group.columns[0].meta_data.as_mut().unwrap().encoding_stats = stats(encoding);
    }
    let new_footer = footer(&metadata);
    let tail = FooterTail::Plain { metadata_len: new_footer.len() as u32 }.to_bytes();
    let broken = Bytes::from([&good[..start], &new_footer, &tail].concat());
    let recovery = saved(&broken, &RecoverOptions::default()).unwrap();
    let report = recovery.report();
    let confidences: Vec<_> = report.row_groups.iter().map(|group| group.confidence).collect();
    assert_eq!(confidences, [Confidence::Exact, Confidence::Low], "{report}");
    assert!(tells(report, "the counts of pages by encoding of n in the row group at byte"), "{report}");
    let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
    assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
    let new = read_metadata(&new, &Limits::default()).unwrap().metadata;
    let has_stats = |group: usize| new.row_group(group).column(0).unwrap().encoding_stats().is_some();
    assert_eq!([has_stats(0), has_stats(1)], [true, false]);
}

/// Numbers of nulls and rows in the header of a V2 page are in no checksum, and a reader that trusts them returns other
/// rows.
#[test]
fn counts_in_headers_of_v2_pages_that_are_wrong_are_told_and_made_again() {
    let good = crate::beside_pages::file(true, PageVersion::V2);
    let metadata = read_metadata(&good, &Limits::default()).unwrap().metadata;
    let price = metadata.row_group(1).column(1).unwrap().byte_range().unwrap();
    let header =
        |bytes: &[u8]| PageHeader::read(&mut Reader::new(bytes)).unwrap().data_page_header_v2.unwrap();
    let said = header(&good[price.start as usize..]);
    let mut changed = 0;
    for at in price.start as usize..price.start as usize + 40 {
        let mut broken = good.to_vec();
        broken[at] ^= 2;
        let Ok(read) = PageHeader::read(&mut Reader::new(&broken[price.start as usize..])) else { continue };
        let Some(new) = read.data_page_header_v2 else { continue };
        let is_same =
            DataPageHeaderV2 { num_nulls: said.num_nulls, num_rows: said.num_rows, ..new.clone() } == said;
        if new == said || !is_same {
            continue;
        }
        changed += 1;
        let recovery = saved(&broken.into(), &RecoverOptions::default()).unwrap();
        let report = recovery.report();
        assert!(
            tells(report, "the counts in headers of pages of price in the row group"),
            "byte {at}: {report}"
        );
        assert_eq!(report.row_groups[1].confidence, Confidence::Low, "byte {at}: {report}");
        assert_eq!(report.row_groups[0].confidence, Confidence::Exact, "byte {at}: {report}");
        // In the new file they agree with the levels, for readers that trust them.
        let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
        let metadata = read_metadata(&new, &Limits::default()).unwrap().metadata;
        let price = metadata.row_group(1).column(1).unwrap().byte_range().unwrap();
        assert_eq!(header(&new[price.start as usize..]), said, "byte {at}: {report}");
        assert_eq!(contents(&new).unwrap(), contents(&good).unwrap(), "byte {at}: {report}");
    }
    assert!(changed >= 2, "{changed}");
}

/// Byte counts of byte strings in an offset index.
#[test]
fn an_offset_index_that_counts_other_bytes_is_made_again() {
    for checksums in [true, false] {
        let schema = Schema::parse("message m { required byte_array s; }").unwrap();
        let settings = ColumnSettings::default().with_codec(Codec::Uncompressed).with_level(None);
        let mut strings = StringViews::new();
        [&b"ab"[..], b"abc", b""].iter().for_each(|string| strings.push(string));
        let values = ColumnValues::Values(Values::Bytes(strings));
        let column = ShreddedColumn::flat(3, DefinitionLevels::Max, values);
        let mut writer = ColumnWriter::new(schema.column(0), &settings.with_checksums(checksums)).unwrap();
        writer.write(&column, &mut Workspace::default()).unwrap();
        let chunk = writer.close(&mut Workspace::default()).unwrap().0;
        let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
        file.write_row_group(3, vec![chunk], None).unwrap();
        let mut bytes: Vec<u8> = file.finish().unwrap().0;

        let places = |bytes: &Bytes| {
            let metadata = read_metadata(bytes, &Limits::default()).unwrap().metadata;
            let range = metadata.row_group(0).column(0).unwrap().offset_index_range().unwrap();
            let range = range.start as usize..range.end as usize;
            (OffsetIndex::read(&mut Reader::new(&bytes[range.clone()])).unwrap(), range)
        };
        let (mut index, range) = places(&Bytes::from(bytes.clone()));
        assert_eq!(index.unencoded_byte_array_data_bytes, Some(vec![5]));
        index.unencoded_byte_array_data_bytes = Some(vec![4]);
        let mut writer = Writer::new();
        index.write(&mut writer);
        bytes[range].copy_from_slice(&writer.finish());

        let recovery = saved(&bytes.into(), &RecoverOptions::default()).unwrap();
        let report = recovery.report();
        assert!(tells(report, "the offset index of s in the row group at byte 4 is made again"), "{report}");
        let least = if checksums { Confidence::Exact } else { Confidence::Low };
        assert_eq!(report.row_groups[0].confidence, least, "{report}");
        let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
        assert_ne!(places(&new).0.unencoded_byte_array_data_bytes, Some(vec![4]));
    }
}

/// parquet-cpp counts the bytes that it stores of strings in DELTA_BYTE_ARRAY, and is known for it by its name. The new
/// file has another name: it has no such counts, but everything else.
#[test]
fn counts_of_suffixes_are_left_out() {
    let schema = Schema::parse("message m { optional byte_array s; }").unwrap();
    for (created_by, why) in [
        ("parquet-cpp-arrow version 26.0.0", "the counts of the bytes of strings"),
        ("other", "the size statistics"),
    ] {
        let settings = ColumnSettings::default()
            .with_codec(Codec::Uncompressed)
            .with_level(None)
            .with_encoding(EncodingPolicy::Only(Encoding::DELTA_BYTE_ARRAY.0));
        let mut strings = StringViews::new();
        [&b"prefix 1"[..], b"prefix 2", b"prefix 3"].iter().for_each(|string| strings.push(string));
        let values = ColumnValues::Values(Values::Bytes(strings));
        let column = ShreddedColumn::flat(4, DefinitionLevels::Levels(vec![1, 0, 1, 1]), values);
        let mut writer = ColumnWriter::new(schema.column(0), &settings).unwrap();
        writer.write(&column, &mut Workspace::default()).unwrap();
        let mut chunk = writer.close(&mut Workspace::default()).unwrap().0;
        let sizes = chunk.metadata.size_statistics.as_mut().unwrap();
        assert_eq!(sizes.unencoded_byte_array_data_bytes.replace(10), Some(24));
        let histogram = Some(vec![1, 3]);
        sizes.definition_level_histogram = histogram.clone();
        chunk.offset_index.as_mut().unwrap().unencoded_byte_array_data_bytes = Some(vec![10]);
        let file_settings = FileSettings::default().with_created_by(Some(created_by.into()));
        let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), file_settings).unwrap();
        file.write_row_group(4, vec![chunk], None).unwrap();
        let good: Bytes = file.finish().unwrap().0.into();

        let recovery = saved(&good, &RecoverOptions::default()).unwrap();
        let report = recovery.report();
        assert!(tells(report, &format!("{why} of s in the row group at byte 4 are left out")), "{report}");
        let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
        assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
        let metadata = read_metadata(&new, &Limits::default()).unwrap().metadata;
        let chunk = metadata.row_group(0).column(0).unwrap();
        let sizes = chunk.meta_data().unwrap().size_statistics;
        assert_eq!(sizes.as_ref().and_then(|sizes| sizes.unencoded_byte_array_data_bytes), None);
        let is_quirk = created_by != "other";
        assert_eq!(sizes.and_then(|sizes| sizes.definition_level_histogram), histogram.filter(|_| is_quirk));
        let range = chunk.offset_index_range().unwrap();
        let index =
            OffsetIndex::read(&mut Reader::new(&new[range.start as usize..range.end as usize])).unwrap();
        assert_eq!(index.unencoded_byte_array_data_bytes, None);
        assert_eq!(tells(report, "the offset index of s"), !is_quirk, "{report}");
    }
}
