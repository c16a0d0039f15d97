//! Columns decoded and encoded again: levels and values as they are, nothing of Arrow between.

use super::Input;
use crate::failure::Failure;
use marquetry::codec::Codec;
use marquetry::encoding::dictionary::Dictionary;
use marquetry::encoding::{Bitmap, FixedLenBytes, StringViews, Values};
use marquetry::errors::Error;
use marquetry::file::page::{ChecksumTrust, PageOptions};
use marquetry::schema::Leaf;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::write::{ChunkBytes, ColumnSettings, ColumnWriter, EncodedChunk, Spill, Workspace};
use std::sync::Arc;

/// Where finished pages wait: in memory, or past a budget in a temporary file.
#[derive(Default)]
pub(crate) struct Room {
    spill: Option<Arc<Spill>>,
    held: usize,
}

impl Room {
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

/// Reads a column of some row groups from front to back, and writes chunks of as many rows as are asked for.
pub(crate) struct Recoder {
    leaf: Leaf,
    reader: ColumnReader,
    workspace: Workspace,
    /// The dictionary that was read last, and its values as a writer takes them.
    dictionary: Option<(Arc<Dictionary>, Arc<Values>)>,
}

impl Recoder {
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
        let options = PageOptions {
            limits: Arc::default(),
            verify_checksums: verify,
            trust: ChecksumTrust::of_writer(metadata.created_by()),
        };
        let (source, metadata) = (input.source.clone(), metadata.clone());
        Recoder {
            leaf: column.clone(),
            reader: ColumnReader::new(source, metadata, row_groups, leaf, target, options),
            workspace: Workspace::new(),
            dictionary: None,
        }
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
        room: &mut Room,
    ) -> Result<(EncodedChunk, &'static str), Error> {
        let mut writer = ColumnWriter::new(&self.leaf, settings)?;
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while left > 0 {
            let n = left.min(ROWS_AT_ONCE);
            left -= n;
            let batch = self.reader.read(n)?;
            let rows = self.shredded(batch, n);
            writer.write(&rows, &mut self.workspace)?;
            if room.held + writer.memory_size() > BUDGET {
                writer.spill_to(room.spill()?, &mut self.workspace)?;
            }
        }
        let (chunk, choice) = writer.close(&mut self.workspace)?;
        Ok((chunk, choice.reason))
    }

    /// What a batch was shredded to when it was written.
    fn shredded(&mut self, batch: ColumnBatch, rows: usize) -> ShreddedColumn {
        let ColumnBatch { values, validity, def, rep, entries, dictionary, .. } = batch;
        // In lists, all slots are values.
        let is_nested = self.leaf.max_rep() > 0;
        let values = match &validity {
            Some(validity) if !is_nested => present(values, validity),
            _ => values,
        };
        let def = match (self.leaf.max_def(), validity) {
            (0, _) => DefinitionLevels::Max,
            (1, validity) if !is_nested => validity.map_or(DefinitionLevels::Max, DefinitionLevels::Bitmap),
            _ => DefinitionLevels::Levels(def),
        };
        let values = match (dictionary, values) {
            (Some(dictionary), Values::W32(keys)) => {
                ColumnValues::Keys { keys, dictionary: self.dictionary_of(&dictionary) }
            }
            (_, values) => ColumnValues::Values(values),
        };
        ShreddedColumn { rows, entries, def, rep, values }
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
