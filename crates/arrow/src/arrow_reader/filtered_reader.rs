//! Reads selected rows by late materialization: the filter's columns first, other columns only for the rows that are left.
//!
//! ```text
//! row group -> prune -> selection -> blocks -> stages, each for fewer rows -> the other columns, for the rows left -> batch
//! ```
//!
//! Memory holds a block of the filter's columns, and a batch. Row groups and pages without selected rows are not read,
//! and other pages are decoded only as far as it pays: see `core::read`. If a filter keeps most rows, each column gives
//! up skipping the others: see `skip_strategy`.

use super::ProjectionMask;
use super::adaptive_filter::{Columns, FilterStage, filter};
use super::cached_column::{BlockRows, CachedColumn};
use super::filtered_columns::open_columns;
use super::first_rows::FirstRows;
use super::options::ArrowReaderOptions;
use super::prefetch::{RemoteSource, RowGroupLookahead};
use super::resolved_schema::{ProjectedField, ResolvedFields};
use super::row_group_pruning::Pruning;
use super::virtual_columns::{Positions, Virtual};
use super::{ArrowPredicate, RowSelection};
use crate::assemble::{Leaves, assemble};
use crate::column_map::ColumnMap;
use crate::convert::DictionaryCache;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Schema as ArrowSchema, SchemaRef};
use marquetry_base::{MemoryReservation, Result, Span, Stopwatch};
use marquetry_core::fetch::{FetchPlanner, bytes, chunk_ranges, index_ranges};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::BoundPredicate;
use marquetry_core::prune::{PruneReport, RowGroupMatch};
use marquetry_core::row_mask::{MaskCursor, RowMask};
use marquetry_core::source::Source;
use marquetry_encoding::Bitmap;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Which rows of which columns to read.
#[derive(Clone)]
pub(super) struct FilteredPlan {
    pub(super) row_groups: Vec<usize>,
    pub(super) batch_size: usize,
    pub(super) projection: ProjectionMask,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) selection: Option<RowSelection>,
    pub(super) predicate: Option<BoundPredicate>,
    pub(super) counters: Arc<ReadCounters>,
    /// Whether the row groups are counted elsewhere.
    pub(super) is_part: bool,
}

/// A reader that skips rows.
pub(super) struct FilteredReader {
    metadata: Arc<ParquetMetaData>,
    schema: SchemaRef,
    roots: Vec<ProjectedField>,
    virtuals: Vec<Virtual>,
    columns: Columns,
    stages: Vec<FilterStage>,
    pruning: Option<Pruning>,
    /// For sources whose requests are expensive.
    remote: Option<RemoteSource>,
    lookahead: RowGroupLookahead,
    /// Whether later row groups may be prefetched with earlier ones: all of them are needed, and no memory limit is set.
    looks_ahead: bool,
    dictionaries: ColumnMap<DictionaryCache>,
    /// The remaining row groups.
    row_groups: VecDeque<RowGroupTask>,
    group: Option<Group>,
    block: Option<PendingRows>,
    first_rows: FirstRows,
    batch_size: usize,
    /// Matching rows that are still to be skipped, and those still to be returned.
    offset: usize,
    limit: usize,
    /// Rows in the batch so far.
    rows: usize,
    positions: Positions,
    counters: Arc<ReadCounters>,
    is_part: bool,
}

/// A row group, and the selection in it, if not all rows are selected.
pub(super) type RowGroupTask = (usize, Option<RowMask>);

/// The row group that is being read.
struct Group {
    index: usize,
    selection: RowMask,
    cursor: MaskCursor,
    /// Whether the typed predicate must be evaluated, and whether any filter must.
    asks_typed: bool,
    asks: bool,
}

/// The rows of a block that passed the filter.
struct PendingRows {
    /// The rows that were not returned yet.
    rows: BlockRows,
    /// How many rows were kept, and how many of them were returned.
    kept: usize,
    given: usize,
}

