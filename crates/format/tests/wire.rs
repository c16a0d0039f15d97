//! The bytes of a page header and of a footer, one wire field per line, and what forks of the format put between.

use marquetry_base::{ErrorKind, Limits};
use marquetry_format::*;

/// A V1 data page of a nullable INT32 column: SNAPPY, 5 values, 1 null.
#[rustfmt::skip]
const PAGE_HEADER: &[u8] = &[
    0x15, 0x00,                         // 1 type: DATA_PAGE
    0x15, 0x34,                         // 2 uncompressed_page_size: 26
    0x15, 0x38,                         // 3 compressed_page_size: 28
    0x15, 0x01,                         // 4 crc: -1
    0x1c,                               // 5 data_page_header: struct
        0x15, 0x0a,                     //   1 num_values: 5
        0x15, 0x00,                     //   2 encoding: PLAIN
        0x15, 0x06,                     //   3 definition_level_encoding: RLE
        0x15, 0x06,                     //   4 repetition_level_encoding: RLE
        0x1c,                           //   5 statistics: struct
            0x36, 0x02,                 //     3 null_count: 1
            0x28, 0x04, 9, 0, 0, 0,     //     5 max_value: 9
            0x18, 0x04, 7, 0, 0, 0,     //     6 min_value: 7
            0x11,                       //     7 is_max_value_exact: true
            0x12,                       //     8 is_min_value_exact: false
        0x00,                           //     stop
    0x00,                               //   stop
    0x00,                               // stop
];

fn page_header() -> PageHeader {
    PageHeader {
        type_: PageType::DATA_PAGE,
        uncompressed_page_size: 26,
        compressed_page_size: 28,
        crc: Some(-1),
        data_page_header: Some(DataPageHeader {
            num_values: 5,
            encoding: Encoding::PLAIN,
            definition_level_encoding: Encoding::RLE,
            repetition_level_encoding: Encoding::RLE,
            statistics: Some(Statistics {
                null_count: Some(1),
                max_value: Some(vec![9, 0, 0, 0]),
                min_value: Some(vec![7, 0, 0, 0]),
                is_max_value_exact: Some(true),
                is_min_value_exact: Some(false),
                ..Statistics::default()
            }),
        }),
        ..PageHeader::default()
    }
}

/// A file of one required DECIMAL(9, 2) column and one row group.
#[rustfmt::skip]
const FILE_METADATA: &[u8] = &[
    0x15, 0x02,                         // 1 version: 1
    0x19, 0x2c,                         // 2 schema: list of 2 structs
        0x48, 0x01, b'm',               //   4 name: "m"
        0x15, 0x02,                     //   5 num_children: 1
        0x00,                           //   stop
        0x15, 0x02,                     //   1 type: INT32
        0x25, 0x00,                     //   3 repetition_type: REQUIRED
        0x18, 0x01, b'a',               //   4 name: "a"
        0x25, 0x0a,                     //   6 converted_type: DECIMAL
        0x15, 0x04,                     //   7 scale: 2
        0x15, 0x12,                     //   8 precision: 9
        0x2c,                           //   10 logicalType: union
            0x5c,                       //     5 DECIMAL: struct
                0x15, 0x04,             //       1 scale: 2
                0x15, 0x12,             //       2 precision: 9
                0x00,                   //       stop
            0x00,                       //     stop
        0x00,                           //   stop
    0x16, 0x06,                         // 3 num_rows: 3
    0x19, 0x1c,                         // 4 row_groups: list of 1 struct
        0x19, 0x1c,                     //   1 columns: list of 1 struct
            0x26, 0x08,                 //     2 file_offset: 4
            0x1c,                       //     3 meta_data: struct
                0x15, 0x02,             //       1 type: INT32
                0x19, 0x25, 0x06, 0x00, //       2 encodings: list of 2 i32, RLE, PLAIN
                0x19, 0x18, 0x01, b'a', //       3 path_in_schema: list of 1 binary, "a"
                0x15, 0x0c,             //       4 codec: ZSTD
                0x16, 0x06,             //       5 num_values: 3
                0x16, 0x50,             //       6 total_uncompressed_size: 40
                0x16, 0x52,             //       7 total_compressed_size: 41
                0x26, 0x08,             //       9 data_page_offset: 4
                0x00,                   //       stop
            0x00,                       //     stop
        0x16, 0x50,                     //   2 total_byte_size: 40
        0x16, 0x06,                     //   3 num_rows: 3
        0x00,                           //   stop
    0x28, 0x01, b'w',                   // 6 created_by: "w"
    0x19, 0x1c,                         // 7 column_orders: list of 1 union
        0x1c, 0x00,                     //   1 TYPE_ORDER: empty struct
        0x00,                           //   stop
    0x00,                               // stop
];

