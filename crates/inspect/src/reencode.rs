//! Columns decoded and encoded again: levels and values as they are, nothing of Arrow between.

use marquetry_base::{Error, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::{ReadCounters, WriteCounters};
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::page::PageOptions;
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::schema::Leaf;
use marquetry_core::source::Source;
use marquetry_core::write::{ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk, Spill, Workspace};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, FixedLenBytes, StringViews, Values};
use std::sync::Arc;

/// A file whose columns are decoded.
#[derive(Clone)]
#[non_exhaustive]
pub struct ColumnSource {
    /// Its bytes.
    pub source: Arc<dyn Source>,
    /// Its footer.
    pub metadata: Arc<ParquetMetaData>,
    /// What is read of it is counted there.
    pub counters: Arc<ReadCounters>,
}

impl ColumnSource {
    /// A file of these bytes and this footer; what is read is counted anew.
    pub fn new(source: Arc<dyn Source>, metadata: Arc<ParquetMetaData>) -> Self {
        ColumnSource { source, metadata, counters: Arc::default() }
    }

    /// Sets [`counters`](Self::counters).
    #[must_use]
    pub fn with_counters(mut self, counters: Arc<ReadCounters>) -> Self {
        self.counters = counters;
        self
    }
}

/// Where finished pages wait: in memory up to 512 MiB, past that in a temporary file.
#[derive(Debug, Default)]
pub struct SpillBudget {
    spill: Option<Arc<Spill>>,
    held: usize,
}

impl SpillBudget {
    /// Makes room for a chunk that waits for the rest of its row group.
    pub fn keep(&mut self, bytes: &mut ChunkBytes) -> Result<(), Error> {
        if self.held + bytes.held() > BUDGET {
            bytes.spill_to(self.spill()?)?;
        }
        self.held += bytes.held();
        Ok(())
    }

    /// The row group is written.
    pub fn clear(&mut self) {
        self.held = 0;
    }

    fn spill(&mut self) -> Result<&Arc<Spill>, Error> {
        if self.spill.is_none() {
            self.spill = Some(Arc::new(Spill::new()?));
        }
        self.spill.as_ref().ok_or_else(|| Error::argument("no temporary file"))
    }
}

/// Reads a column of some row groups from front to back, and writes chunks of as many rows as are asked for.
pub struct Reencoder {
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
    pub fn new(input: &ColumnSource, row_groups: &[usize], leaf: usize, verify: bool) -> Self {
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
    #[must_use]
    pub fn counted_by(mut self, counters: &Arc<WriteCounters>) -> Self {
        self.count_in(counters);
        self
    }

    /// Counts what is written from now on: chunks of one column may go into several files.
    pub fn count_in(&mut self, counters: &Arc<WriteCounters>) {
        self.workspace = Workspace::counted_by(counters);
    }

    /// The same; rows are written as a column in which more may be null. `levels` has for each definition level that there was
    /// the one that it becomes.
    #[must_use]
    pub fn into_column(self, leaf: Leaf, levels: Vec<u8>) -> Self {
        Reencoder { leaf, levels: Some(levels), ..self }
    }

    /// Passes over rows.
    pub fn skip(&mut self, rows: u64) -> Result<(), Error> {
        self.reader.skip(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// Shows the values of the next `rows` rows, as they come, as long as `show` says that it wants more: nulls are left out.
    pub(crate) fn each_values(
        &mut self,
        rows: u64,
        mut show: impl FnMut(&Values) -> bool,
    ) -> Result<(), Error> {
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        let mut wants_more = true;
        while left > 0 && wants_more {
            let n = left.min(ROWS_AT_ONCE);
            left -= n;
            let batch = self.reader.read(n)?;
            let ColumnBatch { values, validity, dictionary, .. } = batch;
            let values = match &validity {
                Some(validity) if self.leaf.max_rep() == 0 => present(values, validity),
                _ => values,
            };
            match (dictionary, values) {
                (Some(dictionary), Values::W32(mut keys)) => {
                    keys.sort_unstable();
                    keys.dedup();
                    let all = self.dictionary_of(&dictionary);
                    let mut used = Values::empty(all.shape());
                    keys.iter()
                        .map(|key| *key as usize)
                        .try_for_each(|key| used.push_range(&all, key..key + 1))?;
                    wants_more = show(&used);
                }
                (_, values) => wants_more = show(&values),
            }
        }
        Ok(())
    }

    /// A chunk of the next `rows` rows, and how its encoding was chosen.
    pub fn chunk(
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

/// Rows that are decoded at a time.
const ROWS_AT_ONCE: usize = 8192;
/// Bytes of finished pages that wait in memory.
const BUDGET: usize = 512 << 20;
