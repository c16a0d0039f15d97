//! Pages that are damaged, odd or large: what is read anyway, and what the error says where not.

use crate::chunk;
use crate::chunk::file::{File, Reading};
use crate::chunk::{Column, Layout, Page, RLE_DICTIONARY, dictionary_page, pages, unknown_page};
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page::{Checksum, ChecksumTrust, PageOptions};
use marquetry_core::read::ColumnReader;
use marquetry_encoding::{PhysicalType, Values};
use marquetry_format::{ColumnChunk, Encoding, PageType, Repetition, SizeStatistics, Statistics};
use std::sync::Arc;

/// Three pages of an optional INT32 column, the second of which `damage` changes.
fn damaged(layout: &Layout, damage: impl FnOnce(&mut Page)) -> File {
    let words: Vec<_> = (0..30u64).map(|i| (i % 4 > 0).then_some(i)).collect();
    let column = Column::flat(PhysicalType::Int32, &words, true);
    let layout = Layout { cuts: vec![10, 10], checksums: false, ..layout.clone() };
    let mut pages = pages(&column, &layout);
    damage(&mut pages[1]);
    File::of_pages(&column, layout.codec, &pages)
}

pub(crate) fn v1() -> Layout {
    Layout::default()
}

pub(crate) fn v2() -> Layout {
    Layout { v2: true, ..Layout::default() }
}

fn with_codec(layout: Layout, codec: Codec) -> Layout {
    Layout { codec, ..layout }
}

/// The error of reading all of `file` must be of this kind, contain `text`, and be in page `page`.
fn refused(file: &File, page: usize, kind: ErrorKind, text: &str) -> Error {
    let error = file.error();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(text), "{error}, not: {text}");
    let place = error.place();
    assert_eq!(place.page, Some(page), "{error}");
    assert_eq!(place.row_group, Some(0), "{error}");
    assert_eq!(place.column.as_deref(), Some("x"), "{error}");
    assert!(place.offset.is_some(), "{error}");
    error
}

/// The same, and the error is at the page's header.
fn refused_page(file: &File, kind: ErrorKind, text: &str) {
    let error = refused(file, 1, kind, text);
    assert_eq!(error.place().offset, Some(file.offsets[0][1]), "{error}");
}

fn reads(file: &File) {
    let batch = file.read_all(&Reading::default()).unwrap();
    assert_eq!(batch.entries, 30);
    assert_eq!(batch.validity.unwrap().count_ones(0..30), 22);
}

#[test]
fn checksums() {
    for layout in [v1(), v2(), with_codec(v1(), Codec::Zstd), with_codec(v2(), Codec::Zstd)] {
        reads(&damaged(&layout, |_| ()));
        reads(&damaged(&layout, Page::seal));
        let mut file = damaged(&layout, |page| {
            page.seal();
            page.header.crc = page.header.crc.map(|crc| crc ^ 1);
        });
        refused_page(&file, ErrorKind::Corrupt, "checksum mismatch");
        assert!(file.error().message().contains("turn checksum verification off"));
        let unchecked = Reading { verify: false, ..Reading::default() };
        assert_eq!(file.read_all(&unchecked).unwrap().entries, 30);
        assert!(matches!(checksum(&file), Checksum::Bad { stored, computed } if stored == computed ^ 1));
        // One writer is known for wrong checksums.
        file.metadata.created_by = Some("Parquet.jl 0.6.1".into());
        reads(&file);
        assert_eq!(checksum(&file), Checksum::Untrusted);
        file.metadata.created_by = Some("parquet-mr version 1.13.1".into());
        refused_page(&file, ErrorKind::Corrupt, "checksum mismatch");
        // Another stores 0, meaning none.
        let zero = damaged(&layout, |page| page.header.crc = Some(0));
        reads(&zero);
        assert_eq!(checksum(&zero), Checksum::Absent);
        assert_eq!(checksum(&damaged(&layout, |_| ())), Checksum::Absent);
        assert_eq!(checksum(&damaged(&layout, Page::seal)), Checksum::Good);
    }
}

