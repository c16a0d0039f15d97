//! Reads the undamaged rows of a damaged file, one row group at a time. Columns that turn out to be damaged are surveyed.
//!
//! ```text
//! row group   0 ......................... 100     SkipPage reads       the runs that are whole in all columns
//! column a      [ page ][ LOST ][ page ]          NullPage reads       of each field the runs that are whole in it,
//! column b      [   page   ][   page   ]                               and nulls between them
//! ```

use super::first_rows::FirstRows;
use super::loss::{Loss, LossReport, OnCorrupt};
use super::null_padding::NullPadded;
use super::root_reader::RootReader;
use super::row_ranges;
use crate::arrow_error;
use crate::null_arrays::{MAX_NULL_BYTES, check_nulls};
use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::fetch::chunk_ranges;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page::PageOptions;
use marquetry_core::read::{ChunkDamage, ColumnBatch, ColumnReader, ReadTarget, SkipThenRead, find_damage};
use marquetry_core::source::Source;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The state of reading a file that may be damaged: what is still to be read, and what was lost so far.
pub(super) struct SalvageReader {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) options: PageOptions,
    pub(super) on_corrupt: OnCorrupt,
    pub(super) row_groups: VecDeque<usize>,
    pub(super) first_rows: FirstRows,
    pub(super) report: LossReport,
    pub(super) group: Option<Group>,
}

/// The row group that is being read.
pub(super) struct Group {
    index: usize,
    /// The number of its first row in the file.
    first: u64,
    rows: u64,
    /// The first row that was not returned yet.
    pub(super) row: u64,
    /// The known damage of each column of the file, once it was surveyed.
    surveys: Vec<Option<Arc<ChunkDamage>>>,
    /// The reader's position in each column, among the rows that the column still has.
    passed: Vec<u64>,
    /// The lost rows of each root field.
    lost: Vec<Vec<Range<u64>>>,
    /// Losses that reading has not reached yet.
    pending: Vec<Loss>,
}

/// The rows of a batch.
pub(super) struct SalvagedRows {
    /// The rows of the row group that are in the batch.
    pub(super) runs: Vec<Range<u64>>,
    /// The first row after the batch and after the rows left out behind it.
    pub(super) next: u64,
}

impl SalvagedRows {
    pub(super) fn rows(&self) -> usize {
        row_ranges::count(&self.runs) as usize
    }
}

impl SalvageReader {
    /// Creates the state before anything is read.
    pub(super) fn new(
        source: Arc<dyn Source>,
        metadata: Arc<ParquetMetaData>,
        options: PageOptions,
        on_corrupt: OnCorrupt,
        row_groups: Vec<usize>,
    ) -> Self {
        let (row_groups, report) = (row_groups.into(), LossReport::default());
        let first_rows = FirstRows::default();
        SalvageReader { source, metadata, options, on_corrupt, row_groups, first_rows, report, group: None }
    }

    /// Opens the next row group that has rows to return, after it skipped `offset` rows. Returns whether there is one.
    pub(super) fn open_next(&mut self, offset: &mut usize, roots: &mut [RootReader]) -> Result<bool> {
        while let Some(index) = self.row_groups.pop_front() {
            let rows = self.metadata.row_group(index).num_rows();
            let row = (*offset as u64).min(rows);
            *offset -= row as usize;
            if row == rows {
                continue;
            }
            let leaves: Vec<usize> =
                roots.iter().flat_map(|root| root.columns.iter().map(|column| column.0)).collect();
            self.source.prefetch(&chunk_ranges(&self.metadata, index, &leaves))?;
            let columns = self.metadata.schema().num_columns();
            self.group = Some(Group {
                index,
                first: self.first_rows.of(&self.metadata, index),
                rows,
                row,
                surveys: vec![None; columns],
                passed: vec![0; columns],
                lost: vec![Vec::new(); roots.len()],
                pending: Vec::new(),
            });
            for (number, root) in roots.iter().enumerate() {
                for (leaf, ..) in &root.columns {
                    self.survey(number, root, *leaf)?;
                }
            }
            let Some(group) = &mut self.group else { continue };
            if self.on_corrupt == OnCorrupt::SkipRowGroup && !group.pending.is_empty() {
                self.drop_rest_of_group();
                continue;
            }
            self.open_columns(roots);
            return Ok(true);
        }
        self.group = None;
        Ok(false)
    }

    /// Leaves out the rest of the row group.
    pub(super) fn drop_rest_of_group(&mut self) {
        let Some(mut group) = self.group.take() else { return };
        let first = group.first;
        for loss in &mut group.pending {
            loss.rows = first.saturating_add(group.row)..first.saturating_add(group.rows);
        }
        self.report.losses.append(&mut group.pending);
        self.report.rows_left_out += group.rows - group.row;
    }

