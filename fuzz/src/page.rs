//! Column chunks: pages, levels, dictionaries, nulls and nesting.

use crate::encoding::{PHYSICAL, part};
use crate::input::{Input, Splits};
use crate::memory::earned;
use bytes::Bytes;
use marquetry_base::{Limits, Result};
use marquetry_codec::{Codec, Compressor};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::page::{ChecksumTrust, PageOptions};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::source::Source;
use marquetry_encoding::{PhysicalType, Values};
use marquetry_format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, ConvertedType, DataPageHeader, DataPageHeaderV2,
    DictionaryPageHeader, Encoding, FileMetaData, PageHeader, PageType, Repetition, RowGroup, SchemaElement,
    Type, Writer,
};
use std::sync::Arc;

/// The repetitions of the fields from the root's down to the column.
pub const SCHEMAS: [&[Repetition]; 6] = [
    &[Repetition::REQUIRED],
    &[Repetition::OPTIONAL],
    &[Repetition::OPTIONAL, Repetition::OPTIONAL],
    &[Repetition::REPEATED],
    &[Repetition::OPTIONAL, Repetition::REPEATED, Repetition::OPTIONAL],
    &[Repetition::REPEATED, Repetition::OPTIONAL, Repetition::REPEATED, Repetition::OPTIONAL],
];

/// Input: schema, physical type, flags, codec, rows (2 bytes), seed of the splits; the pages, with headers (the chunk
/// as it is in a file) or with choices for headers, see [`compose`].
pub fn page(data: &[u8]) {
    let mut input = Input(data);
    let path = input.pick(&SCHEMAS);
    let physical = input.pick(&PHYSICAL);
    let flags = input.u8();
    let codec = input.pick(&Codec::ALL);
    let rows = usize::from(input.u16() % 5_000);
    let seed = u64::from(input.u8());
    let pages = match flags & 1 {
        0 => compose(&mut input, codec),
        _ => input.0.to_vec(),
    };
    let file = [b"PAR1", &pages[..]].concat();
    let (file_len, column) = (file.len(), meta_data(physical, codec, pages.len()));
    let thrift = FileMetaData {
        schema: schema(path, physical, flags & 2 != 0),
        row_groups: vec![RowGroup {
            columns: vec![ColumnChunk { meta_data: Some(column), ..ColumnChunk::default() }],
            num_rows: rows as i64,
            ..RowGroup::default()
        }],
        ..FileMetaData::default()
    };
    let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).expect("a schema of one column");
    let chunk = Chunk {
        source: Arc::new(Bytes::from(file)),
        metadata: Arc::new(metadata),
        want_keys: flags & 4 != 0,
    };
    earned((96 << 20) + 1_024 * file_len, || chunk.laws(rows, seed));
}

struct Chunk {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    want_keys: bool,
}

impl Chunk {
    fn laws(&self, rows: usize, seed: u64) {
        let whole = self.open().read(rows);
        let splits = self.in_splits(rows, seed);
        assert_eq!(whole.is_ok(), splits.is_ok(), "whole {:?}, splits {:?}", whole.err(), splits.err());
        let skip = (rows * (seed as usize % 8)).div_ceil(8);
        let mut skipping = self.open();
        let skipped = skipping.skip(skip).and_then(|()| skipping.read(rows - skip));
        let (Ok(whole), Ok(splits)) = (whole, splits) else {
            return;
        };
        let whole = Entries::of(&whole);
        assert!(whole == splits, "splits give other entries");
        let tail = Entries::of(&skipped.expect("what was read before"));
        assert!(whole.ends_with(&tail), "{skip} of {rows} rows skipped");
    }

    fn open(&self) -> ColumnReader {
        let schema = self.metadata.schema();
        let fields = NestedField::from_schema(schema);
        let limits = Limits::default()
            .with_page_bytes(1 << 20)
            .with_page_header_bytes(1 << 16)
            .with_free_page_bytes(1 << 16)
            .with_decompression_ratio(100)
            .with_batch_bytes(16 << 20);
        let options = PageOptions::for_writer(None)
            .with_limits(Arc::new(limits))
            .with_checksum_verification(false)
            .with_trust(ChecksumTrust::Believed);
        let layout = if self.want_keys { ValueLayout::Indices } else { ValueLayout::Native };
        let target = ReadTarget::new(schema.column(0), &fields[0], 0, layout);
        ColumnReader::new(self.source.clone(), self.metadata.clone(), &[0], 0, target, options)
    }

    fn in_splits(&self, rows: usize, seed: u64) -> Result<Entries> {
        let (mut reader, mut splits, mut left) = (self.open(), Splits(seed), rows);
        let mut out = Entries::of(&reader.read(0)?);
        while left > 0 {
            let size = splits.next(left);
            out.push(&Entries::of(&reader.read(size)?));
            left -= size;
        }
        Ok(out)
    }
}

/// The contents of a batch, with or without keys: levels, null slots, and the values of the others.
#[derive(PartialEq)]
struct Entries {
    rep: Vec<u8>,
    def: Vec<u8>,
    entries: usize,
    valid: Vec<bool>,
    values: Values,
}

