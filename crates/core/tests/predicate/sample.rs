//! Random files: columns of all types, nulls at all levels, many layouts.

use crate::ask::Asked;
use crate::data::Random;
use crate::kinds::{Cell, KINDS, Kind};
use bytes::Bytes;
use marquetry_base::Limits;
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{
    ColumnValues, DefinitionLevels, NestedField, RepetitionLevels, RepetitionSlice, ShreddedColumn,
};
use marquetry_core::page::{ChecksumTrust, PageOptions};
use marquetry_core::predicate::LeafValues;
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::schema::Schema;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::write::{
    BloomSettings, ColumnSettings, ColumnWriter, Compat, EncodingPolicy, FileSettings, FileWriter,
    PageVersion, StatisticsLevel, Workspace,
};
use marquetry_encoding::{PhysicalType, Values};
use std::sync::Arc;

/// A file, and what is in it.
pub(crate) struct Sample {
    pub(crate) file: Bytes,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) columns: Vec<Asked>,
    /// Cells of each row group, by column.
    pub(crate) row_groups: Vec<Vec<Vec<Cell>>>,
}

/// How a column is nested.
#[derive(Debug, Clone, Copy)]
enum Nesting {
    Required,
    Optional,
    OptionalInRequired,
    RequiredInOptional,
    OptionalInOptional,
}

impl Nesting {
    fn random(random: &mut Random) -> Nesting {
        use Nesting::*;
        random.pick(&[
            Required,
            Optional,
            Optional,
            OptionalInRequired,
            RequiredInOptional,
            OptionalInOptional,
        ])
    }

    fn max_def(self) -> u8 {
        match self {
            Nesting::Required => 0,
            Nesting::OptionalInOptional => 2,
            _ => 1,
        }
    }

    fn field(self, i: usize, kind: Kind) -> (String, String) {
        let (field, name) = (kind.schema(), format!("c{i}"));
        let leaf = |name: &str| field.replace("{}", name);
        let inside = |above: &str, own: &str| {
            (format!("{above} group s{i} {{ {own} {}; }}", leaf("a b")), format!("s{i}.a b"))
        };
        match self {
            Nesting::Required => (format!("required {};", leaf(&name)), name),
            Nesting::Optional => (format!("optional {};", leaf(&name)), name),
            Nesting::OptionalInRequired => inside("required", "optional"),
            Nesting::RequiredInOptional => inside("optional", "required"),
            Nesting::OptionalInOptional => inside("optional", "optional"),
        }
    }
}

impl Sample {
    pub(crate) fn new(seed: u64) -> Sample {
        let random = &mut Random(seed);
        let n = 1 + random.below(3);
        let kinds: Vec<Kind> = (0..n).map(|_| random.pick(&KINDS)).collect();
        let nestings: Vec<Nesting> = (0..n).map(|_| Nesting::random(random)).collect();
        let fields: Vec<_> = (0..n).map(|i| nestings[i].field(i, kinds[i])).collect();
        let text: String = fields.iter().map(|(field, _)| field.as_str()).collect();
        let schema = Schema::parse(&format!("message m {{ {text} }}")).unwrap();
        let columns: Vec<Asked> = (0..n)
            .map(|i| Asked { path: fields[i].1.clone(), kind: kinds[i], spread: random.pick(&[1, 4, 30]) })
            .collect();
        let settings: Vec<ColumnSettings> =
            schema.columns().iter().map(|leaf| settings(random, leaf.physical())).collect();
        let orders = schema.columns().iter().zip(&settings);
        let orders =
            orders.map(|(leaf, settings)| SortOrder::for_writing(leaf, settings.total_order).1).collect();
        let file_settings = FileSettings::default().with_column_orders(Some(orders));
        let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), file_settings).unwrap();
        let mut row_groups = Vec::new();
        let mut workspace = Workspace::default();
        for _ in 0..1 + random.below(3) {
            let rows = random.pick(&[0, 1, 20, 100, 250]);
            let (mut cells, mut chunks) = (Vec::new(), Vec::new());
            for (i, leaf) in schema.columns().iter().enumerate() {
                let (slots, def) = rows_of(random, &columns[i], nestings[i].max_def(), rows);
                let stored: Vec<&[u8]> =
                    slots.iter().flatten().map(|(stored, _)| stored.as_slice()).collect();
                let mut writer = ColumnWriter::new(leaf, &settings[i]).unwrap();
                let values = ColumnValues::Values(values(leaf.physical(), &stored));
                let def =
                    if leaf.max_def() == 0 { DefinitionLevels::Max } else { DefinitionLevels::Levels(def) };
                let shredded = ShreddedColumn::flat(rows, def, values);
                writer.write(&shredded, &mut workspace).unwrap();
                chunks.push(writer.close(&mut workspace).unwrap().0);
                cells.push(slots.into_iter().map(|slot| slot.map_or(Cell::Null, |(_, cell)| cell)).collect());
            }
            file.write_row_group(rows as u64, chunks, None).unwrap();
            row_groups.push(cells);
        }
        let file = Bytes::from(file.finish().unwrap().0);
        let metadata = Arc::new(read_metadata(&file, &Limits::default()).unwrap().metadata);
        Sample { file, metadata, columns, row_groups }
    }

    /// The column of a row group.
    pub(crate) fn read(&self, row_group: usize, column: usize, want_keys: bool) -> ColumnBatch {
        read(&(Arc::new(self.file.clone()) as _), &self.metadata, row_group, column, want_keys).unwrap()
    }
}