    /// Surveys a column for damage. Returns whether it found any.
    pub(super) fn survey(&mut self, root: usize, of: &RootReader, leaf: usize) -> Result<bool> {
        let Some(group) = &self.group else { return Ok(false) };
        let Some((_, _, target)) = of.columns.iter().find(|column| column.0 == leaf) else {
            return Ok(false);
        };
        if group.surveys[leaf].is_some() {
            return Ok(false);
        }
        let place = |error: Error| {
            error.in_column(self.metadata.schema().column(leaf).dotted().clone()).in_row_group(group.index)
        };
        let found = find_damage(&self.source, &self.metadata, group.index, leaf, target, &self.options);
        let found = found.map_err(place)?;
        for lost in found.lost() {
            self.add(root, leaf, lost.page, lost.rows.clone(), lost.bytes.clone(), lost.reason.clone());
        }
        let is_damaged = !found.lost().is_empty();
        if let Some(group) = &mut self.group {
            group.surveys[leaf] = Some(Arc::new(found));
        }
        Ok(is_damaged)
    }

    /// Gives up the rows of a batch in a field whose columns can be read, but do not form an array. Returns whether it could.
    pub(super) fn give_up(
        &mut self,
        root: usize,
        of: &RootReader,
        chosen: &SalvagedRows,
        error: &Error,
    ) -> bool {
        let Some(group) = &self.group else { return false };
        let rows = row_ranges::subtract(&chosen.runs, &group.lost[root]);
        let schema = self.metadata.schema();
        let is_named = |leaf: usize| error.place().column.as_ref() == Some(schema.column(leaf).dotted());
        let named = of.columns.iter().map(|column| column.0).find(|&leaf| is_named(leaf));
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return false };
        if !matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated) {
            return false;
        }
        let chunk = self.metadata.row_group(group.index).column(of.field.first_leaf());
        let bytes = chunk.and_then(|chunk| chunk.byte_range()).unwrap_or(0..0);
        let leaf = named.unwrap_or(of.field.first_leaf());
        let (rows, reason) = (first.start..last.end, error.message().to_owned());
        self.add(root, leaf, error.place().page, rows, bytes, reason);
        true
    }

    /// Adds a loss. Rows that were returned already do not count.
    fn add(
        &mut self,
        root: usize,
        leaf: usize,
        page: Option<usize>,
        rows: Range<u64>,
        bytes: Range<u64>,
        reason: String,
    ) {
        let Some((row_group, first)) = self.group.as_ref().map(|group| (group.index, group.first)) else {
            return;
        };
        let column = self.metadata.schema().column(leaf).dotted().clone();
        let Some(group) = &mut self.group else { return };
        if !rows.is_empty() && rows.end <= group.row {
            return;
        }
        let rows = rows.start.max(group.row)..rows.end.max(group.row);
        row_ranges::add(&mut group.lost[root], rows.clone());
        let rows = first.saturating_add(rows.start)..first.saturating_add(rows.end);
        group.pending.push(Loss { row_group, column, page, rows, bytes, reason });
    }

    /// Goes back to the first row that was not returned, after damage was found.
    pub(super) fn restart_group(&mut self, roots: &mut [RootReader]) {
        match self.on_corrupt {
            OnCorrupt::SkipRowGroup => self.drop_rest_of_group(),
            _ => self.open_columns(roots),
        }
    }

    /// Opens all columns at the beginning of the row group.
    fn open_columns(&mut self, roots: &mut [RootReader]) {
        let Some(group) = &mut self.group else { return };
        group.passed.fill(0);
        for (leaf, column, target) in roots.iter_mut().flat_map(|root| &mut root.columns) {
            let (source, metadata) = (self.source.clone(), self.metadata.clone());
            let (options, target) = (self.options.clone(), target.clone());
            *column = match &group.surveys[*leaf] {
                Some(survey) => {
                    let survey = survey.clone();
                    ColumnReader::new(source, metadata, &[group.index], *leaf, target, options)
                        .with_damage(survey)
                }
                None => ColumnReader::new(source, metadata, &[group.index], *leaf, target, options),
            };
        }
    }

    /// Returns the rows of the next batch, up to `wanted`.
    pub(super) fn choose(&self, wanted: usize) -> SalvagedRows {
        let Some(group) = &self.group else { return SalvagedRows { runs: Vec::new(), next: 0 } };
        let mut left_out = Vec::new();
        if self.on_corrupt == OnCorrupt::SkipPage {
            group.lost.iter().flatten().for_each(|lost| row_ranges::add(&mut left_out, lost.clone()));
        }
        let whole = row_ranges::subtract(std::slice::from_ref(&(group.row..group.rows)), &left_out);
        let (runs, next) = row_ranges::first(whole, wanted as u64);
        SalvagedRows { runs, next: next.unwrap_or(group.rows) }
    }

    /// Reads the chosen rows of a column, except those that are lost in its field.
    pub(super) fn read(
        &mut self,
        root: usize,
        leaf: usize,
        column: &mut ColumnReader,
        chosen: &SalvagedRows,
    ) -> Result<ColumnBatch> {
        let Some(group) = &mut self.group else { return Err(Error::argument("no row group is open")) };
        let passed = &mut group.passed[leaf];
        let runs = row_ranges::subtract(&chosen.runs, &group.lost[root]).into_iter().map(|rows| {
            let at = group.surveys[leaf].as_ref().map_or(rows.start, |survey| survey.position(rows.start));
            let read = rows.end - rows.start;
            let skip = at.saturating_sub(*passed);
            *passed = at + read;
            SkipThenRead { skip: skip as usize, read: read as usize }
        });
        let runs: Vec<SkipThenRead> = runs.collect();
        column.read_runs(&runs)
    }

    /// Returns the values of a column with a null for each chosen row that is lost in its field; `None` if none is lost.
    pub(super) fn with_gaps(
        &self,
        root: usize,
        batch: &ColumnBatch,
        target: &ReadTarget,
        chosen: &SalvagedRows,
    ) -> Result<Option<NullPadded>> {
        let Some(group) = &self.group else { return Ok(None) };
        let whole = row_ranges::subtract(&chosen.runs, &group.lost[root]);
        let is_whole = row_ranges::count(&whole) == row_ranges::count(&chosen.runs);
        (!is_whole).then(|| NullPadded::new(batch, &chosen.runs, &whole, target)).transpose()
    }

    /// Returns the array of a field with a null for each chosen row that is lost in it.
    pub(super) fn with_nulls(&self, root: usize, array: ArrayRef, chosen: &SalvagedRows) -> Result<ArrayRef> {
        let Some(group) = &self.group else { return Ok(array) };
        let lost = &group.lost[root];
        let rows = row_ranges::count(&chosen.runs);
        let whole = row_ranges::subtract(&chosen.runs, lost);
        if array.len() as u64 != row_ranges::count(&whole) {
            return Err(Error::corrupt(format!(
                "{} values in {} rows",
                array.len(),
                row_ranges::count(&whole)
            )));
        }
        let nulls = rows - array.len() as u64;
        if nulls == 0 {
            return Ok(array);
        }
        // A type's width is only what the metadata claims: nulls alone must not cost gigabytes.
        check_nulls(array.data_type(), nulls as usize, self.options.limits.batch_bytes.min(MAX_NULL_BYTES))?;
        if array.is_empty() {
            return Ok(new_null_array(array.data_type(), rows as usize));
        }
        let mut next = 0u32;
        let mut positions = Vec::with_capacity(rows as usize);
        for run in &chosen.runs {
            let mut row = run.start;
            for piece in row_ranges::subtract(std::slice::from_ref(run), lost) {
                positions.resize(positions.len() + (piece.start - row) as usize, None);
                positions.extend((0..(piece.end - piece.start) as u32).map(|i| Some(next + i)));
                next += (piece.end - piece.start) as u32;
                row = piece.end;
            }
            positions.resize(positions.len() + (run.end - row) as usize, None);
        }
        arrow_select::take::take(&array, &UInt32Array::from(positions), None).map_err(arrow_error)
    }

    /// Records that the chosen rows were returned, and reports the losses before the next row.
    pub(super) fn pass(&mut self, chosen: &SalvagedRows) {
        let Some(group) = &mut self.group else { return };
        let given = row_ranges::count(&chosen.runs);
        self.report.rows_left_out += (chosen.next - group.row).saturating_sub(given);
        if self.on_corrupt == OnCorrupt::NullPage {
            let whole =
                group.lost.iter().map(|lost| row_ranges::count(&row_ranges::subtract(&chosen.runs, lost)));
            self.report.values_made_null += whole.map(|whole| given - whole).sum::<u64>();
        }
        group.row = chosen.next;
        let (next, is_over) = (group.first.saturating_add(group.row), group.row >= group.rows);
        let is_told = |loss: &mut Loss| is_over || loss.rows.start < next;
        self.report.losses.extend(group.pending.extract_if(.., is_told));
        if is_over {
            self.group = None;
        }
    }
}
