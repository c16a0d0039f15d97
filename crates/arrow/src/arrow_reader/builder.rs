//! Builds a reader: which columns, row groups and rows of a file to read.

use super::filtered_reader::{FilteredPlan, FilteredReader};
use super::loss::{OnCorrupt, no_choice_of_rows};
use super::memory_plan::{ahead_within, memory_of, threads_within};
use super::metadata::ArrowReaderMetadata;
use super::options::ArrowReaderOptions;
use super::read_plan::ReadPlan;
use super::reader::{FilteredMode, ParquetRecordBatchReader, THREAD_NAME};
use super::resolved_schema::ResolvedFields;
use super::row_group_parallel::{IN_FLIGHT, RowGroupParallelReader};
use super::{ChunkReader, Int96Unit, ProjectionMask, RowFilter, RowSelection, int96};
use crate::evolution::{BatchAdapter, Evolution, ordered};
use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use marquetry_base::{Error, Executor, Result, SharedExecutor, available_threads};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::nesting::NestedField;
use marquetry_core::predicate::{BoundPredicate, Predicate};
use marquetry_core::schema::Schema;
use marquetry_core::source::{MeteredSource, Source};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Chooses what to read, then builds a reader of record batches.
///
/// The type parameter is what was opened. It has no effect; it is there so that the type's name in ported code
/// (`ParquetRecordBatchReaderBuilder<File>`) stays good.
pub struct ParquetRecordBatchReaderBuilder<T> {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    /// The names of columns in the order that batches are to have them in.
    order: Option<Vec<String>>,
    evolution: Option<Evolution>,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    /// What the predicate is for the schema of the file, once that was asked.
    bound: OnceLock<BoundPredicate>,
    filter: Option<RowFilter>,
    threads: usize,
    executor: SharedExecutor,
    counters: Arc<ReadCounters>,
    /// Whether a stream has fetched what is read, and counts that and the row groups.
    is_fetched: bool,
    opened: PhantomData<fn() -> T>,
}

impl<T: ChunkReader> ParquetRecordBatchReaderBuilder<T> {
    /// Reads the footer. Fails if the file is none, is damaged there, or is encrypted in it.
    pub fn try_new(reader: T) -> Result<Self> {
        Self::try_new_with_options(reader, ArrowReaderOptions::default())
    }

    /// [`try_new`](Self::try_new) with options; fails also if the wanted schema does not fit the file.
    pub fn try_new_with_options(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let (source, counters) = (reader.into_source()?, Arc::<ReadCounters>::default());
        let metered = MeteredSource::new(source.clone(), counters.clone());
        let metadata = ArrowReaderMetadata::read(&metered, options)?;
        Ok(Self { counters, ..Self::with_source(source, metadata) })
    }

    /// Takes metadata that was loaded before; the file must be the same.
    ///
    /// Fails if the file cannot be asked for its length.
    pub fn try_new_with_metadata(reader: T, metadata: ArrowReaderMetadata) -> Result<Self> {
        Ok(Self::with_source(reader.into_source()?, metadata))
    }

    /// As [`try_new_with_metadata`](Self::try_new_with_metadata), with the signature that the `parquet` crate has.
    ///
    /// # Panics
    /// If the file cannot be asked for its length.
    pub fn new_with_metadata(reader: T, metadata: ArrowReaderMetadata) -> Self {
        let source = reader.into_source().expect("an open file has a length");
        Self::with_source(source, metadata)
    }

    fn with_source(source: Arc<dyn Source>, metadata: ArrowReaderMetadata) -> Self {
        let source = metadata.with_cached_bytes(source);
        ParquetRecordBatchReaderBuilder {
            source,
            metadata,
            batch_size: BATCH_SIZE,
            projection: ProjectionMask::all(),
            order: None,
            evolution: None,
            row_groups: None,
            limit: None,
            offset: 0,
            selection: None,
            predicate: None,
            bound: OnceLock::new(),
            filter: None,
            threads: 1,
            executor: SharedExecutor::default(),
            counters: Arc::default(),
            is_fetched: false,
            opened: PhantomData,
        }
    }
}