fn file_metadata() -> FileMetaData {
    let root = SchemaElement { name: "m".into(), num_children: Some(1), ..SchemaElement::default() };
    let leaf = SchemaElement {
        type_: Some(Type::INT32),
        repetition_type: Some(Repetition::REQUIRED),
        name: "a".into(),
        converted_type: Some(ConvertedType::DECIMAL),
        scale: Some(2),
        precision: Some(9),
        logical_type: Some(LogicalType::Decimal { scale: 2, precision: 9 }),
        ..SchemaElement::default()
    };
    let column = ColumnMetaData {
        type_: Type::INT32,
        encodings: vec![Encoding::RLE, Encoding::PLAIN],
        path_in_schema: vec!["a".into()],
        codec: CompressionCodec::ZSTD,
        num_values: 3,
        total_uncompressed_size: 40,
        total_compressed_size: 41,
        data_page_offset: 4,
        ..ColumnMetaData::default()
    };
    let chunk = ColumnChunk { file_offset: 4, meta_data: Some(column), ..ColumnChunk::default() };
    FileMetaData {
        version: 1,
        schema: vec![root, leaf],
        num_rows: 3,
        row_groups: vec![RowGroup {
            columns: vec![chunk],
            total_byte_size: 40,
            num_rows: 3,
            ..RowGroup::default()
        }],
        created_by: Some("w".into()),
        column_orders: Some(vec![ColumnOrder::TypeOrder]),
        ..FileMetaData::default()
    }
}

#[test]
fn page_header_bytes() {
    let mut r = Reader::new(PAGE_HEADER);
    assert_eq!(PageHeader::read(&mut r).unwrap(), page_header());
    assert_eq!(r.position(), PAGE_HEADER.len());
    let mut w = Writer::new();
    page_header().write(&mut w);
    assert_eq!(w.finish(), PAGE_HEADER);
}

#[test]
fn file_metadata_bytes() {
    assert_eq!(parse_metadata(FILE_METADATA, &Limits::default()).unwrap(), file_metadata());
    let mut w = Writer::new();
    file_metadata().write(&mut w);
    assert_eq!(w.finish(), FILE_METADATA);
}

#[test]
fn bytes_that_end_early_are_truncated() {
    for end in 0..PAGE_HEADER.len() {
        let error = PageHeader::read(&mut Reader::new(&PAGE_HEADER[..end])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "at {end}: {error}");
        let error = PageHeader::read_without_statistics(&mut Reader::new(&PAGE_HEADER[..end])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "at {end}: {error}");
    }
    for end in 0..FILE_METADATA.len() {
        let error = parse_metadata(&FILE_METADATA[..end], &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "at {end}: {error}");
    }
}

#[test]
fn no_flipped_bit_panics() {
    for (bytes, bits) in [(FILE_METADATA, FILE_METADATA.len() * 8), (PAGE_HEADER, PAGE_HEADER.len() * 8)] {
        for bit in 0..bits {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // Success and failure are both right, as long as nothing panics.
            let _ = parse_metadata(&flipped, &Limits::default());
            let _ = PageHeader::read(&mut Reader::new(&flipped));
            let _ = Reader::new(&flipped).skip(Wire::Struct);
        }
    }
}

#[test]
fn fields_of_forks_are_skipped() {
    #[rustfmt::skip]
    let bytes = [
        0x12,                                   // 1: a boolean, not a version
        0x19, 0x1c,                             // 2 schema: list of 1 struct
            0x15, 0x02,                         //   1 type: INT32
            0x38, 0x01, 0xff,                   //   4 name: not UTF-8
            0x59, 0x26, 0x02, 0x04,             //   9: a list, not a field_id
            0x00,                               //   stop
        0x15, 0x06,                             // 3: an i32, not the i64 num_rows: read all the same
        0x19, 0x0c,                             // 4 row groups: an empty list
        0x1a, 0x33, 1, 2, 3,                    // 5: a set of i8
        0x1b, 0x02, 0x81, 0x01, b'k', 1, 0x00, 2, // 6: a map of binaries to booleans
        0x1b, 0x00,                             // 7: an empty map
        0x19, 0x29, 0x22, 1, 2, 0x01,           // 8: a list of 2 lists, of 2 booleans and of no elements of type 1
        0x1d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, // 9: a UUID
        0x09, 0xfe, 0xff, 0x03, 0x00,           // 32767: an empty list of no type
        0x00,                                   // stop
    ];
    let file = parse_metadata(&bytes, &Limits::default()).unwrap();
    let element = SchemaElement {
        type_: Some(Type::INT32),
        name: ThriftString::from_bytes(b"\xff"),
        ..SchemaElement::default()
    };
    assert_eq!(file, FileMetaData { schema: vec![element], num_rows: 3, ..FileMetaData::default() });
}

