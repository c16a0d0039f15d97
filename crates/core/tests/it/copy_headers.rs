//! Headers of copied pages, and counts of others, which a copy does not take over as they are.

use crate::chunk::file::{File, leaf, root};
use crate::chunk::{Column, Layout, Page, pages};
use crate::copy::{copied, copy, holds, improved, metadata, offset_indexes, to, words};
use bytes::Bytes;
use marquetry_codec::Codec;
use marquetry_core::page::{PageBuffers, PageOptions, PageReader};
use marquetry_core::write::copy::CopySettings;
use marquetry_encoding::PhysicalType;
use marquetry_format::{Encoding, PageHeader, Reader, Repetition, SizeStatistics};
use std::sync::Arc;

#[test]
fn compressed_pages_that_were_marked_as_plain_are_marked_right() {
    let column = Column::flat(PhysicalType::Int64, &words(30), true);
    let mut pages = pages(&column, &Layout { v2: true, codec: Codec::Snappy, ..Layout::default() });
    let right = File::of_pages(&column, Codec::Snappy, &pages);
    pages[0].v2().is_compressed = false;
    let mut file = File::of_pages(&column, Codec::Snappy, &pages);
    file.metadata.created_by = Some("parquet-cpp version 1.5.1-SNAPSHOT".into());
    for settings in [CopySettings::default(), improved(), to(Codec::Zstd)] {
        holds(&right, &copy(&file, &settings).unwrap(), true);
    }
}

/// A bit flips in a header, and the fields of the levels' encodings are others: we take the encodings for granted, others do not.
#[test]
fn a_header_that_lost_a_field_is_written_anew_where_that_is_asked_for() {
    let column = Column::flat(PhysicalType::Int64, &words(30), true);
    let right = File::flat(&column, &Layout::default());
    let mut file = right.clone();
    let level_encodings: [u8; 5] = [
        0x15,
        3 << 1, // field 3: RLE
        0x15,
        3 << 1, // field 4: RLE
        0x00,   // end of DataPageHeader
    ];
    let at = file.bytes.windows(5).position(|bytes| bytes == level_encodings).unwrap();
    // Fields 5 and 6 now, which are not numbers.
    file.bytes[at] ^= 0x20;
    let header = |bytes: &[u8]| PageHeader::read(&mut Reader::new(&bytes[4..])).unwrap();
    assert_eq!(header(&file.bytes), header(&right.bytes));
    let as_it_is = copy(&file, &improved()).unwrap();
    assert_eq!(as_it_is[..file.bytes.len()], file.bytes[..]);
    let anew = copy(&file, &improved().with_normalize_page_headers(true)).unwrap();
    assert_eq!(anew[..right.bytes.len()], right.bytes[..]);
    holds(&right, &anew, true);
    // Nothing is done to headers in which nothing is wrong.
    let normal = improved().with_normalize_page_headers(true);
    assert_eq!(copied(&right, &normal).unwrap().remove(0).pages_kept, Some(1));
    assert_eq!(copied(&file, &normal).unwrap().remove(0).pages_sealed, 1);
}

/// Encodings of levels that a column does not have are passed over, but by those who know no such encoding.
#[test]
fn encodings_of_levels_that_are_not_there_become_known_ones() {
    let column = Column::flat(PhysicalType::Int64, &[Some(1), Some(2)], false);
    let mut pages = pages(&column, &Layout::default());
    let right = File::of_pages(&column, Codec::Uncompressed, &pages);
    pages[0].v1().definition_level_encoding = Encoding(67);
    pages[0].v1().repetition_level_encoding = Encoding(-4);
    let file = File::of_pages(&column, Codec::Uncompressed, &pages);
    let anew = copy(&file, &improved().with_normalize_page_headers(true)).unwrap();
    assert_eq!(anew[..right.bytes.len()], right.bytes[..]);
}

/// Numbers of rows and nulls in headers of V2 pages come from the levels, if the caller knows that they are wrong.
#[test]
fn counts_in_headers_are_made_again_where_that_is_asked_for() {
    // An empty list and one of three elements, by turns.
    let words: Vec<_> = (0..28).map(|i| (i % 4 > 0).then_some(i)).collect();
    let rep = (0..28).map(|i| u8::from(i % 4 > 1)).collect();
    let column = Column { max_rep: 1, rep, ..Column::flat(PhysicalType::Int64, &words, true) };
    let good = pages(&column, &Layout { v2: true, cuts: vec![8], ..Layout::default() });
    let mut wrong = good.clone();
    (wrong[0].v2().num_rows, wrong[1].v2().num_nulls) = (8, 0);
    let of_pages = |pages: &[Page]| {
        let mut file = File::new(vec![root(1), leaf("c", Repetition::REPEATED, PhysicalType::Int64)]);
        file.push_pages(&column, 14, Codec::Uncompressed, pages);
        file
    };
    let headers = |pages: &[Page]| pages.iter().map(|page| page.header.clone()).collect::<Vec<_>>();
    let headers_of = |bytes: &Bytes| {
        let metadata = metadata(bytes);
        let chunk = metadata.row_group(0).column(0).unwrap();
        let options = PageOptions::for_writer(None);
        let source = Arc::new(bytes.clone());
        let mut pages = PageReader::new(source, chunk, options, PageBuffers::default()).unwrap();
        std::iter::from_fn(|| pages.next_header().unwrap()).map(|start| start.header).collect::<Vec<_>>()
    };
    let recounted = copy(&of_pages(&wrong), &improved().with_recount_page_headers(true)).unwrap();
    assert_eq!(headers_of(&recounted), headers(&good));
    let index = offset_indexes(&recounted).remove(0).unwrap();
    let rows: Vec<i64> = index.page_locations.iter().map(|page| page.first_row_index).collect();
    assert_eq!(rows, [0, 4]);
    assert_eq!(headers_of(&copy(&of_pages(&wrong), &improved()).unwrap()), headers(&wrong));
}

/// parquet-cpp counts what it stores of strings in DELTA_BYTE_ARRAY. Under another name that would be wrong.
#[test]
fn counts_of_suffixes_do_not_go_to_a_file_of_another_writer() {
    let words: Vec<_> = (0..30).map(|i| Some(i * i % 17)).collect();
    let column = Column::flat(PhysicalType::ByteArray, &words, false);
    let kept = |created_by: &str, encoding: Encoding| {
        let mut file = File::flat(&column, &Layout { encoding: encoding.0, ..Layout::default() });
        file.metadata.created_by = Some(created_by.into());
        let histogram = Some(vec![30]);
        let chunk = file.chunk(0);
        chunk.encodings = vec![encoding];
        chunk.size_statistics = Some(SizeStatistics {
            unencoded_byte_array_data_bytes: Some(3),
            repetition_level_histogram: None,
            definition_level_histogram: histogram.clone(),
        });
        let copied = copied(&file, &improved()).unwrap().remove(0);
        let sizes = copied.chunk.metadata.size_statistics.unwrap();
        assert_eq!(sizes.definition_level_histogram, histogram);
        (sizes.unencoded_byte_array_data_bytes, copied.notes.len())
    };
    assert_eq!(kept("parquet-cpp-arrow version 26.0.0", Encoding::DELTA_BYTE_ARRAY), (None, 1));
    assert_eq!(kept("parquet-cpp-arrow version 26.0.0", Encoding::PLAIN), (Some(3), 0));
    assert_eq!(kept("parquet-mr version 1.15.0", Encoding::DELTA_BYTE_ARRAY), (Some(3), 0));
}
