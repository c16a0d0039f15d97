//! One column over several row groups.

use super::{ColumnBatch, ColumnChunkReader, ReadTarget, Survey};
use crate::metadata::ParquetMetaData;
use crate::page::{PageMemory, PageOptions};
use crate::source::Source;
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, Values};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Reads a column of a file: the row groups that were asked for, in that order, as one run of rows.
pub struct ColumnReader {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    options: PageOptions,
    target: Arc<ReadTarget>,
    leaf: usize,
    row_groups: VecDeque<usize>,
    chunk: Option<OpenChunk>,
    /// Of the chunk before, while none is open.
    memory: PageMemory,
    /// What to read of the only row group, if not all.
    survey: Option<Arc<Survey>>,
    /// Whether offset indexes are used to pass over pages.
    uses_page_index: bool,
    /// Whether others read what is passed over.
    is_part: bool,
    /// No more rows of a row group will be asked for, if not all.
    most_rows: Option<usize>,
    /// What the last batch had: about as much as the next one will.
    last: Last,
}

/// Sizes of a batch that its rows do not tell.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    /// Of strings, end to end.
    joined_bytes: usize,
    /// In lists.
    entries: usize,
}

/// Rows to pass over, and rows to read after them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    /// How many to pass over.
    pub skip: usize,
    /// How many to read.
    pub read: usize,
}

struct OpenChunk {
    reader: ColumnChunkReader,
    row_group: usize,
    /// Rows that the row group has.
    rows: u64,
    /// Those that were not read yet.
    left: usize,
    /// Whether the offset index was looked for.
    has_map: bool,
}

impl OpenChunk {
    /// Passes over up to `most` rows by means of `step`. Returns how many.
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
            // QUIRK: pages with more rows than the row group exist too; what the row group says is what is read.
            let message = format!("the pages end {} rows before the row group does", self.left);
            return Err(Error::corrupt(message));
        }
        Ok(done)
    }
}

