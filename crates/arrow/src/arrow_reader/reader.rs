//! The reader of record batches, which drives all modes of reading.

use super::column_parallel::ColumnParallelReader;
use super::column_schedule::{BatchGrid, ColumnPlan, IN_FLIGHT, PAGES_PER_STRIDE};
use super::filtered_reader::FilteredReader;
use super::loss::{LossReport, OnCorrupt};
use super::memory_plan::{ahead_within, column_threads, memory_of};
use super::options::ArrowReaderOptions;
use super::prefetch::{RemoteSource, SequentialPrefetch};
use super::read_plan::ReadPlan;
use super::read_target::{page_options, read_target, reserve_readers, value_layout};
use super::resolved_schema::{ProjectedField, ResolvedFields};
use super::root_reader::{BatchBuffers, RootError, RootReader};
use super::row_group_parallel::RowGroupParallelReader;
use super::salvage::{SalvageReader, SalvagedRows};
use super::salvage_array_filter::SalvageArrayFilter;
use super::salvage_filter::{FilterOutcome, SalvageFilter};
use super::sequential::{BatchRows, SequentialReader};
use super::worker_pool::THREAD_NAME;
use crate::evolution::BatchAdapter;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, FieldRef, Schema as ArrowSchema, SchemaRef};
use marquetry_base::{CancelToken, Error, MemoryReservation, Result, SharedExecutor, Span, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::{ReadCounters, ReadMetrics};
use marquetry_core::page::PageBufferPool;
use marquetry_core::read::{ColumnReader, ValueLayout};
use marquetry_core::source::Source;
use std::sync::Arc;

/// Reads the rows that a builder was told to, batch by batch.
///
/// After an error the reader ends. Batches end with their row group if there is a filter, a row selection or a virtual
/// column, or if the dictionaries of several row groups together may be too large for keys of 8 or 16 bits. Run-end
/// encoded columns with 16-bit run ends limit batches to 32,767 rows.
///
/// If [`OnCorrupt`] is not `Fail`, damage is not an error, and [`loss_report`](Self::loss_report) lists what is missing.
/// Batches then end with row groups, an offset counts rows of the file, and a limit counts rows that are returned. With
/// a predicate as well, an offset counts rows that match, a lost value is null to the predicate, and the report covers
/// all rows that were read, matching or not.
pub struct ParquetRecordBatchReader {
    schema: SchemaRef,
    /// Empty once several threads read the columns.
    pub(super) roots: Vec<RootReader>,
    /// The memory that the column readers hold.
    _held: MemoryReservation,
    buffers: BatchBuffers,
    threads: usize,
    /// Bytes that the threads may have ready before they are wanted, if a budget bounds that.
    ahead: Option<usize>,
    /// Runs the other threads.
    executor: SharedExecutor,
    stop: CancelToken,
    counters: Arc<ReadCounters>,
    parallel: Option<ColumnParallelReader>,
    /// Reads the columns on one thread.
    pub(super) sequential: SequentialReader,
    /// How many pages of a field one of several threads reads at a time.
    pub(super) pages: u64,
    /// Rows that are still to be read.
    left: usize,
    batch_size: usize,
    /// Rows to skip before the first batch.
    offset: usize,
    /// For sources whose requests are expensive.
    prefetch: Option<SequentialPrefetch>,
    /// Set unless damage is an error.
    salvage: Option<SalvageReader>,
    /// The predicate of a read in which damage is not an error.
    filter: Option<SalvageFilter>,
    /// The predicates over arrays of such a read.
    array_filter: Option<SalvageArrayFilter>,
    /// Set if not all rows of the row groups are read, or virtual columns are; everything else is idle then.
    filtered: Option<FilteredMode>,
    /// Adapts batches to the wanted schema, if they are read with another one.
    adapter: Option<BatchAdapter>,
    /// Set during a call, and left set by one that panicked.
    is_reading: bool,
}

/// The modes of a read that skips rows.
pub(super) enum FilteredMode {
    OneThread(Box<FilteredReader>),
    RowGroupParallel(Box<RowGroupParallelReader>),
}

impl FilteredMode {
    fn schema(&self) -> &SchemaRef {
        match self {
            FilteredMode::OneThread(filtered) => filtered.schema(),
            FilteredMode::RowGroupParallel(groups) => groups.schema(),
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self {
            FilteredMode::OneThread(filtered) => filtered.next(),
            FilteredMode::RowGroupParallel(groups) => groups.next(),
        }
    }
}

impl ParquetRecordBatchReader {
    pub(super) fn new(
        source: Arc<dyn Source>,
        metadata: Arc<ParquetMetaData>,
        read_as: &ResolvedFields,
        options: &ArrowReaderOptions,
        mut plan: ReadPlan,
    ) -> Result<Self> {
        if !plan.is_part {
            plan.row_groups.iter().for_each(|_| plan.counters.row_group());
        }
        let page_options = page_options(&metadata, options);
        let mut read: Vec<_> = read_as.projected(&plan.projection).collect();
        let given = read.len();
        let filter = SalvageFilter::of(&mut plan, given);
        if let Some(filter) = &filter {
            read.extend(read_as.projected(&filter.others(metadata.schema(), &plan.projection)));
        }
        let num_columns = read.iter().map(|root| root.leaves().len()).sum();
        let held = reserve_readers(num_columns, plan.row_groups.len(), &options.limits)?;
        let pool = Arc::new(PageBufferPool::for_columns(num_columns).counted_by(plan.counters.clone()));
        let column = |root: &ProjectedField, leaf: usize| {
            let column = metadata.schema().column(leaf);
            let layout = match value_layout(column, &root.field, &root.arrow, leaf, options) {
                // Predicates support no other layout.
                ValueLayout::Offsets if filter.as_ref().is_some_and(|filter| filter.looks_at(leaf)) => {
                    ValueLayout::Native
                }
                layout => layout,
            };
            let target = read_target(column, &root.field, &root.arrow, leaf, layout, options);
            let (source, metadata) = (source.clone(), metadata.clone());
            let (options, wanted) = (page_options.clone(), target.clone());
            let reader = ColumnReader::new(source, metadata, &plan.row_groups, leaf, wanted, options);
            (leaf, reader.with_buffer_pool(pool.clone()), target)
        };
        let reader_of = |root: ProjectedField| {
            let columns = root.leaves().into_iter().map(|leaf| column(&root, leaf)).collect();
            RootReader { field: root.field, arrow: root.arrow, columns }
        };
        let roots: Vec<RootReader> = read.into_iter().map(reader_of).collect();
        let sequential = SequentialReader::new(&metadata, &plan.row_groups);
        let offset = plan.offset.min(sequential.left());
        let end = (sequential.left() - offset).min(plan.limit) + offset;
        let prefetch = RemoteSource::of(&source, &metadata, options).map(|remote| {
            SequentialPrefetch::new(remote, leaves(&roots).collect(), &plan.row_groups, end as u64)
        });
        // Threads do not help if pages are fetched one after the other. They do not support reads in which damage is not an error.
        let is_parallel = prefetch.is_none() && options.on_corrupt == OnCorrupt::Fail;
        let memory = &options.limits.memory;
        let held_by_all = || memory_of(&metadata, leaves(&roots), plan.batch_size);
        let threads = if is_parallel { column_threads(plan.threads, memory, held_by_all) } else { 1 };
        let salvage = (options.on_corrupt != OnCorrupt::Fail).then(|| {
            SalvageReader::new(source, metadata.clone(), page_options, options.on_corrupt, plan.row_groups)
        });
        let ahead = memory.tight_limit().map(|_| ahead_within(memory, IN_FLIGHT as usize));
        Ok(ParquetRecordBatchReader {
            schema: schema_of(&roots[..given], options.on_corrupt, read_as),
            threads,
            ahead,
            executor: plan.executor,
            counters: plan.counters,
            stop: options.limits.cancel.clone(),
            parallel: None,
            sequential,
            pages: PAGES_PER_STRIDE,
            buffers: BatchBuffers::of(metadata, &roots),
            roots,
            _held: held,
            left: end - offset,
            batch_size: plan.batch_size,
            offset,
            prefetch,
            salvage,
            filter,
            array_filter: None,
            filtered: None,
            adapter: None,
            is_reading: false,
        })
    }

    /// Creates a reader that skips rows.
    pub(super) fn of_filtered(
        metadata: Arc<ParquetMetaData>,
        filtered: FilteredMode,
        counters: Arc<ReadCounters>,
    ) -> Self {
        ParquetRecordBatchReader {
            schema: filtered.schema().clone(),
            roots: Vec::new(),
            _held: MemoryReservation::default(),
            buffers: BatchBuffers::of(metadata, []),
            threads: 1,
            ahead: None,
            executor: SharedExecutor::default(),
            stop: CancelToken::default(),
            counters,
            parallel: None,
            sequential: SequentialReader::default(),
            pages: PAGES_PER_STRIDE,
            left: usize::MAX,
            batch_size: 0,
            offset: 0,
            prefetch: None,
            salvage: None,
            filter: None,
            array_filter: None,
            filtered: Some(filtered),
            adapter: None,
            is_reading: false,
        }
    }

    /// Sets the adapter that converts each batch.
    pub(super) fn adapted_by(mut self, adapter: BatchAdapter) -> Self {
        self.adapter = Some(adapter);
        self
    }

    /// Sets a filter over arrays, for a read in which damage is not an error.
    pub(super) fn filtered_by(mut self, filter: SalvageArrayFilter) -> Self {
        self.array_filter = Some(filter);
        self
    }

    /// Returns the adapter to the wanted schema, if batches are read with another one.
    #[cfg(feature = "async")]
    pub(crate) fn into_adapter(self) -> Option<BatchAdapter> {
        self.adapter
    }

    /// Returns what could not be read so far; complete after the last batch. Empty if damage is an error.
    pub fn loss_report(&self) -> LossReport {
        self.salvage.as_ref().map(|salvage| salvage.report.clone()).unwrap_or_default()
    }

    /// Returns what was read, skipped and spent so far. This is cheap, and may be called at any time.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    /// use marquetry_core::predicate::Predicate;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// let builder = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path)?)?;
    /// let mut reader = builder.with_predicate(Predicate::parse("year > 2100")?).build()?;
    /// assert!(reader.next_batch().is_none());
    /// let metrics = reader.metrics();
    /// assert_eq!((metrics.statistics.row_groups, metrics.rows), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn metrics(&self) -> ReadMetrics {
        self.counters.snapshot()
    }

    /// Returns the counters behind [`metrics`](Self::metrics), which outlive the reader.
    pub fn counters(&self) -> &Arc<ReadCounters> {
        &self.counters
    }

    /// Returns the next batch; `None` after the last.
    ///
    /// If a call panics, because a source or a filter does, the next call fails, and the reader ends.
    pub fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        if std::mem::replace(&mut self.is_reading, true) {
            // Columns are out of step: later rows would be wrong.
            (self.is_reading, self.left) = (false, 0);
            return Some(Err(panicked()));
        }
        let batch = Span::batch().in_scope(|| self.next_adapted());
        self.is_reading = false;
        batch
    }

    fn next_adapted(&mut self) -> Option<Result<RecordBatch>> {
        let batch = self.next_wanted()?;
        let Some(adapter) = &self.adapter else { return Some(batch) };
        let batch = batch.and_then(|batch| adapter.batch(&batch));
        self.left = if batch.is_ok() { self.left } else { 0 };
        Some(batch)
    }

    /// Returns the next batch with rows that pass the predicates over arrays.
    fn next_wanted(&mut self) -> Option<Result<RecordBatch>> {
        let Some(mut filter) = self.array_filter.take() else { return self.next_read() };
        let found = loop {
            if filter.is_over() {
                self.left = 0;
                break None;
            }
            let Some(batch) = self.next_read() else { break None };
            match batch.and_then(|batch| filter.apply(&batch)) {
                Ok(batch) if batch.num_rows() == 0 => {}
                found => break Some(found),
            }
        };
        self.array_filter = Some(filter);
        if !matches!(found, Some(Ok(_))) {
            self.left = 0;
        }
        found
    }

    fn next_read(&mut self) -> Option<Result<RecordBatch>> {
        if self.left == 0 {
            return None;
        }
        if let Some(filtered) = &mut self.filtered {
            let batch = filtered.next().transpose();
            self.left = if matches!(batch, Some(Ok(_))) { self.left } else { 0 };
            return batch;
        }
        let rows = self.batch_size.min(self.left);
        if let Some(salvage) = self.salvage.take() {
            return self.next_salvaged(salvage, rows);
        }
        let batch = self.read(rows);
        // After an error columns are out of step: later rows would be wrong.
        self.left = if batch.is_ok() { self.left - rows } else { 0 };
        Some(batch)
    }

    fn read(&mut self, rows: usize) -> Result<RecordBatch> {
        // Reserved until the batch is handed over.
        let held = &mut MemoryReservation::default();
        if self.threads > 1 && !self.roots.is_empty() {
            let batches = BatchGrid { skip: self.offset, rows: self.left, size: self.batch_size };
            let roots = std::mem::take(&mut self.roots);
            let (threads, pages, ahead) = (self.threads, self.pages, self.ahead);
            self.parallel = Some(ColumnParallelReader::new(
                roots,
                &self.buffers.metadata,
                ColumnPlan { batches, threads, pages, ahead },
                self.executor.or_threads(THREAD_NAME),
                self.stop.clone(),
                self.counters.clone(),
            ));
        }
        if let Some(parallel) = &mut self.parallel {
            let arrays = parallel.next(held)?;
            return self.batch(arrays, rows);
        }
        let offset = std::mem::take(&mut self.offset);
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.before(offset, rows)?;
        }
        let start = Stopwatch::start();
        // Decoding ahead takes memory or requests that others may need more.
        let is_bounded = self.prefetch.is_some() || self.ahead.is_some();
        let next = if is_bounded { 0 } else { self.batch_size.min(self.left - rows) };
        let batch = BatchRows { skip: offset, rows, next };
        let arrays = self.sequential.next(batch, &mut self.roots, &mut self.buffers, held)?;
        self.counters.decoded(start);
        self.batch(arrays, rows)
    }

    fn batch(&self, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.counters.batch(rows);
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(crate::arrow_error)
    }

    /// Returns the next batch of a file that may be damaged.
    fn next_salvaged(&mut self, mut salvage: SalvageReader, rows: usize) -> Option<Result<RecordBatch>> {
        let batch = self.salvaged(&mut salvage, rows).transpose();
        self.salvage = Some(salvage);
        self.left = match &batch {
            Some(Ok(batch)) => self.left - batch.num_rows(),
            _ => 0,
        };
        batch
    }

    fn salvaged(&mut self, salvage: &mut SalvageReader, rows: usize) -> Result<Option<RecordBatch>> {
        loop {
            if self.filter.as_ref().is_some_and(|filter| filter.limit == 0) {
                return Ok(None);
            }
            if salvage.group.is_none() && !salvage.open_next(&mut self.offset, &mut self.roots)? {
                return Ok(None);
            }
            let chosen = salvage.choose(rows);
            let error = match self.read_chosen(salvage, &chosen) {
                Ok((arrays, outcome)) => {
                    salvage.pass(&chosen);
                    if let (Some(filter), Some(outcome)) = (&mut self.filter, &outcome) {
                        filter.note(outcome);
                    }
                    match outcome.map_or(chosen.rows(), |outcome| outcome.rows) {
                        0 => continue,
                        rows => return self.batch(arrays, rows).map(Some),
                    }
                }
                Err(error) => error,
            };
            let RootError { root, leaf, error } = error;
            if !error.is_damage() {
                return Err(error);
            }
            let found = match leaf {
                Some(leaf) => salvage.survey(root, &self.roots[root], leaf)?,
                None => false,
            };
            // Pages that are all readable may still not fit together.
            if !found && !salvage.give_up(root, &self.roots[root], &chosen, &error) {
                return Err(error);
            }
            salvage.restart_group(&mut self.roots);
        }
    }

    /// Returns the arrays of the chosen rows, or of those among them that match the predicate, if there is one.
    fn read_chosen(
        &mut self,
        salvage: &mut SalvageReader,
        chosen: &SalvagedRows,
    ) -> Result<(Vec<ArrayRef>, Option<FilterOutcome>), RootError> {
        let held = &mut MemoryReservation::default();
        let (roots, buffers) = (&mut self.roots, &mut self.buffers);
        let outcome = match &self.filter {
            None => None,
            // The predicate may need all columns, in any order.
            Some(filter) => {
                for (i, root) in roots.iter_mut().enumerate() {
                    read_columns(i, root, buffers, salvage, chosen)?;
                }
                Some(filter.outcome(salvage, roots, buffers, chosen)?)
            }
        };
        let given = self.filter.as_ref().map_or(roots.len(), |filter| filter.given);
        let mut arrays = Vec::with_capacity(given);
        for (i, root) in roots[..given].iter_mut().enumerate() {
            if outcome.is_none() {
                read_columns(i, root, buffers, salvage, chosen)?;
            }
            let array = buffers.assemble(root, held);
            let array = array.and_then(|array| salvage.with_nulls(i, array, chosen));
            let array = array.and_then(|array| match &outcome {
                Some(outcome) => {
                    arrow_select::filter::filter(&array, &outcome.keep).map_err(crate::arrow_error)
                }
                None => Ok(array),
            });
            arrays.push(array.map_err(|error| RootError { root: i, leaf: None, error })?);
        }
        Ok((arrays, outcome))
    }
}

