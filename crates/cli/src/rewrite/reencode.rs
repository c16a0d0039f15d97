//! Columns decoded and encoded again: levels and values as they are, nothing of Arrow between.

use super::Input;
use super::schemas::repetitions;
use crate::failure::Failure;
use marquetry::errors::Error;
use marquetry::file::page::PageOptions;
use marquetry::internals::codec::Codec;
use marquetry::internals::encoding::dictionary::Dictionary;
use marquetry::internals::encoding::{Bitmap, FixedLenBytes, PhysicalType, StringViews, Values};
use marquetry::internals::format::ColumnOrder;
use marquetry::metrics::WriteCounters;
use marquetry::schema::{Leaf, Repetition, Schema};
use marquetry_base::Stopwatch;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::write::{ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk, Spill, Workspace};
use std::sync::Arc;

/// Where finished pages wait: in memory, or past a budget in a temporary file.
#[derive(Default)]
pub(crate) struct SpillBudget {
    spill: Option<Arc<Spill>>,
    held: usize,
}

impl SpillBudget {
    /// Makes room for a chunk that waits for the rest of its row group.
    pub(crate) fn keep(&mut self, bytes: &mut ChunkBytes) -> Result<(), Failure> {
        if self.held + bytes.held() > BUDGET {
            bytes.spill_to(self.spill()?)?;
        }
        self.held += bytes.held();
        Ok(())
    }

    /// The row group is written.
    pub(crate) fn clear(&mut self) {
        self.held = 0;
    }

    fn spill(&mut self) -> Result<&Arc<Spill>, Error> {
        if self.spill.is_none() {
            self.spill = Some(Arc::new(Spill::new()?));
        }
        self.spill.as_ref().ok_or_else(|| Error::argument("no temporary file"))
    }
}

/// Whether bounds that are written anew are in the order that the file gives for the column.
pub(crate) fn has_order_of_bounds(physical: PhysicalType, order: Option<&ColumnOrder>) -> bool {
    match order {
        // SPEC: INT96 has bounds in no other order, and no other type has them in this one.
        Some(ColumnOrder::Int96TimestampOrder) => physical == PhysicalType::Int96,
        Some(ColumnOrder::TypeOrder | ColumnOrder::Ieee754TotalOrder) => physical != PhysicalType::Int96,
        _ => false,
    }
}

/// Reads a column of some row groups from front to back, and writes chunks of as many rows as are asked for.
pub(crate) struct Reencoder {
    leaf: Leaf,
    /// The level that each definition level becomes, where the column is written with others.
    levels: Option<Vec<u8>>,
    reader: ColumnReader,
    workspace: Workspace,
    /// The dictionary that was read last, and its values as a writer takes them.
    dictionary: Option<(Arc<Dictionary>, Arc<Values>)>,
}

impl Reencoder {
    /// A reader at the first row of the first of `row_groups`.
    pub(crate) fn new(input: &Input, row_groups: &[usize], leaf: usize, verify: bool) -> Self {
        let metadata = &input.metadata;
        let column = metadata.schema().column(leaf);
        let target = ReadTarget {
            physical: column.physical(),
            max_def: column.max_def(),
            max_rep: column.max_rep(),
            // Only values are slots, so that there are no holes between them where there are lists.
            repeated_ancestor_def_level: column.max_def(),
            keep_levels: column.max_def() > 1 || column.max_rep() > 0,
            is_text: false,
            layout: ValueLayout::Indices,
            repair: ValueRepair::None,
        };
        let options = PageOptions::for_writer(metadata.created_by()).with_checksum_verification(verify);
        let (source, metadata) = (input.source.clone(), metadata.clone());
        Reencoder {
            leaf: column.clone(),
            levels: None,
            reader: ColumnReader::new(source, metadata, row_groups, leaf, target, options)
                .counted_by(input.counters.clone()),
            workspace: Workspace::new(),
            dictionary: None,
        }
    }

    /// The same; what is written is counted.
    pub(crate) fn counted_by(mut self, counters: &Arc<WriteCounters>) -> Self {
        self.count_in(counters);
        self
    }

    /// Counts what is written from now on: chunks of one column may go into several files.
    pub(crate) fn count_in(&mut self, counters: &Arc<WriteCounters>) {
        self.workspace = Workspace::counted_by(counters);
    }

    /// A reader of one row group whose rows are written as the column `to` of another schema, in which more may be null.
    pub(crate) fn into_column(input: &Input, row_group: usize, leaf: usize, to: (&Schema, usize)) -> Self {
        let from = input.metadata.schema();
        let levels = widened_levels(&repetitions(from, leaf), &repetitions(to.0, to.1));
        let recoder = Reencoder::new(input, &[row_group], leaf, true);
        Reencoder { leaf: to.0.column(to.1).clone(), levels: Some(levels), ..recoder }
    }

