//! Files of one column: pages behind each other, a footer, and ways to read them back.

use super::{Column, Layout, Page, pages};
use bytes::Bytes;
use marquetry_base::{Limits, Result};
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::page::{PageBuffers, PageOptions, PageReader};
use marquetry_core::read::{self, ColumnBatch, ColumnReader, ReadTarget};
use marquetry_core::source::Source;
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, FileMetaData, FooterTail, PageType, Repetition, RowGroup,
    SchemaElement, Type, Writer,
};
use std::sync::{Arc, Mutex};

/// A file of one column that is being written.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) metadata: FileMetaData,
    /// Where the pages of each row group begin.
    pub(crate) offsets: Vec<Vec<u64>>,
}

/// How a file is read in a test.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) want_keys: bool,
    pub(crate) verify: bool,
    pub(crate) limits: Limits,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { want_keys: false, verify: true, limits: Limits::default() }
    }
}

impl File {
    /// A file without row groups.
    pub(crate) fn new(schema: Vec<SchemaElement>) -> File {
        let metadata = FileMetaData { version: 1, schema, ..FileMetaData::default() };
        File { bytes: b"PAR1".to_vec(), metadata, offsets: vec![] }
    }

    /// A file of one row group with a flat column, required or optional.
    pub(crate) fn flat(column: &Column, layout: &Layout) -> File {
        let mut file = File::new(flat_schema(column));
        file.push(column, column.len(), layout);
        file
    }

    /// A file of one row group with a flat column whose pages are given.
    pub(crate) fn of_pages(column: &Column, codec: Codec, pages: &[Page]) -> File {
        let mut file = File::new(flat_schema(column));
        file.push_pages(column, column.len(), codec, pages);
        file
    }

    /// Appends a row group.
    pub(crate) fn push(&mut self, column: &Column, rows: usize, layout: &Layout) {
        self.push_pages(column, rows, layout.codec, &pages(column, layout));
    }

    /// Appends a row group of these pages.
    pub(crate) fn push_pages(&mut self, column: &Column, rows: usize, codec: Codec, pages: &[Page]) {
        let start = self.bytes.len();
        let mut offsets = Vec::new();
        for page in pages {
            offsets.push(self.bytes.len() as u64);
            page.write(&mut self.bytes);
        }
        let offset_of = |type_: fn(&Page) -> bool| {
            let found = pages.iter().position(type_);
            found.map(|i| offsets[i] as i64)
        };
        let size = (self.bytes.len() - start) as i64;
        let meta = ColumnMetaData {
            type_: type_of(column.physical),
            codec: CompressionCodec(codec.code()),
            num_values: column.len() as i64,
            total_compressed_size: size,
            total_uncompressed_size: size,
            dictionary_page_offset: offset_of(|page| page.header.type_ == PageType::DICTIONARY_PAGE),
            data_page_offset: offset_of(Page::is_data).unwrap_or(start as i64),
            ..ColumnMetaData::default()
        };
        self.metadata.row_groups.push(RowGroup {
            num_rows: rows as i64,
            columns: vec![ColumnChunk { meta_data: Some(meta), ..ColumnChunk::default() }],
            ..RowGroup::default()
        });
        self.metadata.num_rows += rows as i64;
        self.offsets.push(offsets);
    }

    /// The chunk of a row group, to be changed.
    pub(crate) fn chunk(&mut self, row_group: usize) -> &mut ColumnMetaData {
        self.metadata.row_groups[row_group].columns[0].meta_data.as_mut().unwrap()
    }

    /// The whole file.
    pub(crate) fn finish(&self) -> Bytes {
        let mut out = self.bytes.clone();
        let footer = footer(&self.metadata);
        out.extend_from_slice(&footer);
        let tail = FooterTail::Plain { metadata_len: footer.len() as u32 };
        out.extend(tail.to_bytes());
        Bytes::from(out)
    }

    /// Reads all rows at once.
    pub(crate) fn read_all(&self, reading: &Reading) -> Result<ColumnBatch> {
        self.reader(reading).read(self.metadata.num_rows as usize)
    }

    /// Reads all rows at once, which must fail.
    pub(crate) fn error(&self) -> marquetry_base::Error {
        self.read_all(&Reading::default()).unwrap_err()
    }

