//! Metadata that says less, or lies where nobody may believe it; indexes that are broken.

use crate::ask::Ask;
use crate::data::Random;
use crate::sample::Sample;
use crate::soundness::is_sound;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_encoding::PhysicalType;
use marquetry_format::ColumnOrder;

/// The same file by other writers: counts and bounds are missing, deprecated, of no known order, or wrong where a reader
/// knows that.
pub(crate) fn weakened(random: &mut Random, metadata: &ParquetMetaData) -> ParquetMetaData {
    let schema = metadata.schema().clone();
    let mut thrift = metadata.to_thrift().unwrap();
    let lies = random.one_in(6);
    if lies {
        thrift.created_by = Some("parquet-mr version 1.8.1 (build x)".into());
    }
    if random.one_in(8) {
        thrift.column_orders = None;
    }
    for (column, order) in thrift.column_orders.iter_mut().flatten().enumerate() {
        if random.one_in(10) && !schema.column(column).physical().eq(&PhysicalType::Int96) {
            *order = ColumnOrder::Unknown(77);
        }
    }
    let declared = thrift.column_orders.clone();
    for chunk in thrift.row_groups.iter_mut().flat_map(|group| group.columns.iter_mut().enumerate()) {
        let (column, chunk) = chunk;
        let leaf = schema.column(column);
        let Some(meta) = &mut chunk.meta_data else { continue };
        if random.one_in(6) {
            meta.size_statistics = None;
        }
        if random.one_in(8) {
            meta.encoding_stats = None;
        }
        if random.one_in(4) {
            meta.bloom_filter_length = None;
        }
        let Some(statistics) = &mut meta.statistics else { continue };
        let order = declared.as_ref().and_then(|orders| SortOrder::for_reading(leaf, orders.get(column)));
        match random.below(12) {
            0 => statistics.null_count = None,
            1 => statistics.min_value = None,
            2 => statistics.max_value = None,
            3 => statistics.nan_count = None,
            4 => (statistics.min_value, statistics.max_value) = (None, None),
            5 => (statistics.min, statistics.max) = (None, None),
            // Nobody may take a bound of NaN, nor the one beside it.
            6 if order == Some(SortOrder::Double) => {
                statistics.min_value = Some(f64::NAN.to_le_bytes().to_vec());
                statistics.max_value = Some(0f64.to_le_bytes().to_vec());
            }
            // Either zero may stand for both.
            7 if order == Some(SortOrder::Float) => {
                for bound in [&mut statistics.min_value, &mut statistics.max_value].into_iter().flatten() {
                    if bound[..3] == [0; 3] && bound[3] & 0x7f == 0 {
                        bound[3] ^= 0x80;
                    }
                }
            }
            // Bounds in the wrong order are not bounds.
            8 if statistics.min_value != statistics.max_value => {
                std::mem::swap(&mut statistics.min_value, &mut statistics.max_value);
            }
            // Of the wrong length.
            9 => {
                statistics.max_value =
                    Some(vec![1; 77]).filter(|_| leaf.physical() != PhysicalType::ByteArray)
            }
            _ => {}
        }
        let is_unsigned = matches!(SortOrder::of(leaf), SortOrder::Unsigned32 | SortOrder::Unsigned64)
            || matches!(leaf.physical(), PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_));
        if lies && is_unsigned {
            (statistics.min_value, statistics.max_value) = (Some(vec![5; 4]), Some(vec![5; 4]));
        }
    }
    ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap()
}