impl Entries {
    fn of(batch: &ColumnBatch) -> Entries {
        let n = batch.values.len();
        let valid: Vec<bool> = match &batch.validity {
            Some(bits) => {
                assert_eq!(bits.len(), n, "one bit for each slot");
                (0..n).map(|i| bits.get(i)).collect()
            }
            None => vec![true; n],
        };
        let (def, rep) = batch.levels_as_bytes();
        assert!(rep.is_empty() || rep.len() == batch.entries);
        assert!(def.is_empty() || def.len() == batch.entries);
        let all = match (&batch.dictionary, &batch.values) {
            (Some(dictionary), Values::W32(keys)) => {
                dictionary.values_at(keys).expect("keys that were checked")
            }
            _ => batch.values.clone(),
        };
        let mut values = all.shape().empty();
        valid
            .iter()
            .enumerate()
            .filter(|(_, valid)| **valid)
            .for_each(|(i, _)| values.push_range(&all, i..i + 1).expect("memory for a test"));
        Entries { rep: rep.into_owned(), def: def.into_owned(), entries: batch.entries, valid, values }
    }

    fn push(&mut self, other: &Entries) {
        self.rep.extend_from_slice(&other.rep);
        self.def.extend_from_slice(&other.def);
        self.entries += other.entries;
        self.valid.extend_from_slice(&other.valid);
        self.values.push_range(&other.values, 0..other.values.len()).expect("memory for a test");
    }

    fn ends_with(&self, tail: &Entries) -> bool {
        let (all, n) = (self.values.len(), tail.values.len());
        self.rep.ends_with(&tail.rep)
            && self.def.ends_with(&tail.def)
            && self.valid.ends_with(&tail.valid)
            && self.entries >= tail.entries
            && n <= all
            && part(&self.values, all - n..all) == tail.values
    }
}

/// Pages with headers that fit them. Each page's choices: kind, encoding, number of values (2 bytes), bytes of
/// repetition and definition levels (V2), bytes of the page (2 bytes); the page, not compressed.
fn compose(input: &mut Input<'_>, codec: Codec) -> Vec<u8> {
    let mut out = Vec::new();
    while !input.0.is_empty() && out.len() < 1 << 16 {
        let kind = input.pick(&[PageType::DATA_PAGE, PageType::DATA_PAGE_V2, PageType::DICTIONARY_PAGE]);
        let choice = input.u8();
        let encoding = Encoding(i32::from(choice % 12));
        // Now and then, far more than anything but runs can hold.
        let num_values = i32::from(input.u16()) << if choice >= 0xf0 { 10 } else { 0 };
        let levels = [usize::from(input.u8()), usize::from(input.u8())];
        let len = usize::from(input.u16());
        let body = input.take(len);
        let (before, values) = match kind {
            PageType::DATA_PAGE_V2 => body.split_at((levels[0] + levels[1]).min(body.len())),
            _ => (&[][..], body),
        };
        let mut stored = before.to_vec();
        match Compressor::new(codec, None) {
            Ok(mut compressor) => compressor.compress(values, &mut stored).expect("a small page"),
            Err(_) => stored.extend_from_slice(values),
        }
        let header = header(kind, encoding, num_values, levels, body.len(), stored.len());
        let mut writer = Writer::new();
        header.write(&mut writer);
        out.extend_from_slice(&writer.finish());
        out.extend_from_slice(&stored);
    }
    out
}

fn header(
    kind: PageType,
    encoding: Encoding,
    num_values: i32,
    [rep, def]: [usize; 2],
    uncompressed: usize,
    stored: usize,
) -> PageHeader {
    let mut header = PageHeader {
        type_: kind,
        uncompressed_page_size: uncompressed as i32,
        compressed_page_size: stored as i32,
        ..PageHeader::default()
    };
    // Levels are RLE, as they nearly always are, or now and then BIT_PACKED.
    let levels = [Encoding::RLE, Encoding::BIT_PACKED][usize::from(num_values % 16 == 15)];
    match kind {
        PageType::DATA_PAGE => {
            header.data_page_header = Some(DataPageHeader {
                num_values,
                encoding,
                definition_level_encoding: levels,
                repetition_level_encoding: levels,
                statistics: None,
            });
        }
        PageType::DATA_PAGE_V2 => {
            header.data_page_header_v2 = Some(DataPageHeaderV2 {
                num_values,
                num_rows: num_values,
                encoding,
                repetition_levels_byte_length: rep as i32,
                definition_levels_byte_length: def as i32,
                is_compressed: true,
                ..DataPageHeaderV2::default()
            });
        }
        _ => {
            header.dictionary_page_header =
                Some(DictionaryPageHeader { num_values, encoding: Encoding::PLAIN, is_sorted: None });
        }
    }
    header
}

fn schema(path: &[Repetition], physical: PhysicalType, is_text: bool) -> Vec<SchemaElement> {
    let group =
        |name: &str| SchemaElement { name: name.into(), num_children: Some(1), ..SchemaElement::default() };
    let mut elements = vec![group("root")];
    elements.extend(
        path.iter().map(|&repetition| SchemaElement { repetition_type: Some(repetition), ..group("field") }),
    );
    if let Some(leaf) = elements.last_mut() {
        leaf.num_children = None;
        leaf.type_ = Some(type_of(physical));
        leaf.type_length = match physical {
            PhysicalType::FixedLenByteArray(width) => Some(width as i32),
            _ => None,
        };
        leaf.converted_type = is_text.then_some(ConvertedType::UTF8);
    }
    elements
}

fn meta_data(physical: PhysicalType, codec: Codec, len: usize) -> ColumnMetaData {
    ColumnMetaData {
        type_: type_of(physical),
        codec: CompressionCodec(codec.code()),
        num_values: 1 << 40,
        total_compressed_size: len as i64,
        data_page_offset: 4,
        ..ColumnMetaData::default()
    }
}

fn type_of(physical: PhysicalType) -> Type {
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