#[cold]
pub(crate) fn panicked() -> Error {
    Error::argument("reading panicked before; it cannot go on")
}

/// Reads the chosen rows of the columns of a root field.
fn read_columns(
    number: usize,
    root: &mut RootReader,
    buffers: &mut BatchBuffers,
    salvage: &mut SalvageReader,
    chosen: &SalvagedRows,
) -> Result<(), RootError> {
    for (leaf, column, _) in &mut root.columns {
        let batch = salvage.read(number, *leaf, column, chosen);
        let batch = batch.map_err(|error| RootError { root: number, leaf: Some(*leaf), error })?;
        let place = buffers.place(*leaf);
        *place.map_err(|error| RootError { root: number, leaf: Some(*leaf), error })? = Some(batch);
    }
    Ok(())
}

/// Returns the leaf columns that are read.
fn leaves(roots: &[RootReader]) -> impl Iterator<Item = usize> {
    roots.iter().flat_map(|root| root.columns.iter().map(|column| column.0))
}

/// Returns the schema of batches. If lost values become null, all root fields are nullable.
fn schema_of(roots: &[RootReader], on_corrupt: OnCorrupt, read_as: &ResolvedFields) -> SchemaRef {
    let fields: Vec<FieldRef> = match on_corrupt {
        OnCorrupt::NullPage => {
            roots.iter().map(|root| root.arrow.as_ref().clone().with_nullable(true).into()).collect()
        }
        _ => roots.iter().map(|root| root.arrow.clone()).collect(),
    };
    Arc::new(ArrowSchema::new_with_metadata(fields, read_as.schema.metadata().clone()))
}

impl Iterator for ParquetRecordBatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_batch()?.map_err(ArrowError::from))
    }
}

impl RecordBatchReader for ParquetRecordBatchReader {
    fn schema(&self) -> SchemaRef {
        let read = self.array_filter.as_ref().map_or(&self.schema, SalvageArrayFilter::schema);
        self.adapter.as_ref().map_or(read, |adapter| &adapter.schema).clone()
    }
}