impl<T> ParquetRecordBatchReaderBuilder<T> {
    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The footer with the Arrow schema that goes with it.
    pub(crate) fn arrow_metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    /// The Arrow schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.parquet_schema()
    }

    /// Rows in a batch; the last batch may have fewer. Default 8,192. Batches go on from one row group to the next, unless
    /// there is a filter, a selection of rows or a virtual column: they end with row groups then.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// The columns to read, in the order of the file. Default all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order) = (mask, None);
        self
    }

    /// The columns to read, in this order: dotted paths, each for all columns at and below it. The fields of structs
    /// have the order of the names, too. Fails if a path does not exist, naming similar ones.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let mask = ProjectionMask::existing_columns(self.parquet_schema(), names.iter().map(String::as_str))?;
        (self.projection, self.order) = (mask, Some(names));
        Ok(self)
    }

    /// The schema that batches are to have, whatever the file's is. It says which columns are read: a projection has no
    /// effect then. It comes on top of [`ArrowReaderOptions::with_schema`].
    #[must_use]
    pub fn with_evolution(mut self, evolution: Evolution) -> Self {
        self.evolution = Some(evolution);
        self
    }

    /// The row groups to read, in this order. Default all.
    #[must_use]
    pub fn with_row_groups(mut self, row_groups: Vec<usize>) -> Self {
        self.row_groups = Some(row_groups);
        self
    }

    /// The rows to read, of those of all row groups that are read, in their order; the filter is asked about these alone.
    /// Default all.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Only rows for which `predicate` is true. Row groups and pages that can have none are not read, as far as statistics
    /// and indexes tell; then its columns are read, and of all others only the rows that it wants. Default all.
    ///
    /// With another [`OnCorrupt`] than `Fail` all rows are read that can be, and it is asked about these: a value that is lost
    /// and null is null to it.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    /// use marquetry_core::predicate::Predicate;
    /// # fn read(file: std::fs::File) -> marquetry_base::Result<()> {
    /// let reader = ParquetRecordBatchReaderBuilder::try_new(file)?
    ///     .with_predicate(Predicate::parse("country = 'DE' and amount > 100")?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.bound) = (Some(predicate), OnceLock::new());
        self
    }

    /// Only rows that `filter` wants: its columns are read, and of all others only the rows that it wants. A
    /// [predicate](Self::with_predicate) says the same faster, where it can. With both, the filter is asked about rows that
    /// the predicate wants. Default all.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Most rows to read, of those that are wanted. Default all.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows to pass over before the first, of those that are wanted. Default 0.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// How many threads decode columns, the caller's included; 0 for one for each processor. Default 1: none are started.
    /// Batches and errors are the same whatever the number. Columns are read ahead of the batch that is wanted, 8 MiB of them
    /// as they are encoded; one that is too much for one thread is read in parts, some pages each, up to 64 MiB ahead. With a
    /// predicate or a selection of rows, and for virtual columns, each thread reads row groups of its own, up to 256 MiB ahead.
    ///
    /// One thread is what there is if a [`RowFilter`] looks at rows that is not [pure](super::ArrowPredicate::fork), if a predicate or a
    /// selection comes with a limit or an offset, if damage is no error, and for sources whose requests are dear. Of
    /// [`Limits::memory`](marquetry_base::Limits::memory), if it is set, half of what is left decides how many threads there are,
    /// and an eighth how far ahead they read. A build without the feature `threads` has one.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    /// # fn read(file: std::fs::File) -> marquetry_base::Result<()> {
    /// let reader = ParquetRecordBatchReaderBuilder::try_new(file)?.with_threads(4).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = match threads {
            0 => available_threads(),
            threads => threads,
        };
        self
    }

    /// What has the [threads](Self::with_threads) besides the caller's. Default: a pool of our own, which lives as long as the reader;
    /// none is started for one thread.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    /// # mod rayon { pub fn spawn(work: impl FnOnce() + Send + 'static) { std::thread::spawn(work); } }
    /// # fn read(file: std::fs::File) -> marquetry_base::Result<()> {
    /// let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    /// let reader = builder.with_threads(4).with_executor(|task| rayon::spawn(task)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_executor(self, executor: impl Executor + 'static) -> Self {
        self.with_shared_executor(SharedExecutor::new(executor))
    }

    /// [`with_executor`](Self::with_executor), of one that others have, too.
    #[must_use]
    pub fn with_shared_executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
    }

    /// The reader. Fails if a row group does not exist, if the batch size is 0, if the predicate does not fit the schema,
    /// if the file cannot be read as the wanted schema, and if rows of a damaged file are to be chosen by other means than a
    /// predicate: which they are could not be told any more.
    pub fn build(mut self) -> Result<ParquetRecordBatchReader> {
        let evolved = self.evolved()?;
        self.build_evolved(evolved)
    }

    /// [`build`](Self::build), after [`evolved`](Self::evolved).
    pub(crate) fn build_evolved(mut self, evolved: Option<BatchAdapter>) -> Result<ParquetRecordBatchReader> {
        if !self.is_fetched {
            self.source = Arc::new(MeteredSource::new(self.source, self.counters.clone()));
        }
        let order = self.order.take();
        if evolved.is_none() && order.is_none() {
            return self.reader();
        }
        let (metadata, mask) = (self.metadata.clone(), self.projection.clone());
        let reader = self.reader()?;
        let read: Vec<NestedField> =
            metadata.resolve(&mask).projected(&mask).map(|projected| projected.field).collect();
        let ordered = || ordered(&order?, metadata.parquet_schema(), &read, &reader.schema());
        // Virtual columns stay behind the others.
        let adapter =
            evolved.or_else(ordered).map(|adapter| adapter.with_others(&reader.schema(), read.len()));
        Ok(match adapter {
            // Any value may turn out to be lost.
            Some(adapter) if metadata.options.on_corrupt == OnCorrupt::NullPage => {
                reader.adapted_by(adapter.nullable())
            }
            Some(adapter) => reader.adapted_by(adapter),
            None => reader,
        })
    }

    /// Chooses the columns that the wanted schema needs, as what they are read, and says what is made of them; `None` if
    /// none is wanted.
    pub(crate) fn evolved(&mut self) -> Result<Option<BatchAdapter>> {
        let Some(evolution) = self.evolution.take() else { return Ok(None) };
        let ResolvedFields { fields, schema } = self.metadata.whole();
        let evolved = evolution.of(fields, self.metadata.parquet_schema(), schema)?;
        self.projection = evolved.mask;
        self.metadata = self.metadata.with_schema(evolved.read_as);
        // The wanted schema has their unit.
        self.metadata.options.int96 = Int96Unit::Nanoseconds;
        Ok(Some(evolved.adapter))
    }

    fn reader(mut self) -> Result<ParquetRecordBatchReader> {
        let (row_groups, options, resolved) = self.resolve()?;
        // Where damage is no error, all rows are read, and a predicate is asked about what there is of them.
        let has_predicate = self.has_predicate() && options.on_corrupt == OnCorrupt::Fail;
        let is_whole = self.selection.is_none() && !has_predicate && self.filter.is_none();
        if is_whole && options.virtual_columns.is_empty() {
            let bound = self.bound()?;
            let (projection, offset, batch_size) = (self.projection, self.offset, self.batch_size);
            let limit = self.limit.unwrap_or(usize::MAX);
            let plan = ReadPlan {
                row_groups,
                batch_size,
                projection,
                limit,
                offset,
                threads: self.threads,
                executor: self.executor,
                counters: self.counters,
                is_part: self.is_fetched,
                predicate: bound,
            };
            let (source, metadata) = (self.source, self.metadata.metadata);
            return ParquetRecordBatchReader::new(source, metadata, &resolved, &options, plan);
        }
        let (metadata, counters) = (self.metadata.metadata.clone(), self.counters.clone());
        let threads = self.threads_of_filtered(&row_groups, &self.columns()?, &options);
        let filtered = match threads {
            1 => FilteredMode::OneThread(Box::new(self.filtered(row_groups, &options, &resolved)?)),
            _ => FilteredMode::RowGroupParallel(Box::new(
                self.row_group_parallel(row_groups, &options, &resolved, threads)?,
            )),
        };
        Ok(ParquetRecordBatchReader::of_filtered(metadata, filtered, counters))
    }

    /// How many threads can read row groups side by side and give what one would.
    fn threads_of_filtered(
        &self,
        row_groups: &[usize],
        columns: &ProjectionMask,
        options: &ArrowReaderOptions,
    ) -> usize {
        // Predicates over arrays may remember what they saw, and who counts rows needs to know what was before.
        let is_pure = self.filter.as_ref().is_none_or(RowFilter::is_pure);
        let is_each_its_own = is_pure && self.limit.is_none() && self.offset == 0;
        match is_each_its_own && self.source.request_cost().is_none() && self.threads > 1 {
            true => {
                let columns =
                    (0..self.parquet_schema().num_columns()).filter(|leaf| columns.leaf_included(*leaf));
                let each = memory_of(self.metadata.metadata(), columns, self.batch_size);
                let (memory, threads) = (&options.limits.memory, self.threads.min(row_groups.len()).max(1));
                threads_within(memory, threads, each, ahead_within(memory, IN_FLIGHT) as u64)
            }
            false => 1,
        }
    }

    /// Which rows of the row groups are wanted, by selection, predicate, filter, offset and limit. Nothing is read but what
    /// tells that: a later read [with this selection](Self::with_row_selection) of the same row groups, and without a
    /// filter, gives what [`build`](Self::build) would. Fails as that does, and as reading does.
    pub fn selected_rows(mut self) -> Result<RowSelection> {
        self.projection = ProjectionMask::none(self.parquet_schema().num_columns());
        let (row_groups, options, resolved) = self.resolve()?;
        Ok(self.filtered(row_groups, &options, &resolved)?.selected()?.into())
    }

    /// The row groups, and what the file is read as.
    fn resolve(&mut self) -> Result<(Vec<usize>, ArrowReaderOptions, ResolvedFields)> {
        if self.batch_size == 0 {
            return Err(Error::argument("batches of 0 rows"));
        }
        let metadata = &self.metadata.metadata;
        let count = metadata.num_row_groups();
        let row_groups = self.row_groups.take().unwrap_or_else(|| (0..count).collect());
        if let Some(missing) = row_groups.iter().find(|&&row_group| row_group >= count) {
            return Err(Error::argument(format!("no row group {missing}, there are {count}")));
        }
        let mut options = self.metadata.options.clone();
        if self.threads > 1 {
            // What is dropped stops its threads, and nothing else that has these limits.
            options.limits = Arc::new(options.limits.with_cancel(options.limits.cancel.child()));
        }
        let columns = self.columns()?;
        let resolved = match int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)?
        {
            true => ArrowReaderMetadata::try_new(metadata.clone(), options.clone())?.resolve(&columns),
            false => self.metadata.resolve(&columns),
        };
        Ok((row_groups, options, resolved))
    }

    /// All columns that are looked at, those of predicates included.
    fn columns(&self) -> Result<ProjectionMask> {
        let mut columns = self.projection.clone();
        for predicate in self.filter.iter().flat_map(RowFilter::predicates) {
            columns.union(predicate.projection());
        }
        if let Some(bound) = self.bound()? {
            columns.union(&ProjectionMask::leaves(self.parquet_schema(), bound.leaves().iter().copied()));
        }
        Ok(columns)
    }

    fn has_predicate(&self) -> bool {
        self.predicate.is_some() || self.bound.get().is_some()
    }

    /// PERF: binding a list of many values takes time, so it is done once.
    fn bound(&self) -> Result<Option<BoundPredicate>> {
        if let (None, Some(predicate)) = (self.bound.get(), &self.predicate) {
            // Another thread may have been faster, with the same.
            let _ = self.bound.set(predicate.bind(self.parquet_schema())?);
        }
        Ok(self.bound.get().cloned())
    }

    fn filtered(
        self,
        row_groups: Vec<usize>,
        options: &ArrowReaderOptions,
        resolved: &ResolvedFields,
    ) -> Result<FilteredReader> {
        let plan = self.filtered_plan(row_groups, options)?;
        let filters = self.filter.map(RowFilter::into_predicates).unwrap_or_default();
        FilteredReader::new(&self.source, &self.metadata.metadata, resolved, options, plan, filters)
    }

    /// What [`filtered`](Self::filtered) reads, by several threads.
    fn row_group_parallel(
        self,
        row_groups: Vec<usize>,
        options: &ArrowReaderOptions,
        resolved: &ResolvedFields,
        threads: usize,
    ) -> Result<RowGroupParallelReader> {
        let plan = self.filtered_plan(row_groups, options)?;
        let (source, metadata) = (&self.source, &self.metadata.metadata);
        let reader = || {
            let filters = self.filter.as_ref().map_or(Some(Vec::new()), RowFilter::fork);
            let filters =
                filters.ok_or_else(|| Error::argument("a predicate that was pure is not any more"))?;
            FilteredReader::new(source, metadata, resolved, options, plan.clone(), filters)
        };
        let others = (1..threads).map(|_| reader()).collect::<Result<_>>()?;
        let (executor, stop) = (self.executor.or_threads(THREAD_NAME), options.limits.cancel.clone());
        let in_flight = ahead_within(&options.limits.memory, IN_FLIGHT);
        Ok(RowGroupParallelReader::new(reader()?, others, in_flight, executor, stop))
    }

    fn filtered_plan(&self, row_groups: Vec<usize>, options: &ArrowReaderOptions) -> Result<FilteredPlan> {
        if options.on_corrupt != OnCorrupt::Fail {
            return Err(no_choice_of_rows());
        }
        Ok(FilteredPlan {
            row_groups,
            batch_size: self.batch_size,
            projection: self.projection.clone(),
            limit: self.limit.unwrap_or(usize::MAX),
            offset: self.offset,
            selection: self.selection.clone(),
            predicate: self.bound()?,
            counters: self.counters.clone(),
            is_part: self.is_fetched,
        })
    }

    /// The columns that are read of the file, and what is known of it, after [`evolved`](Self::evolved).
    #[cfg(feature = "async")]
    pub(crate) fn read_as(&self) -> (ProjectionMask, ArrowReaderMetadata) {
        (self.projection.clone(), self.metadata.clone())
    }

    /// Counts in `counters`, too, what others count there.
    pub(crate) fn counted_by(mut self, counters: Arc<ReadCounters>) -> Self {
        self.counters = counters;
        self
    }

    /// As [`with_predicate`](Self::with_predicate), of one that was bound to the schema of the file.
    #[cfg(feature = "async")]
    pub(crate) fn with_bound_predicate(mut self, bound: BoundPredicate) -> Self {
        (self.predicate, self.bound) = (None, OnceLock::from(bound));
        self
    }

    /// Reads what a stream has fetched, which counts that, and the row groups.
    #[cfg(feature = "async")]
    pub(crate) fn of_fetched(mut self, counters: Arc<ReadCounters>) -> Self {
        (self.counters, self.is_fetched) = (counters, true);
        self
    }

    /// What is read from.
    pub(crate) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// How many rows the chosen row groups have.
    pub(crate) fn chosen_rows(&self) -> u64 {
        let metadata = &self.metadata.metadata;
        let rows = |row_group: &usize| metadata.row_group(*row_group).num_rows();
        match &self.row_groups {
            Some(row_groups) => row_groups.iter().map(rows).fold(0, u64::saturating_add),
            None => metadata.num_rows(),
        }
    }

    /// A unit that holds the chosen INT96 timestamps, if the options ask for one that fits.
    pub(crate) fn fitting_int96(&self) -> Result<Int96Unit> {
        let (metadata, mut options) = (&self.metadata.metadata, self.metadata.options.clone());
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..metadata.num_row_groups()).collect());
        int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)?;
        Ok(options.int96)
    }
}

/// Large enough that what is done once a batch costs nothing, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
