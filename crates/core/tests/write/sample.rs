//! A random column, cut into blocks and written with random settings.

use crate::chunk::data::{PHYSICAL, Random, values};
use crate::chunk::file::root;
use crate::chunk::model::{Datum, Node};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::{Leaf, Schema};
use marquetry_core::write::{
    BloomSettings, ColumnSettings, ColumnWriter, Compat, EncodingPolicy, FileSettings, FileWriter,
    PageVersion, Spill, StatisticsLevel, Workspace,
};
use marquetry_encoding::{PhysicalType, Values, registry};
use marquetry_format::{Repetition, SchemaElement};
use std::sync::Arc;

/// A column of several row groups.
pub(crate) struct Sample {
    pub(crate) node: Node,
    pub(crate) physical: PhysicalType,
    pub(crate) schema: Vec<SchemaElement>,
    pub(crate) leaf: Leaf,
    pub(crate) row_groups: Vec<Vec<Datum>>,
    pub(crate) settings: ColumnSettings,
    /// Blocks of each row group.
    blocks: Vec<Vec<ShreddedColumn>>,
}

pub(crate) fn plain_settings() -> ColumnSettings {
    ColumnSettings::default()
        .with_codec(Codec::Zstd)
        .with_level(Some(1))
        .with_encoding(EncodingPolicy::Auto { dictionary: true })
        .with_compat(Compat::Modern)
        .with_dictionary_page_bytes(4 << 20)
        .with_page_bytes(1 << 20)
        .with_page_rows(20_000)
        .with_page_version(PageVersion::V1)
        .with_checksums(true)
        .with_statistics(StatisticsLevel::Page)
        .with_statistics_truncate(Some(64))
        .with_index_truncate(Some(64))
        .with_page_header_statistics(false)
        .with_bloom(None)
        .with_total_order(false)
        .with_key_values(Vec::new())
}

impl Sample {
    /// Few rows of any nesting.
    pub(crate) fn nested(seed: u64) -> Sample {
        let random = &mut Random(seed);
        let node = Node::random(random, 4, 1);
        let most = random.pick(&[1, 20, 400]);
        let rows = (0..1 + random.below(3)).map(|_| random.below(most + 1)).collect();
        Sample::new(random, node, rows)
    }

    /// So many rows that dictionaries are looked at again.
    pub(crate) fn long(seed: u64) -> Sample {
        let random = &mut Random(seed);
        let node = match random.below(3) {
            0 => Node::Leaf,
            1 => Node::Optional(Box::new(Node::Leaf)),
            _ => Node::random(random, 2, 1),
        };
        let rows = vec![random.pick(&[15_000, 40_000, 140_000])];
        Sample::new(random, node, rows)
    }

    fn new(random: &mut Random, node: Node, rows: Vec<usize>) -> Sample {
        let physical = random.pick(&PHYSICAL);
        let mut schema = vec![root(1)];
        node.schema("c", Repetition::REQUIRED, physical, &mut schema);
        let leaf = Schema::from_thrift(&schema, &Limits::default()).unwrap().column(0).clone();
        let (mut row_groups, mut blocks) = (Vec::new(), Vec::new());
        for rows in rows {
            let mut data: Vec<Datum> = (0..rows).map(|_| node.datum(random)).collect();
            let (style, turn) = (random.below(7), random.below(rows.max(1)) as u64);
            let mut i = 0;
            data.iter_mut()
                .for_each(|datum| each_word(datum, &mut |word| restyle(word, &mut i, style, turn)));
            blocks.push(cut(random, &node, physical, &leaf, &data));
            row_groups.push(data);
        }
        let settings = settings(random, physical);
        Sample { node, physical, schema, leaf, row_groups, settings, blocks }
    }

    /// The whole file. If `spill` is a number, once in so many blocks all pages are spilled.
    pub(crate) fn write(&self, spill: Option<usize>, workspace: &mut Workspace) -> Bytes {
        let mut file = FileWriter::new(Vec::new(), self.schema.clone(), FileSettings::default()).unwrap();
        let random = &mut Random(77);
        for (rows, blocks) in self.row_groups.iter().zip(&self.blocks) {
            let mut writer = ColumnWriter::new(&self.leaf, &self.settings).unwrap();
            let place = Arc::new(Spill::new().unwrap());
            for block in blocks {
                writer.write(block, workspace).unwrap();
                if spill.is_some_and(|n| random.one_in(n)) {
                    writer.spill_to(&place, workspace).unwrap();
                }
            }
            let (chunk, _) = writer.close(workspace).unwrap();
            file.write_row_group(rows.len() as u64, vec![chunk], None).unwrap();
        }
        Bytes::from(file.finish().unwrap().0)
    }
}

/// A flat column.
pub(crate) fn flat_leaf(physical: PhysicalType, repetition: Repetition) -> Leaf {
    let schema = [root(1), crate::chunk::file::leaf("c", repetition, physical)];
    Schema::from_thrift(&schema, &Limits::default()).unwrap().column(0).clone()
}

/// Blocks of a flat column without nulls.
pub(crate) fn flat_blocks(values: &Values) -> Vec<ShreddedColumn> {
    let starts = (0..values.len()).step_by(8192);
    starts
        .map(|start| {
            let end = (start + 8192).min(values.len());
            let mut block = values.shape().empty();
            block.push_range(values, start..end).unwrap();
            flat(block)
        })
        .collect()
}

