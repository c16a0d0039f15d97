//! Statistics, indexes and bloom filters that are damaged: the new file loses no row in a query, and the report tells.

use crate::sample::contents;
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::predicate::{Predicate, col};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use marquetry_core::schema::Schema;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::write::{
    BloomSettings, ColumnSettings, ColumnWriter, EncodingPolicy, FileSettings, FileWriter, PageVersion,
    Workspace,
};
use marquetry_encoding::Values;
use marquetry_recover::{Confidence, RecoverOptions, Recovery, Report, recover};
use std::ops::Range;
use std::sync::Arc;

pub(crate) const ROWS: usize = 60;
pub(crate) const PAGE_ROWS: usize = 12;
pub(crate) const SCHEMA: &str =
    "message m { required int64 id; optional double price; optional group a { repeated int32 tag; } }";

pub(crate) fn id(row: usize) -> i64 {
    (row * 37 % ROWS) as i64 * 1_000_003 - 7_000_000
}

fn price(row: usize) -> Option<f64> {
    (row % 5 != 2 && row / PAGE_ROWS != 3).then(|| [0.5, -7.25, 1e9, 3.0][row % 4] * (row as f64 + 1.0))
}

/// Two row groups, each of 5 pages, with all statistics, indexes and filters.
pub(crate) fn file(checksums: bool, version: PageVersion) -> Bytes {
    let schema = Schema::parse(SCHEMA).unwrap();
    let settings = ColumnSettings::default()
        .with_codec(Codec::Uncompressed)
        .with_level(None)
        .with_encoding(EncodingPolicy::Auto { dictionary: false })
        .with_page_rows(PAGE_ROWS)
        .with_page_version(version)
        .with_checksums(checksums)
        .with_page_header_statistics(true)
        .with_bloom(Some(BloomSettings::new(0.01)));
    let orders = schema.columns().iter().map(|leaf| SortOrder::for_writing(leaf, false).1).collect();
    let file_settings = FileSettings::default().with_column_orders(Some(orders));
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), file_settings).unwrap();
    let (mut workspace, values) = (Workspace::default(), ColumnValues::Values);
    for _ in 0..2 {
        let ids = (0..ROWS).map(|row| id(row) as u64).collect();
        let ids = ShreddedColumn::flat(ROWS, DefinitionLevels::Max, values(Values::W64(ids)));
        let def = (0..ROWS).map(|row| u8::from(price(row).is_some())).collect();
        let prices = (0..ROWS).filter_map(price).map(f64::to_bits).collect();
        let prices = ShreddedColumn::flat(ROWS, DefinitionLevels::Levels(def), values(Values::W64(prices)));
        // Lists that are null, empty, and of three elements, by turns.
        let (mut def, mut rep, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..ROWS {
            let (defs, reps): (&[u8], &[u8]) =
                [(&[0u8][..], &[0u8][..]), (&[1], &[0]), (&[2; 3], &[0, 1, 1])][row % 3];
            def.extend(defs);
            rep.extend(reps);
            tags.extend(defs.iter().filter(|def| **def == 2).map(|_| row as u32 * 11));
        }
        let tags =
            ShreddedColumn::nested(ROWS, DefinitionLevels::Levels(def), rep, values(Values::W32(tags)));
        let chunks = [ids, prices, tags].into_iter().zip(schema.columns()).map(|(column, leaf)| {
            let mut writer = ColumnWriter::new(leaf, &settings).unwrap();
            writer.write(&column, &mut workspace).unwrap();
            writer.close(&mut workspace).unwrap().0
        });
        file.write_row_group(ROWS as u64, chunks.collect(), None).unwrap();
    }
    file.finish().unwrap().0.into()
}

pub(crate) fn metadata(file: &Bytes) -> ParquetMetaData {
    read_metadata(file, &Limits::default()).unwrap().metadata
}

/// Predicates, each with the row of a row group that it must find.
fn queries() -> Vec<(Predicate, usize)> {
    let ids = (0..ROWS).map(|row| (col("id").eq(id(row)), row));
    let prices = (0..ROWS).map(|row| match price(row) {
        Some(price) => (col("price").eq(price), row),
        None => (col("price").is_null(), row),
    });
    ids.chain(prices).collect()
}

