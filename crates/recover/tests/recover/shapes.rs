//! Random files of varied shapes: columns, types, lists, codecs, pages and row groups.

use crate::chunk::data::{Random, values};
use crate::chunk::model::{Node, Style};
use crate::chunk::{Column, Layout, RLE_DICTIONARY, pages};
use bytes::Bytes;
use marquetry_codec::Codec;
use marquetry_core::schema::{Schema, group};
use marquetry_core::write::{ChunkBytes, EncodedChunk, FileSettings, FileWriter};
use marquetry_encoding::PhysicalType;
use marquetry_format as format;
use marquetry_format::Repetition;

/// What all columns of a file have in common.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) columns: Vec<ColumnShape>,
    /// Rows of each row group.
    pub(crate) rows: Vec<usize>,
    codec: Codec,
    v2: bool,
    checksums: bool,
}

/// How one column is written.
#[derive(Debug, Clone)]
pub(crate) struct ColumnShape {
    physical: PhysicalType,
    node: Node,
    encoding: i32,
    /// Rows of each page but the last.
    page_rows: usize,
    /// Data pages from this one on are PLAIN, as after a dictionary that grew too large.
    plain_from: usize,
    /// Maximum number of distinct values.
    distinct: u64,
    /// Distinguishes values of columns: with it they are larger, and strings longer.
    base: u64,
}

impl Shape {
    /// A shape that `seed` stands for. Every sixth has columns that are all alike, every sixth types that repeat.
    pub(crate) fn random(seed: u64) -> Shape {
        let random = &mut Random(seed);
        let len = 1 + random.below(8);
        let most = random.pick(&[40, 150, 600]);
        let page_rows = random.pick(&[most, most / 2 + 1, most / 5 + 1, usize::MAX]);
        let mut columns: Vec<_> = (0..len).map(|_| ColumnShape::random(random, page_rows)).collect();
        match seed % 6 {
            0 => columns = vec![columns[0].clone(); len],
            1 => {
                let period = 1 + random.below(len);
                for i in period..len {
                    // Types repeat, values do not.
                    let base = columns[i - period].base + 1;
                    columns[i] = ColumnShape { base, ..columns[i - period].clone() };
                }
            }
            _ => {}
        }
        let num_groups = 1 + random.below(8);
        let first = 2 + random.below(most);
        let mut rows: Vec<usize> = match random.below(4) {
            0 => (0..num_groups).map(|_| 2 + random.below(most)).collect(),
            _ => vec![first; num_groups],
        };
        if random.one_in(2) {
            rows[num_groups - 1] = 1 + random.below(first);
        }
        Shape {
            columns,
            rows,
            codec: random.pick(&[
                Codec::Uncompressed,
                Codec::Snappy,
                Codec::Zstd,
                Codec::Gzip,
                Codec::Lz4Raw,
                Codec::Brotli,
            ]),
            v2: random.one_in(2),
            checksums: random.one_in(2),
        }
    }

    /// The least number of columns after which their kinds repeat; the number of all if they do not.
    pub(crate) fn period(&self) -> usize {
        let len = self.columns.len();
        let repeats =
            |period: &usize| (*period..len).all(|i| self.columns[i - period].is_like(&self.columns[i]));
        (1..len).find(repeats).unwrap_or(len)
    }

    pub(crate) fn schema(&self) -> Schema {
        let mut elements =
            vec![format::SchemaElement { repetition_type: None, ..group("schema", self.columns.len()) }];
        for (i, column) in self.columns.iter().enumerate() {
            column.node.schema(&format!("f{i}"), Repetition::REQUIRED, column.physical, &mut elements);
        }
        Schema::from_thrift(&elements, &Default::default()).unwrap()
    }

    /// The file. Its values are the same each time.
    pub(crate) fn file(&self) -> Bytes {
        let schema = self.schema();
        let mut writer = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
        let random = &mut Random(self.rows.len() as u64);
        for &rows in &self.rows {
            let chunks = self
                .columns
                .iter()
                .enumerate()
                .map(|(i, column)| column.chunk(&schema, i, rows, self, random));
            let chunks = chunks.collect();
            writer.write_row_group(rows as u64, chunks, None).unwrap();
        }
        writer.finish().unwrap().0.into()
    }
}

