//! A few bytes that stand for millions of values do not take the memory of millions of values.

use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::page::{ChecksumTrust, PageOptions};
use marquetry_core::read::{ColumnReader, ReadTarget, ValueLayout};
use marquetry_format::{
    ColumnChunk, ColumnMetaData, DataPageHeader, DictionaryPageHeader, Encoding, FileMetaData, PageHeader,
    PageType, Repetition, RowGroup, SchemaElement, Type, Writer,
};
use std::sync::Arc;

/// Entries of the row: 128 Mi.
const ENTRIES: i32 = 1 << 27;

#[test]
fn a_row_of_runs_is_held_against_the_limit() {
    let error = read(bomb(), Limits::default().with_batch_bytes(1 << 20));
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.message().contains("Limits::batch_bytes"), "{error}");
}

/// Reads the first row of a column of repeated INT32 whose pages are given.
fn read(pages: Vec<u8>, limits: Limits) -> Error {
    let root = SchemaElement { name: "root".into(), num_children: Some(1), ..Default::default() };
    let leaf = SchemaElement {
        name: "leaf".into(),
        type_: Some(Type::INT32),
        repetition_type: Some(Repetition::REPEATED),
        ..Default::default()
    };
    let chunk = ColumnMetaData {
        type_: Type::INT32,
        num_values: i64::from(ENTRIES),
        total_compressed_size: pages.len() as i64,
        data_page_offset: 4,
        ..Default::default()
    };
    let columns = vec![ColumnChunk { meta_data: Some(chunk), ..Default::default() }];
    let row_groups = vec![RowGroup { columns, num_rows: 1, ..Default::default() }];
    let thrift = FileMetaData { schema: vec![root, leaf], row_groups, ..Default::default() };
    let metadata = Arc::new(ParquetMetaData::from_thrift(thrift, &limits).unwrap());
    let schema = metadata.schema();
    let target =
        ReadTarget::new(schema.column(0), &NestedField::from_schema(schema)[0], 0, ValueLayout::Native);
    let options =
        PageOptions::for_writer(None).with_limits(Arc::new(limits)).with_trust(ChecksumTrust::Believed);
    let file = Bytes::from([b"PAR1", &pages[..]].concat());
    ColumnReader::new(Arc::new(file), metadata, &[0], 0, target, options).read(1).unwrap_err()
}

/// A dictionary page of one value, and a data page of a few runs.
fn bomb() -> Vec<u8> {
    #[rustfmt::skip]
    let values = [
        0x2a, 0x00, 0x00, 0x00, // 42
    ];
    #[rustfmt::skip]
    let data = [
        0x07, 0x00, 0x00, 0x00,       // bytes of repetition levels
        0x02,                         // a run of 1
        0x00,                         // level 0: a row begins
        0xfe, 0xff, 0xff, 0x7f,       // a run of 2^27 - 1
        0x01,                         // level 1: the list goes on
        0x06, 0x00, 0x00, 0x00,       // bytes of definition levels
        0x80, 0x80, 0x80, 0x80, 0x01, // a run of 2^27
        0x01,                         // level 1: a value
        0x00,                         // dictionary indices of no bits
        0x80, 0x80, 0x80, 0x80, 0x01, // a run of 2^27
    ];
    let dictionary = PageHeader {
        type_: PageType::DICTIONARY_PAGE,
        dictionary_page_header: Some(DictionaryPageHeader {
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: None,
        }),
        ..Default::default()
    };
    let header = PageHeader {
        type_: PageType::DATA_PAGE,
        data_page_header: Some(DataPageHeader {
            num_values: ENTRIES,
            encoding: Encoding::RLE_DICTIONARY,
            definition_level_encoding: Encoding::RLE,
            repetition_level_encoding: Encoding::RLE,
            statistics: None,
        }),
        ..Default::default()
    };
    [page(dictionary, &values), page(header, &data)].concat()
}

fn page(header: PageHeader, body: &[u8]) -> Vec<u8> {
    let len = body.len() as i32;
    let header = PageHeader { uncompressed_page_size: len, compressed_page_size: len, ..header };
    let mut w = Writer::new();
    header.write(&mut w);
    [w.finish(), body.to_vec()].concat()
}