/// The first query that does not find its row, and the stage that ruled it out.
fn lost(file: &Bytes) -> Option<(String, Stage)> {
    let metadata = metadata(file);
    for (predicate, row) in queries() {
        let bound = predicate.bind(metadata.schema()).unwrap();
        for group in 0..metadata.num_row_groups() {
            for stage in [Stage::Statistics, Stage::BloomFilters, Stage::PageIndex] {
                let options = PruneOptions::only(stage);
                let report = &mut PruneReport::default();
                let kept = prune_row_group(file, &metadata, group, &bound, &options, report).unwrap();
                let is_kept = match kept {
                    RowGroupMatch::All => true,
                    RowGroupMatch::None => false,
                    RowGroupMatch::Some(ranges) => ranges.iter().any(|rows| rows.contains(&(row as u64))),
                };
                if !is_kept {
                    return Some((format!("{predicate:?} in row group {group}"), stage));
                }
            }
        }
    }
    None
}

fn recovered(file: &Bytes) -> (Recovery, Bytes) {
    let recovery = recover(Arc::new(file.clone()), &RecoverOptions::default()).unwrap();
    let bytes = recovery.write(Vec::new(), None).unwrap().into();
    (recovery, bytes)
}

/// The recovered file, if there is one.
pub(crate) fn recovered_with(file: &Bytes, options: &RecoverOptions) -> Option<(Recovery, Bytes)> {
    let recovery = recover(Arc::new(file.clone()), options).ok()?;
    let kept = !recovery.report().row_groups.is_empty();
    let bytes = kept.then(|| recovery.write(Vec::new(), None).unwrap().into())?;
    Some((recovery, bytes))
}

/// Whether the report states that metadata is left out, or made again.
pub(crate) fn tells(report: &Report, what: &str) -> bool {
    let is_told = |decision: &marquetry_recover::Decision| decision.what.contains(what);
    report.decisions.iter().any(|decision| is_told(decision) && decision.what.contains("row group at byte"))
}

pub(crate) fn flipped(file: &Bytes, at: usize, bit: u8) -> Bytes {
    let mut bytes = file.to_vec();
    bytes[at] ^= bit;
    bytes.into()
}

/// Flips two bits of each byte of a range, one after the other. The new file has all values, its queries find them, and
/// its metadata is right. The report names what lost rows in the broken file.
fn flip_all(good: &Bytes, range: Range<usize>, what: &str) -> usize {
    let (all, mut losing) = (contents(good).unwrap(), 0);
    for (at, bit) in range.flat_map(|at| [at % 8, (at + 3) % 8].map(|bit| (at, 1u8 << bit))) {
        let broken = flipped(good, at, bit);
        let (recovery, new) = recovered(&broken);
        let report = recovery.report();
        assert_eq!(contents(&new).unwrap(), all, "{what}, byte {at}: {report}");
        assert_eq!(lost(&new), None, "{what}, byte {at}, bit {bit}: {report}");
        if tells(report, what) {
            assert!(!tells(recovered(&new).0.report(), ""), "{what}, byte {at}, bit {bit}: {report}");
        }
        if let Some((query, stage)) = lost(&broken) {
            losing += 1;
            assert!(tells(report, what), "{what}, byte {at}: {query} by {stage:?}: {report}");
        }
    }
    losing
}

#[test]
fn nothing_is_said_of_a_good_file() {
    for (checksums, version) in
        [(true, PageVersion::V1), (true, PageVersion::V2), (false, PageVersion::V1), (false, PageVersion::V2)]
    {
        let good = file(checksums, version);
        assert_eq!(lost(&good), None);
        let (recovery, new) = recovered(&good);
        let report = recovery.report();
        assert_eq!(report.decisions.len(), 1, "{report}");
        assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
        assert_eq!(lost(&new), None);
        for (old, new) in metadata(&good).row_groups().zip(metadata(&new).row_groups()) {
            for (old, new) in old.columns().zip(new.columns()) {
                let (old, new) = (old.unwrap(), new.unwrap());
                assert!(new.column_index_range().is_some() && new.bloom_filter_offset().is_some());
                assert_eq!(new.meta_data().unwrap().statistics, old.meta_data().unwrap().statistics);
                assert_eq!(
                    new.meta_data().unwrap().size_statistics,
                    old.meta_data().unwrap().size_statistics
                );
            }
        }
        for group in &report.row_groups {
            let (confidence, checked) = match checksums {
                true => (Confidence::Exact, "with right checksums"),
                false => (Confidence::High, "not all with checksums"),
            };
            assert!(group.confidence == confidence && group.why.contains(checked), "{report}");
        }
    }
}

