//! Copied chunks: the same values, the same encoded bytes, indexes that point at pages, checksums that hold.

use crate::chunk;
use crate::chunk::data::{PHYSICAL, Random, values};
use crate::chunk::file::{File, Reading, reader, root};
use crate::chunk::model::{Datum, Node};
use crate::chunk::{Column, Layout, Page, RLE_DICTIONARY, index_page, pages, unknown_page};
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page::{Checksum, PageBuffers, PageOptions, PageReader};
use marquetry_core::page_index::read_offset_index;
use marquetry_core::source::Source;
use marquetry_core::write::copy::{CopiedChunk, CopySettings, copy_chunk};
use marquetry_core::write::{FileSettings, FileWriter};
use marquetry_encoding::PhysicalType;
use marquetry_format::{ColumnIndex, OffsetIndex, PageLocation, Repetition, Statistics};
use proptest::prelude::*;
use std::sync::Arc;

/// What default rewriting asks for.
pub(crate) fn improved() -> CopySettings {
    CopySettings::default().with_checksums(true).with_offset_index(true).with_verify_checksums(true)
}

pub(crate) fn to(codec: Codec) -> CopySettings {
    improved().with_codec(Some((codec, None)))
}

pub(crate) fn metadata(bytes: &Bytes) -> ParquetMetaData {
    read_metadata(bytes, &Limits::default()).unwrap().metadata
}

pub(crate) fn copied(file: &File, settings: &CopySettings) -> Result<Vec<CopiedChunk>> {
    let source: Arc<dyn Source> = Arc::new(file.finish());
    let metadata = read_metadata(&*source, &Limits::default())?.metadata;
    (0..metadata.num_row_groups()).map(|i| copy_chunk(&source, &metadata, i, 0, settings)).collect()
}

/// The file of the copied chunks.
pub(crate) fn copy(file: &File, settings: &CopySettings) -> Result<Bytes> {
    let chunks = copied(file, settings)?;
    let schema = file.metadata.schema.clone();
    let mut writer = FileWriter::new(Vec::new(), schema, FileSettings::default())?;
    for (chunk, group) in chunks.into_iter().zip(&file.metadata.row_groups) {
        writer.write_row_group(group.num_rows as u64, vec![chunk.chunk], None)?;
    }
    Ok(writer.finish()?.0.into())
}

/// All that a reader sees of a file.
fn seen(bytes: Bytes) -> String {
    let rows = metadata(&bytes).num_rows() as usize;
    let batch = reader(Arc::new(bytes), &Reading::default()).read(rows).unwrap();
    let slots: Vec<Vec<u8>> = (0..batch.values.len()).map(|i| chunk::data::cell(&batch.values, i)).collect();
    format!("{:?} {:?} {:?} {} {slots:?}", batch.def, batch.rep, batch.validity, batch.entries)
}

/// What is in the pages of all chunks.
#[derive(Default)]
struct PageFacts {
    /// Of each dictionary page the values, of each data page the encoded values.
    bodies: Vec<Vec<u8>>,
    checksums: Vec<Checksum>,
    /// Where the data pages of each chunk are.
    places: Vec<Vec<PageLocation>>,
}

fn page_facts(bytes: &Bytes) -> PageFacts {
    let metadata = metadata(bytes);
    let source: Arc<dyn Source> = Arc::new(bytes.clone());
    let mut facts = PageFacts::default();
    for group in metadata.row_groups() {
        let chunk = group.column(0).unwrap();
        let leaf = chunk.leaf();
        let options = PageOptions::for_writer(metadata.created_by()).with_checksum_verification(false);
        let mut pages = PageReader::new(source.clone(), chunk, options, PageBuffers::default()).unwrap();
        let mut here = Vec::new();
        while let Some(start) = pages.next_header().unwrap() {
            facts.checksums.push(pages.checksum(&start).unwrap());
            if start.is_dictionary() {
                let page = pages.dictionary_page(&start).unwrap();
                let dictionary = pages.dictionary(&page, usize::MAX).unwrap();
                facts.bodies.push(format!("{:?}", dictionary.values()).into_bytes());
            } else if start.is_data() {
                let page = pages.data(&start, leaf.max_rep(), leaf.max_def()).unwrap();
                facts.bodies.push(page.values.as_slice().to_vec());
                let size = (start.body - start.offset) as i32 + start.header.compressed_page_size;
                here.push(PageLocation {
                    offset: start.offset as i64,
                    compressed_page_size: size,
                    first_row_index: 0,
                });
            }
        }
        facts.places.push(here);
    }
    facts
}

