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
/// The type parameter is what was opened. It has no effect; it is there so that the type's name in ported code
/// (`ParquetRecordBatchReaderBuilder<File>`) stays good.
pub struct ParquetRecordBatchReaderBuilder<T> {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    /// The names of columns in the order that batches are to have them in.
    order: Option<Vec<String>>,
    /// What the columns are that are paths into VARIANT, if any is.
    chosen: Option<ChosenColumns>,
    evolution: Option<Evolution>,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    /// What the predicate is for the schema of the file, once that was asked.
    bound: OnceLock<BoundPredicate>,
    filter: Option<RowFilter>,
    /// Asked about arrays of a file whose damage is no error.
    salvage_filters: Vec<Box<dyn ArrowPredicate>>,
    threads: usize,
    executor: SharedExecutor,
    counters: Arc<ReadCounters>,
    /// Whether a stream has fetched what is read, and counts that and the row groups.
    is_fetched: bool,
    opened: PhantomData<fn() -> T>,
}

impl<T: ChunkReader> ParquetRecordBatchReaderBuilder<T> {
    /// Opens a file with the default options: reads its footer.
    ///
    /// Fails if the file is not a Parquet file, or if its footer is damaged or encrypted.
    pub fn try_new(reader: T) -> Result<Self> {
        Self::try_new_with_options(reader, ArrowReaderOptions::default())
    }

    /// Opens a file with options: reads its footer.
    ///
    /// Fails as [`try_new`](Self::try_new) does, and if the schema in the options does not fit the file.
    pub fn try_new_with_options(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let (source, counters) = (reader.into_source()?, Arc::<ReadCounters>::default());
        let metered = MeteredSource::new(source.clone(), counters.clone());
        let metadata = ArrowReaderMetadata::read(&metered, options)?;
        Ok(Self { counters, ..Self::with_source(source, metadata) })
    }

    /// Uses metadata that was loaded before, so that the footer is not read again.
    ///
    /// `reader` must be the same file with the same content. This is not checked: with the metadata of another file, reading fails or returns
    /// values that are in neither file. A cache should keep metadata under a [`FileCacheKey`](marquetry_core::io::FileCacheKey), which
    /// identifies the version of a file.
    ///
    /// Fails if the length of the file cannot be determined.
    pub fn try_new_with_metadata(reader: T, metadata: ArrowReaderMetadata) -> Result<Self> {
        Ok(Self::with_source(reader.into_source()?, metadata))
    }

    /// The same as [`try_new_with_metadata`](Self::try_new_with_metadata), with the signature of the `parquet` crate.
    ///
    /// # Panics
    /// If the length of the file cannot be determined.
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

