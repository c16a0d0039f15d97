//! Opens files for reading, with the settings of a read.

use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ChunkReader, DecimalOverflow, Int96Unit, InvalidUtf8, OnCorrupt,
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use marquetry_arrow::evolution::Evolution;
use marquetry_arrow::schema::StringLayout;
use marquetry_base::{Error, Limits, Result, SharedExecutor};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use std::sync::Arc;

/// Opens a Parquet file that is in memory.
///
/// Fails if it is not a Parquet file, or if its footer is damaged or encrypted.
pub fn open_bytes(bytes: impl Into<Bytes>) -> Result<OpenFile> {
    OpenFile::new(Arc::new(bytes.into()), ArrowReaderOptions::new())
}

/// A file whose footer was read, with the settings of a read.
#[derive(Clone)]
pub struct OpenFile {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    recovered_end: Option<u64>,
    options: ArrowReaderOptions,
    columns: Option<Vec<String>>,
    evolution: Option<Evolution>,
    row_groups: Option<Vec<usize>>,
    batch_size: Option<usize>,
    limit: Option<usize>,
    offset: usize,
    predicate: Option<Predicate>,
    threads: usize,
    executor: SharedExecutor,
}

impl OpenFile {
    /// Reads the footer of `source`. Where `options` set neither, text is read as [`StringLayout::Utf8View`], and INT96
    /// in a unit that holds every value, [`Int96Unit::Auto`].
    pub fn new(source: Arc<dyn Source>, options: ArrowReaderOptions) -> Result<Self> {
        let options = options.with_default_text(StringLayout::Utf8View).with_default_int96(Int96Unit::Auto);
        let loaded = ArrowReaderMetadata::load(source.clone(), options.clone())?;
        let metadata = loaded.metadata().clone();
        Ok(OpenFile {
            source,
            metadata,
            recovered_end: loaded.recovered_end(),
            options,
            columns: None,
            evolution: None,
            row_groups: None,
            batch_size: None,
            limit: None,
            offset: 0,
            predicate: None,
            threads: 0,
            executor: SharedExecutor::default(),
        })
    }

    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }

    /// Returns the end of the footer that was read, if that is not the end of the file. Nothing behind it is read. This
    /// happens only with [`with_checkpoint_recovery`](ArrowReaderOptions::with_checkpoint_recovery).
    pub fn recovered_end(&self) -> Option<u64> {
        self.recovered_end
    }

    /// Returns the Arrow schema of the chosen columns. With [`Int96Unit::Auto`], it has INT96 columns as nanoseconds; a
    /// read may find that they need a coarser unit, which the schema of the [`ParquetRecordBatchReader`] has.
    pub fn schema(&self) -> Result<SchemaRef> {
        use arrow_array::RecordBatchReader;
        let options = match self.options.int96() {
            // Auto would read the values to find the unit.
            Int96Unit::Auto => self.options.clone().with_int96(Int96Unit::Nanoseconds),
            _ => self.options.clone(),
        };
        Ok(OpenFile { options, ..self.clone() }.batches()?.schema())
    }

    /// Reads only these columns and all columns below them, in this order. Each is a dotted path such as `a` or `b.c`.
    /// The fields of structs have the order of the paths, too.
    #[must_use]
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Reads the file as this schema, whatever its own is; see [`mod@crate::arrow::evolution`]. The schema then chooses
    /// the columns, and [`columns`](Self::columns) has no effect.
    #[must_use]
    pub fn evolve(mut self, evolution: Evolution) -> Self {
        self.evolution = Some(evolution);
        self
    }

    /// Reads only these row groups, in this order.
    #[must_use]
    pub fn row_groups(mut self, row_groups: impl IntoIterator<Item = usize>) -> Self {
        self.row_groups = Some(row_groups.into_iter().collect());
        self
    }

    /// Reads only rows for which `predicate` is true. Statistics and indexes let it skip most other rows, and late
    /// materialization decodes the remaining columns only for the selected ones. See
    /// [`with_predicate`](ParquetRecordBatchReaderBuilder::with_predicate).
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// use marquetry::predicate::{Predicate, col};
    /// let of_2020 = marquetry::open(path)?.filter(col("year").eq(2020)).batches()?;
    /// let also = marquetry::open(path)?.filter(Predicate::parse("year = 2020")?).batches()?;
    /// let rows = |reader| -> Result<usize, arrow_schema::ArrowError> {
    ///     let batches: marquetry::arrow::arrow_reader::ParquetRecordBatchReader = reader;
    ///     batches.map(|batch| Ok(batch?.num_rows())).sum()
    /// };
    /// assert_eq!(rows(of_2020)?, rows(also)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn filter(mut self, predicate: Predicate) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Adds a column of this name with each row's number in the file, counted from 0.
    #[must_use]
    pub fn row_numbers(mut self, name: &str) -> Self {
        self.options = self.options.with_row_numbers(name);
        self
    }

    /// Sets the number of rows in a batch. Default 8,192.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = Some(rows);
        self
    }

    /// Reads at most this many of the selected rows.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Skips this many of the selected rows first.
    #[must_use]
    pub fn offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// Sets the resource limits of the read. Default: those that the footer was read with.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options = self.options.with_limits(limits);
        self
    }

    /// Sets how many threads decode columns, including the caller's. The default 0 means one per processor. See
    /// [`with_threads`](ParquetRecordBatchReaderBuilder::with_threads).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the executor that provides the threads besides the caller's. Default: a pool of our own. See
    /// [`with_executor`](ParquetRecordBatchReaderBuilder::with_executor).
    ///
    /// ```
    /// use marquetry::threads::SharedExecutor;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// let executor = SharedExecutor::new(|task| drop(std::thread::spawn(task)));
    /// let rows: usize = marquetry::open(path)?
    ///     .threads(2)
    ///     .executor(executor)
    ///     .batches()?
    ///     .map(|batch| batch.map(|batch| batch.num_rows()))
    ///     .sum::<Result<_, _>>()?;
    /// assert_eq!(rows, 200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
    }

    /// Sets the layout of text and other byte strings. Default [`StringLayout::Utf8View`].
    #[must_use]
    pub fn text(mut self, text: StringLayout) -> Self {
        self.options = self.options.with_text(text);
        self
    }

    /// Sets the unit of INT96 timestamps. Default [`Int96Unit::Auto`].
    #[must_use]
    pub fn int96(mut self, int96: Int96Unit) -> Self {
        self.options = self.options.with_int96(int96);
        self
    }

    /// Sets what happens to text that is not UTF-8. Default [`InvalidUtf8::Error`].
    #[must_use]
    pub fn invalid_utf8(mut self, invalid_utf8: InvalidUtf8) -> Self {
        self.options = self.options.with_invalid_utf8(invalid_utf8);
        self
    }

    /// Sets what happens to decimals that need more bits than their Arrow type has. Default [`DecimalOverflow::Error`].
    #[must_use]
    pub fn decimal_overflow(mut self, decimal_overflow: DecimalOverflow) -> Self {
        self.options = self.options.with_decimal_overflow(decimal_overflow);
        self
    }

    /// Sets whether page checksums are verified. Default true.
    #[must_use]
    pub fn verify_checksums(mut self, verify: bool) -> Self {
        self.options = self.options.with_page_checksum_verification(verify);
        self
    }

    /// Sets what happens to pages that cannot be read. Default [`OnCorrupt::Fail`]; otherwise the reader's
    /// [`loss_report`](ParquetRecordBatchReader::loss_report) lists what is missing.
    #[must_use]
    pub fn on_corrupt(mut self, on_corrupt: OnCorrupt) -> Self {
        self.options = self.options.with_on_corrupt(on_corrupt);
        self
    }

    /// Returns the chosen rows as record batches, in the order of the file. Fails if a column or a row group does not
    /// exist; for a wrong column name the error suggests similar ones.
    ///
    /// All processors decode, unless [`threads`](Self::threads) says otherwise. Batches and errors are the same for any
    /// number of threads. Threads decode ahead of the wanted batch by up to 8 MiB of encoded columns, or with a
    /// predicate by up to 256 MiB of rows, within [`Limits::memory`](crate::errors::Limits::memory). The first batch is
    /// returned as soon as it is decoded. The threads end when the reader is dropped.
    pub fn batches(self) -> Result<ParquetRecordBatchReader> {
        let metadata = ArrowReaderMetadata::try_new(self.metadata, self.options)?;
        let mut builder =
            ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::new_with_metadata(self.source, metadata);
        if let Some(columns) = self.columns.filter(|_| self.evolution.is_none()) {
            builder = builder.with_columns(columns)?;
        }
        if let Some(evolution) = self.evolution {
            builder = builder.with_evolution(evolution);
        }
        if let Some(row_groups) = self.row_groups {
            builder = builder.with_row_groups(row_groups);
        }
        if let Some(predicate) = self.predicate {
            builder = builder.with_predicate(predicate);
        }
        if let Some(rows) = self.batch_size {
            builder = builder.with_batch_size(rows);
        }
        if let Some(rows) = self.limit {
            builder = builder.with_limit(rows);
        }
        builder
            .with_offset(self.offset)
            .with_threads(self.threads)
            .with_shared_executor(self.executor)
            .build()
    }
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("rows", &self.metadata.num_rows()).finish_non_exhaustive()
    }
}

impl ChunkReader for OpenFile {
    fn into_source(self) -> Result<Arc<dyn Source>, Error> {
        Ok(self.source)
    }
}