pub(crate) fn offset_indexes(bytes: &Bytes) -> Vec<Option<OffsetIndex>> {
    let metadata = metadata(bytes);
    let index =
        |i| read_offset_index(bytes, metadata.row_group(i).column(0).unwrap(), &Limits::default()).unwrap();
    (0..metadata.num_row_groups()).map(index).collect()
}

/// The copy has the same values in the same encoded bytes, and its indexes and sizes are right.
pub(crate) fn holds(file: &File, copy: &Bytes, has_checksums: bool) {
    let original = file.finish();
    assert_eq!(seen(original.clone()), seen(copy.clone()));
    let PageFacts { bodies, checksums, places } = page_facts(copy);
    assert_eq!(page_facts(&original).bodies, bodies);
    if has_checksums {
        assert!(checksums.iter().all(|checksum| *checksum == Checksum::Good), "{checksums:?}");
    }
    for (index, places) in offset_indexes(copy).into_iter().zip(&places) {
        let Some(index) = index else { continue };
        let unnumbered: Vec<PageLocation> = index
            .page_locations
            .iter()
            .map(|page| PageLocation { first_row_index: 0, ..page.clone() })
            .collect();
        assert_eq!(&unnumbered, places);
    }
    for group in metadata(copy).row_groups() {
        let chunk = group.column(0).unwrap();
        let range = chunk.byte_range().unwrap_or(0..0);
        assert!(range.end <= chunk.data_end().unwrap());
    }
}

pub(crate) fn words(rows: u64) -> Vec<Option<u64>> {
    (0..rows).map(|i| (i % 5 != 2).then_some(i * i % 17)).collect()
}

fn layouts() -> Vec<Layout> {
    let mut out = Vec::new();
    for codec in [Codec::Uncompressed, Codec::Snappy, Codec::Zstd] {
        for v2 in [false, true] {
            for encoding in [chunk::PLAIN, RLE_DICTIONARY] {
                for checksums in [false, true] {
                    let cuts = vec![10, 1, 0, 20];
                    out.push(Layout { cuts, v2, encoding, codec, checksums, ..Layout::default() });
                }
            }
        }
    }
    out
}

#[test]
fn nothing_changes_in_a_copy() {
    for layout in layouts() {
        let file = File::flat(&Column::flat(PhysicalType::Int64, &words(50), true), &layout);
        let copy = copy(&file, &CopySettings::default()).unwrap();
        holds(&file, &copy, false);
        let end = file.bytes.len();
        assert_eq!(copy[..end], file.bytes, "byte for byte");
        assert_eq!(offset_indexes(&copy), [None]);
    }
}

#[test]
fn checksums_and_offset_indexes_are_added() {
    for layout in layouts() {
        let file = File::flat(&Column::flat(PhysicalType::ByteArray, &words(50), true), &layout);
        let copy = copy(&file, &improved()).unwrap();
        holds(&file, &copy, true);
        let index = offset_indexes(&copy).remove(0).unwrap();
        let rows: Vec<i64> = index.page_locations.iter().map(|page| page.first_row_index).collect();
        assert_eq!(rows, [0, 10, 11, 11, 31]);
        // A second time there is nothing left to do.
        let chunk = copied(&file_of(&copy, &file), &improved()).unwrap().remove(0);
        assert_eq!((chunk.pages_sealed, chunk.pages_recompressed), (0, 0));
    }
}

/// A copy as a test file, so that it can be copied again.
fn file_of(copy: &Bytes, like: &File) -> File {
    let metadata = metadata(copy);
    let end = metadata.row_group(0).column(0).unwrap().data_end().unwrap() as usize;
    File {
        bytes: copy[..end].to_vec(),
        metadata: metadata.to_thrift().unwrap(),
        offsets: like.offsets.clone(),
    }
}

#[test]
fn pages_get_another_codec() {
    let codecs = [Codec::Uncompressed, Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw];
    for layout in layouts() {
        let file = File::flat(&Column::flat(PhysicalType::ByteArray, &words(500), true), &layout);
        for codec in codecs {
            let copy = copy(&file, &to(codec)).unwrap();
            holds(&file, &copy, true);
            let metadata = metadata(&copy);
            let chunk = metadata.row_group(0).column(0).unwrap();
            assert_eq!(chunk.codec().unwrap(), codec);
            let changed = copied(&file, &to(codec)).unwrap().remove(0).pages_recompressed;
            assert_eq!(changed > 0, codec != layout.codec);
        }
        let again = improved().with_codec(Some((Codec::Zstd, Some(19))));
        assert!(copied(&file, &again).unwrap()[0].pages_recompressed > 0);
    }
}