#[test]
fn a_flip_in_a_column_index() {
    for (version, columns) in [(PageVersion::V1, 0..2), (PageVersion::V2, 1..3)] {
        let good = file(true, version);
        for column in columns {
            let range = metadata(&good).row_group(0).column(column).unwrap().column_index_range().unwrap();
            let losing = flip_all(&good, range.start as usize..range.end as usize, "column index");
            assert!(column == 2 || losing > 10, "{losing} flips in the index of column {column}");
        }
    }
}

#[test]
fn a_flip_in_an_offset_index() {
    for (version, columns) in [(PageVersion::V1, 0..2), (PageVersion::V2, 1..3)] {
        let good = file(true, version);
        for column in columns {
            let range = metadata(&good).row_group(1).column(column).unwrap().offset_index_range().unwrap();
            flip_all(&good, range.start as usize..range.end as usize, "offset index");
            // An offset index that can be read and is wrong is made again.
            for at in range.start as usize..range.end as usize {
                let (recovery, new) = recovered(&flipped(&good, at, 2));
                let places = |file: &Bytes| {
                    let metadata = metadata(file);
                    let chunk = metadata.row_group(1).column(column).unwrap();
                    let start = chunk.data_page_offset();
                    let index =
                        marquetry_core::page_index::read_offset_index(file, chunk, &Limits::default());
                    let pages = index.unwrap().unwrap().page_locations;
                    pages.iter().map(|page| (page.offset - start, page.first_row_index)).collect::<Vec<_>>()
                };
                assert_eq!(places(&new), places(&good), "byte {at}: {}", recovery.report());
            }
        }
    }
}

#[test]
fn a_flip_in_a_bloom_filter() {
    let good = file(true, PageVersion::V1);
    for column in 0..2 {
        let metadata = metadata(&good);
        let chunk = metadata.row_group(1).column(column).unwrap();
        let start = chunk.bloom_filter_offset().unwrap() as usize;
        let losing =
            flip_all(&good, start..start + chunk.bloom_filter_length().unwrap() as usize, "bloom filter");
        assert!(losing > 10, "{losing} flips");
    }
}

/// Where bounds and counts of a chunk are in the footer, by their bytes.
fn places_of(file: &Bytes, wanted: &[u8]) -> Vec<usize> {
    let footer = file.len() - 8 - read_metadata(file, &Limits::default()).unwrap().footer_len;
    (footer..file.len() - 8 - wanted.len()).filter(|at| file[*at..].starts_with(wanted)).collect()
}

#[test]
fn a_flip_in_the_bounds_of_a_chunk() {
    let (least, greatest) = ((0..ROWS).map(id).min().unwrap(), (0..ROWS).map(id).max().unwrap());
    for checksums in [true, false] {
        let good = file(checksums, PageVersion::V1);
        let mut losing = 0;
        for bound in [least, greatest] {
            for at in places_of(&good, &bound.to_le_bytes()) {
                losing += flip_all(&good, at..at + 8, "the statistics of id");
            }
        }
        assert!(losing > 10, "{losing} flips");
        let at = places_of(&good, &greatest.to_le_bytes())[0];
        let (recovery, new) = recovered(&flipped(&good, at + 3, 2));
        let report = recovery.report();
        assert!(metadata(&new).row_group(0).column(0).unwrap().statistics().is_none(), "{report}");
        assert!(metadata(&new).row_group(0).column(1).unwrap().statistics().is_some(), "{report}");
        let [first, second] = &report.row_groups[..] else { panic!("{report}") };
        match checksums {
            true => assert_eq!((first.confidence, second.confidence), (Confidence::Exact, Confidence::Exact)),
            false => assert_eq!((first.confidence, second.confidence), (Confidence::Low, Confidence::High)),
        }
    }
}

