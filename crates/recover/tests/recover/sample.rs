//! Files of several columns and row groups, and what is in them.

use crate::chunk::data::{Random, cell};
use crate::chunk::{Column, Layout, RLE_DICTIONARY, pages};
use bytes::Bytes;
use marquetry_base::{Limits, Result};
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::page::{ChecksumTrust, PageBuffers, PageOptions};
use marquetry_core::read::{self, ColumnBatch, ColumnChunkReader, ReadTarget};
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use marquetry_core::write::{ChunkBytes, EncodedChunk, FileSettings, FileWriter};
use marquetry_encoding::PhysicalType;
use marquetry_format as format;
use marquetry_recover::{GivenSchema, RecoverOptions, Recovery, SchemaOrigin, recover};
use std::ops::Range;
use std::sync::Arc;

pub(crate) const SCHEMA: &str = "message m {
  required int64 id;
  optional byte_array name;
  optional int32 amount;
  required boolean flag;
  required double price;
}";

/// How all columns are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) codec: Codec,
    pub(crate) checksums: bool,
    pub(crate) v2: bool,
    /// Numbers as DELTA_BINARY_PACKED.
    pub(crate) delta: bool,
    /// Optional columns are null from this row on. No chunk has a dictionary then, which would show where it begins.
    pub(crate) nulls_from: usize,
    /// Rows of each page but the last; 0 for three pages of a third.
    pub(crate) page_rows: usize,
    /// V2 pages are not compressed, and say so; dictionaries are.
    pub(crate) stored: bool,
    /// The values of the first column continue from row group to row group.
    pub(crate) rising: bool,
    /// Each chunk has its metadata behind it.
    pub(crate) with_metadata: bool,
}

pub(crate) const PLAIN: Style = Style {
    codec: Codec::Uncompressed,
    checksums: true,
    v2: false,
    delta: false,
    nulls_from: usize::MAX,
    page_rows: 0,
    stored: false,
    rising: false,
    with_metadata: false,
};

/// Row groups of these numbers of rows.
pub(crate) fn file(style: Style, rows: &[usize]) -> Bytes {
    file_of(SCHEMA, style, rows)
}

pub(crate) fn file_of(schema: &str, style: Style, rows: &[usize]) -> Bytes {
    let schema = Schema::parse(schema).unwrap();
    let mut writer = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
    let (random, mut first) = (&mut Random(7), 0);
    for &rows in rows {
        let of = |i: usize| chunk_of(&schema, i, first..first + rows, style, random);
        let chunks = (0..schema.num_columns()).map(of).collect();
        writer.write_row_group(rows as u64, chunks, None).unwrap();
        first += if style.rising { rows } else { 0 };
    }
    writer.finish().unwrap().0.into()
}

fn chunk_of(
    schema: &Schema,
    column: usize,
    rows: Range<usize>,
    style: Style,
    random: &mut Random,
) -> EncodedChunk {
    let (first, rows) = (rows.start, rows.len());
    let leaf = schema.column(column);
    let is_optional = leaf.max_def() > 0;
    let words: Vec<Option<u64>> = (0..rows)
        .map(|i| match column {
            _ if is_optional && i >= style.nulls_from => None,
            0 => Some((1_000_000 + first + i) as u64),
            4 => Some((1.5 + random.below(100) as f64).to_bits()),
            _ => Some(random.below(40) as u64).filter(|_| !is_optional || !random.one_in(5)),
        })
        .collect();
    let layout = Layout {
        cuts: match style.page_rows {
            0 => vec![rows / 3, rows / 3],
            page_rows => vec![page_rows; (rows - 1) / page_rows],
        },
        v2: style.v2,
        encoding: match leaf.physical() {
            PhysicalType::Int32 | PhysicalType::Int64 if style.delta => 5,
            _ if column == 1 && style.nulls_from == usize::MAX => RLE_DICTIONARY,
            _ => 0,
        },
        codec: style.codec,
        checksums: style.checksums,
        ..Layout::default()
    };
    let column = Column::flat(leaf.physical(), &words, is_optional);
    let mut pages = pages(&column, &layout);
    if style.stored {
        let plain = crate::chunk::pages(&column, &Layout { codec: Codec::Uncompressed, ..layout });
        let both = pages.iter_mut().zip(plain).filter(|(page, _)| page.is_data());
        both.for_each(|(page, plain)| {
            *page = plain;
            page.v2().is_compressed = false;
        });
    }
    let (mut bytes, mut data) = (Vec::new(), None);
    for page in &pages {
        if page.is_data() {
            data.get_or_insert(bytes.len());
        }
        page.write(&mut bytes);
    }
    let data = data.unwrap() as i64;
    let metadata = format::ColumnMetaData {
        type_: crate::chunk::file::type_of(leaf.physical()),
        encodings: vec![format::Encoding::PLAIN],
        path_in_schema: leaf.path_in_schema(),
        codec: format::CompressionCodec(style.codec.code()),
        num_values: rows as i64,
        total_compressed_size: bytes.len() as i64,
        total_uncompressed_size: bytes.len() as i64,
        data_page_offset: data,
        dictionary_page_offset: (data > 0).then_some(0),
        ..format::ColumnMetaData::default()
    };
    if style.with_metadata {
        let mut writer = format::Writer::new();
        metadata.write(&mut writer);
        bytes.extend(writer.finish());
    }
    let mut parts = ChunkBytes::new();
    parts.push(bytes);
    EncodedChunk::new(parts, metadata)
}

