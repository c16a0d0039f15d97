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

    /// Rows in a batch; the last batch may have fewer. Default 8,192. Batches go on from one row group to the next, unless
    /// there is a filter, a selection of rows or a virtual column: they end with row groups then. One thread decodes a batch in which
    /// a row group ends together with the one before it, where that has at most 256 KiB in a field, unless memory is limited.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// The columns to read, in the order of the file. Default all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order, self.chosen) = (mask, None, None);
        self
    }

    /// The columns to read, in this order: dotted paths, each for all columns at and below it. The fields of structs
    /// have the order of the names, too. Fails if a path does not exist, naming similar ones.
    ///
    /// A name may be a [path into a VARIANT](crate::variant::VariantPath), such as `payload:user.id::bigint`: the column has
    /// this text as its name, and a list of values for a path over all elements. Where the path is shredded, and all of the file's values with it,
    /// only its typed column is read.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        (self.projection, self.chosen) = choose_columns(self.metadata(), &names)?;
        self.order = Some(names);
        Ok(self)
    }

    /// The schema that batches are to have, whatever the file's is. It says which columns are read: a projection has no
    /// effect then. It comes on top of [`ArrowReaderOptions::with_schema`]. Predicates and filters are asked about the file's columns, by their
    /// names there, and one that the file lacks is an error; those of a [`Dataset`](crate::dataset::Dataset) are asked about the table's. Arrays
    /// that filters get may have wanted types already.
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
    /// With another [`OnCorrupt`](super::OnCorrupt) than `Fail` all rows are read that can be, and it is asked about these: a value that is lost
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

    /// The units of the chosen INT96 columns, if the options ask for [`Int96Unit::Auto`](super::Int96Unit::Auto): the finest of each that
    /// holds all its values. Those that nanoseconds hold are not among them.
    ///
    /// Who reads a file in parts, or several files as one, asks for those of all, as each part by itself may get others:
    /// [`Int96Units::coarser`] are those of two parts, and
    /// [`with_int96_units`](ArrowReaderOptions::with_int96_units) reads by them.
    ///
    /// Fails where reading these columns fails.
    pub fn fitting_int96(&self) -> Result<Int96Units> {
        let (metadata, mut options) = (&self.metadata.metadata, self.metadata.options.clone());
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..metadata.num_row_groups()).collect());
        int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)?;
        Ok(options.types.int96_units)
    }
}

/// Large enough that what is done once a batch costs nothing, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