/// Headers are in no checksum.
#[test]
fn a_flip_in_the_bounds_in_headers_of_pages() {
    for version in [PageVersion::V1, PageVersion::V2] {
        let good = file(true, version);
        let range = metadata(&good).row_group(0).column(0).unwrap().byte_range().unwrap();
        let least = (0..PAGE_ROWS).map(id).min().unwrap().to_le_bytes();
        let in_chunk = &good[range.start as usize..range.end as usize];
        let at = range.start as usize + in_chunk.windows(8).position(|window| window == least).unwrap();
        flip_all(&good, at..at + 8, "the statistics in headers of pages of id");
        let (recovery, new) = recovered(&flipped(&good, at + 7, 0x80));
        let report = recovery.report();
        assert!(tells(report, "the statistics in headers of pages of id"), "{report}");
        assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Exact), "{report}");
        let size = |file: &Bytes| metadata(file).row_group(0).column(0).unwrap().compressed_size();
        assert!(size(&new) + 5 * 16 < size(&good), "{} of {} bytes", size(&new), size(&good));
    }
}

/// Damage that no checksum shows, but metadata about the values does.
#[test]
fn a_flip_in_a_page_without_checksum() {
    for version in [PageVersion::V1, PageVersion::V2] {
        let good = file(false, version);
        let metadata = metadata(&good);
        let chunk = metadata.row_group(1).column(0).unwrap().byte_range().unwrap();
        let mut told = 0;
        for (row, byte) in (0..ROWS).flat_map(|row| (0..8).map(move |byte| (row, byte))) {
            let value = id(row).to_le_bytes();
            let in_chunk = &good[chunk.start as usize..chunk.end as usize];
            // The last occurrence: the page header has bounds, too.
            let at = in_chunk.windows(8).rposition(|window| window == value).unwrap();
            let (recovery, new) = recovered(&flipped(&good, chunk.start as usize + at + byte, 0x40));
            let report = recovery.report();
            let changed =
                i64::from_le_bytes(std::array::from_fn(|i| value[i] ^ (u8::from(i == byte) * 0x40)));
            let found = lost_id(&new, changed, row);
            assert!(!found, "row {row}, byte {byte}: {report}");
            assert!(report.row_groups[0].confidence == Confidence::High, "{report}");
            assert!(report.row_groups[1].why.contains("not all with checksums"), "{report}");
            let is_outside =
                !(0..ROWS).map(id).any(|id| id >= changed) || !(0..ROWS).map(id).any(|id| id <= changed);
            if is_outside {
                assert!(report.row_groups[1].confidence == Confidence::Low, "{report}");
                let whole = [
                    "the statistics of id",
                    "the statistics in headers of pages of id",
                    "column index of id",
                ];
                assert!(whole.iter().all(|what| tells(report, what)), "{report}");
                told += 1;
            }
        }
        assert!(told > 100, "{told}");
    }
}

/// Whether a query for `id` rules out `row` of the second row group.
fn lost_id(file: &Bytes, id: i64, row: usize) -> bool {
    let metadata = metadata(file);
    let bound = col("id").eq(id).bind(metadata.schema()).unwrap();
    let report = &mut PruneReport::default();
    let kept = prune_row_group(file, &metadata, 1, &bound, &PruneOptions::default(), report).unwrap();
    match kept {
        RowGroupMatch::All => false,
        RowGroupMatch::None => true,
        RowGroupMatch::Some(ranges) => !ranges.iter().any(|rows| rows.contains(&(row as u64))),
    }
}

/// Wherever a footer was changed: if a file of the same columns comes back, queries on it find its values.
#[test]
fn a_flip_anywhere_in_the_footer() {
    let good = file(true, PageVersion::V2);
    let (all, schema) = (contents(&good).unwrap(), metadata(&good).head().schema.clone());
    let footer = good.len() - 8 - read_metadata(&good, &Limits::default()).unwrap().footer_len;
    let mut compared = 0;
    for at in footer..good.len() - 8 {
        let broken = flipped(&good, at, 1 << (at % 8));
        let Ok(recovery) = recover(Arc::new(broken), &RecoverOptions::default()) else { continue };
        if recovery.report().row_groups.is_empty() {
            continue;
        }
        let new: Bytes = recovery.write(Vec::new(), None).unwrap().into();
        if metadata(&new).head().schema == schema && contents(&new).unwrap() == all {
            assert_eq!(lost(&new), None, "byte {at}: {}", recovery.report());
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
