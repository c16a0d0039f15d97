//! Files that break one rule of indexes, statistics, bloom filters, values or sorting.

use crate::chunk::file::footer;
use crate::chunk::{Column, Layout, Page};
use crate::file_rules::{Case, dictionaries, two_files};
use crate::geoparquet_rules::{point, points};
use crate::make::{Make, column_index};
use bytes::Bytes;
use marquetry_core::checkpoint;
use marquetry_core::statistics::BloomFilter;
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    BoundaryOrder, BoundingBox, ColumnIndex, ConvertedType, Encoding, GeospatialStatistics, LogicalType,
    OffsetIndex, SchemaElement, SizeStatistics, SortingColumn, Statistics,
};

fn with_column_index(edit: impl FnOnce(&mut ColumnIndex)) -> Bytes {
    let mut index = column_index();
    edit(&mut index);
    Make::ints().good().with_column_index(&index).finish()
}

fn with_offset_index(edit: impl FnOnce(&mut OffsetIndex)) -> Bytes {
    Make::ints().good().with_offset_index(edit).finish()
}

pub(crate) fn index() -> Vec<Case> {
    let unreadable = Make::ints().good().edited(|made| {
        let (offset, len) = made.append(&[0xff; 9]);
        made.chunk().column_index_offset = Some(offset);
        made.chunk().column_index_length = Some(len);
    });
    vec![
        ("index-unreadable", unreadable),
        ("column-index-lists", with_column_index(|index| drop(index.min_values.pop()))),
        ("column-index-form", with_column_index(|index| index.min_values[0] = vec![0; 3])),
        (
            "column-index-boundary-order",
            with_column_index(|index| index.boundary_order = BoundaryOrder::DESCENDING),
        ),
        ("column-index-counts", with_column_index(|index| index.null_counts = Some(vec![0, 1]))),
        ("column-index-bounds", with_column_index(|index| index.max_values[0] = 3i32.to_le_bytes().to_vec())),
        ("offset-index-order", with_offset_index(|index| index.page_locations[1].first_row_index = -1)),
        ("offset-index-pages", with_offset_index(|index| index.page_locations[1].first_row_index = 4)),
        (
            "index-page-count",
            Make::ints()
                .good()
                .with_column_index(&column_index())
                .with_offset_index(|index| index.page_locations.truncate(1))
                .finish(),
        ),
        (
            "offset-index-lists",
            Make::strings(&[b"a", b"bc"])
                .good()
                .with_offset_index(|index| index.unencoded_byte_array_data_bytes = Some(vec![3, 0]))
                .finish(),
        ),
        (
            "offset-index-bytes",
            Make::strings(&[b"a", b"bc"])
                .good()
                .with_offset_index(|index| index.unencoded_byte_array_data_bytes = Some(vec![4]))
                .finish(),
        ),
    ]
}

fn int(n: i32) -> Option<Vec<u8>> {
    Some(n.to_le_bytes().to_vec())
}

fn float(x: f32) -> Option<Vec<u8>> {
    Some(x.to_le_bytes().to_vec())
}

fn with_statistics(make: &Make, statistics: Statistics) -> Bytes {
    make.good().edited(|made| made.meta().statistics = Some(statistics))
}

fn floats() -> Make {
    let words: Vec<_> = [1.0f32, 2.0].map(|x| Some(u64::from(x.to_bits()))).to_vec();
    Make::flat(Column::flat(PhysicalType::Float, &words, false), Layout::default())
}

fn none() -> Statistics {
    Statistics::default()
}