#[test]
fn what_is_needed_is_named() {
    let error = PageHeader::read(&mut Reader::new(&[0x25, 0x02, 0x00])).unwrap_err();
    assert_eq!(error.to_string(), "corrupt: PageHeader.type is missing, in byte 3");
    let error = parse_metadata(&[0x00], &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "corrupt: FileMetaData.schema is missing, in byte 1");
    #[rustfmt::skip]
    let foreign_row_groups = [
        0x29, 0x1c, 0x48, 0x01, b'a', 0x00,     // 2 schema: a list of 1 struct, 4 name: a
        0x29, 0x15, 0x02,                       // 4 row groups: a list of 1 i32
        0x00,                                   // stop
    ];
    let error = parse_metadata(&foreign_row_groups, &Limits::default()).unwrap_err();
    assert_eq!(error.message(), "FileMetaData.row_groups is missing");
    let error = PageHeader::read(&mut Reader::new(&[0x1f])).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, "Thrift type 15"));
}

#[test]
fn malformed_logical_types_are_unknown() {
    #[rustfmt::skip]
    let cases: [(&[u8], LogicalType); 6] = [
        (&[0x00], LogicalType::Unknown(0)),                                  // no member
        (&[0x5c, 0x15, 0x04, 0x00, 0x00], LogicalType::Unknown(5)),          // DECIMAL without precision
        (&[0x7c, 0x11, 0x00, 0x00], LogicalType::Unknown(7)),                // TIME without unit
        (&[0xac, 0x15, 0x10, 0x11, 0x00, 0x00], LogicalType::Unknown(10)),   // INTEGER with an i32 as width
        (&[0x15, 0x02, 0x00], LogicalType::Unknown(1)),                      // STRING as a number
        (&[0x0c, 0x50, 0x15, 0x02, 0x00, 0x00], LogicalType::Unknown(40)),   // an unknown member with a field
    ];
    for (bytes, expected) in cases {
        let mut r = Reader::new(bytes);
        assert_eq!(LogicalType::read(&mut r).unwrap(), expected);
        assert_eq!(r.position(), bytes.len());
    }
}

#[test]
fn what_was_not_understood_is_not_written_as_more() {
    // A DATE that is a number instead of a struct is not a DATE, and must not become one when the footer is written again.
    #[rustfmt::skip]
    let date = [
        0x65, 0x02, // 6 DATE: an i32, not a struct
        0x00,       // stop
    ];
    let member = LogicalType::read(&mut Reader::new(&date)).unwrap();
    assert_eq!(member, LogicalType::Unknown(6));
    let mut w = Writer::new();
    member.write(&mut w);
    assert_eq!(w.finish(), [0x00]);
    #[rustfmt::skip]
    let algorithm = [
        0x25, 0x02, // 2 AES_GCM_CTR_V1: an i32, not a struct
        0x00,       // stop
    ];
    let member = EncryptionAlgorithm::read(&mut Reader::new(&algorithm)).unwrap();
    assert_eq!(member, EncryptionAlgorithm::Unknown(2));
    let mut w = Writer::new();
    member.write(&mut w);
    assert_eq!(w.finish(), [0x00]);
    // A member with an unknown id keeps its id.
    let mut w = Writer::new();
    LogicalType::Unknown(40).write(&mut w);
    assert_eq!(LogicalType::read(&mut Reader::new(&w.finish())).unwrap(), LogicalType::Unknown(40));
}

