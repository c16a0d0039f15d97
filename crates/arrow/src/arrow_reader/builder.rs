//! Builds a reader: which columns, row groups and rows of a file to read.

mod build;

use super::choose_columns::choose_columns;
use super::metadata::ArrowReaderMetadata;
use super::options::ArrowReaderOptions;
use super::{ArrowPredicate, ChunkReader, Int96Units, ProjectionMask, RowFilter, RowSelection, int96};
use crate::evolution::{ChosenColumns, Evolution};
use arrow_schema::SchemaRef;
use marquetry_base::{Executor, Result, SharedExecutor, available_threads};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::{BoundPredicate, Predicate};
use marquetry_core::schema::Schema;
use marquetry_core::source::{MeteredSource, Source};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Chooses what to read, then builds a reader of record batches.
///
/// The type parameter is the type of what was opened. It has no effect, but keeps the type's name in ported code valid
/// (`ParquetRecordBatchReaderBuilder<File>`).
pub struct ParquetRecordBatchReaderBuilder<T> {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    /// Column names in the order that the batches are to have.
    order: Option<Vec<String>>,
    /// The columns to make, if any of them is a path into a VARIANT.
    chosen: Option<ChosenColumns>,
    evolution: Option<Evolution>,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    /// The predicate bound to the file's schema, once it was needed.
    bound: OnceLock<BoundPredicate>,
    filter: Option<RowFilter>,
    /// Predicates over arrays, for reads in which damage is not an error.
    salvage_filters: Vec<Box<dyn ArrowPredicate>>,
    threads: usize,
    executor: SharedExecutor,
    counters: Arc<ReadCounters>,
    /// Whether a stream fetched the data. The stream then counts requests and row groups itself.
    is_fetched: bool,
    opened: PhantomData<fn() -> T>,
}

impl<T: ChunkReader> ParquetRecordBatchReaderBuilder<T> {
    /// Reads the footer. Fails if the file is not a Parquet file, if its footer is damaged, or if its footer is encrypted.
    pub fn try_new(reader: T) -> Result<Self> {
        Self::try_new_with_options(reader, ArrowReaderOptions::default())
    }

    /// Like [`try_new`](Self::try_new), with options. Also fails if the requested schema does not fit the file.
    pub fn try_new_with_options(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let (source, counters) = (reader.into_source()?, Arc::<ReadCounters>::default());
        let metered = MeteredSource::new(source.clone(), counters.clone());
        let metadata = ArrowReaderMetadata::read(&metered, options)?;
        Ok(Self { counters, ..Self::with_source(source, metadata) })
    }

    /// Uses metadata that was loaded before, which must be that of the same file.
    ///
    /// Fails if the file's length cannot be determined.
    pub fn try_new_with_metadata(reader: T, metadata: ArrowReaderMetadata) -> Result<Self> {
        Ok(Self::with_source(reader.into_source()?, metadata))
    }

    /// Like [`try_new_with_metadata`](Self::try_new_with_metadata), with the signature that the `parquet` crate has.
    ///
    /// # Panics
    /// If the file's length cannot be determined.
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
            chosen: None,
            evolution: None,
            row_groups: None,
            limit: None,
            offset: 0,
            selection: None,
            predicate: None,
            bound: OnceLock::new(),
            filter: None,
            salvage_filters: Vec::new(),
            threads: 1,
            executor: SharedExecutor::default(),
            counters: Arc::default(),
            is_fetched: false,
            opened: PhantomData,
        }
    }
}

