//! Footers and page headers.

use crate::memory::earned;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_base::{Limits, Result};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::nesting::NestedField;
use marquetry_format::{
    BloomFilterHeader, ChunkView, ColumnIndex, FileCryptoMetaData, LazyFooter, OffsetIndex, PageHeader,
    Reader, Writer, parse_metadata,
};
use std::fmt::Debug;
use std::sync::Arc;

/// A footer, without its length and the magic.
pub fn footer(data: &[u8]) {
    let limits = limits();
    // An empty struct is one byte, and the largest has some hundred bytes in memory.
    let thrift = earned((1 << 20) + 1_500 * data.len(), || parse_metadata(data, &limits));
    let outline = earned((1 << 20) + 1_500 * data.len(), || LazyFooter::parse(data, &limits));
    let Ok(thrift) = thrift else {
        if let Ok(outline) = outline {
            // Damage in a chunk shows when the chunk is parsed.
            let numbers = |i: usize| (0..outline.row_groups[i].num_columns()).map(move |number| (i, number));
            (0..outline.row_groups.len()).flat_map(numbers).for_each(|(i, number)| {
                let _ = outline.chunk(data, i, number, &mut ChunkView::empty());
            });
        }
        return;
    };
    let outline = outline.expect("an outline of what can be read as a whole");
    for (i, group) in thrift.row_groups.iter().enumerate() {
        assert_eq!(outline.row_groups[i].num_columns(), group.columns.len());
        for (number, chunk) in group.columns.iter().enumerate() {
            let mut view = ChunkView::empty();
            outline.chunk(data, i, number, &mut view).expect("a chunk that can be read as a whole");
            same(chunk, &view.to_chunk().expect("a chunk that was read"));
        }
    }
    let mut writer = Writer::new();
    thrift.write(&mut writer);
    let written = writer.finish();
    let again = parse_metadata(&written, &limits).expect("a footer that was written");
    same(&thrift, &again);
    let metadata = earned((1 << 20) + 4_000 * data.len(), || ParquetMetaData::from_thrift(thrift, &limits));
    let Ok(metadata) = metadata else {
        return;
    };
    schema(&metadata);
    let _ = (metadata.num_rows(), metadata.created_by(), metadata.value_of("ARROW:schema"));
    for row_group in metadata.row_groups() {
        let _ = (row_group.num_rows(), row_group.total_byte_size(), row_group.sorting_columns());
        row_group.columns().filter_map(Result::ok).for_each(chunk);
    }
    let metadata = Arc::new(metadata);
    let _ = ArrowReaderMetadata::try_new(metadata.clone(), ArrowReaderOptions::new());
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    ArrowReaderMetadata::try_new(metadata, options).expect("any schema has an Arrow schema");
}

fn schema(metadata: &ParquetMetaData) {
    let schema = metadata.schema();
    let text = schema.to_string();
    assert!(text.starts_with("message "));
    for (i, leaf) in schema.columns().iter().enumerate() {
        assert!(leaf.max_rep() <= leaf.max_def());
        let found = schema.find(leaf.dotted()).expect("a column of the schema");
        assert!(found <= i);
    }
    let fields = NestedField::from_schema(schema);
    let mut leaves = Vec::new();
    fields.iter().for_each(|field| field.leaves(&mut leaves));
    assert!(leaves.iter().copied().eq(0..schema.num_columns()), "every column is in a field, in order");
    for field in &fields {
        assert_eq!(field.project(&|_| true).map(|all| all.first_leaf()), Some(field.first_leaf()));
        assert_eq!(field.project(&|_| false), None);
        let mut odd = Vec::new();
        if let Some(projected) = field.project(&|leaf| leaf % 2 == 1) {
            projected.leaves(&mut odd);
        }
        assert!(odd.iter().all(|leaf| leaf % 2 == 1));
    }
}

fn chunk(chunk: ColumnChunk<'_>) {
    let _ = (chunk.codec(), chunk.byte_range(), chunk.column_index_range(), chunk.offset_index_range());
    let _ = (chunk.statistics(), chunk.size_statistics(), chunk.bloom_filter_offset());
    let _ = format!("{} {:?}", chunk.compression(), chunk.encodings());
}

/// Structs must survive writing and reading.
pub fn thrift(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    match first % 6 {
        0 => again(data, PageHeader::read, PageHeader::write),
        1 => again(data, ColumnIndex::read, ColumnIndex::write),
        2 => again(data, OffsetIndex::read, OffsetIndex::write),
        3 => again(data, BloomFilterHeader::read, BloomFilterHeader::write),
        4 => again(data, FileCryptoMetaData::read, FileCryptoMetaData::write),
        _ => without_statistics(data),
    }
}

fn again<T: Debug>(
    data: &[u8],
    read: impl Fn(&mut Reader<'_>) -> Result<T>,
    write: impl Fn(&T, &mut Writer),
) {
    let limits = limits();
    let first = earned((1 << 20) + 1_500 * data.len(), || read(&mut Reader::with_limits(data, &limits)));
    let Ok(first) = first else {
        return;
    };
    let mut writer = Writer::new();
    write(&first, &mut writer);
    let written = writer.finish();
    let mut reader = Reader::with_limits(&written, &limits);
    let second = read(&mut reader).expect("a struct that was written");
    assert_eq!(reader.position(), written.len());
    same(&first, &second);
}

/// Both ways of reading a page header must end at the same byte.
fn without_statistics(data: &[u8]) {
    let (mut with, mut without) = (Reader::new(data), Reader::new(data));
    let kept = PageHeader::read(&mut with);
    let passed = PageHeader::read_without_statistics(&mut without);
    if let Ok(kept) = kept {
        let passed = passed.expect("statistics that can be read can be passed over");
        assert_eq!((kept.type_, with.position()), (passed.type_, without.position()));
    }
}

/// Compares text, because NaN is not equal to itself but looks the same; and ignores the ids of unknown union members,
/// because a known member of another type, or with missing parts, is not written.
fn same<T: Debug>(a: &T, b: &T) {
    let text = |value: &T| {
        let text = format!("{value:?}");
        let mut parts = text.split("Unknown(");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit())
        })
    };
    let (a, b) = (text(a), text(b));
    assert!(a == b, "written and read again:\n{a}\n{b}");
}

fn limits() -> Limits {
    Limits::default().with_schema_nodes(10_000)
}