    pub(crate) fn reader(&self, reading: &Reading) -> ColumnReader {
        reader(Arc::new(self.finish()), reading)
    }

    /// The pages of the first row group.
    pub(crate) fn pages(&self, reading: &Reading) -> Result<PageReader> {
        let source: Arc<dyn Source> = Arc::new(self.finish());
        let metadata = read_metadata(&*source, &reading.limits)?.metadata;
        let options = options(&metadata, reading);
        PageReader::new(source, metadata.row_group(0).column(0)?, options, PageBuffers::default())
    }
}

/// A reader of column 0 over all row groups.
pub(crate) fn reader(source: Arc<dyn Source>, reading: &Reading) -> ColumnReader {
    let metadata = Arc::new(read_metadata(&*source, &Limits::default()).unwrap().metadata);
    let row_groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
    let target = target(&metadata, reading.want_keys);
    let options = options(&metadata, reading);
    ColumnReader::new(source, metadata, &row_groups, 0, target, options)
}

pub(crate) fn target(metadata: &ParquetMetaData, want_keys: bool) -> ReadTarget {
    let fields = NestedField::from_schema(metadata.schema());
    let layout = if want_keys { read::ValueLayout::Indices } else { read::ValueLayout::Native };
    ReadTarget::new(metadata.schema().column(0), &fields[0], 0, layout)
}

fn options(metadata: &ParquetMetaData, reading: &Reading) -> PageOptions {
    PageOptions::for_writer(metadata.created_by())
        .with_limits(Arc::new(reading.limits.clone()))
        .with_checksum_verification(reading.verify)
}

/// A footer's bytes.
pub(crate) fn footer(metadata: &FileMetaData) -> Vec<u8> {
    let mut writer = Writer::new();
    metadata.write(&mut writer);
    writer.finish()
}

/// The schema of a flat column `x`.
fn flat_schema(column: &Column) -> Vec<SchemaElement> {
    let repetition = if column.max_def > 0 { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    vec![root(1), leaf("x", repetition, column.physical)]
}

pub(crate) fn root(children: i32) -> SchemaElement {
    SchemaElement { name: "m".into(), num_children: Some(children), ..SchemaElement::default() }
}

pub(crate) fn group(name: &str, repetition: Repetition, children: usize) -> SchemaElement {
    SchemaElement {
        name: name.into(),
        repetition_type: Some(repetition),
        num_children: Some(children as i32),
        ..SchemaElement::default()
    }
}

pub(crate) fn leaf(name: &str, repetition: Repetition, physical: PhysicalType) -> SchemaElement {
    let type_length = match physical {
        PhysicalType::FixedLenByteArray(width) => Some(width as i32),
        _ => None,
    };
    SchemaElement {
        name: name.into(),
        repetition_type: Some(repetition),
        type_: Some(type_of(physical)),
        type_length,
        ..SchemaElement::default()
    }
}

pub(crate) fn type_of(physical: PhysicalType) -> Type {
    match physical {
        PhysicalType::Boolean => Type::BOOLEAN,
        PhysicalType::Int32 => Type::INT32,
        PhysicalType::Int64 => Type::INT64,
        PhysicalType::Int96 => Type::INT96,
        PhysicalType::Float => Type::FLOAT,
        PhysicalType::Double => Type::DOUBLE,
        PhysicalType::ByteArray => Type::BYTE_ARRAY,
        PhysicalType::FixedLenByteArray(_) => Type::FIXED_LEN_BYTE_ARRAY,
    }
}

/// A source that remembers what was read of it.
pub(crate) struct Counted {
    bytes: Bytes,
    reads: Mutex<Vec<(u64, usize)>>,
}

impl Counted {
    pub(crate) fn new(bytes: Bytes) -> Arc<Counted> {
        Arc::new(Counted { bytes, reads: Mutex::default() })
    }

    /// Offset and length of each read since the last time.
    pub(crate) fn take(&self) -> Vec<(u64, usize)> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl Source for Counted {
    fn len(&self) -> u64 {
        Source::len(&self.bytes)
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.reads.lock().unwrap().push((offset, len));
        self.bytes.read_at(offset, len)
    }
}