#[test]
fn statistics_in_page_headers_stay() {
    let column = Column::flat(PhysicalType::Int32, &words(30), true);
    let mut pages = pages(&column, &Layout { checksums: false, ..Layout::default() });
    let statistics = Statistics { min_value: Some(vec![0; 4]), null_count: Some(6), ..Statistics::default() };
    pages[0].v1().statistics = Some(statistics.clone());
    let file = File::of_pages(&column, Codec::Uncompressed, &pages);
    for settings in [improved(), to(Codec::Zstd)] {
        let copy = copy(&file, &settings).unwrap();
        holds(&file, &copy, true);
        let header =
            marquetry_format::PageHeader::read(&mut marquetry_format::Reader::new(&copy[4..])).unwrap();
        assert_eq!(header.data_page_header.unwrap().statistics, Some(statistics.clone()));
    }
}

#[test]
fn strange_pages_are_left_behind() {
    let column = Column::flat(PhysicalType::Int32, &words(30), true);
    let layout = Layout { strangers: true, encoding: RLE_DICTIONARY, cuts: vec![7], ..Layout::default() };
    let file = File::flat(&column, &layout);
    for settings in [CopySettings::default(), improved(), to(Codec::Snappy)] {
        let copy = copy(&file, &settings).unwrap();
        holds(&file, &copy, true);
        let chunk = copied(&file, &settings).unwrap().remove(0);
        assert!(chunk.notes[0].contains("neither data nor dictionaries"), "{:?}", chunk.notes);
        let left = chunk.chunk.bytes.len() as usize;
        let strangers = (index_page().header_len() + 5 + unknown_page().header_len() + 10) * 3;
        assert!(settings.codec.is_some() || left < file.bytes.len() - strangers + 40);
    }
}

#[test]
fn a_wrong_checksum_is_not_made_right() {
    let column = Column::flat(PhysicalType::Int32, &words(30), true);
    let mut pages = pages(&column, &Layout::default());
    pages[0].header.crc = Some(77);
    let mut file = File::of_pages(&column, Codec::Uncompressed, &pages);
    let error = copy(&file, &improved()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("checksum mismatch"), "{error}");
    assert_eq!((error.place().page, error.place().row_group), (Some(0), Some(0)));
    assert_eq!(error.place().column.as_deref(), Some("x"));
    let unchecked = improved().with_verify_checksums(false);
    let bytes = copy(&file, &unchecked).unwrap();
    assert!(matches!(page_facts(&bytes).checksums[0], Checksum::Bad { stored: 77, .. }));
    // Under the name of a writer whose checksums are always wrong they are not a secret; the copy has another name.
    file.metadata.created_by = Some("Parquet.jl v0.6".into());
    for settings in [CopySettings::default(), improved()] {
        assert_eq!(page_facts(&copy(&file, &settings).unwrap()).checksums, [Checksum::Good]);
    }
}

#[test]
fn nulls_that_were_not_counted_come_along() {
    let column = Column::flat(PhysicalType::Int32, &words(50), true);
    for settings in [CopySettings::default(), improved(), to(Codec::Zstd)] {
        let mut file = File::flat(&column, &Layout { cuts: vec![10, 10, 10, 10], ..Layout::default() });
        file.chunk(0).num_values = 40;
        let copy = copy(&file, &settings).unwrap();
        assert_eq!(seen(file.finish()), seen(copy.clone()));
        assert_eq!(metadata(&copy).row_group(0).column(0).unwrap().num_values(), 50);
    }
}

#[test]
fn a_size_that_is_too_small_cuts_nothing_off() {
    let column = Column::flat(PhysicalType::Int32, &words(50), true);
    let layout = Layout { cuts: vec![10], encoding: RLE_DICTIONARY, ..Layout::default() };
    let mut file = File::flat(&column, &layout);
    let right = file.chunk(0).total_compressed_size;
    // parquet-mr once forgot the dictionary's header in the size.
    file.chunk(0).total_compressed_size -= pages(&column, &layout)[0].header_len() as i64;
    let copy = copy(&file, &CopySettings::default()).unwrap();
    holds(&file, &copy, true);
    assert_eq!(metadata(&copy).row_group(0).column(0).unwrap().compressed_size(), right);
}