impl FilteredReader {
    pub(super) fn new(
        source: &Arc<dyn Source>,
        metadata: &Arc<ParquetMetaData>,
        resolved: &ResolvedFields,
        options: &ArrowReaderOptions,
        wanted: FilteredPlan,
        filters: Vec<Box<dyn ArrowPredicate>>,
    ) -> Result<Self> {
        let roots: Vec<ProjectedField> = resolved.projected(&wanted.projection).collect();
        let mut stages = match &wanted.predicate {
            Some(predicate) => FilterStage::of_predicate(predicate, metadata),
            None => Vec::new(),
        };
        for predicate in filters {
            let roots = resolved.projected(predicate.projection()).collect();
            stages.push(FilterStage::of_arrays(predicate, roots));
        }
        let virtuals = options.virtual_columns.iter().map(|field| Virtual::of(field));
        let virtuals = virtuals.collect::<Result<Vec<_>>>()?;
        let of_roots = roots.iter().map(|root| &root.arrow);
        let arrow_fields: Vec<FieldRef> = of_roots.chain(&options.virtual_columns).cloned().collect();
        let columns = open_columns(source, metadata, resolved, options, (&stages, &roots), &wanted.counters);
        let counters = wanted.counters.clone();
        // A stream has counted what it pruned before it fetched the rest.
        let pruned = if wanted.is_part { Arc::default() } else { counters.clone() };
        let pruning =
            wanted.predicate.map(|predicate| Pruning::new(source, predicate, metadata, options, pruned));
        Ok(FilteredReader {
            schema: Arc::new(ArrowSchema::new_with_metadata(
                arrow_fields,
                resolved.schema.metadata().clone(),
            )),
            dictionaries: ColumnMap::new(columns.keys().copied(), DictionaryCache::default),
            row_groups: with_selections(metadata, &wanted.row_groups, wanted.selection.as_ref()),
            metadata: metadata.clone(),
            roots,
            virtuals,
            columns: columns.into_iter().collect(),
            stages,
            pruning,
            remote: RemoteSource::of(source, metadata, options),
            lookahead: RowGroupLookahead::default(),
            looks_ahead: wanted.limit == usize::MAX && options.limits.memory.tight_limit().is_none(),
            group: None,
            block: None,
            first_rows: FirstRows::default(),
            batch_size: wanted.batch_size,
            offset: wanted.offset,
            limit: wanted.limit,
            rows: 0,
            positions: Positions::default(),
            counters,
            is_part: wanted.is_part,
        })
    }

    /// Returns the schema of all batches.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Takes the row groups away. Afterwards only those passed to [`begin`](Self::begin) are read.
    pub(super) fn take_row_groups(&mut self) -> VecDeque<RowGroupTask> {
        std::mem::take(&mut self.row_groups)
    }

    /// Adds a row group to be read next.
    pub(super) fn begin(&mut self, chosen: RowGroupTask) {
        self.row_groups.push_back(chosen);
    }