pub(crate) fn statistics() -> Vec<Case> {
    let ints = |statistics| with_statistics(&Make::ints(), statistics);
    let histogram = |counts: &[i64]| {
        Some(SizeStatistics {
            definition_level_histogram: Some(counts.to_vec()),
            ..SizeStatistics::default()
        })
    };
    vec![
        ("statistics-form", ints(Statistics { min_value: Some(vec![0; 3]), ..none() })),
        (
            "statistics-nan-bound",
            with_statistics(&floats(), Statistics { min_value: float(f32::NAN), ..none() }),
        ),
        (
            "statistics-order",
            Make::ints().good().edited(|made| {
                made.meta().statistics = Some(Statistics { min_value: int(0), ..none() });
                made.file.metadata.column_orders = None;
            }),
        ),
        ("statistics-counts", ints(Statistics { nan_count: Some(0), ..none() })),
        ("statistics-null-count", ints(Statistics { null_count: Some(1), ..none() })),
        (
            "statistics-null-count",
            in_page_headers(false, |_| Some(Statistics { null_count: Some(2), ..none() })),
        ),
        (
            "statistics-null-count",
            in_page_headers(true, |_| Some(Statistics { null_count: Some(2), ..none() })),
        ),
        ("statistics-nan-count", with_statistics(&floats(), Statistics { nan_count: Some(1), ..none() })),
        ("statistics-distinct-count", ints(Statistics { distinct_count: Some(9), ..none() })),
        ("statistics-bounds", ints(Statistics { min_value: int(0), max_value: int(8), ..none() })),
        ("statistics-deprecated-bounds", ints(Statistics { min: int(1), max: int(9), ..none() })),
        (
            "statistics-exact",
            ints(Statistics { max_value: int(10), is_max_value_exact: Some(true), ..none() }),
        ),
        (
            "size-statistics-form",
            Make::optional().good().edited(|made| made.meta().size_statistics = histogram(&[1, 9, 0])),
        ),
        (
            "size-statistics",
            Make::optional().good().edited(|made| made.meta().size_statistics = histogram(&[2, 8])),
        ),
        ("size-statistics-suffixes", with_suffixes(PARQUET_CPP, 7, 3)),
        (
            "geospatial-statistics",
            points(&point(3.0, 4.0)).good().edited(|made| {
                let bbox =
                    BoundingBox { xmin: 0.0, xmax: 2.0, ymin: 0.0, ymax: 9.0, ..BoundingBox::default() };
                made.meta().geospatial_statistics =
                    Some(GeospatialStatistics { bbox: Some(bbox), geospatial_types: Some(vec![1]) });
            }),
        ),
    ]
}

/// `ab` and `abc` in an encoding. A writer states their bytes as `said`, in the footer and in an offset index.
pub(crate) fn with_suffixes(created_by: &str, encoding: i32, said: i64) -> Bytes {
    let mut make = Make::strings(&[b"ab", b"abc"]);
    make.layout.encoding = encoding;
    let made =
        make.good().with_offset_index(|index| index.unencoded_byte_array_data_bytes = Some(vec![said]));
    made.edited(|made| {
        made.file.metadata.created_by = Some(created_by.to_owned().into());
        made.meta().size_statistics =
            Some(SizeStatistics { unencoded_byte_array_data_bytes: Some(said), ..SizeStatistics::default() });
    })
}

pub(crate) const PARQUET_CPP: &str = "parquet-cpp-arrow version 26.0.1";

/// A page of a null and other values, with statistics of it in its header: they are made from its number of entries.
pub(crate) fn in_page_headers(v2: bool, statistics: fn(i64) -> Option<Statistics>) -> Bytes {
    let mut make = Make::optional();
    make.layout = Layout { v2, ..Layout::default() };
    make.of(|pages| set_statistics(&mut pages[0], statistics)).finish()
}

/// Puts statistics in the header of a data page.
fn set_statistics(page: &mut Page, statistics: impl Fn(i64) -> Option<Statistics>) {
    if let Some(header) = &mut page.header.data_page_header {
        header.statistics = statistics(header.num_values.into());
    }
    if let Some(header) = &mut page.header.data_page_header_v2 {
        header.statistics = statistics(header.num_values.into());
    }
}

/// A filter of some values, whose stated length is too large by `more`.
fn with_bloom(values: std::ops::Range<i32>, more: i32) -> Bytes {
    Make::ints().good().edited(|made| {
        let mut filter = BloomFilter::new(100, 0.0001);
        values.for_each(|n| filter.insert_hash(BloomFilter::hash(&n.to_le_bytes())));
        let mut bytes = Vec::new();
        filter.write(&mut bytes);
        let (offset, len) = made.append(&bytes);
        made.meta().bloom_filter_offset = Some(offset);
        made.meta().bloom_filter_length = Some(len + more);
    })
}

