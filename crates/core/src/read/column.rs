//! Reads one column over several row groups.

use super::column_batch::ColumnBatch;
use super::column_chunk::ColumnChunkReader;
use super::damage::ChunkDamage;
use super::expected_size::{ExpectedSize, LEVEL_BYTES, RESERVED_ROWS, StoredSize, usual_rows, width};
use super::repair::repair;
use super::target::{ReadTarget, ValueRepair};
use crate::metadata::ParquetMetaData;
use crate::page::{PageBufferPool, PageOptions};
use crate::source::Source;
use marquetry_base::{Error, MemoryReservation, Result};
use marquetry_encoding::{Bitmap, Values};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A reader of one column of a file: it reads the given row groups, in that order, as one sequence of rows.
pub struct ColumnReader {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    options: PageOptions,
    target: Arc<ReadTarget>,
    leaf: usize,
    row_groups: VecDeque<usize>,
    chunk: Option<OpenChunk>,
    /// The pool that chunks take their buffers from.
    pool: Arc<PageBufferPool>,
    /// Reservation for chunks that were read, to which values of the batch still refer.
    retained: MemoryReservation,
    /// The damage of the only row group, if only its readable pages are read.
    damage: Option<Arc<ChunkDamage>>,
    /// Whether to skip pages by offset indexes.
    uses_page_index: bool,
    /// Whether other readers read the skipped pages.
    is_split: bool,
    /// Maximum rows of a row group that will be read; `None` for all.
    row_limit: Option<usize>,
    /// Sizes of the last batch, the estimate for the next one.
    last_size: ExpectedSize,
}

/// Rows to skip, and rows to read after them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkipThenRead {
    /// Rows to skip.
    pub skip: usize,
    /// Rows to read.
    pub read: usize,
}

struct OpenChunk {
    reader: ColumnChunkReader,
    row_group: usize,
    /// Number of rows in the row group.
    rows: u64,
    /// Number of rows that were not read yet.
    left: usize,
    /// Whether loading the offset index was tried.
    looked_for_index: bool,
}

impl OpenChunk {
    /// Moves forward by up to `most` rows with `step`. Returns by how many.
    fn advance(
        &mut self,
        most: usize,
        step: &mut impl FnMut(&mut ColumnChunkReader, usize) -> Result<usize>,
    ) -> Result<usize> {
        let wanted = most.min(self.left);
        let done = step(&mut self.reader, wanted)?;
        self.left -= done;
        if self.left == 0 {
            self.reader.check_entries(self.rows)?;
        }
        if done < wanted {
            // QUIRK: in some files the pages of flat columns have more rows than the row group; the row group's number
            // counts.
            let message = format!("the pages end {} rows before the row group does", self.left);
            return Err(Error::corrupt(message));
        }
        Ok(done)
    }
}

impl ColumnReader {
    /// Creates a reader of column `leaf` at the first row of the first of `row_groups`, all of which must exist.
    pub fn new(
        source: Arc<dyn Source>,
        metadata: Arc<ParquetMetaData>,
        row_groups: &[usize],
        leaf: usize,
        target: ReadTarget,
        options: PageOptions,
    ) -> Self {
        let row_groups = row_groups.iter().copied().collect();
        ColumnReader {
            source,
            metadata,
            options,
            target: Arc::new(target),
            leaf,
            row_groups,
            chunk: None,
            pool: Arc::default(),
            retained: MemoryReservation::default(),
            damage: None,
            uses_page_index: false,
            is_split: false,
            row_limit: None,
            last_size: ExpectedSize::default(),
        }
    }

    /// Sets whether to skip pages by offset indexes, without reading them. Default false.
    ///
    /// It is an error if an index contradicts the pages that are read.
    #[must_use]
    pub fn with_page_index(self, uses_page_index: bool) -> Self {
        ColumnReader { uses_page_index, ..self }
    }

    /// Takes buffers from `pool`, which the columns of a reader share. Default: a pool of its own.
    #[must_use]
    pub fn with_buffer_pool(self, pool: Arc<PageBufferPool>) -> Self {
        ColumnReader { pool, ..self }
    }