impl ColumnReader {
    /// A reader of column `leaf` at the first row of the first of `row_groups`, all of which must exist.
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
            memory: PageMemory::default(),
            survey: None,
            uses_page_index: false,
            is_part: false,
            most_rows: None,
            last: Last::default(),
        }
    }

    /// Whether offset indexes are used: pages that nothing is wanted of are not looked at then. Default false.
    ///
    /// An index that contradicts the pages is an error when that is found.
    #[must_use]
    pub fn with_page_index(self, uses_page_index: bool) -> Self {
        ColumnReader { uses_page_index, ..self }
    }

    /// As one of so many columns that are read side by side: they share what is read ahead. Default 1.
    #[must_use]
    pub fn one_of(self, columns: usize) -> Self {
        ColumnReader { memory: PageMemory::one_of(columns), ..self }
    }

    /// Another reader of the same column of the same row groups, at the first of them. This one must not have begun.
    #[must_use]
    pub fn another(&self) -> Self {
        ColumnReader {
            source: self.source.clone(),
            metadata: self.metadata.clone(),
            options: self.options.clone(),
            target: self.target.clone(),
            row_groups: self.row_groups.clone(),
            memory: self.memory.another(),
            survey: self.survey.clone(),
            chunk: None,
            ..*self
        }
    }

    /// As one of several readers of the column, of which each passes over what the others read: page by page, each as long as
    /// its header says, or the offset index of a column in lists. Who reads a page checks that it is so: if none of them fails,
    /// they have read what one would have.
    #[must_use]
    pub fn part(self) -> Self {
        ColumnReader { is_part: true, ..self }
    }

    /// Whether page headers or offset indexes tell where each page's rows begin, so that [`part`](Self::part)s have less to do
    /// than to decode all.
    pub fn is_divisible(&self) -> bool {
        let mut chunks = self.row_groups.iter().map(|&i| self.metadata.row_group(i).column(self.leaf));
        self.target.max_rep == 0
            || chunks.all(|chunk| chunk.is_ok_and(|chunk| chunk.offset_index_range().is_some()))
    }

    /// A reader of what `survey` found in column `leaf` of `row_group`: the rows that are lost do not count.
    pub fn of_survey(
        source: Arc<dyn Source>,
        metadata: Arc<ParquetMetaData>,
        row_group: usize,
        leaf: usize,
        target: ReadTarget,
        options: PageOptions,
        survey: Arc<Survey>,
    ) -> Self {
        let reader = ColumnReader::new(source, metadata, &[row_group], leaf, target, options);
        ColumnReader { survey: Some(survey), ..reader }
    }

    /// The next `rows` rows, which must be there.
    pub fn read(&mut self, rows: usize) -> Result<ColumnBatch> {
        self.read_runs(&[Run { skip: 0, read: rows }])
    }

    /// Puts the next `rows` rows, which must be there, in `place`. If that fails, nothing is there.
    ///
    /// PERF: a batch is large, and better made where it stays than moved there.
    pub fn read_in_place(&mut self, rows: usize, place: &mut Option<ColumnBatch>) -> Result<()> {
        let out = place.insert(self.empty_batch());
        self.fill(&[Run { skip: 0, read: rows }], out).inspect_err(|_| *place = None)
    }

    /// The rows of several runs, one after the other, which must be there.
    pub fn read_runs(&mut self, runs: &[Run]) -> Result<ColumnBatch> {
        let mut out = self.empty_batch();
        self.fill(runs, &mut out)?;
        Ok(out)
    }

    /// Reads the rows of these runs into an empty batch.
    fn fill(&mut self, runs: &[Run], out: &mut ColumnBatch) -> Result<()> {
        let rows = runs.iter().fold(0usize, |rows, run| rows.saturating_add(run.read));
        out.reserve(rows.min(RESERVED_ROWS), &self.target);
        // PERF: what grows by and by is copied as often. The next strings are about as long, not just as long.
        if let Values::Offsets(strings) = &mut out.values {
            strings.reserve_bytes(self.last.joined_bytes + self.last.joined_bytes / 16);
        }
        if self.target.max_rep > 0 {
            out.reserve_entries(self.last.entries, &self.target);
        }
        for run in runs {
            self.skip(run.skip)?;
            self.advance(run.read, |chunk, rows| chunk.read(rows, out))?;
        }
        if let Values::Offsets(strings) = &out.values {
            self.last.joined_bytes = strings.data_bytes(0..strings.len());
        }
        self.last.entries = out.entries;
        out.finish();
        Ok(())
    }

    /// Passes over the next `rows` rows, which must be there. What is left of a row group that ends with them is not looked
    /// at.
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
                    self.find_map(left)?;
                    return self.advance(left, ColumnChunkReader::skip);
                }
            }
        }
        Ok(())
    }

    /// Appends those of the next rows whose bit in `rows` is 1 to `out`. All of the rows must be there, and in one row
    /// group. `out` must be of this column.
    pub fn read_kept(&mut self, keep: &Bitmap, rows: Range<usize>, out: &mut ColumnBatch) -> Result<()> {
        self.find_map(rows.len())?;
        let mut at = rows.start;
        self.advance(rows.len(), |chunk, n| {
            at += n;
            chunk.read_kept(keep, at - n..at, out)
        })
    }

    /// Appends the next `rows` rows, which must be there, to `out`, which must be of this column.
    pub fn read_into(&mut self, rows: usize, out: &mut ColumnBatch) -> Result<()> {
        out.reserve(rows.min(RESERVED_ROWS), &self.target);
        self.advance(rows, |chunk, rows| chunk.read(rows, out))
    }

    /// An empty batch for this column.
    pub fn empty_batch(&self) -> ColumnBatch {
        ColumnBatch { held: self.options.limits.memory.empty(), ..ColumnBatch::of(&self.target) }
    }

    /// Goes to the first row of `row_group`, which must exist; that one alone is read from now on, and no more than
    /// `most_rows` of its rows, if not all.
    pub fn begin(&mut self, row_group: usize, most_rows: Option<usize>) {
        self.close();
        self.most_rows = most_rows;
        self.row_groups = VecDeque::from([row_group]);
    }

    /// Looks for the offset index, once pages may be passed over: `rows` rows are more than the open page has.
    fn find_map(&mut self, rows: usize) -> Result<()> {
        let (jumps, is_part) = (self.uses_page_index, self.is_part && self.target.max_rep > 0);
        if !jumps && !is_part {
            return Ok(());
        }
        let (source, metadata) = (self.source.clone(), self.metadata.clone());
        let (leaf, limits) = (self.leaf, self.options.limits.clone());
        let Some(chunk) = self.chunk()? else { return Ok(()) };
        if chunk.has_map || rows <= chunk.reader.entries_left() && !is_part {
            return Ok(());
        }
        chunk.has_map = true;
        let row_group = metadata.row_group(chunk.row_group);
        let used = row_group.column(leaf).and_then(|column| {
            chunk.reader.use_map(&*source, column, row_group.num_rows(), &limits, is_part)
        });
        used.map_err(|error| error.in_column(self.column_name()).in_row_group(row_group.index()))
    }

    /// Leaves the open chunk.
    fn close(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.memory = chunk.reader.into_memory();
        }
    }

    fn advance(
        &mut self,
        rows: usize,
        mut step: impl FnMut(&mut ColumnChunkReader, usize) -> Result<usize>,
    ) -> Result<()> {
        let mut left = rows;
        while left > 0 {
            if self.is_part {
                self.find_map(left)?;
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
        }
        Ok(())
    }

    fn column_name(&self) -> Arc<str> {
        self.metadata.schema().column(self.leaf).dotted().clone()
    }

    /// The open chunk, or the next one that has rows.
    fn chunk(&mut self) -> Result<Option<&mut OpenChunk>> {
        while self.chunk.as_ref().is_none_or(|chunk| chunk.left == 0) {
            self.close();
            let Some(row_group) = self.row_groups.pop_front() else {
                return Ok(None);
            };
            let meta = self.metadata.row_group(row_group);
            let rows = self.survey.as_ref().map_or(meta.num_rows(), |survey| survey.rows());
            let left = usize::try_from(rows).unwrap_or(usize::MAX);
            if left == 0 {
                continue;
            }
            let column = meta.column(self.leaf)?;
            let (source, target) = (self.source.clone(), self.target.clone());
            let memory = std::mem::take(&mut self.memory);
            let options = self.options.clone();
            let reader = match &self.survey {
                Some(survey) => ColumnChunkReader::of_survey(source, column, target, options, survey.clone()),
                None => ColumnChunkReader::new(source, column, target, options, memory),
            };
            let reader = reader
                .map(|reader| reader.with_most_rows(self.most_rows))
                .map_err(|error| error.in_column(column.leaf().dotted().clone()).in_row_group(row_group))?;
            self.chunk = Some(OpenChunk { reader, row_group, rows, left, has_map: false });
        }
        Ok(self.chunk.as_mut())
    }
}

/// Rows that memory is reserved for before they are seen: a batch of usual size, and no more than it takes.
pub(super) const RESERVED_ROWS: usize = 1 << 16;