    /// Returns the next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.next_uncounted()?;
        if let Some(batch) = &batch {
            self.counters.batch(batch.num_rows());
        }
        Ok(batch)
    }

    fn next_uncounted(&mut self) -> Result<Option<RecordBatch>> {
        while self.rows < self.batch_size {
            if let Some(block) = self.block.take() {
                self.emit(block)?;
            } else if self.limit == 0 || !self.next_block()? {
                // Batches end with row groups: a few rows each of many pages would keep all of these in memory.
                self.group = None;
                if self.rows > 0 {
                    break;
                }
                if self.limit == 0 || !self.next_group()? {
                    return Ok(None);
                }
            }
        }
        self.batch().map(Some)
    }

    /// Returns which rows of the row groups are selected. Reads only the filter's columns.
    pub(super) fn selected(mut self) -> Result<RowMask> {
        let mut out = RowMask::new();
        while let Some((index, selection)) = self.row_groups.pop_front() {
            let first = out.rows();
            if self.limit > 0 && self.open(index, selection)? {
                self.survivors(first, &mut out)?;
            }
            let end = first.saturating_add(self.metadata.row_group(index).num_rows());
            out.push_run(false, end - out.rows());
        }
        Ok(out)
    }

    /// Appends to `out` which rows of the row group pass the filter. `first` is the position of its first row.
    fn survivors(&mut self, first: u64, out: &mut RowMask) -> Result<()> {
        while self.limit > 0 && self.next_block()? {
            let Some(block) = self.block.take() else { continue };
            self.columns.values_mut().for_each(CachedColumn::clear);
            out.push_run(false, first + block.rows.start - out.rows());
            match block.rows.keep {
                None => out.push_run(true, block.rows.len as u64),
                Some(keep) => out.push_bits(keep),
            }
        }
        Ok(())
    }

    /// Opens the next row group with rows to read. Returns whether there is one.
    fn next_group(&mut self) -> Result<bool> {
        while let Some((index, selection)) = self.row_groups.pop_front() {
            if Span::row_group(index).in_scope(|| self.open(index, selection))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Opens a row group with this initial selection. Returns whether there are rows to read.
    fn open(&mut self, index: usize, selection: Option<RowMask>) -> Result<bool> {
        if !self.is_part {
            self.counters.row_group();
        }
        let rows = self.metadata.row_group(index).num_rows();
        let mut selection = selection.unwrap_or_else(|| RowMask::all(rows));
        let mut asks_typed = true;
        let remote = self.remote.clone();
        let mut ahead = remote.as_ref().map(RemoteSource::planner);
        if let Some(ahead) = ahead.as_mut().filter(|_| self.looks_ahead) {
            self.expect_following(ahead);
        }
        if selection.selected() > 0
            && let Some(pruning) = &self.pruning
        {
            let kept = match &mut ahead {
                Some(ahead) => {
                    let (leaves, mut report) = (self.leaves(true, true), PruneReport::default());
                    let (predicate, options) = (&pruning.predicate, &pruning.options);
                    let kept = ahead.prune(index, predicate, &leaves, options, &mut report)?;
                    report.count_in(&self.counters);
                    kept
                }
                None => pruning.prune(&self.metadata, index)?,
            };
            match kept {
                RowGroupMatch::None => return Ok(false),
                RowGroupMatch::All => asks_typed = false,
                RowGroupMatch::Some(ranges) => {
                    selection = selection.and(&RowMask::from_ranges(&ranges, rows))
                }
            }
        }
        let asks = self.stages.iter().any(|stage| asks_typed || !stage.is_typed());
        let has_rows = selection.selected() > 0;
        let most_rows = Some(selection.selected()).filter(|selected| *selected <= rows / 2);
        let most_rows = most_rows.and_then(|selected| usize::try_from(selected).ok());
        for column in self.columns.values_mut() {
            column.most_rows = most_rows;
            // The same row group may be read twice.
            column.rewind();
        }
        self.group =
            has_rows.then(|| Group { index, selection, cursor: MaskCursor::default(), asks_typed, asks });
        match ahead.filter(|_| has_rows) {
            Some(ahead) => self.look_ahead(ahead),
            None => Ok(has_rows),
        }
    }

    /// Plans to prefetch what the following row groups need first.
    fn expect_following(&mut self, ahead: &mut FetchPlanner<'_>) {
        let mut lookahead = std::mem::take(&mut self.lookahead);
        let little = self.remote.as_ref().map_or(0, |remote| remote.cost.bytes_per_round_trip());
        let has_indexes = self.remote.as_ref().is_some_and(|remote| remote.page_index);
        let plan = self.row_groups.iter().map(|(index, selection)| {
            let rows = self.metadata.row_group(*index).num_rows();
            let selected = selection.as_ref().map_or(rows, RowMask::selected);
            let kept = match &self.pruning {
                Some(pruning) => pruning.prune_by_statistics(&self.metadata, *index).ok()?,
                None => RowGroupMatch::All,
            };
            if selected == 0 || kept == RowGroupMatch::None {
                return None;
            }
            let asks_typed = kept != RowGroupMatch::All;
            let (asked, all) = (self.leaves(asks_typed, false), self.leaves(asks_typed, true));
            let chunks = |leaves: &[usize]| chunk_ranges(&self.metadata, *index, leaves);
            let is_whole = selected == rows;
            let mut first = match is_whole && !asks_typed || !has_indexes {
                true => Vec::new(),
                false => index_ranges(&self.metadata, *index, &all),
            };
            // Finding the selected pages first would cost more than fetching all of them.
            match [chunks(&all), chunks(&asked)].into_iter().find(|chunks| bytes(chunks) <= little) {
                Some(chunks) if is_whole => first.extend(chunks),
                _ => {}
            }
            Some(first)
        });
        lookahead.add(self.row_groups.len(), ahead, plan);
        self.lookahead = lookahead;
    }

    /// Prefetches the row group. If its output columns are large, evaluates the filter first and prefetches only pages with
    /// surviving rows. Returns whether there are any.
    fn look_ahead(&mut self, mut ahead: FetchPlanner<'_>) -> Result<bool> {
        let Some(group) = &self.group else { return Ok(false) };
        let (index, asks_typed, asks) = (group.index, group.asks_typed, group.asks);
        let rows: Vec<_> = group.selection.runs().collect();
        let all = ahead.pages(index, &self.leaves(asks_typed, true), &rows)?;
        let projected = self.leaves(false, true);
        let others = ahead.pages(index, &projected, &rows)?;
        if asks {
            // Pages are skipped once the filter keeps few of their rows.
            ahead.add(ahead.indexes(index, &self.leaves(asks_typed, true)));
        }
        if !asks || ahead.is_cheaper_than_waiting(&others) {
            ahead.prefetch(all)?;
            return Ok(true);
        }
        let looked_at = ahead.pages(index, &self.leaves(asks_typed, false), &rows)?;
        ahead.prefetch(looked_at)?;
        let (offset, limit) = (self.offset, self.limit);
        (self.offset, self.limit) = (0, offset.saturating_add(limit));
        let mut selection = RowMask::new();
        self.survivors(0, &mut selection)?;
        (self.offset, self.limit) = (offset, limit);
        self.columns.values_mut().for_each(CachedColumn::rewind);
        let rows: Vec<_> = selection.runs().collect();
        let wanted = ahead.pages(index, &projected, &rows)?;
        ahead.prefetch(wanted)?;
        let has_rows = selection.selected() > 0;
        self.group = has_rows.then(|| Group {
            index,
            selection,
            cursor: MaskCursor::default(),
            asks_typed: false,
            asks: false,
        });
        Ok(has_rows)
    }

    /// Returns the columns that stages need, those of typed stages only if `asks_typed`, and the output columns if `gives`.
    fn leaves(&self, asks_typed: bool, gives: bool) -> Vec<usize> {
        let stages = self.stages.iter().filter(|stage| asks_typed || !stage.is_typed());
        let asked: BTreeSet<usize> = stages.flat_map(|stage| stage.leaves().iter().copied()).collect();
        let wanted =
            |(leaf, column): &(usize, &CachedColumn)| asked.contains(leaf) || gives && column.is_projected;
        self.columns.iter().filter(wanted).map(|(leaf, _)| leaf).collect()
    }

    /// Filters the next block of the row group. Returns whether there was one.
    fn next_block(&mut self) -> Result<bool> {
        let Some(group) = &mut self.group else { return Ok(false) };
        let size = self.batch_size.min(BLOCK);
        let Some(block) = group.selection.next_chunk(&mut group.cursor, size) else { return Ok(false) };
        let mut rows = BlockRows::of(group.index, block);
        let stages = if group.asks { &mut self.stages[..] } else { &mut [] };
        let (asked, start) = (rows.kept(), group.asks.then(Stopwatch::start));
        filter(stages, &mut rows, group.asks_typed, &mut self.columns, &self.metadata)?;
        let kept = rows.kept();
        if let Some(start) = start {
            self.counters.filtered(asked - kept, start);
        }
        let passed = kept.min(self.offset);
        let given = (kept - passed).min(self.limit);
        self.offset -= passed;
        self.limit -= given;
        if given < kept {
            let mut of_kept = Bitmap::new();
            of_kept.push_run(false, passed);
            of_kept.push_run(true, given);
            of_kept.push_run(false, kept - passed - given);
            for column in self.columns.values_mut() {
                match given {
                    0 => column.clear(),
                    _ => column.refilter(&of_kept)?,
                }
            }
            rows.refine(of_kept);
        }
        if given > 0 {
            self.block = Some(PendingRows { rows, kept: given, given: 0 });
        }
        Ok(true)
    }

    /// Moves rows of a block into the batch, as many as fit.
    fn emit(&mut self, mut block: PendingRows) -> Result<()> {
        let start = Stopwatch::start();
        let n = (block.kept - block.given).min(self.batch_size - self.rows);
        let rows = block.rows.split_off(n);
        let taken = block.given..block.given + n;
        for column in self.columns.values_mut() {
            match column.is_projected {
                true => column.emit(&rows, taken.clone(), block.kept)?,
                false => column.clear(),
            }
        }
        if !self.virtuals.is_empty() {
            let first = self.first_rows.of(&self.metadata, rows.row_group);
            rows.each_run(|run| self.positions.rows.extend(run.map(|row| (first + row) as i64)));
            self.positions.row_groups.resize(self.positions.rows.len(), rows.row_group as i64);
        }
        self.rows += n;
        block.given = taken.end;
        self.block = (block.given < block.kept).then_some(block);
        self.counters.decoded(start);
        Ok(())
    }

    /// Returns the filled batch.
    fn batch(&mut self) -> Result<RecordBatch> {
        let start = Stopwatch::start();
        let projected = self.columns.iter_mut().filter(|(_, column)| column.is_projected);
        let mut batches = projected
            .map(|(leaf, column)| {
                let empty = column.reader.empty_batch();
                let mut batch = std::mem::replace(&mut column.out, empty);
                batch.finish();
                (leaf, Some(batch))
            })
            .collect();
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        // Reserved until the batch is handed over.
        let held = &mut MemoryReservation::default();
        for root in &self.roots {
            let (schema, dictionaries) = (self.metadata.schema(), &mut self.dictionaries);
            let mut leaves = Leaves { schema, batches: &mut batches, dictionaries, held };
            arrays.push(assemble(&root.field, &root.arrow, &mut leaves)?);
        }
        arrays.extend(self.virtuals.iter().map(|kind| self.positions.array(*kind)));
        self.positions.clear();
        self.counters.decoded(start);
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.rows)));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(crate::arrow_error)
    }
}

/// Returns the row groups, each with its part of `selection`, which counts the rows of all of them.
fn with_selections(
    metadata: &ParquetMetaData,
    row_groups: &[usize],
    selection: Option<&RowSelection>,
) -> VecDeque<RowGroupTask> {
    let mut first = 0u64;
    let with_selection = |&index: &usize| {
        let rows = first..first.saturating_add(metadata.row_group(index).num_rows());
        first = rows.end;
        (index, selection.map(|selection| selection.of(rows)))
    };
    row_groups.iter().map(with_selection).collect()
}

/// Maximum number of rows of a block. Their values stay in the second-level cache from stage to stage.
const BLOCK: usize = 16_384;
