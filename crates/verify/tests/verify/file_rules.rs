//! Files that break one rule of the footer, the schema, chunks, pages or nesting.

use crate::chunk::file::{group, leaf, root};
use crate::chunk::{Column, Layout, Page, dictionary_page};
use crate::make::Make;
use bytes::Bytes;
use marquetry_codec::Codec;
use marquetry_encoding::{PhysicalType, StringViews, Values};
use marquetry_format::{
    ColumnOrder, CompressionCodec, ConvertedType, Encoding, LogicalType, PageEncodingStats, PageType,
    Repetition, SchemaElement, Type,
};

pub(crate) type Case = (&'static str, Bytes);

pub(crate) fn footer() -> Vec<Case> {
    let mut short = Make::ints().good().finish().to_vec();
    let end = short.len();
    short[0] = b'X';
    let mut long = Make::ints().good().finish().to_vec();
    long[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    vec![
        ("unchecked", Make::ints().good().edited(|made| made.meta().codec = CompressionCodec(77))),
        ("footer-magic", short.into()),
        ("footer-unreadable", long.into()),
        ("footer-rows", Make::ints().good().edited(|made| made.file.metadata.num_rows = 11)),
        (
            "footer-column-orders",
            Make::ints().good().edited(|made| {
                made.file.metadata.column_orders = Some(vec![ColumnOrder::Ieee754TotalOrder]);
            }),
        ),
        ("footer-version", Make::ints().good().edited(|made| made.file.metadata.version = 7)),
    ]
}

pub(crate) fn schema() -> Vec<Case> {
    let ints = |annotate: fn(&mut SchemaElement)| Make::ints().annotated(annotate).good().finish();
    let mut twice = Make::ints();
    twice.schema = vec![root(2), twice.schema[1].clone(), twice.schema[1].clone()];
    twice.columns.push((Column::ints(0..10), vec!["x".into()]));
    let no_bytes = Column::flat(PhysicalType::FixedLenByteArray(0), &[None; 10], true);
    vec![
        ("schema-length", Make::flat(no_bytes, Layout::default()).good().finish()),
        ("schema-tree", ints(|field| field.type_ = Some(Type::FIXED_LEN_BYTE_ARRAY))),
        ("schema-repetition", ints(|field| field.repetition_type = None)),
        ("schema-annotation", ints(|field| field.converted_type = Some(ConvertedType::UTF8))),
        (
            "schema-annotations-agree",
            ints(|field| {
                field.logical_type = Some(LogicalType::Integer { bit_width: 8, is_signed: true });
                field.converted_type = Some(ConvertedType::INT_16);
            }),
        ),
        (
            "schema-decimal",
            ints(|field| field.logical_type = Some(LogicalType::Decimal { precision: 12, scale: 2 })),
        ),
        ("schema-names", twice.good().finish()),
    ]
}

fn outer(name: &str, converted: ConvertedType) -> SchemaElement {
    SchemaElement { converted_type: Some(converted), ..group(name, Repetition::REQUIRED, 1) }
}

/// Lists of 2, 0 and 1 elements.
pub(crate) const REP: [u8; 4] = [0, 1, 0, 0];
pub(crate) const DEF: [u8; 4] = [1, 1, 0, 1];

pub(crate) fn list() -> Make {
    Make::list(outer("l", ConvertedType::LIST), "list", "element", &REP, &DEF)
}

/// The same elements with other levels.
fn list_of(rep: &[u8], def: &[u8]) -> Make {
    Make::list(outer("l", ConvertedType::LIST), "list", "element", rep, def)
}

/// A map of keys only, optional ones.
fn optional_keys(def: &[u8]) -> Make {
    let mut map = Make::list(outer("m", ConvertedType::MAP), "key_value", "key", &REP, &DEF)
        .annotated(|key| key.repetition_type = Some(Repetition::OPTIONAL));
    let column = &mut map.columns[0].0;
    column.max_def = 2;
    column.def = def.to_vec();
    column.values = Column::ints(0..def.iter().filter(|def| **def == 2).count() as u32).values;
    map
}

/// A group `g` around one required field.
fn around(converted: ConvertedType) -> Bytes {
    let mut make = Make::ints();
    make.schema = vec![root(1), outer("g", converted), leaf("x", Repetition::REQUIRED, PhysicalType::Int32)];
    make.columns[0].1 = vec!["g".into(), "x".into()];
    make.good().finish()
}

pub(crate) fn nesting() -> Vec<Case> {
    let mut bare = list();
    bare.schema = vec![root(1), leaf("x", Repetition::REPEATED, PhysicalType::Int32)];
    bare.columns[0].1 = vec!["x".into()];
    let boundary = {
        let mut make = list();
        make.layout.cuts = vec![1];
        make.good().with_offset_index(|_| ()).finish()
    };
    let old_map = Make::list(outer("m", ConvertedType::MAP), "map", "key", &REP, &DEF);
    vec![
        ("list-shape", around(ConvertedType::LIST)),
        (
            "list-legacy",
            Make::list(outer("l", ConvertedType::LIST), "bag", "element", &REP, &DEF).good().finish(),
        ),
        ("map-shape", around(ConvertedType::MAP)),
        ("map-key", optional_keys(&[2, 2, 0, 2]).good().finish()),
        ("map-legacy", old_map.good().finish()),
        ("repeated-unannotated", bare.good().finish()),
        // A key can only be null where it is optional, which is another rule: no file breaks this one alone.
        ("map-key map-key-null", optional_keys(&[2, 1, 0, 2]).good().finish()),
        ("levels-first", list_of(&[1, 0, 0, 0], &[1, 1, 0, 1]).good().finish()),
        ("page-row-boundary", boundary),
        ("levels-contradict", list_of(&[0, 1, 0, 0], &[1, 0, 1, 1]).good().finish()),
        ("levels-siblings", siblings().good().finish()),
    ]
}

/// Byte strings of a column in no list.
pub(crate) fn optional_strings(values: &[Option<&[u8]>], max_def: u8) -> Column {
    let mut views = StringViews::new();
    values.iter().flatten().for_each(|value| views.push(value));
    Column {
        physical: PhysicalType::ByteArray,
        max_def,
        max_rep: 0,
        def: values.iter().map(|value| if value.is_some() { max_def } else { 0 }).collect(),
        rep: vec![0; values.len()],
        values: Values::Bytes(views),
    }
}

/// A list of structs, in one field of which the second element is in another row.
fn siblings() -> Make {
    let mut make = list();
    make.schema = vec![
        root(1),
        outer("l", ConvertedType::LIST),
        group("list", Repetition::REPEATED, 1),
        group("element", Repetition::REQUIRED, 2),
        leaf("a", Repetition::REQUIRED, PhysicalType::Int32),
        leaf("b", Repetition::REQUIRED, PhysicalType::Int32),
    ];
    let path = |name: &str| ["l", "list", "element", name].map(str::to_owned).to_vec();
    make.columns[0].1 = path("a");
    let mut other = make.columns[0].0.clone();
    (other.rep, other.def) = (vec![0, 0, 0, 1], vec![1, 0, 1, 1]);
    make.columns.push((other, path("b")));
    make
}

pub(crate) fn chunk() -> Vec<Case> {
    let ints = || Make::ints().good();
    let overlap = {
        let mut two = Make::ints();
        two.schema =
            vec![root(2), two.schema[1].clone(), leaf("y", Repetition::REQUIRED, PhysicalType::Int32)];
        two.columns.push((Column::ints(0..10), vec!["y".into()]));
        two.good().edited(|made| {
            let first = made.meta().data_page_offset;
            let second = &mut made.file.metadata.row_groups[0].columns[1];
            second.meta_data.as_mut().unwrap().data_page_offset = first;
        })
    };
    // One of the framings that the deprecated codec has in files.
    let lz4 = Make::flat(Column::ints(0..10), Layout { codec: Codec::Lz4Raw, ..Layout::default() });
    vec![
        (
            "chunk-count",
            ints().edited(|made| {
                let chunk = made.chunk().clone();
                made.file.metadata.row_groups[0].columns.push(chunk);
            }),
        ),
        ("chunk-metadata", ints().edited(|made| made.meta().type_ = Type::INT64)),
        ("chunk-path", ints().edited(|made| made.meta().path_in_schema = vec!["y".into()])),
        ("chunk-place", ints().edited(|made| made.meta().data_page_offset = 1 << 20)),
        ("chunk-overlap", overlap),
        ("chunk-counts", ints().edited(|made| made.meta().num_values = -1)),
        (
            "chunk-values",
            ints().edited(|made| {
                made.file.metadata.num_rows = 11;
                made.file.metadata.row_groups[0].num_rows = 11;
            }),
        ),
        ("chunk-dictionary-offset", ints().edited(|made| made.meta().dictionary_page_offset = Some(0))),
        ("chunk-codec-deprecated", lz4.good().edited(|made| made.meta().codec = CompressionCodec::LZ4)),
        ("row-group-size", ints().edited(|made| made.file.metadata.row_groups[0].total_byte_size += 1)),
        ("row-group-offset", ints().edited(|made| made.file.metadata.row_groups[0].file_offset = Some(5))),
        ("row-group-ordinal", ints().edited(|made| made.file.metadata.row_groups[0].ordinal = Some(1))),
        (
            "index-place",
            ints().edited(|made| {
                made.chunk().column_index_offset = Some(1 << 30);
                made.chunk().column_index_length = Some(5);
            }),
        ),
        ("bloom-place", ints().edited(|made| made.meta().bloom_filter_offset = Some(1 << 30))),
        ("unreferenced-file", two_files()),
    ]
}

/// A file, and behind it another one whose footer describes the first, as if the file had been appended to itself.
pub(crate) fn two_files() -> Bytes {
    let one = Make::ints().good().finish();
    Bytes::from([&one[..], &one[..]].concat())
}

/// 0 to 9 with some of them twice, as dictionary and indices.
pub(crate) fn dictionary() -> Make {
    let layout = Layout { encoding: Encoding::RLE_DICTIONARY.0, ..Layout::default() };
    Make::flat(Column::ints((0..10).map(|i| i / 2)), layout)
}

fn v2(edit: fn(&mut Page)) -> Bytes {
    let layout = Layout { v2: true, ..Layout::default() };
    Make::flat(Column::ints(0..10), layout).of(|pages| edit(&mut pages[0])).finish()
}

pub(crate) fn page() -> Vec<Case> {
    let ints = |edit: fn(&mut Vec<Page>)| Make::ints().of(edit).finish();
    let mut flipped = Make::ints().good();
    let body = flipped.file.offsets[0][1] as usize + flipped.pages[0][1].header_len();
    flipped.file.bytes[body] ^= 1;
    let bit_packed = Layout { bit_packed: true, ..Layout::default() };
    let optional = Make::optional().columns.remove(0).0;
    let illegal = Make::strings(&[b"a", b"b"]).of(|pages| {
        pages[0].v1().encoding = Encoding::DELTA_BINARY_PACKED;
    });
    let long_levels = Make::optional().of(|pages| {
        pages[0].body[..4].copy_from_slice(&[0xff; 4]);
        pages[0].seal();
    });
    vec![
        ("page-header", Make::ints().good().edited(|made| made.file.bytes[4] = 0xff)),
        ("page-checksum", flipped.finish()),
        ("page-checksum-untrusted", ints(|pages| pages[0].header.crc = Some(0))),
        ("page-sizes", ints(|pages| pages[0].header.uncompressed_page_size += 1)),
        ("page-unreadable", long_levels.finish()),
        ("page-encoding", illegal.edited(|made| made.meta().encodings.push(Encoding::DELTA_BINARY_PACKED))),
        (
            "page-encoding",
            Make::optional().of(|pages| pages[0].v1().definition_level_encoding = Encoding::PLAIN).finish(),
        ),
        (
            "page-encoding",
            dictionary()
                .of(|pages| {
                    let header = pages[0].header.dictionary_page_header.as_mut().unwrap();
                    header.encoding = Encoding::DELTA_BINARY_PACKED;
                })
                .finish(),
        ),
        (
            "page-encoding-listed",
            Make::ints().good().edited(|made| made.meta().encodings = vec![Encoding::RLE]),
        ),
        (
            "page-encoding-stats",
            Make::ints().good().edited(|made| {
                let of_pages =
                    PageEncodingStats { page_type: PageType::DATA_PAGE, count: 1, ..Default::default() };
                made.meta().encoding_stats = Some(vec![of_pages]);
            }),
        ),
        ("page-levels-deprecated", Make::flat(optional, bit_packed).good().finish()),
        ("page-dictionary", dictionary().of(|pages| pages.insert(1, pages[0].clone())).finish()),
        ("page-dictionary-missing", dictionary().of(|pages| drop(pages.remove(0))).finish()),
        ("page-nulls", v2(|page| page.v2().num_rows += 1)),
        ("page-values", list().good().edited(|made| made.meta().num_values += 1)),
        (
            "page-rows",
            list().good().edited(|made| {
                made.file.metadata.num_rows += 1;
                made.file.metadata.row_groups[0].num_rows += 1;
            }),
        ),
        (
            "chunk-compressed-size",
            Make::ints().good().edited(|made| {
                made.append(&[0]);
                made.meta().total_compressed_size += 1;
            }),
        ),
        (
            "chunk-uncompressed-size",
            Make::ints().good().edited(|made| {
                made.meta().total_uncompressed_size += 1;
                made.file.metadata.row_groups[0].total_byte_size += 1;
            }),
        ),
        (
            "chunk-data-offset",
            dictionary().good().edited(|made| {
                made.meta().data_page_offset = made.meta().dictionary_page_offset.take().unwrap();
            }),
        ),
    ]
}

pub(crate) fn dictionaries() -> Vec<Case> {
    let with_entries = |n: u32| {
        dictionary()
            .of(|pages| {
                pages[0] = dictionary_page(&Column::ints(0..n).values, &Layout::default());
            })
            .finish()
    };
    vec![
        ("dictionary-index", with_entries(4)),
        (
            "dictionary-unreadable",
            dictionary()
                .of(|pages| pages[0].header.dictionary_page_header.as_mut().unwrap().num_values += 1)
                .finish(),
        ),
        (
            "dictionary-unreadable",
            dictionary()
                .of(|pages| {
                    // The last of six entries is in no row.
                    pages[0] = dictionary_page(&Column::ints(0..6).values, &Layout::default());
                    pages[0].header.dictionary_page_header.as_mut().unwrap().num_values -= 1;
                })
                .finish(),
        ),
        (
            "dictionary-sorted",
            Make::flat(
                Column::ints([3, 1, 2]),
                Layout { encoding: Encoding::RLE_DICTIONARY.0, ..Layout::default() },
            )
            .of(|pages| pages[0].header.dictionary_page_header.as_mut().unwrap().is_sorted = Some(true))
            .finish(),
        ),
    ]
}