/// A bit of an index is wrong: pruning says so, or keeps less of an eye on it, but neither fails nor panics.
#[test]
fn broken_indexes_are_passed_over() {
    let mut notes = 0;
    for seed in 0..400 {
        let sample = Sample::new(seed);
        let random = &mut Random(seed);
        let ask = Ask::random(random, &sample.columns, 1);
        let bound = ask.predicate(&sample.columns).bind(sample.metadata.schema()).unwrap();
        let last_data =
            |chunk: marquetry_core::metadata::ColumnChunk<'_>| chunk.byte_range().map(|range| range.end);
        let pages = sample.metadata.row_groups().flat_map(|group| group.columns());
        let from = pages.filter_map(|chunk| last_data(chunk.ok()?).ok()).max().unwrap_or(4) as usize;
        let to = sample.metadata.row_group(0).column(0).unwrap().data_end().unwrap() as usize;
        if from >= to {
            continue;
        }
        let mut file = sample.file.to_vec();
        for _ in 0..1 + random.below(4) {
            file[from + random.below(to - from)] = random.below(256) as u8;
        }
        let file = Bytes::from(file);
        let options = PruneOptions::default().with_statistics(false).with_dictionaries(false);
        for row_group in 0..sample.row_groups.len() {
            let mut report = PruneReport::default();
            let kept =
                prune_row_group(&file, &sample.metadata, row_group, &bound, &options, &mut report).unwrap();
            notes += report.notes.len();
            if let RowGroupMatch::Some(ranges) = kept {
                assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }
    assert!(notes > 20, "{notes} notes");
}

/// A footer whose offsets lead nowhere loses pruning, and no row.
#[test]
fn places_outside_the_file_are_passed_over() {
    for seed in 0..100 {
        let sample = Sample::new(seed);
        let random = &mut Random(seed);
        let mut thrift = sample.metadata.to_thrift().unwrap();
        for chunk in thrift.row_groups.iter_mut().flat_map(|group| &mut group.columns) {
            let wrong = random.pick(&[-5, 1, 1 << 40, i64::MAX]);
            match random.below(3) {
                0 => chunk.column_index_offset = chunk.column_index_offset.map(|_| wrong),
                1 => chunk.offset_index_length = chunk.offset_index_length.map(|_| i32::MAX),
                _ => chunk.meta_data.as_mut().unwrap().bloom_filter_offset = Some(wrong),
            }
        }
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        let ask = Ask::random(random, &sample.columns, 1);
        let bound = ask.predicate(&sample.columns).bind(metadata.schema()).unwrap();
        for (row_group, cells) in sample.row_groups.iter().enumerate() {
            let mut report = PruneReport::default();
            let options = PruneOptions::default();
            let kept =
                prune_row_group(&sample.file, &metadata, row_group, &bound, &options, &mut report).unwrap();
            let truth = |row: usize| ask.of(&cells.iter().map(|column| &column[row]).collect::<Vec<_>>());
            let truth: Vec<bool> = (0..cells[0].len()).map(|row| truth(row) == Some(true)).collect();
            is_sound(&kept, &truth, || format!("case {seed}"));
        }
    }
}

/// Fails where a file does, not where its bytes are wrong.
struct Broken(Bytes);

impl Source for Broken {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, _: u64, _: usize) -> Result<Bytes> {
        Err(Error::new(ErrorKind::Io, "the cable is out"))
    }
}

#[test]
fn a_source_that_fails_is_an_error() {
    let mut failures = 0;
    for seed in 0..60 {
        let sample = Sample::new(seed);
        let ask = Ask::random(&mut Random(seed), &sample.columns, 0);
        let bound = ask.predicate(&sample.columns).bind(sample.metadata.schema()).unwrap();
        for &stage in Stage::ALL {
            let mut report = PruneReport::default();
            let source = Broken(sample.file.clone());
            let kept = prune_row_group(
                &source,
                &sample.metadata,
                0,
                &bound,
                &PruneOptions::only(stage),
                &mut report,
            );
            match kept {
                Ok(_) => assert_eq!(report.of(stage).reads, 0),
                Err(error) => {
                    assert_eq!((error.kind(), error.place().row_group), (ErrorKind::Io, Some(0)), "{error}");
                    failures += 1;
                }
            }
        }
    }
    assert!(failures > 10, "{failures}");
}