    /// Creates another reader of the same column and row groups, at the first of them. Reading must not have begun.
    #[must_use]
    pub fn new_like(&self) -> Self {
        ColumnReader {
            source: self.source.clone(),
            metadata: self.metadata.clone(),
            options: self.options.clone(),
            target: self.target.clone(),
            row_groups: self.row_groups.clone(),
            pool: self.pool.clone(),
            retained: MemoryReservation::default(),
            damage: self.damage.clone(),
            chunk: None,
            ..*self
        }
    }

    /// Makes this one of several readers that share a column between threads. Each skips the pages of the others, by
    /// page headers, or by the offset index if the column is nested. The reader of a page checks its number of rows, so
    /// if no reader fails, together they have read what one reader would have.
    #[must_use]
    pub fn as_split(self) -> Self {
        ColumnReader { is_split: true, ..self }
    }

    /// Whether page headers or offset indexes state where each page's rows begin, so that [`as_split`](Self::as_split)
    /// readers need not decode all pages.
    pub fn is_splittable(&self) -> bool {
        let mut chunks = self.row_groups.iter().map(|&i| self.metadata.row_group(i).column(self.leaf));
        self.target.max_rep == 0
            || chunks.all(|chunk| chunk.is_ok_and(|chunk| chunk.offset_index_range().is_some()))
    }

    /// Reads only the readable rows of the only row group, which has this damage. Lost rows are not counted.
    #[must_use]
    pub fn with_damage(self, damage: Arc<ChunkDamage>) -> Self {
        ColumnReader { damage: Some(damage), ..self }
    }

    /// Reads the next `rows` rows, which must exist.
    pub fn read(&mut self, rows: usize) -> Result<ColumnBatch> {
        self.read_runs(&[SkipThenRead { skip: 0, read: rows }])
    }

    /// Reads the next `rows` rows, which must exist, into `place`. After an error `place` is `None`.
    ///
    /// PERF: a batch is a large struct, which is better built in place than moved.
    pub fn read_in_place(&mut self, rows: usize, place: &mut Option<ColumnBatch>) -> Result<()> {
        let out = place.insert(self.empty_batch());
        self.fill(&[SkipThenRead { skip: 0, read: rows }], out).inspect_err(|_| *place = None)
    }

    /// Reads the rows of `runs`, one run after the other. All must exist.
    pub fn read_runs(&mut self, runs: &[SkipThenRead]) -> Result<ColumnBatch> {
        let mut out = self.empty_batch();
        self.fill(runs, &mut out)?;
        Ok(out)
    }

    /// Reads the rows of `runs` into an empty batch.
    fn fill(&mut self, runs: &[SkipThenRead], out: &mut ColumnBatch) -> Result<()> {
        let rows = runs.iter().fold(0usize, |rows, run| rows.saturating_add(run.read));
        self.reserve(rows, out);
        for run in runs {
            self.skip(run.skip)?;
            self.advance(run.read, |chunk, rows| chunk.read(rows, out))?;
        }
        out.held.merge(std::mem::take(&mut self.retained));
        self.repair(out, 0)?;
        if let Values::Offsets(strings) = &out.values {
            self.last_size.string_bytes = strings.data_bytes(0..strings.len());
        }
        self.last_size.entries = out.entries;
        out.finish();
        Ok(())
    }