#[test]
fn claimed_lengths_are_not_trusted() {
    // Lists, binaries and maps that claim 2^31, 2^31 - 1 and 2^64 - 1 elements, followed by only 3 bytes.
    #[rustfmt::skip]
    let lengths: [&[u8]; 3] = [
        &[0x80, 0x80, 0x80, 0x80, 0x08],
        &[0xff, 0xff, 0xff, 0xff, 0x07],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    ];
    #[rustfmt::skip]
    let headers: [&[u8]; 6] = [
        &[0x29, 0xfc], // 2 schema: list of structs
        &[0x49, 0xfc], // 4 row_groups: list of structs
        &[0x68],       // 6 created_by: binary
        &[0xa9, 0xf5], // 10: unknown list of i32
        &[0xaa, 0xf1], // 10: unknown set of booleans
        &[0xab],       // 10: unknown map
    ];
    for length in lengths {
        for header in headers {
            let bytes = [header, length, &[0, 0, 0]].concat();
            let error = parse_metadata(&bytes, &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{bytes:?}: {error}");
        }
    }
}

#[test]
fn unknown_fields_nest_to_a_limit() {
    let nested = |structs: usize| {
        let mut bytes = vec![0xac]; // 10: a struct
        bytes.extend(vec![0x1c; structs - 1]); // 1: a struct
        bytes.extend(vec![0x00; structs + 1]); // stops
        bytes
    };
    let skip = |bytes: &[u8]| parse_metadata(bytes, &Limits::default()).unwrap_err();
    // The footer itself is the first of the 64 levels.
    assert_eq!(skip(&nested(63)).message(), "FileMetaData.schema is missing");
    assert_eq!(skip(&nested(64)).kind(), ErrorKind::Limit);
    for wire in [0x19, 0x1a] {
        let mut lists = vec![0xa0 | (wire & 0x0f)]; // 10: a list, or a set
        lists.extend(vec![wire; 1 << 20]); // of one list, or one set
        assert_eq!(skip(&lists).kind(), ErrorKind::Limit);
    }
    let mut maps = vec![0xab]; // 10: a map
    maps.extend([0x01, 0x3b, 0x00].repeat(1 << 20)); // of one byte to a map
    assert_eq!(skip(&maps).kind(), ErrorKind::Limit);
    let limits = Limits::default().with_thrift_depth(3);
    assert_eq!(parse_metadata(&nested(3), &limits).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn depth_is_given_back() {
    // More structs, lists and maps in a row than may be nested.
    let mut bytes = Vec::new();
    for _ in 0..100 {
        bytes.extend([0x1c, 0x00]); // a struct
        bytes.extend([0x19, 0x1c, 0x00]); // a list of one struct
        bytes.extend([0x1b, 0x00]); // a map
    }
    bytes.push(0x00);
    let mut r = Reader::with_limits(&bytes, &Limits::default().with_thrift_depth(3));
    r.skip(Wire::Struct).unwrap();
    assert_eq!(r.position(), bytes.len());
}

#[test]
fn booleans_in_lists_are_1_for_true() {
    #[rustfmt::skip]
    let bytes = [
        0x19, 0x31, 0x01, 0x02, 0x00, // 1 null_pages: list of 3 booleans: true, false, an old writer's false
        0x19, 0x08,                   // 2 min_values: empty
        0x19, 0x08,                   // 3 max_values: empty
        0x15, 0x04,                   // 4 boundary_order: DESCENDING
        0x00,                         // stop
    ];
    let index = ColumnIndex::read(&mut Reader::new(&bytes)).unwrap();
    assert_eq!(index.null_pages, [true, false, false]);
    assert_eq!(index.boundary_order, BoundaryOrder::DESCENDING);
}

#[test]
fn v2_pages_are_compressed_unless_they_say_no() {
    #[rustfmt::skip]
    let bytes = [
        0x15, 0x02, // 1 num_values: 1
        0x15, 0x00, // 2 num_nulls: 0
        0x15, 0x02, // 3 num_rows: 1
        0x15, 0x00, // 4 encoding: PLAIN
        0x15, 0x00, // 5 definition_levels_byte_length: 0
        0x15, 0x00, // 6 repetition_levels_byte_length: 0
        0x12,       // 7 is_compressed: false
        0x00,       // stop
    ];
    assert!(!DataPageHeaderV2::read(&mut Reader::new(&bytes)).unwrap().is_compressed);
    let silent = [&bytes[..12], &[0x00]].concat();
    assert!(DataPageHeaderV2::read(&mut Reader::new(&silent)).unwrap().is_compressed);
}

#[test]
fn footers_have_a_size_limit() {
    let limits = Limits::default().with_footer_bytes(10);
    assert_eq!(parse_metadata(FILE_METADATA, &limits).unwrap_err().kind(), ErrorKind::Limit);
}