#[test]
fn what_cannot_be_copied_says_why() {
    let column = Column::ints(0..50);
    let refused = |change: &dyn Fn(&mut File), kind: ErrorKind, text: &str| {
        let mut file = File::flat(&column, &Layout::default());
        change(&mut file);
        for settings in [CopySettings::default(), improved()] {
            let error = copied(&file, &settings).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(text), "{error}, not: {text}");
            assert_eq!(error.place().column.as_deref(), Some("x"));
        }
    };
    let encrypted = |file: &mut File| {
        let column = marquetry_format::ColumnCryptoMetaData::FooterKey;
        file.metadata.row_groups[0].columns[0].crypto_metadata = Some(column);
    };
    refused(&encrypted, ErrorKind::Key, "encrypted");
    let elsewhere = |file: &mut File| {
        file.metadata.row_groups[0].columns[0].file_path = Some("other.parquet".into());
        file.chunk(0).data_page_offset = 1 << 30;
    };
    refused(&elsewhere, ErrorKind::Unsupported, "another file, other.parquet");
    let too_few = |file: &mut File| file.metadata.row_groups[0].num_rows = 51;
    refused(&too_few, ErrorKind::Corrupt, "1 rows before");
    let too_many = |file: &mut File| file.metadata.row_groups[0].num_rows = 49;
    refused(&too_many, ErrorKind::Corrupt, "50 values, the row group 49 rows");
    let prefixes = |file: &mut File| {
        file.metadata.created_by = Some("parquet-mr version 1.7.0".into());
        file.chunk(0).encodings = vec![marquetry_format::Encoding::DELTA_BYTE_ARRAY];
    };
    refused(&prefixes, ErrorKind::Unsupported, "parquet-mr before 1.8");
}

