//! Columns decoded and encoded again: levels and values as they are, nothing of Arrow between.

use marquetry_base::{Error, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::{ReadCounters, WriteCounters};
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::page::{PageBufferPool, PageOptions};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::schema::Leaf;
use marquetry_core::source::Source;
use marquetry_core::write::{
    ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk, SealedSpills, Spill, SpillFolder, Workspace,
};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, FixedLenBytes, StringViews, Values};
use std::sync::Arc;

/// A file whose columns are decoded.
#[derive(Clone)]
#[non_exhaustive]
pub struct ColumnSource {
    /// The bytes of the file.
    pub source: Arc<dyn Source>,
    /// The footer.
    pub metadata: Arc<ParquetMetaData>,
    /// The counters of what is read.
    pub counters: Arc<ReadCounters>,
}

impl ColumnSource {
    /// Creates the source of a file with these bytes and this footer, with new counters.
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

/// The memory that chunks share which are encoded one after the other: the states of codecs, and finished pages that
/// wait. Up to 512 MiB of these are in memory, and more in a temporary file.
#[derive(Debug, Default)]
pub struct EncoderMemory {
    workspace: Workspace,
    spill: Option<Arc<Spill>>,
    seals: bool,
    held: usize,
}

impl EncoderMemory {
    /// Creates the memory; `counters` count what is written.
    pub fn counted_by(counters: &Arc<WriteCounters>) -> Self {
        EncoderMemory { workspace: Workspace::counted_by(counters), ..EncoderMemory::default() }
    }

    /// Sets whether pages in the temporary file are [encrypted](SealedSpills): for pages that come from an encrypted
    /// file, or go to one. Default false.
    #[must_use]
    pub fn with_sealed_spills(mut self, seals: bool) -> Self {
        self.seals = seals;
        self
    }

    /// Makes room for a chunk that waits for the rest of its row group.
    pub fn keep(&mut self, bytes: &mut ChunkBytes) -> Result<(), Error> {
        if self.held + bytes.held() > BUDGET {
            bytes.spill_to(self.spill()?)?;
        }
        self.held += bytes.held();
        Ok(())
    }

    /// Frees the room, once the row group is written.
    pub fn clear(&mut self) {
        self.held = 0;
    }

    fn spill(&mut self) -> Result<&Arc<Spill>, Error> {
        if self.spill.is_none() {
            let folder = SpillFolder::system();
            let spill = match self.seals {
                true => Spill::in_store(&SealedSpills::new(Arc::new(folder)))?,
                false => Spill::in_store(&folder)?,
            };
            self.spill = Some(Arc::new(spill));
        }
        self.spill.as_ref().ok_or_else(|| Error::argument("no temporary file"))
    }
}

/// A reader of a column of some row groups, from front to back, which writes chunks of as many rows as are asked for.
pub struct Reencoder {
    leaf: Leaf,
    /// The level that each definition level becomes, if the column is written together with others.
    levels: Option<Vec<u8>>,
    reader: ColumnReader,
    /// Whether the file is encrypted.
    is_encrypted: bool,
    /// The dictionary that was read last, and its values as a writer takes them.
    dictionary: Option<(Arc<Dictionary>, Arc<Values>)>,
}

impl Reencoder {
    /// Creates a reader at the first row of the first of `row_groups`.
    pub fn new(input: &ColumnSource, row_groups: &[usize], leaf: usize, verify: bool) -> Self {
        let metadata = &input.metadata;
        let column = metadata.schema().column(leaf);
        let target = ReadTarget {
            physical: column.physical(),
            max_def: column.max_def(),
            max_rep: column.max_rep(),
            // Only values get slots, so that there are no gaps between them in lists.
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
            is_encrypted: metadata.encryption().is_some(),
            reader: ColumnReader::new(source, metadata, row_groups, leaf, target, options)
                .with_buffer_pool(Arc::new(PageBufferPool::default().counted_by(input.counters.clone()))),
            dictionary: None,
        }
    }

    /// Writes rows as a column in which more may be null. `levels` maps each definition level of the file to a new one.
    #[must_use]
    pub fn into_column(self, leaf: Leaf, levels: Vec<u8>) -> Self {
        Reencoder { leaf, levels: Some(levels), ..self }
    }