fn with_place(file_offset: Option<i64>, ordinal: Option<i16>) -> Bytes {
    Make::ints().good().edited(|made| {
        let group = &mut made.file.metadata.row_groups[0];
        (group.file_offset, group.ordinal) = (file_offset, ordinal);
    })
}

pub(crate) fn bloom() -> Vec<Case> {
    let unreadable = Make::ints().good().edited(|made| {
        let (offset, len) = made.append(&[0xff; 40]);
        made.meta().bloom_filter_offset = Some(offset);
        made.meta().bloom_filter_length = Some(len);
    });
    vec![
        ("bloom-unreadable", unreadable),
        ("bloom-unreadable", with_bloom(0..10, -1)),
        ("bloom-missing-value", with_bloom(0..9, 0)),
    ]
}

pub(crate) fn values() -> Vec<Case> {
    let ints = |n: u32, annotate: fn(&mut SchemaElement)| {
        Make::flat(Column::ints([1, n]), Layout::default()).annotated(annotate).good().finish()
    };
    let cut = Make::ints().of(|pages| {
        let page = &mut pages[1];
        page.body.pop();
        (page.header.compressed_page_size, page.header.uncompressed_page_size) = (19, 19);
        page.seal();
    });
    let mut cases = vec![
        ("value-unreadable", cut.finish()),
        (
            "value-utf8",
            Make::strings(&[b"a", b"\xff"])
                .annotated(|field| field.converted_type = Some(ConvertedType::UTF8))
                .good()
                .finish(),
        ),
        (
            "value-decimal",
            ints(100, |field| field.logical_type = Some(LogicalType::Decimal { precision: 2, scale: 0 })),
        ),
        ("value-integer", ints(300, |field| field.converted_type = Some(ConvertedType::UINT_8))),
        ("value-time", ints(u32::MAX, |field| field.converted_type = Some(ConvertedType::TIME_MILLIS))),
        ("value-unknown", ints(1, |field| field.logical_type = Some(LogicalType::Null))),
        ("value-geometry", points(b"POINT(1 2)").good().finish()),
        ("value-lengths", with_lengths(Layout::default())),
        ("value-lengths", with_lengths(Layout { encoding: Encoding::RLE_DICTIONARY.0, ..Layout::default() })),
    ];
    cases.extend(dictionaries());
    cases
}

/// Three values of eight bytes, the first page with a length before each.
fn with_lengths(layout: Layout) -> Bytes {
    let width = 8;
    let words: Vec<_> = [1, 2, 3].map(Some).to_vec();
    let made = Make::flat(Column::flat(PhysicalType::FixedLenByteArray(width), &words, false), layout);
    let made = made.of(|pages| {
        let page = &mut pages[0];
        let values = page.body.chunks_exact(width);
        page.body = values.flat_map(|value| [&[8, 0, 0, 0], value].concat()).collect();
        (page.header.compressed_page_size, page.header.uncompressed_page_size) = (36, 36);
        page.seal();
    });
    made.finish()
}

fn sorted_by(column_idx: i32, descending: bool) -> Bytes {
    Make::ints().good().edited(|made| {
        let by = SortingColumn { column_idx, descending, nulls_first: false };
        made.file.metadata.row_groups[0].sorting_columns = Some(vec![by]);
    })
}

pub(crate) fn sorting() -> Vec<Case> {
    vec![("sorting-column", sorted_by(7, false)), ("sorting-order", sorted_by(0, true))]
}

/// Wrong null counts in page headers, and whether that shows without decompressing: levels of V1 pages are compressed
/// with the values.
pub(crate) fn wrong_null_counts() -> Vec<(Bytes, bool)> {
    let gzip = marquetry_codec::Codec::Gzip;
    let plain = marquetry_codec::Codec::Uncompressed;
    let file = |(v2, codec, is_found)| {
        let mut make = Make::optional();
        make.layout = Layout { v2, codec, ..Layout::default() };
        let wrong = |_| Some(Statistics { null_count: Some(2), ..none() });
        (make.of(|pages| set_statistics(&mut pages[0], wrong)).finish(), is_found)
    };
    [(false, plain, true), (true, gzip, true), (false, gzip, false)].map(file).into()
}