    /// Reserves memory in an empty batch for the next `rows` rows.
    fn reserve(&self, rows: usize, out: &mut ColumnBatch) {
        let (shape, last) = (self.target.physical.shape(), self.last_size);
        let (mut reserved, mut expected) = (usual_rows(rows, shape), last);
        // PERF: growing copies. A batch of usual size is like the last one; for a larger one the footer gives the size.
        if rows > RESERVED_ROWS {
            let bytes = width(shape) + LEVEL_BYTES;
            let open = self.chunk.iter().map(|chunk| chunk.row_group);
            let row_groups = open.chain(self.row_groups.iter().copied());
            let stored = StoredSize::of(&self.metadata, self.leaf, row_groups, rows, self.source.len());
            let size = stored.of_rows(rows, bytes);
            reserved = reserved.max(stored.rows(rows, bytes));
            expected.string_bytes = size.string_bytes.max(last.string_bytes);
            expected.entries = size.entries.max(last.entries);
        }
        match self.target.max_rep {
            0 => out.reserve(reserved, &self.target),
            _ => out.reserve_entries(expected.entries.max(usual_rows(rows, shape)), &self.target),
        }
        // The next strings probably take about as many bytes as the last; reserve a sixteenth more.
        if let Values::Offsets(strings) = &mut out.values {
            strings.reserve_bytes(expected.string_bytes + expected.string_bytes / 16);
        }
    }

    /// Skips the next `rows` rows, which must exist. If a row group ends with them, the rest of it is not read.
    pub fn skip(&mut self, rows: usize) -> Result<()> {
        let mut left = rows;
        while left > 0 {
            let row_group = self.chunk()?.map(|chunk| chunk.left);
            match row_group {
                Some(rest) if rest <= left => {
                    self.close();
                    left -= rest;
                }
                _ => {
                    self.load_offset_index(left)?;
                    return self.advance(left, ColumnChunkReader::skip);
                }
            }
        }
        Ok(())
    }

    /// Whether [`read_selected`](Self::read_selected) would skip pages by the offset index, given that the next `rows`
    /// rows are in one row group. Reading all of these rows would read such pages in vain, and they may not even have
    /// been fetched.
    pub fn leaves_out_pages(&mut self, keep: &Bitmap, rows: usize) -> Result<bool> {
        self.load_offset_index(rows)?;
        Ok(self.chunk.as_ref().is_some_and(|chunk| chunk.reader.leaves_out_pages(keep, rows)))
    }

    /// Appends the selected rows among the next `rows.len()` to `out`: those whose bit in `keep[rows]` is 1. All of the
    /// rows must exist and be in one row group. `out` must be a batch of this column.
    pub fn read_selected(&mut self, keep: &Bitmap, rows: Range<usize>, out: &mut ColumnBatch) -> Result<()> {
        self.load_offset_index(rows.len())?;
        let (mut at, first) = (rows.start, out.values.len());
        self.advance(rows.len(), |chunk, n| {
            at += n;
            chunk.read_selected(keep, at - n..at, out)
        })?;
        out.held.merge(std::mem::take(&mut self.retained));
        self.repair(out, first)
    }

    /// Appends the next `rows` rows, which must exist, to `out`, which must be a batch of this column.
    pub fn read_into(&mut self, rows: usize, out: &mut ColumnBatch) -> Result<()> {
        out.reserve(usual_rows(rows, self.target.physical.shape()), &self.target);
        let first = out.values.len();
        if self.target.max_rep > 0 {
            // Without the index only the next page's header shows where the last row ends.
            self.load_offset_index(rows)?;
        }
        self.advance(rows, |chunk, rows| chunk.read(rows, out))?;
        out.held.merge(std::mem::take(&mut self.retained));
        self.repair(out, first)
    }

    /// Repairs the slots of `out` from `first` on, if the target wants that.
    fn repair(&self, out: &mut ColumnBatch, first: usize) -> Result<()> {
        match self.target.repair {
            ValueRepair::None => Ok(()),
            kind => repair(out, first, kind).map_err(|error| error.in_column(self.column_name())),
        }
    }

    /// Creates an empty batch for this column.
    pub fn empty_batch(&self) -> ColumnBatch {
        ColumnBatch::for_target(&self.target, &self.options.limits)
    }

    /// Moves to the first row of `row_group`, which must exist. From now on only this row group is read, and at most
    /// `row_limit` of its rows.
    pub fn seek_row_group(&mut self, row_group: usize, row_limit: Option<usize>) {
        self.close();
        self.row_limit = row_limit;
        self.row_groups = VecDeque::from([row_group]);
    }