/// Rows of a flat column without nulls.
pub(crate) fn flat(values: Values) -> ShreddedColumn {
    let n = values.len();
    let values = ColumnValues::Values(values);
    ShreddedColumn::flat(n, DefinitionLevels::Max, values)
}

fn each_word(datum: &mut Datum, change: &mut impl FnMut(&mut u64)) {
    match datum {
        Datum::Null => {}
        Datum::Value(word) => change(word),
        Datum::List(data) | Datum::Struct(data) => data.iter_mut().for_each(|datum| each_word(datum, change)),
    }
}

/// Columns as there are: with few values, with many, with many from some place on.
fn restyle(word: &mut u64, i: &mut u64, style: usize, turn: u64) {
    *i += 1;
    *word = match style {
        0 => *word,
        1 => *word % 3,
        2 => 5,
        3 => *i,
        4 => i.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        5 if *i < turn => *word % 10,
        6 if *i >= turn => *word % 10,
        _ => i.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    };
}

/// The rows in blocks of random sizes, in random forms.
fn cut(
    random: &mut Random,
    node: &Node,
    physical: PhysicalType,
    leaf: &Leaf,
    data: &[Datum],
) -> Vec<ShreddedColumn> {
    let most = random.pick(&[3, 50, 9_000]).max(data.len() / 50);
    let (mut at, mut blocks) = (0, Vec::new());
    let has_keys = physical != PhysicalType::Boolean && random.one_in(4);
    while at < data.len() {
        let end = (at + random.below(most + 1)).min(data.len());
        let shredded = node.shred(&data[at..end]).remove(0);
        let (is_max, max) = (|def: &u8| *def == leaf.max_def(), leaf.max_def());
        let def = match (shredded.def.iter().all(is_max), max, random.one_in(2)) {
            (true, _, true) | (true, 0, _) => DefinitionLevels::Max,
            (_, 1, true) => DefinitionLevels::Bitmap(shredded.def.iter().map(is_max).collect()),
            _ => DefinitionLevels::Levels(shredded.def.clone()),
        };
        let values = match has_keys && !random.one_in(5) {
            true => keys(random, physical, &shredded.words),
            false => ColumnValues::Values(values(physical, &shredded.words)),
        };
        blocks.push(match leaf.max_rep() {
            0 => ShreddedColumn::flat(end - at, def, values),
            _ => ShreddedColumn::nested(end - at, def, shredded.rep, values),
        });
        at = end;
    }
    blocks
}

/// The values by keys of a dictionary that has more than them, in no order, and some of them twice.
fn keys(random: &mut Random, physical: PhysicalType, words: &[u64]) -> ColumnValues {
    let mut dictionary: Vec<u64> = words.to_vec();
    dictionary.sort_unstable();
    if random.one_in(2) {
        dictionary.dedup();
    }
    dictionary.push(u64::MAX);
    let at = |word: &u64| dictionary.binary_search(word).unwrap() as u32;
    let keys = words.iter().map(at).collect();
    ColumnValues::Keys { keys, dictionary: Arc::new(values(physical, &dictionary)) }
}

fn settings(random: &mut Random, physical: PhysicalType) -> ColumnSettings {
    let legal: Vec<i32> = registry::ENCODINGS
        .iter()
        .filter(|row| (row.supports)(physical) && row.code != 2)
        .map(|row| row.code)
        .collect();
    let no_dictionary: Vec<i32> = legal.iter().copied().filter(|code| *code != 8).collect();
    let encoding = match random.below(5) {
        0 => EncodingPolicy::Only(random.pick(&legal)),
        1 => EncodingPolicy::DictionaryOr(random.pick(&no_dictionary)),
        2 => EncodingPolicy::Auto { dictionary: false },
        _ => EncodingPolicy::Auto { dictionary: true },
    };
    let codecs = [Codec::Uncompressed, Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw];
    ColumnSettings::default()
        .with_codec(random.pick(&codecs))
        .with_level(None)
        .with_encoding(encoding)
        .with_compat(random.pick(&[Compat::Maximum, Compat::Modern, Compat::Latest]))
        .with_dictionary_page_bytes(random.pick(&[1, 50, 400, 4_000, 100_000, 1 << 20]))
        .with_page_bytes(random.pick(&[1, 30, 300, 5_000, 100_000, usize::MAX]))
        .with_page_rows(random.pick(&[1, 7, 100, 5_000, 20_000, usize::MAX]))
        .with_page_version(random.pick(&[PageVersion::V1, PageVersion::V2]))
        .with_checksums(random.one_in(2))
        .with_statistics(random.pick(&[
            StatisticsLevel::None,
            StatisticsLevel::Chunk,
            StatisticsLevel::Page,
            StatisticsLevel::Page,
        ]))
        .with_statistics_truncate(random.pick(&[None, Some(5)]))
        .with_index_truncate(random.pick(&[None, Some(5)]))
        .with_page_header_statistics(random.one_in(3))
        .with_bloom(
            random.one_in(3).then(|| BloomSettings::new(0.01).with_ndv(random.pick(&[None, Some(100)]))),
        )
        .with_total_order(random.one_in(3))
        .with_key_values(Vec::new())
}