/// Files whose pages are broken twice: what one part lost does not hide findings in another.
pub(crate) fn doubly() -> Vec<Case> {
    let lost_values = |v2: bool| {
        let mut make = Make::optional();
        let codec = marquetry_codec::Codec::Gzip;
        make.layout = Layout { v2, codec, checksums: false, ..Layout::default() };
        let made = make.of(|pages| {
            let page = &mut pages[0];
            let end = page.body.len();
            page.body[end - 12..].fill(0xff);
            page.header.data_page_header_v2.iter_mut().for_each(|header| header.num_nulls += 1);
            set_statistics(page, |n| Some(Statistics { null_count: Some(n), ..none() }));
        });
        made.with_column_index(&column_index()).finish()
    };
    let cut_values = Make::optional().of(|pages| {
        let page = &mut pages[0];
        page.body.pop();
        (page.header.compressed_page_size, page.header.uncompressed_page_size) =
            (page.body.len() as i32, page.body.len() as i32);
        page.seal();
        set_statistics(page, |n| Some(Statistics { null_count: Some(n), ..none() }));
    });
    vec![
        ("values of a V2 page", lost_values(true)),
        ("a V1 page", lost_values(false)),
        ("values too short", cut_values.with_column_index(&column_index()).finish()),
    ]
}

/// A file with a checkpoint that grew: nothing refers to two of its footers.
fn grown() -> Bytes {
    let mut made = Make::ints().good();
    let footer = footer(&made.file.metadata);
    let at = made.file.bytes.len() as u64;
    made.file.bytes.extend(checkpoint::frame(at, &footer, *b"PAR1").unwrap());
    let mut bytes = made.finish().to_vec();
    bytes.extend(checkpoint::marker(checkpoint::APPEND_MAGIC, bytes.len() as u64));
    bytes.extend_from_slice(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    Bytes::from(bytes)
}

/// Files that break no rule.
pub(crate) fn good() -> Vec<Case> {
    let statistics = Statistics {
        min_value: int(0),
        max_value: int(100),
        min: int(0),
        max: int(9),
        null_count: Some(0),
        distinct_count: Some(10),
        is_max_value_exact: Some(false),
        is_min_value_exact: Some(true),
        ..none()
    };
    let gzip = Layout { codec: marquetry_codec::Codec::Gzip, cuts: vec![3], ..Layout::default() };
    vec![
        ("pages", Make::ints().good().finish()),
        ("nulls", Make::optional().good().finish()),
        ("strings", Make::strings(&[b"", b"\xff"]).good().finish()),
        ("list", crate::file_rules::list().good().finish()),
        ("dictionary", crate::file_rules::dictionary().good().finish()),
        ("column index", with_column_index(|_| ())),
        ("offset index", with_offset_index(|_| ())),
        ("statistics", with_statistics(&Make::ints(), statistics)),
        ("bloom filter", with_bloom(0..10, 0)),
        ("sorted", sorted_by(0, false)),
        ("compressed", Make::flat(Column::ints(0..10), gzip.clone()).good().finish()),
        ("V2", Make::flat(Column::ints(0..10), Layout { v2: true, ..gzip }).good().finish()),
        ("geometry", points(&point(1.0, 2.0)).good().finish()),
        ("page statistics", in_page_headers(false, |_| Some(Statistics { null_count: Some(1), ..none() }))),
        ("page statistics V2", in_page_headers(true, |_| Some(Statistics { null_count: Some(1), ..none() }))),
        ("file in a value", Make::strings(&[&two_files()[..]]).good().finish()),
        ("old footers", grown()),
        ("place and number of a row group", with_place(Some(4), Some(0))),
        ("a place that is 0 for none", with_place(Some(0), None)),
        (
            "no counts of bytes",
            with_offset_index(|index| index.unencoded_byte_array_data_bytes = Some(vec![])),
        ),
    ]
}