    /// Sets the number of rows in a batch. Default 8,192. The last batch may be shorter.
    ///
    /// A batch may hold rows of several row groups. With a filter, a row selection or virtual columns, each batch ends at the end of its row
    /// group. With one thread, the batch that crosses the end of a row group is decoded together with the batch before it, if the latter
    /// has at most 256 KiB per field and memory is not limited.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// Selects the columns to read. They keep the order of the file. Default: all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order, self.chosen) = (mask, None, None);
        self
    }

    /// Selects the columns to read, by dotted path, and returns them in this order. A path selects a column, or all columns of a group; the
    /// fields of structs are returned in the order of the paths as well.
    ///
    /// A name may also be a [path into a VARIANT](crate::variant::VariantPath), such as `payload:user.id::bigint`. The result column is
    /// named by this text; a path over all elements of an array gives a list. If all values at the path are shredded, only the typed
    /// column is read.
    ///
    /// Fails if a path does not exist. The error names similar paths.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        (self.projection, self.chosen) = choose_columns(self.metadata(), &names)?;
        self.order = Some(names);
        Ok(self)
    }

    /// Reads the file as another schema: see [`Evolution`]. The schema decides which columns are read, so that a projection has no effect.
    /// It is applied after [`ArrowReaderOptions::with_schema`].
    ///
    /// Predicates and filters still refer to the columns of the file, by the file's names and types; a column that the file lacks is an
    /// error. The arrays that a filter gets may already have the types of the wanted schema. A [`Dataset`](crate::dataset::Dataset) evaluates
    /// predicates on the columns of the table instead.
    #[must_use]
    pub fn with_evolution(mut self, evolution: Evolution) -> Self {
        self.evolution = Some(evolution);
        self
    }

    /// Selects the row groups to read, by number, in this order. Default: all.
    #[must_use]
    pub fn with_row_groups(mut self, row_groups: Vec<usize>) -> Self {
        self.row_groups = Some(row_groups);
        self
    }

    /// Selects the rows to read. The selection counts the rows of the selected row groups, in the order in which they are read. Predicates
    /// and filters are evaluated on the selected rows only. Default: all.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Returns only the rows for which `predicate` is true. Default: all rows.
    ///
    /// Statistics, bloom filters, dictionaries and page indexes rule out row groups and pages first. Then the columns of the predicate are
    /// read, and of the other columns only the rows that match.
    ///
    /// With an [`OnCorrupt`](super::OnCorrupt) other than `Fail`, all readable rows are read, and the predicate is evaluated on them. A lost
    /// value that became null is null for the predicate as well.
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

    /// Returns only the rows that `filter` selects. Its columns are read first, and of the other columns only the selected rows. Default:
    /// all rows.
    ///
    /// A [predicate](Self::with_predicate) is faster where it can express the condition. With both, the filter is evaluated on the rows for
    /// which the predicate is true.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Limits the number of rows, counted after selection, predicate and filter. Default: no limit.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Skips this many rows, counted after selection, predicate and filter. Default 0.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// Sets the number of threads that decode, including the caller's; 0 stands for one per processor. Default 1: no thread is started.
    /// Batches and errors do not depend on the number.
    ///
    /// Without a predicate, a selection or virtual columns, the threads share the columns, and read up to 8 MiB of encoded data ahead. A
    /// column that is too much work for one thread is split into ranges of pages, up to 64 MiB ahead. Otherwise each thread reads row
    /// groups of its own, up to 256 MiB ahead.
    ///
    /// Only one thread is used with a [`RowFilter`] that is not [pure](super::ArrowPredicate::fork), with a limit or an offset beside a
    /// predicate or a selection, with an [`OnCorrupt`](super::OnCorrupt) other than `Fail`, for sources whose requests are expensive, and in
    /// a build without the feature `threads`. If [`Limits::memory`](marquetry_base::Limits::memory) is set, half of the memory that is left
    /// bounds the number of threads, and an eighth of it how far they read ahead.
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

    /// Runs the work of the other [threads](Self::with_threads) on this executor. Default: a thread pool that lives as long as the reader; no
    /// thread is started if the number is 1.
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

    /// The same as [`with_executor`](Self::with_executor), with an executor that several readers share.
    #[must_use]
    pub fn with_shared_executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
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

    /// Finds the unit of each selected INT96 column, if the options ask for [`Int96Unit::Auto`](super::Int96Unit::Auto): the finest unit that
    /// holds all its values. Columns whose values all fit nanoseconds are left out.
    ///
    /// To read a file in parts, or several files as one table, find the units of all parts, join them with [`Int96Units::coarser`], and
    /// pass the result to [`with_int96_units`](ArrowReaderOptions::with_int96_units). Otherwise the parts may get different units.
    ///
    /// Fails if reading these columns fails.
    pub fn fitting_int96(&self) -> Result<Int96Units> {
        let (metadata, mut options) = (&self.metadata.metadata, self.metadata.options.clone());
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..metadata.num_row_groups()).collect());
        int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)?;
        Ok(options.types.int96_units)
    }
}

/// Large enough that what is done once a batch costs nothing, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