    /// Skips rows.
    pub fn skip(&mut self, rows: u64) -> Result<(), Error> {
        self.reader.skip(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// Passes the values of the next `rows` rows to `show`, as long as it returns that it wants more. Nulls are left
    /// out.
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

    /// Returns a chunk of the next `rows` rows, and the reason for its encoding.
    pub fn chunk(
        &mut self,
        rows: u64,
        settings: &ColumnSettings,
        memory: &mut EncoderMemory,
    ) -> Result<(EncodedChunk, &'static str), Error> {
        let mut writer = ColumnWriter::new(&self.leaf, settings)?;
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while left > 0 {
            let n = left.min(ROWS_AT_ONCE);
            left -= n;
            self.write_rows(n, &mut writer, memory)?;
        }
        close(writer, memory)
    }

    /// Returns a chunk of up to `rows` rows, and how many rows it has. After every few rows, `is_enough` gets the
    /// number of rows and of value bytes written so far, and can end the chunk.
    pub(crate) fn sample(
        &mut self,
        rows: u64,
        settings: &ColumnSettings,
        mut is_enough: impl FnMut(u64, u64) -> bool,
    ) -> Result<(EncodedChunk, u64), Error> {
        let mut memory = EncoderMemory::default().with_sealed_spills(self.is_encrypted);
        let mut writer = ColumnWriter::new(&self.leaf, settings)?;
        let (mut done, mut bytes, mut n) = (0, 0, FIRST_ROWS);
        while done < rows {
            n = n.min(usize::try_from(rows - done).unwrap_or(usize::MAX));
            bytes += value_bytes(&self.write_rows(n, &mut writer, &mut memory)?);
            done += n as u64;
            if is_enough(done, bytes) {
                break;
            }
            // PERF: few rows at a time are slow, but many rows of long values would take longer than `is_enough` may
            // wait.
            let rows = BYTES_AT_ONCE.saturating_mul(done) / bytes.max(1);
            n = rows.clamp(1, ROWS_AT_ONCE as u64) as usize;
        }
        Ok((close(writer, &mut memory)?.0, done))
    }

    /// Writes the next rows, and returns their values.
    fn write_rows(
        &mut self,
        rows: usize,
        writer: &mut ColumnWriter,
        memory: &mut EncoderMemory,
    ) -> Result<ColumnValues, Error> {
        let batch = self.reader.read(rows)?;
        let EncoderMemory { workspace, held, .. } = memory;
        let start = Stopwatch::start();
        let rows = self.shredded(batch, rows);
        writer.write(&rows, workspace)?;
        workspace.counters().encoded(start);
        if *held + writer.memory_size() > BUDGET {
            let spill = memory.spill()?.clone();
            writer.spill_to(&spill, &mut memory.workspace)?;
        }
        Ok(rows.values)
    }

    /// Returns the column that a batch was shredded to when it was written.
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
            // If all levels are the maximum, none were kept.
            _ if def.is_empty() => DefinitionLevels::Max,
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
            true => ShreddedColumn::nested(rows, def, rep.into_bytes(), values),
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
        // Readers never return nulls alone.
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

fn close(writer: ColumnWriter, memory: &mut EncoderMemory) -> Result<(EncodedChunk, &'static str), Error> {
    let start = Stopwatch::start();
    let (chunk, choice) = writer.close(&mut memory.workspace)?;
    memory.workspace.counters().encoded(start);
    Ok((chunk, choice.reason))
}

/// Returns the bytes of values; dictionary entries count as often as they are referenced.
fn value_bytes(values: &ColumnValues) -> u64 {
    let (values, keys) = match values {
        ColumnValues::Values(values) => (values, None),
        ColumnValues::Keys { keys, dictionary } => (&**dictionary, Some(keys)),
    };
    let len = keys.map_or(values.len(), Vec::len) as u64;
    let text = |len: &dyn Fn(usize) -> usize| match keys {
        Some(keys) => keys.iter().map(|key| len(*key as usize) as u64).sum::<u64>(),
        None => (0..values.len()).map(|i| len(i) as u64).sum(),
    };
    match values {
        Values::Bit(_) => len.div_ceil(8),
        Values::W32(_) => 4 * len,
        Values::W64(_) => 8 * len,
        Values::Fixed(fixed) => fixed.width() as u64 * len,
        Values::Bytes(strings) => text(&|i| strings.get(i).len()),
        Values::Offsets(strings) => text(&|i| strings.get(i).len()),
    }
}

/// Returns the values whose bit is set.
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

/// Number of rows that are decoded at a time.
const ROWS_AT_ONCE: usize = 8192;
/// Number of rows of a sample that are decoded at a time before the length of values is known.
const FIRST_ROWS: usize = 64;
/// Number of value bytes that a sample decodes at a time.
const BYTES_AT_ONCE: u64 = 4 << 20;
/// Maximum bytes of finished pages that wait in memory.
const BUDGET: usize = 512 << 20;