impl ColumnShape {
    fn random(random: &mut Random, page_rows: usize) -> ColumnShape {
        let physical = random.pick(&[
            PhysicalType::Int64,
            PhysicalType::Int64,
            PhysicalType::Double,
            PhysicalType::Int32,
            PhysicalType::Float,
            PhysicalType::Boolean,
            PhysicalType::ByteArray,
            PhysicalType::ByteArray,
            PhysicalType::FixedLenByteArray(16),
        ]);
        let leaf = || Box::new(Node::Leaf);
        let optional = || Box::new(Node::Optional(leaf()));
        let node = match random.below(10) {
            0..4 => Node::Leaf,
            4..8 => *optional(),
            8 => Node::Optional(Box::new(Node::List(optional(), Style::Three))),
            _ => Node::List(leaf(), Style::Three),
        };
        let encoding = match physical {
            PhysicalType::Boolean => 0,
            _ if random.one_in(2) => RLE_DICTIONARY,
            PhysicalType::Int32 | PhysicalType::Int64 if random.one_in(3) => 5,
            PhysicalType::ByteArray if random.one_in(3) => random.pick(&[6, 7]),
            PhysicalType::Float | PhysicalType::Double if random.one_in(4) => 9,
            _ => 0,
        };
        ColumnShape {
            physical,
            node,
            encoding,
            page_rows,
            plain_from: if random.one_in(5) { 1 } else { usize::MAX },
            distinct: random.pick(&[3, 30, 1000, 1 << 40]),
            base: 0,
        }
    }

    /// Whether pages of one column could be pages of the other.
    fn is_like(&self, other: &ColumnShape) -> bool {
        let levels = |node: &Node| (matches!(node, Node::Leaf), format!("{node:?}").contains("List"));
        self.physical.shape() == other.physical.shape() && levels(&self.node) == levels(&other.node)
    }

    /// The value that stands for one of `distinct` numbers.
    fn value(&self, number: u64) -> u64 {
        let shifted = number + self.base * 50_000;
        match self.physical {
            PhysicalType::Double => (0.5 + shifted as f64).to_bits(),
            PhysicalType::Float => u64::from((0.5 + shifted as f32).to_bits()),
            // Deltas do not tell how wide integers are, but by values of more than 32 bits.
            PhysicalType::Int64 if self.encoding == 5 => shifted + (1 << 40),
            // A string is as long as the remainder of its number by 31.
            PhysicalType::ByteArray if self.base > 0 => number * 31 + self.base * 9 % 31,
            _ => shifted,
        }
    }

    fn chunk(
        &self,
        schema: &Schema,
        column: usize,
        rows: usize,
        shape: &Shape,
        random: &mut Random,
    ) -> EncodedChunk {
        let leaf = schema.column(column);
        // A column without a value has no type that anybody could find.
        let mut shredded = loop {
            let data: Vec<_> = (0..rows).map(|_| self.node.datum(random)).collect();
            let shredded = self.node.shred(&data).remove(0);
            if !shredded.words.is_empty() {
                break shredded;
            }
        };
        for word in &mut shredded.words {
            *word = self.value(*word % self.distinct);
        }
        let column = Column {
            physical: self.physical,
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            values: values(self.physical, &shredded.words),
            def: shredded.def,
            rep: shredded.rep,
        };
        // Entries at which rows begin: pages begin at one of them.
        let begins: Vec<usize> = (0..column.len()).filter(|at| column.rep[*at] == 0).collect();
        let ends = (1..).map_while(|page| begins.get(self.page_rows.checked_mul(page)?).copied());
        let ends: Vec<usize> = ends.collect();
        let cuts = std::iter::once(&0).chain(&ends).zip(&ends).map(|(start, end)| end - start).collect();
        let layout = Layout {
            cuts,
            v2: shape.v2,
            encoding: self.encoding,
            plain_from: self.plain_from,
            codec: shape.codec,
            checksums: shape.checksums,
            ..Layout::default()
        };
        let (mut bytes, mut data) = (Vec::new(), None);
        for page in pages(&column, &layout) {
            if page.is_data() {
                data.get_or_insert(bytes.len());
            }
            page.write(&mut bytes);
        }
        let data = data.unwrap() as i64;
        let metadata = format::ColumnMetaData {
            type_: crate::chunk::file::type_of(self.physical),
            encodings: vec![format::Encoding::PLAIN],
            path_in_schema: leaf.path_in_schema(),
            codec: format::CompressionCodec(shape.codec.code()),
            num_values: column.len() as i64,
            total_compressed_size: bytes.len() as i64,
            total_uncompressed_size: bytes.len() as i64,
            data_page_offset: data,
            dictionary_page_offset: (data > 0).then_some(0),
            ..format::ColumnMetaData::default()
        };
        let mut parts = ChunkBytes::new();
        parts.push(bytes);
        EncodedChunk::new(parts, metadata)
    }
}