pub(crate) fn read(
    source: &Arc<dyn marquetry_core::source::Source>,
    metadata: &Arc<ParquetMetaData>,
    row_group: usize,
    column: usize,
    want_keys: bool,
) -> marquetry_base::Result<ColumnBatch> {
    let fields = NestedField::from_schema(metadata.schema());
    let field = fields.iter().find(|field| field.has_leaf(column)).unwrap();
    let layout = if want_keys { ValueLayout::Indices } else { ValueLayout::Native };
    let target = ReadTarget::new(metadata.schema().column(column), field, column, layout);
    let options =
        PageOptions::for_writer(None).with_checksum_verification(false).with_trust(ChecksumTrust::Believed);
    let rows = metadata.row_group(row_group).num_rows() as usize;
    let mut reader =
        ColumnReader::new(source.clone(), metadata.clone(), &[row_group], column, target, options);
    let mut batch = reader.read(rows)?;
    let (def, rep) = batch.levels_as_bytes();
    (batch.def, batch.rep) = (def.into_owned(), RepetitionLevels::Bytes(rep.into_owned()));
    Ok(batch)
}

pub(crate) fn leaf_values(batch: &ColumnBatch) -> LeafValues<'_> {
    let RepetitionSlice::Bytes(rep) = batch.rep.as_slice() else { panic!("not of `read`") };
    LeafValues::flat(&batch.values, batch.validity.as_ref())
        .with_dictionary(batch.dictionary.as_deref())
        .with_levels(&batch.def, rep)
}

type Slot = Option<(Vec<u8>, Cell)>;

/// Rows as there are: at random, sorted, in runs; with many nulls, few or none.
fn rows_of(random: &mut Random, column: &Asked, max_def: u8, rows: usize) -> (Vec<Slot>, Vec<u8>) {
    let mut values: Vec<(Vec<u8>, Cell)> =
        (0..rows).map(|_| column.kind.value(random, column.spread)).collect();
    match random.below(5) {
        0 | 1 => values.sort_by(|(_, a), (_, b)| a.order(b)),
        2 => values.sort_by(|(_, a), (_, b)| b.order(a)),
        3 => {
            let run = 1 + random.below(40);
            values = (0..rows).map(|row| values[row / run * run].clone()).collect();
        }
        _ => {}
    }
    let nulls = random.pick(&[0, 0, 1, 5, 10]);
    let (mut slots, mut def) = (Vec::new(), Vec::new());
    let mut run = 0;
    for value in values {
        // Nulls come in runs too.
        run = if run > 0 { run - 1 } else { random.below(30) * usize::from(random.one_in(10)) };
        let is_null = max_def > 0 && (random.below(10) < nulls || (nulls > 0 && run > 0));
        def.push(if is_null { random.below(usize::from(max_def)) as u8 } else { max_def });
        slots.push((!is_null).then_some(value));
    }
    (slots, def)
}

fn values(physical: PhysicalType, stored: &[&[u8]]) -> Values {
    let mut out = physical.shape().empty();
    match &mut out {
        Values::Bit(bits) => stored.iter().for_each(|value| bits.push(value[0] != 0)),
        Values::W32(words) => {
            words.extend(stored.iter().map(|value| u32::from_le_bytes((*value).try_into().unwrap())));
        }
        Values::W64(words) => {
            words.extend(stored.iter().map(|value| u64::from_le_bytes((*value).try_into().unwrap())));
        }
        Values::Fixed(fixed) => stored.iter().for_each(|value| fixed.push(value)),
        Values::Bytes(views) => stored.iter().for_each(|value| views.push(value)),
        Values::Offsets(_) => unreachable!("no shape is laid out so"),
    }
    out
}

fn settings(random: &mut Random, physical: PhysicalType) -> ColumnSettings {
    let has_dictionary = physical != PhysicalType::Boolean;
    ColumnSettings::default()
        .with_codec(random.pick(&[Codec::Uncompressed, Codec::Snappy]))
        .with_level(None)
        .with_encoding(match random.below(3) {
            0 => EncodingPolicy::Only(0),
            1 if has_dictionary => EncodingPolicy::DictionaryOr(0),
            _ => EncodingPolicy::Auto { dictionary: has_dictionary },
        })
        .with_compat(random.pick(&[Compat::Modern, Compat::Latest]))
        .with_dictionary_page_bytes(random.pick(&[50, 1 << 20]))
        .with_page_bytes(1 << 20)
        .with_page_rows(random.pick(&[1, 7, 20, 1_000]))
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
        .with_page_header_statistics(false)
        .with_bloom(random.one_in(2).then_some(BloomSettings::new(0.05)))
        .with_total_order(random.one_in(2))
        .with_key_values(Vec::new())
}