/// The values of each column in each row group, nulls and levels included, as text.
pub(crate) fn contents(bytes: &Bytes) -> Result<Vec<Vec<String>>> {
    let source: Arc<dyn Source> = Arc::new(bytes.clone());
    let metadata = read_metadata(&*source, &Limits::default())?.metadata;
    let options = PageOptions::for_writer(None).with_trust(ChecksumTrust::Disbelieved);
    let column = |group: usize, i: usize| -> Result<String> {
        let chunk = metadata.row_group(group).column(i)?;
        let leaf = chunk.leaf();
        let target = ReadTarget {
            physical: leaf.physical(),
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            repeated_ancestor_def_level: 0,
            keep_levels: true,
            is_text: false,
            layout: read::ValueLayout::Native,
            repair: read::ValueRepair::None,
        };
        let mut reader = ColumnChunkReader::new(
            source.clone(),
            chunk,
            Arc::new(target),
            options.clone(),
            PageBuffers::default(),
        )?;
        let mut batch = ColumnBatch::new(leaf.physical().shape());
        reader.read(metadata.row_group(group).num_rows() as usize, &mut batch)?;
        let is_there = |i: &usize| batch.def.get(*i).is_none_or(|def| *def == leaf.max_def());
        let cells: Vec<Vec<u8>> =
            (0..batch.values.len()).filter(is_there).map(|i| cell(&batch.values, i)).collect();
        let (def, rep) = batch.levels_as_bytes();
        Ok(format!("{def:?} {rep:?} {cells:?}"))
    };
    let groups = 0..metadata.num_row_groups();
    groups.map(|group| (0..metadata.schema().num_columns()).map(|i| column(group, i)).collect()).collect()
}

pub(crate) fn given(text: &str) -> RecoverOptions {
    let schema = GivenSchema::new(Schema::parse(text).unwrap().to_thrift(), SchemaOrigin::Text);
    RecoverOptions::default().with_schema(Some(schema))
}

pub(crate) fn saved(bytes: &Bytes, options: &RecoverOptions) -> Result<Recovery> {
    recover(Arc::new(bytes.clone()), options)
}

/// What is in the new file.
pub(crate) fn rewritten(recovery: &Recovery) -> Vec<Vec<String>> {
    let bytes: Bytes = recovery.write(Vec::new(), None).unwrap().into();
    contents(&bytes).unwrap()
}

/// Where each row group ends.
pub(crate) fn ends(bytes: &Bytes) -> Vec<u64> {
    let metadata = read_metadata(bytes, &Limits::default()).unwrap().metadata;
    let end = |i: usize| {
        metadata.row_group(i).columns().map(|chunk| chunk.unwrap().byte_range().unwrap().end).max()
    };
    (0..metadata.num_row_groups()).map(|i| end(i).unwrap()).collect()
}

pub(crate) fn footer_start(bytes: &Bytes) -> usize {
    bytes.len() - 8 - read_metadata(bytes, &Limits::default()).unwrap().footer_len
}

pub(crate) const PHYSICAL: [PhysicalType; 5] = [
    PhysicalType::Int64,
    PhysicalType::ByteArray,
    PhysicalType::Int32,
    PhysicalType::Boolean,
    PhysicalType::Double,
];