impl<T> ParquetRecordBatchReaderBuilder<T> {
    /// Returns the footer's metadata.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// Returns the footer's metadata and the Arrow schema of the file.
    pub(crate) fn arrow_metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    /// Returns the Arrow schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Returns the Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.parquet_schema()
    }

    /// Sets how many rows a batch has; the last one may have fewer. Default 8,192.
    ///
    /// Batches span row groups, unless there is a filter, a row selection or a virtual column: then each batch ends
    /// with its row group. If a row group ends in the next batch, one thread decodes that batch along with the current
    /// one. It does so for fields with at most 256 KiB in a batch, and only if memory is not limited.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// Sets the columns to read. Batches have them in the order of the file. Default all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order, self.chosen) = (mask, None, None);
        self
    }

    /// Sets the columns to read, in this order.
    ///
    /// Names are dotted paths, each for all columns at and below it. The fields of structs follow the order of the
    /// names, too. Fails if a path does not exist; the error names similar ones.
    ///
    /// A name may also be a [path into a VARIANT](crate::variant::VariantPath), such as `payload:user.id::bigint`. The
    /// column is named by this text, and holds a list of values if the path ranges over all elements. Only the typed
    /// column is read if the path is shredded and all of the file's values are in that column.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        (self.projection, self.chosen) = choose_columns(self.metadata(), &names)?;
        self.order = Some(names);
        Ok(self)
    }

    /// Sets the schema that batches get, whatever the schema of the file is. It decides which columns are read, so a
    /// projection has no effect.
    ///
    /// It is applied on top of [`ArrowReaderOptions::with_schema`]. Predicates and filters still refer to the file's
    /// columns by their names in the file, and a column that the file lacks is an error; those of a
    /// [`Dataset`](crate::dataset::Dataset) refer to the table's. Arrays passed to filters may already have types of
    /// this schema.
    #[must_use]
    pub fn with_evolution(mut self, evolution: Evolution) -> Self {
        self.evolution = Some(evolution);
        self
    }

    /// Sets the row groups to read, in this order. Default all.
    #[must_use]
    pub fn with_row_groups(mut self, row_groups: Vec<usize>) -> Self {
        self.row_groups = Some(row_groups);
        self
    }

    /// Sets the rows to read. The selection counts the rows of all row groups that are read, in their order. The filter
    /// sees selected rows only. Default all.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Reads only rows for which `predicate` is true. Default all.
    ///
    /// Row groups and pages are pruned by statistics and indexes. Of the rest, the predicate's columns are read first,
    /// and other columns only for the rows that match.
    ///
    /// If [`OnCorrupt`](super::OnCorrupt) is not `Fail`, all readable rows are read, and the predicate is evaluated on
    /// these. To it, a lost value that was made null is null.
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

    /// Reads only rows that pass `filter`. Default all.
    ///
    /// The filter's columns are read first, and other columns only for the rows that pass. A
    /// [predicate](Self::with_predicate), where it can express the same, is faster. With both, the filter sees only
    /// rows that the predicate selects.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the maximum number of rows to read, counted after selection and filters. Default all.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Sets the number of rows to skip at the start, counted after selection and filters. Default 0.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// Sets how many threads decode columns, including the caller's; 0 means one for each processor. Default 1: no
    /// threads are started. Batches and errors are the same for any number of threads.
    ///
    /// Columns are decoded ahead of the wanted batch, by up to 8 MiB of encoded data. A column that is too much for one
    /// thread is read in parts of several pages, up to 64 MiB ahead. With a predicate, a row selection or virtual
    /// columns, each thread reads row groups of its own, up to 256 MiB ahead.
    ///
    /// One thread reads everything if a [`RowFilter`] is not [pure](super::ArrowPredicate::fork), if a predicate or
    /// selection is combined with a limit or an offset, if damage is not an error, or if the source has expensive requests.
    /// If [`Limits::memory`](marquetry_base::Limits::memory) is set, half of what is left of it bounds the number of
    /// threads, and an eighth bounds how far ahead they read. A build without the feature `threads` uses one thread.
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

    /// Sets the executor that runs the [threads](Self::with_threads) besides the caller's. Default: our own pool, which
    /// lives as long as the reader and is not started for one thread.
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

    /// Like [`with_executor`](Self::with_executor), with an executor that is shared with others.
    #[must_use]
    pub fn with_shared_executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
    }

    /// Returns the columns to read from the file, and its metadata, after [`evolved`](Self::evolved).
    #[cfg(feature = "async")]
    pub(crate) fn read_as(&self) -> (ProjectionMask, ArrowReaderMetadata) {
        (self.projection.clone(), self.metadata.clone())
    }

    /// Adds this read's metrics to `counters`, which may be shared.
    pub(crate) fn counted_by(mut self, counters: Arc<ReadCounters>) -> Self {
        self.counters = counters;
        self
    }

    /// Like [`with_predicate`](Self::with_predicate), with a predicate that is already bound to the file's schema.
    #[cfg(feature = "async")]
    pub(crate) fn with_bound_predicate(mut self, bound: BoundPredicate) -> Self {
        (self.predicate, self.bound) = (None, OnceLock::from(bound));
        self
    }

    /// Reads data that a stream has fetched. The stream counts requests and row groups itself.
    #[cfg(feature = "async")]
    pub(crate) fn of_fetched(mut self, counters: Arc<ReadCounters>) -> Self {
        (self.counters, self.is_fetched) = (counters, true);
        self
    }

    /// Returns the source that is read from.
    pub(crate) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the number of rows in the chosen row groups.
    pub(crate) fn chosen_rows(&self) -> u64 {
        let metadata = &self.metadata.metadata;
        let rows = |row_group: &usize| metadata.row_group(*row_group).num_rows();
        match &self.row_groups {
            Some(row_groups) => row_groups.iter().map(rows).fold(0, u64::saturating_add),
            None => metadata.num_rows(),
        }
    }

    /// Returns the unit of each chosen INT96 column: the finest that holds all its values.
    ///
    /// Columns that fit nanoseconds are left out. If the options do not request
    /// [`Int96Unit::Auto`](super::Int96Unit::Auto), returns the units that they set, without reading.
    ///
    /// Use this to read a file in parts, or several files as one: each part by itself could get other units. Combine
    /// the units of the parts with [`Int96Units::coarser`], and read all of them with
    /// [`with_int96_units`](ArrowReaderOptions::with_int96_units).
    ///
    /// Fails if reading these columns fails.
    pub fn fitting_int96(&self) -> Result<Int96Units> {
        let (metadata, mut options) = (&self.metadata.metadata, self.metadata.options.clone());
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..metadata.num_row_groups()).collect());
        int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)?;
        Ok(options.types.int96_units)
    }
}

/// Large enough that the cost per batch does not matter, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