/// What the checksum of the second page says.
fn checksum(file: &File) -> Checksum {
    let mut pages = file.pages(&Reading::default()).unwrap();
    pages.next_header().unwrap();
    let start = pages.next_header().unwrap().unwrap();
    pages.checksum(&start).unwrap()
}

#[test]
fn a_flipped_bit_is_found() {
    let mut file = damaged(&v1(), Page::seal);
    let at = file.offsets[0][2] as usize - 1;
    file.bytes[at] ^= 0x10;
    refused_page(&file, ErrorKind::Corrupt, "checksum mismatch");
}

#[test]
fn checksums_of_dictionaries() {
    let column = Column::ints([1, 2, 1]);
    let layout = Layout { encoding: RLE_DICTIONARY, ..v1() };
    let mut pages = pages(&column, &layout);
    pages[0].header.crc = Some(1);
    let file = File::of_pages(&column, layout.codec, &pages);
    let error = refused(&file, 0, ErrorKind::Corrupt, "checksum mismatch");
    assert_eq!(error.place().offset, Some(4));
}

#[test]
fn wrong_sizes() {
    for layout in [v1(), v2()] {
        let wrong = |by: i32| damaged(&layout, |page| page.header.uncompressed_page_size += by);
        refused_page(&wrong(1), ErrorKind::Corrupt, "its header says");
        refused_page(&wrong(-1), ErrorKind::Corrupt, "its header says");
        let negative = damaged(&layout, |page| page.header.compressed_page_size = -1);
        refused_page(&negative, ErrorKind::Corrupt, "compressed_page_size is -1");
        let negative = damaged(&layout, |page| page.header.uncompressed_page_size = i32::MIN);
        refused_page(&negative, ErrorKind::Corrupt, "uncompressed_page_size is -2147483648");
        let long = damaged(&layout, |page| page.header.compressed_page_size = 1_000_000);
        refused_page(&long, ErrorKind::Truncated, "the page has 1000000 bytes, the file ends");
        for codec in [Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw] {
            let layout = with_codec(layout.clone(), codec);
            let wrong = |by: i32| damaged(&layout, |page| page.header.uncompressed_page_size += by);
            reads(&wrong(0));
            for by in [1, -1, 1_000] {
                refused_page(&wrong(by), ErrorKind::Corrupt, codec.name());
            }
            // Far more than 10 values can be: nothing is decompressed.
            refused_page(&wrong(50_000_000), ErrorKind::Corrupt, "a page of 10 values of 4 bytes that says");
            let garbage = damaged(&layout, |page| {
                let header = page.header.data_page_header_v2.as_ref();
                let values = header.map_or(0, |header| header.definition_levels_byte_length as usize);
                page.body[values..].fill(0xff);
            });
            refused_page(&garbage, ErrorKind::Corrupt, codec.name());
        }
    }
}