    /// Passes over rows.
    pub(crate) fn skip(&mut self, rows: u64) -> Result<(), Error> {
        self.reader.skip(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// A chunk of the next `rows` rows, and how its encoding was chosen.
    pub(crate) fn chunk(
        &mut self,
        rows: u64,
        settings: &ColumnSettings,
        room: &mut SpillBudget,
    ) -> Result<(EncodedChunk, &'static str), Error> {
        let mut writer = ColumnWriter::new(&self.leaf, settings)?;
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while left > 0 {
            let n = left.min(ROWS_AT_ONCE);
            left -= n;
            let batch = self.reader.read(n)?;
            let start = Stopwatch::start();
            let rows = self.shredded(batch, n);
            writer.write(&rows, &mut self.workspace)?;
            self.workspace.counters().encoded(start);
            if room.held + writer.memory_size() > BUDGET {
                writer.spill_to(room.spill()?, &mut self.workspace)?;
            }
        }
        let start = Stopwatch::start();
        let (chunk, choice) = writer.close(&mut self.workspace)?;
        self.workspace.counters().encoded(start);
        Ok((chunk, choice.reason))
    }

    /// What a batch was shredded to when it was written.
    fn shredded(&mut self, batch: ColumnBatch, rows: usize) -> ShreddedColumn {
        let ColumnBatch { values, validity, def, rep, dictionary, .. } = batch;
        // In lists, all slots are values.
        let is_nested = self.leaf.max_rep() > 0;
        let max_def = self.levels.as_ref().map_or(self.leaf.max_def(), |levels| levels.len() as u8 - 1);
        let values = match &validity {
            Some(validity) if !is_nested => present(values, validity),
            _ => values,
        };
        let def = match (max_def, validity) {
            (0, _) => DefinitionLevels::Max,
            (1, validity) if !is_nested => validity.map_or(DefinitionLevels::Max, DefinitionLevels::Bitmap),
            _ => DefinitionLevels::Levels(def),
        };
        let def = match &self.levels {
            Some(levels) => widened(def, levels, self.leaf.max_def()),
            None => def,
        };
        let values = match (dictionary, values) {
            (Some(dictionary), Values::W32(keys)) => {
                ColumnValues::Keys { keys, dictionary: self.dictionary_of(&dictionary) }
            }
            (_, values) => ColumnValues::Values(values),
        };
        match is_nested {
            true => ShreddedColumn::nested(rows, def, rep, values),
            false => ShreddedColumn::flat(rows, def, values),
        }
    }

    fn dictionary_of(&mut self, dictionary: &Arc<Dictionary>) -> Arc<Values> {
        match &self.dictionary {
            Some((known, values)) if Arc::ptr_eq(known, dictionary) => values.clone(),
            _ => {
                let values = Arc::new(dictionary.values().clone());
                self.dictionary = Some((dictionary.clone(), values.clone()));
                values
            }
        }
    }
}

/// The level of a column in which more may be null, for each level that there was: how many of its fields may be missing
/// above the first that is.
fn widened_levels(from: &[Repetition], to: &[Repetition]) -> Vec<u8> {
    let may_miss = |repetition: &&Repetition| **repetition != Repetition::Required;
    let above = |fields: usize| to[..fields].iter().filter(may_miss).count() as u8;
    let missing = from.iter().enumerate().filter(|(_, repetition)| may_miss(repetition));
    missing.map(|(i, _)| above(i)).chain([above(to.len())]).collect()
}

fn widened(def: DefinitionLevels, levels: &[u8], max_def: u8) -> DefinitionLevels {
    let (null, value) = (levels[0], levels[levels.len() - 1]);
    match def {
        // What is read is never told as nulls alone.
        same @ (DefinitionLevels::Max | DefinitionLevels::Null) => same,
        same if max_def == 1 => same,
        DefinitionLevels::Bitmap(bits) => {
            let level = |i: usize| if bits.get(i) { value } else { null };
            DefinitionLevels::Levels((0..bits.len()).map(level).collect())
        }
        DefinitionLevels::Levels(def) => {
            DefinitionLevels::Levels(def.into_iter().map(|def| levels[usize::from(def)]).collect())
        }
    }
}

/// The values whose bit is set.
fn present(values: Values, validity: &Bitmap) -> Values {
    let n = validity.len();
    let is_set = |i: &usize| validity.get(*i);
    match values {
        Values::W32(words) => Values::W32((0..n).filter(is_set).map(|i| words[i]).collect()),
        Values::W64(words) => Values::W64((0..n).filter(is_set).map(|i| words[i]).collect()),
        Values::Bit(bits) => Values::Bit((0..n).filter(is_set).map(|i| bits.get(i)).collect()),
        Values::Fixed(fixed) => {
            let mut out = FixedLenBytes::new(fixed.width());
            (0..n).filter(is_set).for_each(|i| out.push(fixed.get(i)));
            Values::Fixed(out)
        }
        Values::Bytes(strings) => {
            let (views, buffers) = strings.into_parts();
            let mut out = StringViews::new();
            // The buffers keep their numbers.
            out.push_views(&buffers, |out, _| out.extend((0..n).filter(is_set).map(|i| views[i])));
            Values::Bytes(out)
        }
        Values::Offsets(strings) => Values::Bytes((0..n).filter(is_set).map(|i| strings.get(i)).collect()),
    }
}

/// The codec that a chunk has, or what takes its place if it is only read.
pub(crate) fn codec_of(chunk: ColumnChunk<'_>) -> Result<Codec, Error> {
    Ok(match chunk.codec()? {
        Codec::Lzo => Codec::Snappy,
        Codec::Lz4 => Codec::Lz4Raw,
        codec => codec,
    })
}

/// Rows that are decoded at a time.
const ROWS_AT_ONCE: usize = 8192;
/// Bytes of finished pages that wait in memory.
const BUDGET: usize = 512 << 20;