#[test]
fn a_codec_of_later_versions_is_copied_unseen() {
    let column = Column::ints(0..50);
    let mut file = File::flat(&column, &Layout::default());
    file.chunk(0).codec = marquetry_format::CompressionCodec(99);
    let chunk = copied(&file, &improved()).unwrap().remove(0);
    assert_eq!(chunk.chunk.metadata.codec.0, 99);
    assert_eq!(chunk.chunk.bytes.len() as usize, file.bytes.len() - 4);
    assert_eq!(copied(&file, &to(Codec::Zstd)).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn an_offset_index_that_is_wrong_is_made_again() {
    let column = Column::ints(0..50);
    let file = File::flat(&column, &Layout { cuts: vec![20], ..Layout::default() });
    let improved_file = file_of(&copy(&file, &improved()).unwrap(), &file);
    for (wrong, column_index) in [(1, false), (0, true)] {
        let mut file = improved_file.clone();
        let index = OffsetIndex {
            page_locations: (0..2)
                .map(|i| PageLocation {
                    offset: 4 + i * 30 + wrong * i,
                    compressed_page_size: 29,
                    first_row_index: i * 20,
                })
                .collect(),
            unencoded_byte_array_data_bytes: None,
        };
        let mut writer = marquetry_format::Writer::new();
        match column_index {
            false => index.write(&mut writer),
            true => ColumnIndex { null_pages: vec![false], ..ColumnIndex::default() }.write(&mut writer),
        }
        let bytes = writer.finish();
        let (at, len) = (file.bytes.len() as i64, bytes.len() as i32);
        file.bytes.extend(bytes);
        let chunk = &mut file.metadata.row_groups[0].columns[0];
        match column_index {
            false => (chunk.offset_index_offset, chunk.offset_index_length) = (Some(at), Some(len)),
            true => (chunk.column_index_offset, chunk.column_index_length) = (Some(at), Some(len)),
        }
        let again = copy(&file, &improved()).unwrap();
        holds(&file, &again, true);
        assert!(offset_indexes(&again)[0].is_some());
        assert_eq!(copied(&file, &improved()).unwrap()[0].notes.len(), 1);
        assert!(copied(&file, &improved()).unwrap()[0].chunk.column_index.is_none());
        let kept = copy(&file, &CopySettings::default()).unwrap();
        holds(&file, &kept, true);
    }
}

#[test]
fn bounds_of_old_writers_are_not_passed_on() {
    let column = Column::flat(PhysicalType::ByteArray, &words(30), true);
    let mut file = File::flat(&column, &Layout::default());
    let statistics = Statistics {
        min: Some(b"a".to_vec()),
        max_value: Some(b"z".to_vec()),
        min_value: Some(b"a".to_vec()),
        null_count: Some(6),
        ..Statistics::default()
    };
    file.chunk(0).statistics = Some(statistics.clone());
    let kept =
        |file: &File| copied(file, &CopySettings::default()).unwrap().remove(0).chunk.metadata.statistics;
    assert_eq!(kept(&file), Some(statistics));
    file.metadata.created_by =
        Some("parquet-mr version 1.6.0rc3 (build d4d5a07ec9bd262ca1e93c309f1d7d4a74ebda4c)".into());
    assert_eq!(kept(&file), Some(Statistics { null_count: Some(6), ..Statistics::default() }));
}

/// A file with lists and structs, several row groups, cut anyhow.
fn random_file(seed: u64) -> (File, bool) {
    let random = &mut Random(seed);
    let physical = random.pick(&PHYSICAL);
    let node = Node::random(random, 3, 1);
    let mut schema = vec![root(1)];
    node.schema("c", Repetition::REQUIRED, physical, &mut schema);
    let schema_of = marquetry_core::schema::Schema::from_thrift(&schema, &Limits::default()).unwrap();
    let leaf = schema_of.column(0);
    let mut file = File::new(schema);
    let v2 = random.one_in(2);
    for rows in [40, 0, 25] {
        let data: Vec<Datum> = (0..rows).map(|_| node.datum(random)).collect();
        let shredded = node.shred(&data).remove(0);
        let column = Column {
            physical,
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            def: shredded.def,
            rep: shredded.rep,
            values: values(physical, &shredded.words),
        };
        let is_boolean = physical == PhysicalType::Boolean;
        let layout = Layout {
            cuts: (0..random.below(5)).map(|_| random.below(20)).collect(),
            v2,
            bit_packed: !v2 && random.one_in(4),
            encoding: if random.one_in(2) || is_boolean { chunk::PLAIN } else { RLE_DICTIONARY },
            codec: random.pick(&[Codec::Uncompressed, Codec::Gzip, Codec::Zstd]),
            checksums: random.one_in(2),
            strangers: random.one_in(3),
            ..Layout::default()
        };
        file.push(&column, rows, &layout);
    }
    (file, leaf.max_rep() == 0)
}

fn any_settings(seed: u64) -> CopySettings {
    let random = &mut Random(seed);
    CopySettings::default()
        .with_codec(random.pick(&[None, Some((Codec::Zstd, Some(1))), Some((Codec::Uncompressed, None))]))
        .with_checksums(random.one_in(2))
        .with_offset_index(random.one_in(2))
        .with_verify_checksums(random.one_in(2))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_file_keeps_its_values(seed: u64, settings: u64) {
        let (file, is_flat) = random_file(seed);
        let settings = any_settings(settings);
        let bytes = copy(&file, &settings).unwrap();
        holds(&file, &bytes, settings.checksums);
        if settings.offset_index {
            for (group, index) in metadata(&bytes).row_groups().zip(offset_indexes(&bytes)) {
                prop_assert!(index.is_some() || !is_flat || group.num_rows() == 0);
            }
        }
        // Copies of copies are the same.
        let again = file_of(&bytes, &file);
        let twice = copy(&again, &CopySettings::default()).unwrap();
        prop_assert_eq!(seen(bytes), seen(twice));
    }

    /// A flipped bit gives an error or a copy that reads like the damaged file: never a panic, never other values.
    #[test]
    fn damage_does_no_more_harm(seed in 0..50u64, settings: u64, at: prop::sample::Index, bit in 0..8u32) {
        let (mut file, _) = random_file(seed);
        let at = at.index(file.bytes.len());
        file.bytes[at] ^= 1 << bit;
        let rows = file.metadata.num_rows as usize;
        let original = file.reader(&Reading::default()).read(rows);
        let Ok(bytes) = copy(&file, &any_settings(settings)) else { return Ok(()) };
        if original.is_ok() {
            prop_assert_eq!(seen(file.finish()), seen(bytes));
        }
    }
}

#[test]
fn a_page_of_its_own_kind_of_wrong() {
    let column = Column::flat(PhysicalType::Int32, &words(30), true);
    for damage in [
        (|page: &mut Page| page.header.uncompressed_page_size += 1) as fn(&mut Page),
        |page| page.v2().definition_levels_byte_length = 1 << 30,
        |page| page.v2().repetition_levels_byte_length = -1,
    ] {
        let mut pages = pages(&column, &Layout { v2: true, codec: Codec::Snappy, ..Layout::default() });
        damage(&mut pages[0]);
        let file = File::of_pages(&column, Codec::Snappy, &pages);
        assert_eq!(copy(&file, &to(Codec::Zstd)).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