    /// Loads the offset index once it may be of use: when `rows` exceeds the rows left in the open page, or the column
    /// is split.
    fn load_offset_index(&mut self, rows: usize) -> Result<()> {
        let (jumps, is_split) = (self.uses_page_index, self.is_split && self.target.max_rep > 0);
        if !jumps && !is_split {
            return Ok(());
        }
        let (source, metadata) = (self.source.clone(), self.metadata.clone());
        let (leaf, limits) = (self.leaf, self.options.limits.clone());
        let Some(chunk) = self.chunk()? else { return Ok(()) };
        if chunk.looked_for_index || rows <= chunk.reader.entries_left() && !is_split {
            return Ok(());
        }
        chunk.looked_for_index = true;
        let row_group = metadata.row_group(chunk.row_group);
        let used = row_group.column(leaf).and_then(|column| {
            chunk.reader.attach_offset_index(&*source, column, row_group.num_rows(), &limits, is_split)
        });
        used.map_err(|error| error.in_column(self.column_name()).in_row_group(row_group.index()))
    }

    /// Closes the open chunk.
    fn close(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            let mut buffers = chunk.reader.into_buffers();
            self.retained.merge(buffers.take_retained());
            self.pool.give_back(buffers);
        }
    }

    fn advance(
        &mut self,
        rows: usize,
        mut step: impl FnMut(&mut ColumnChunkReader, usize) -> Result<usize>,
    ) -> Result<()> {
        let mut left = rows;
        while left > 0 {
            if self.is_split {
                self.load_offset_index(left)?;
            }
            let Some(chunk) = self.chunk()? else {
                let error = Error::corrupt(format!("{left} more rows wanted than there are"));
                return Err(error.in_column(self.column_name()));
            };
            let row_group = chunk.row_group;
            match chunk.advance(left, &mut step) {
                Ok(done) => left -= done,
                Err(error) => return Err(error.in_column(self.column_name()).in_row_group(row_group)),
            }
            if chunk.left == 0 {
                // The next column can take the buffers.
                self.close();
            }
        }
        Ok(())
    }

    fn column_name(&self) -> Arc<str> {
        self.metadata.schema().column(self.leaf).dotted().clone()
    }

    /// Returns the open chunk, or opens the next one that has rows.
    fn chunk(&mut self) -> Result<Option<&mut OpenChunk>> {
        while self.chunk.as_ref().is_none_or(|chunk| chunk.left == 0) {
            self.close();
            let Some(row_group) = self.row_groups.pop_front() else {
                return Ok(None);
            };
            let meta = self.metadata.row_group(row_group);
            let rows = self.damage.as_ref().map_or(meta.num_rows(), |damage| damage.rows());
            let left = usize::try_from(rows).unwrap_or(usize::MAX);
            if left == 0 {
                continue;
            }
            let column = meta.column(self.leaf)?;
            let (source, target) = (self.source.clone(), self.target.clone());
            let (buffers, options) = (self.pool.take(), self.options.clone());
            let reader = ColumnChunkReader::new(source, column, target, options, buffers).and_then(
                |reader| match &self.damage {
                    Some(damage) => reader.with_damage(damage.clone()),
                    None => Ok(reader),
                },
            );
            // PERF: if few rows are wanted, the first may be on the first page, and the next ones far behind. So what
            // follows is read only when it is needed.
            let has_few = self.uses_page_index && self.row_limit.is_some_and(|most| most < left / FEW_ROWS);
            let reader = reader
                .map(|reader| reader.with_row_limit(self.row_limit).with_short_reads(has_few))
                .map_err(|error| error.in_column(column.leaf().dotted().clone()).in_row_group(row_group))?;
            self.chunk = Some(OpenChunk { reader, row_group, rows, left, looked_for_index: false });
        }
        Ok(self.chunk.as_mut())
    }
}

/// The inverse of the share of a row group's rows below which they are few.
const FEW_ROWS: usize = 8;