#[test]
fn wrong_numbers_of_values() {
    let negative = damaged(&v1(), |page| page.v1().num_values = -5);
    refused_page(&negative, ErrorKind::Corrupt, "num_values is -5");
    let negative = damaged(&v2(), |page| page.v2().num_values = -5);
    refused_page(&negative, ErrorKind::Corrupt, "num_values is -5");
    let negative = damaged(&v2(), |page| page.v2().num_nulls = -1);
    refused_page(&negative, ErrorKind::Corrupt, "num_nulls is -1");
    for wrong in [17, 40, i32::MAX] {
        let more = damaged(&v1(), |page| page.v1().num_values = wrong);
        assert!(matches!(more.error().kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{}", more.error());
        assert_eq!(more.error().place().page, Some(1));
        let more = damaged(&v2(), |page| page.v2().num_values = wrong);
        assert!(matches!(more.error().kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{}", more.error());
        assert_eq!(more.error().place().page, Some(1));
    }
    let fewer = damaged(&v1(), |page| page.v1().num_values = 9);
    let error = fewer.error();
    // What stands behind the last page is not a page.
    assert_eq!((error.kind(), error.place().page), (ErrorKind::Corrupt, Some(3)), "{error}");
    assert!(error.message().contains("page header"), "{error}");
}

#[test]
fn wrong_numbers_of_values_in_the_footer() {
    let mut file = damaged(&v1(), |_| ());
    file.chunk(0).num_values = -1;
    let error = file.error();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, "-1 values in a column chunk"));
    // Some writers leave nulls out of it.
    file.chunk(0).num_values = 15;
    reads(&file);
    let mut reader = file.reader(&Reading::default());
    reader.skip(29).unwrap();
    assert_eq!(reader.read(1).unwrap().values, Values::W32(vec![29]));
    // More than there are: what follows the last page is not a page.
    file.chunk(0).num_values = 1_000;
    reads(&file);
}

#[test]
fn uncompressed_values_in_a_v2_page_of_a_compressed_chunk() {
    let layout = with_codec(v2(), Codec::Snappy);
    let file = damaged(&layout, |page| {
        let values: Vec<u8> = (10..20u32).filter(|i| i % 4 > 0).flat_map(u32::to_le_bytes).collect();
        let levels = page.v2().definition_levels_byte_length as usize;
        page.body.truncate(levels);
        page.body.extend(values);
        page.header.compressed_page_size = page.body.len() as i32;
        page.v2().is_compressed = false;
    });
    reads(&file);
    let wrong = damaged(&layout, |page| page.v2().is_compressed = false);
    refused_page(&wrong, ErrorKind::Corrupt, "an uncompressed page of");
}

/// ARROW-17100: parquet-cpp before 2.0 compressed all V2 pages and marked none as compressed.
#[test]
fn unmarked_v2_pages_of_an_old_writer_are_decompressed() {
    for codec in [Codec::Snappy, Codec::Zstd, Codec::Gzip] {
        let mut file = damaged(&with_codec(v2(), codec), |page| page.v2().is_compressed = false);
        for created_by in ["parquet-cpp version 1.5.1-SNAPSHOT", "parquet-cpp", "parquet-cpp version 1.99"] {
            file.metadata.created_by = Some(created_by.into());
            reads(&file);
        }
        // All others are believed.
        for created_by in
            ["parquet-cpp version 2.0.0", "parquet-cpp-arrow version 1.0.0", "parquet-mr version 1.8"]
        {
            file.metadata.created_by = Some(created_by.into());
            refused_page(&file, ErrorKind::Corrupt, "an uncompressed page of");
        }
    }
}

#[test]
fn a_v2_page_of_nulls_has_no_value_bytes_under_any_codec() {
    let column = Column::flat(PhysicalType::Double, &[None; 20], true);
    for codec in
        [Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw, Codec::Lzo, Codec::Lz4]
    {
        // LZO and LZ4 are not written, but nothing is to be written.
        let mut pages = pages(&column, &Layout { v2: true, ..v1() });
        let levels = pages[0].body.len() as i32;
        assert_eq!(levels, pages[0].v2().definition_levels_byte_length, "levels only");
        pages[0].v2().is_compressed = true;
        for uncompressed in [levels, levels + 4] {
            pages[0].header.uncompressed_page_size = uncompressed;
            let batch = File::of_pages(&column, codec, &pages).read_all(&Reading::default()).unwrap();
            assert_eq!(batch.validity.unwrap().count_ones(0..20), 0);
        }
    }
}

#[test]
fn level_lengths_beyond_the_page() {
    for (rep, def) in [(0, 1_000), (1_000, 0), (i32::MAX, i32::MAX), (0, 36)] {
        let file = damaged(&v2(), |page| {
            page.v2().repetition_levels_byte_length = rep;
            page.v2().definition_levels_byte_length = def;
        });
        let text = format!("{} bytes of levels in a page of", rep as i64 + def as i64);
        refused_page(&file, ErrorKind::Corrupt, &text);
    }
    let negative = damaged(&v2(), |page| page.v2().definition_levels_byte_length = -1);
    refused_page(&negative, ErrorKind::Corrupt, "definition_levels_byte_length is -1");
    let long = damaged(&v1(), |page| page.body[..4].copy_from_slice(&100_000u32.to_le_bytes()));
    refused_page(&long, ErrorKind::Truncated, "definition levels: 100000 bytes of levels");
    let cut = damaged(&v1(), |page| page.body[..4].copy_from_slice(&1u32.to_le_bytes()));
    refused_page(&cut, ErrorKind::Truncated, "");
    let unknown = damaged(&v1(), |page| page.v1().definition_level_encoding = Encoding::PLAIN);
    refused_page(&unknown, ErrorKind::Unsupported, "definition levels: levels in encoding 0");
}

#[test]
fn dictionary_pages_out_of_place() {
    let column = Column::ints([1, 2, 1, 3]);
    let layout = Layout { encoding: RLE_DICTIONARY, cuts: vec![2], ..v1() };
    let good = pages(&column, &layout);
    let file_of = |pages: &[Page]| File::of_pages(&column, Codec::Uncompressed, pages);
    let twice = [good[0].clone(), good[0].clone(), good[1].clone(), good[2].clone()];
    refused(&file_of(&twice), 1, ErrorKind::Corrupt, "a second dictionary page");
    refused(&file_of(&good[1..]), 0, ErrorKind::Corrupt, "without a dictionary page");
    let mut odd = good.clone();
    odd[0].header.dictionary_page_header.as_mut().unwrap().encoding = Encoding::RLE;
    refused(&file_of(&odd), 0, ErrorKind::Unsupported, "a dictionary in encoding RLE");
    for (n, kind) in [(4, ErrorKind::Truncated), (-1, ErrorKind::Corrupt), (i32::MAX, ErrorKind::Truncated)] {
        let mut odd = good.clone();
        odd[0].header.dictionary_page_header.as_mut().unwrap().num_values = n;
        refused(&file_of(&odd), 0, kind, "");
    }
    let mut odd = good.clone();
    odd[0].header.dictionary_page_header = None;
    refused(&file_of(&odd), 0, ErrorKind::Corrupt, "a dictionary page without its header");
    let bits = Column::flat(PhysicalType::Boolean, &[Some(1), Some(0)], false);
    let dictionary = dictionary_page(&Values::Bit([true].into_iter().collect()), &layout);
    let mut pages = vec![dictionary];
    pages.extend(chunk::pages(&bits, &v1()));
    refused(&File::of_pages(&bits, Codec::Uncompressed, &pages), 0, ErrorKind::Corrupt, "BOOLEAN");
}

#[test]
fn a_dictionary_where_the_data_is_said_to_be() {
    let column = Column::ints([1, 2, 1, 3]);
    for offset in [None, Some(0), Some(-1)] {
        let mut file = File::flat(&column, &Layout { encoding: RLE_DICTIONARY, ..v1() });
        file.chunk(0).dictionary_page_offset = offset;
        file.chunk(0).data_page_offset = 4;
        // parquet-mr once forgot the dictionary's header in the size.
        file.chunk(0).total_compressed_size -= 14;
        assert_eq!(file.read_all(&Reading::default()).unwrap().values, column.values);
    }
}

/// Bytes that were put in before a chunk have it begin with pages of the one before.
#[test]
fn a_page_that_goes_on_behind_its_column_chunk() {
    let column = Column::ints([1, 2, 1, 3]);
    for (layout, page) in [(v1(), 0), (Layout { encoding: RLE_DICTIONARY, ..v1() }, 1)] {
        let mut file = File::flat(&column, &layout);
        let header = if page > 0 { pages(&column, &layout)[0].header_len() as i64 } else { 0 };
        file.chunk(0).total_compressed_size -= header + 1;
        refused(&file, page, ErrorKind::Corrupt, "the page ends 1 bytes behind its column chunk");
    }
}

/// Up to version 0.1.4.
#[test]
fn dictionaries_that_fastparquet_has_not_counted() {
    let column = Column::ints([1, 2, 1, 3]);
    let layout = Layout { encoding: RLE_DICTIONARY, ..v1() };
    let mut file = File::flat(&column, &layout);
    let dictionary = (file.offsets[0][1] - file.offsets[0][0]) as i64;
    file.chunk(0).total_compressed_size -= dictionary;
    refused(&file, 1, ErrorKind::Corrupt, "behind its column chunk");
    file.metadata.created_by = Some("fastparquet-python version 1.0.0 (build 111)".into());
    assert_eq!(file.read_all(&Reading::default()).unwrap().values, column.values);
}

#[test]
fn levels_that_the_writer_has_not_counted() {
    let mut file = damaged(&v1(), |_| {});
    file.chunk(0).size_statistics =
        Some(SizeStatistics { definition_level_histogram: Some(vec![8, 22]), ..SizeStatistics::default() });
    reads(&file);
    // One bit of the schema.
    file.metadata.schema[1].repetition_type = Some(Repetition::REQUIRED);
    let error = file.error();
    let says = "the schema gives it 1 definition levels, the footer counts the values of 2";
    assert!(error.kind() == ErrorKind::Corrupt && error.message().contains(says), "{error}");
}

#[test]
fn offsets_where_no_pages_are() {
    let column = Column::ints(0..10);
    for offset in [0, 3, -1, i64::MIN, i64::MAX] {
        let mut file = File::flat(&column, &v1());
        file.chunk(0).data_page_offset = offset;
        let error = file.error();
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{error}");
        assert!(error.message().contains("page"), "{error}");
        assert_eq!(error.place().column.as_deref(), Some("x"));
    }
    let mut file = File::flat(&column, &v1());
    for offset in [file.finish().len() as i64, 1 << 40, i64::MAX >> 1] {
        file.chunk(0).data_page_offset = offset;
        refused(&file, 0, ErrorKind::Truncated, "page header");
    }
}

#[test]
fn headers_that_are_damaged() {
    let none = damaged(&v1(), |page| page.header.data_page_header = None);
    refused_page(&none, ErrorKind::Corrupt, "a DATA_PAGE without its header");
    let other = damaged(&v1(), |page| page.header.type_ = PageType::DATA_PAGE_V2);
    refused_page(&other, ErrorKind::Corrupt, "a DATA_PAGE_V2 without its header");
    let unknown = damaged(&v1(), |page| page.v1().encoding = Encoding(99));
    refused_page(&unknown, ErrorKind::Unsupported, "encoding 99");
    let illegal = damaged(&v1(), |page| page.v1().encoding = Encoding::DELTA_BYTE_ARRAY);
    refused_page(&illegal, ErrorKind::Corrupt, "encoding DELTA_BYTE_ARRAY is not legal for INT32");
    let mut file = damaged(&v1(), |_| ());
    let at = file.offsets[0][1] as usize;
    file.bytes[at] = 0xff;
    refused(&file, 1, ErrorKind::Corrupt, "Thrift type 15");
    file.chunk(0).codec.0 = 42;
    let error = file.error();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("compression codec UNKNOWN(42)"), "{error}");
}

#[test]
fn a_header_that_the_file_cuts_off() {
    let column = Column::ints(0..10);
    let whole = File::flat(&column, &v1());
    for cut in 4..whole.bytes.len() {
        // The footer is elsewhere: nothing follows what is left of the page.
        let source = Arc::new(Bytes::from(whole.bytes[..cut].to_vec()));
        let metadata = ParquetMetaData::from_thrift(whole.metadata.clone(), &Limits::default()).unwrap();
        let options = PageOptions::for_writer(None).with_trust(ChecksumTrust::Believed);
        let target = chunk::file::target(&metadata, false);
        let mut reader = ColumnReader::new(source, Arc::new(metadata), &[0], 0, target, options);
        let error = reader.read(10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{cut}: {error}");
        assert!(error.message().contains("page"), "{cut}: {error}");
        assert_eq!(error.place().page, Some(0));
        assert!(error.place().offset.is_some_and(|offset| offset <= cut as u64));
    }
}

/// A page with bounds of a mebibyte each in its header, among others.
fn with_long_header(len: usize) -> File {
    damaged(&v1(), |page| {
        page.v1().statistics = Some(Statistics {
            min_value: Some(vec![1; len]),
            max_value: Some(vec![2; len]),
            ..Statistics::default()
        });
    })
}

#[test]
fn headers_longer_than_what_is_read_first() {
    for len in [100, 200, 1_000, 1 << 19, 1 << 20, 3 << 20] {
        reads(&with_long_header(len));
    }
}

#[test]
fn limits() {
    let limited = |file: &File, limits: Limits| {
        let reading = Reading { limits, ..Reading::default() };
        let error = file.read_all(&reading).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(error.place().page, Some(1), "{error}");
        assert!(error.place().offset.is_some(), "{error}");
        error.message().to_owned()
    };
    let large = damaged(&v1(), |page| page.header.uncompressed_page_size = 5_000);
    let message = limited(&large, Limits::default().with_page_bytes(4_999));
    assert_eq!(message, "5000 exceeds the limit of 4999; raise Limits::page_bytes to read it");
    let layout = with_codec(v1(), Codec::Zstd);
    let bomb = damaged(&layout, |page| page.header.uncompressed_page_size = i32::MAX);
    let strict = Limits::default().with_decompression_ratio(5_000);
    assert!(limited(&bomb, strict).contains("raise Limits::decompression_ratio"));
    let header = with_long_header(1_000);
    for limit in [100, 255, 256, 1_000, 2_000] {
        let message = limited(&header, Limits::default().with_page_header_bytes(limit));
        assert!(message.contains("raise Limits::page_header_bytes"), "{message}");
    }
    let enough = Limits::default().with_page_header_bytes(2_100);
    header.read_all(&Reading { limits: enough, ..Reading::default() }).unwrap();
    let huge = with_long_header(9 << 20);
    assert!(limited(&huge, Limits::default()).contains("raise Limits::page_header_bytes"));
}

#[test]
fn other_pages_are_passed_over() {
    let column = Column::ints(0..10);
    let mut all = vec![unknown_page()];
    all.extend(pages(&column, &Layout { strangers: true, cuts: vec![0, 3, 0, 0, 4], ..v1() }));
    all.push(unknown_page());
    let batch = File::of_pages(&column, Codec::Zstd, &all).read_all(&Reading::default());
    assert!(batch.is_err(), "pages are not what the codec says");
    let file = File::of_pages(&column, Codec::Uncompressed, &all);
    assert_eq!(file.read_all(&Reading::default()).unwrap().values, column.values);
}

#[test]
fn encrypted_columns_and_other_files() {
    let mut file = damaged(&v1(), |_| ());
    file.metadata.row_groups[0].columns[0].file_path = Some("part-0.parquet".into());
    // The pages are here: some files name themselves.
    reads(&file);
    // Not so if other columns of the row group are in other files, or in this one.
    let column = file.metadata.row_groups[0].columns[0].clone();
    for path in [None, Some("part-1.parquet")] {
        let mut split = file.clone();
        let other = ColumnChunk { file_path: path.map(Into::into), ..column.clone() };
        split.metadata.row_groups[0].columns.push(other);
        assert_eq!(split.error().message(), "the pages are in another file, part-0.parquet");
    }
    file.chunk(0).data_page_offset = 1 << 30;
    let error = file.error();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "the pages are in another file, part-0.parquet");
    let mut file = damaged(&v1(), |_| ());
    file.metadata.row_groups[0].columns[0].meta_data = None;
    assert_eq!(file.error().message(), "the column chunk has no metadata");
    file.metadata.row_groups[0].columns[0].encrypted_column_metadata = Some(vec![1, 2, 3]);
    let error = file.error();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("encrypted"), "{error}");
    assert_eq!(error.place().column.as_deref(), Some("x"));
}
