//! Builds a stream of record batches: which columns, row groups and rows of an asynchronous source to read.

use super::filter::{RowGroupFilter, selected_by_row_group};
use super::int96::{fitting, int96_of};
use super::row_group::FetchTask;
use super::source::AsyncSource;
use super::stream::{NO_LIMIT, ParquetRecordBatchStream};
use super::stream_scan::{SharedPredicate, StreamFilter, StreamScan};
use super::turns::Turns;
use crate::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, OnCorrupt, ParquetRecordBatchReaderBuilder,
    ProjectionMask, RowFilter, RowSelection, bind_in_file, choose_columns, no_choice_of_rows, variant_filter,
};
use crate::evolution::{BatchAdapter, Evolution};
use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::fetch::{CoalesceOptions, bytes, chunk_ranges};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::Predicate;
use marquetry_core::row_mask::RowMask;
use marquetry_core::schema::Schema;
use std::marker::PhantomData;
use std::sync::Arc;

/// Chooses what to read, then builds a stream of record batches. The counterpart of
/// [`ParquetRecordBatchReaderBuilder`](crate::arrow_reader::ParquetRecordBatchReaderBuilder) for asynchronous sources.
///
/// The type parameter is the type of what was opened. It has no effect, but keeps the type's name in ported code valid.
pub struct ParquetRecordBatchStreamBuilder<T> {
    source: Arc<dyn AsyncSource>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    /// Column names in the order that the batches are to have.
    order: Option<Vec<String>>,
    evolution: Option<Evolution>,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    /// Whether the predicate only prunes, and is not evaluated on rows.
    only_prunes: bool,
    filter: Option<RowFilter>,
    prefetch: u64,
    cost: CoalesceOptions,
    yield_rows: usize,
    counters: Arc<ReadCounters>,
    opened: PhantomData<fn() -> T>,
}

impl<T: AsyncSource + 'static> ParquetRecordBatchStreamBuilder<T> {
    /// Reads the footer, see [`ArrowReaderMetadata::load_async`].
    ///
    /// Fails if the source fails, if the file is not a Parquet file, or if its footer is damaged or encrypted.
    pub async fn new(input: T) -> Result<Self> {
        Self::new_with_options(input, ArrowReaderOptions::default()).await
    }

    /// Like [`new`](Self::new), with options. Also fails if the requested schema does not fit the file.
    pub async fn new_with_options(input: T, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load_async(&input, options).await?;
        Ok(Self::new_with_metadata(input, metadata))
    }

    /// Uses metadata that was loaded before. If the metadata knows the file's version, reading fails if the file has
    /// another version now; otherwise the file must be the same.
    pub fn new_with_metadata(input: T, metadata: ArrowReaderMetadata) -> Self {
        ParquetRecordBatchStreamBuilder {
            source: Arc::new(input),
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
            only_prunes: false,
            filter: None,
            prefetch: PREFETCH,
            cost: CoalesceOptions::OBJECT_STORE,
            yield_rows: YIELD_ROWS,
            counters: Arc::default(),
            opened: PhantomData,
        }
    }
}

impl<T> ParquetRecordBatchStreamBuilder<T> {
    /// Returns the footer's metadata.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// Returns the Arrow schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Returns the Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.parquet_schema()
    }

    /// Sets the maximum number of rows in a batch. Default 8,192. A batch ends with its row group.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// Sets the columns to read. Batches have them in the order of the file. Default all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order) = (mask, None);
        self
    }

    /// Sets the columns to read, in this order.
    ///
    /// Names are dotted paths, each for all columns at and below it. The fields of structs follow the order of the
    /// names, too. Fails if a path does not exist; the error names similar ones.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (mask, _) = choose_columns(self.metadata.metadata(), &names)?;
        (self.projection, self.order) = (mask, Some(names));
        Ok(self)
    }

    /// Sets the schema that batches get, whatever the schema of the file is. It decides which columns are read, so a
    /// projection has no effect. It is applied on top of [`ArrowReaderOptions::with_schema`].
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

    /// Sets the rows to read.
    ///
    /// The selection counts the rows of all row groups that are read, in their order. The filter sees selected rows
    /// only. Default all. Pages without selected rows are not fetched, if the file has an offset index.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Reads only rows for which `predicate` is true.
    ///
    /// Default all. Row groups and pages that statistics and indexes rule out are not fetched. Of the rest, the
    /// predicate's columns are fetched first, and of other columns only the pages with matching rows.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), false);
        self
    }

    /// Prunes row groups, and rows of pages, for which statistics, bloom filters, dictionaries or the page index show
    /// that `predicate` is not true.
    ///
    /// The predicate is not evaluated on the remaining rows, so some of them may not match: use this if the caller
    /// filters the rows anyway. Replaces a [predicate](Self::with_predicate).
    #[must_use]
    pub fn with_pruning_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), true);
        self
    }

    /// Reads only rows that pass `filter`.
    ///
    /// Default all. The filter's columns are fetched first, and of other columns only the pages with rows that pass. A
    /// [predicate](Self::with_predicate), where it can express the same, is faster. With both, the filter sees only
    /// rows that the predicate selects.
    ///
    /// If the footer is wrong about where a row group's bytes are, the row group is decoded once more, and the filter
    /// sees its rows once more.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the maximum number of rows to read, counted after selection and filters. Default all. With a filter, row
    /// groups are then fetched one by one.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Sets the number of rows to skip at the start, counted after selection and filters.
    ///
    /// Default 0. Without a filter, row groups that are skipped as a whole are not fetched, nor are pages that the
    /// offset index shows to be skipped. Damage in them goes unnoticed, where a reader of a local file may find it.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// Sets how many bytes of the following row groups are fetched ahead at most; 0 fetches none ahead.
    ///
    /// The columns of the row group being decoded take memory besides. Default 32 MiB, and at most a quarter of
    /// [`Limits::memory`](marquetry_base::Limits::memory).
    #[must_use]
    pub fn with_prefetch(mut self, bytes: u64) -> Self {
        self.prefetch = bytes;
        self
    }

    /// Sets the request costs, which decide which ranges are fetched together. Default [`CoalesceOptions::OBJECT_STORE`].
    #[must_use]
    pub fn with_request_cost(mut self, cost: CoalesceOptions) -> Self {
        self.cost = cost;
        self
    }

    /// Sets after about how many rows the stream yields to other tasks although it could continue: it wakes itself and
    /// returns pending once. Default 65,536; 0 yields after each batch.
    #[must_use]
    pub fn with_yield_rows(mut self, rows: usize) -> Self {
        self.yield_rows = rows;
        self
    }

    /// Adds this read's metrics to `counters`, which may be shared.
    pub(crate) fn counted_by(mut self, counters: Arc<ReadCounters>) -> Self {
        self.counters = counters;
        self
    }

    /// Builds the stream. Nothing is fetched before it is polled.
    ///
    /// Fails if
    ///
    /// - a row group does not exist, or the batch size is 0,
    /// - the options request [`Int96Unit::Auto`] and an INT96 column is read: use [`build_fitting`](Self::build_fitting),
    /// - the predicate does not fit the schema, or the file cannot be read as the wanted schema,
    /// - damage is not an error, and rows are chosen: nobody could say any more which rows those are.
    pub fn build(mut self) -> Result<ParquetRecordBatchStream<T>> {
        let (schema, adapter) = self.made()?;
        let has_rows = self.limit != Some(0);
        let rest = (self.offset as u64, self.limit.map_or(NO_LIMIT, |limit| limit as u64));
        let (prefetch, yield_rows) = (self.prefetch, self.yield_rows);
        let (scan, mut jobs) = self.scan()?;
        if scan.metadata.options.int96 == Int96Unit::Auto
            && !int96_of(&scan.metadata, &scan.leaves).is_empty()
        {
            return Err(Error::argument(
                "a unit that fits INT96 is only known after reading: choose one, or use `build_fitting`",
            ));
        }
        if !has_rows {
            jobs.clear();
        }
        // If damage is not an error, an offset counts rows of the file, and a limit counts rows that are returned.
        let rest = if scan.salvages() { (0, rest.1) } else { rest };
        let is_known = !scan.filter.has_filter() && !scan.salvages() || rest == (0, NO_LIMIT);
        // Prefetched data must leave room for the data that is needed now.
        let room =
            scan.metadata.options.limits.memory.tight_limit().map_or(u64::MAX, |limit| limit as u64 / 4);
        let rest = (!is_known).then_some(rest);
        let stream = ParquetRecordBatchStream::new(schema, adapter, scan, jobs, prefetch.min(room), rest);
        Ok(stream.yielding_after(yield_rows))
    }

    /// Like [`build`](Self::build), with support for [`Int96Unit::Auto`].
    ///
    /// It first fetches all INT96 columns that are read, to find the finest unit that holds each one's values. The
    /// stream fetches them once more. Without such columns it does what `build` does.
    ///
    /// Fails as [`build`](Self::build) does, and if reading these columns fails.
    pub async fn build_fitting(mut self) -> Result<ParquetRecordBatchStream<T>> {
        // With an evolution, the wanted schema sets the unit.
        if self.evolution.is_none() {
            let row_groups = self.row_groups()?;
            let (source, metadata, projection) = (&*self.source, &self.metadata, &self.projection);
            let units = fitting(source, metadata, &row_groups, projection, self.prefetch).await?;
            let options = self.metadata.options.clone().with_int96_units(units);
            self.metadata = self.metadata.with_options(options)?;
        }
        self.build()
    }

    /// Returns which rows of the row groups pass the selection, predicate, filter, offset and limit. Only what decides
    /// this is fetched.
    ///
    /// A later read [with this selection](Self::with_row_selection) of the same row groups, and without a filter,
    /// returns the rows that [`build`](Self::build) would. Fails as that does, and if reading fails.
    pub async fn selected_rows(mut self) -> Result<RowSelection> {
        let (mut offset, mut left) = (self.offset as u64, self.limit.map_or(u64::MAX, |limit| limit as u64));
        self.projection = ProjectionMask::none(self.parquet_schema().num_columns());
        let row_groups = self.row_groups()?;
        let selection = self.selection.clone();
        let (scan, _) = self.scan()?;
        if scan.salvages() {
            return Err(no_choice_of_rows());
        }
        let version = scan.metadata.version_of(&*scan.source).await?;
        let remote = scan.remote(&version);
        let mut out = RowMask::new();
        let selected = selected_by_row_group(&scan.metadata, &row_groups, selection.as_ref());
        for (turn, (row_group, selected)) in row_groups.into_iter().zip(selected).enumerate() {
            let rows = scan.metadata.metadata().row_group(row_group).num_rows();
            let mut wanted = match left {
                0 => RowMask::new(),
                _ if !scan.filter.has_filter() => selected,
                _ => {
                    let buffered = Arc::new(scan.metadata.known_bytes(&version));
                    let filter =
                        RowGroupFilter { scan: &scan, remote: &remote, row_group, buffered: &buffered, turn };
                    filter.select(selected).await?
                }
            };
            scan.turns.end(turn);
            let passed = offset.min(wanted.selected());
            wanted = wanted.offset(passed).limit(left);
            (offset, left) = (offset - passed, left - wanted.selected());
            wanted.push_run(false, rows.saturating_sub(wanted.rows()));
            out.append(&wanted);
        }
        Ok(out.into())
    }

    /// Returns the state that all row groups share, and the row groups with rows to read.
    fn scan(mut self) -> Result<(StreamScan, Vec<FetchTask>)> {
        if let Some(predicate) = &self.predicate
            && let Some(split) = variant_filter(predicate, self.metadata.metadata())?
        {
            self.predicate = Some(split.weaker);
            if !split.filters.is_empty() && !self.only_prunes {
                let given = self.filter.take().map(RowFilter::into_predicates).unwrap_or_default();
                self.filter = Some(RowFilter::new(split.filters.into_iter().chain(given).collect()));
            }
        }
        if self.batch_size == 0 {
            return Err(Error::argument("batches of 0 rows"));
        }
        let chooses = self.selection.is_some() || self.predicate.is_some() || self.filter.is_some();
        if chooses && self.metadata.options.on_corrupt != OnCorrupt::Fail {
            return Err(no_choice_of_rows());
        }
        let columns = self.metadata.metadata().schema().num_columns();
        let leaves: Vec<usize> = (0..columns).filter(|&leaf| self.projection.leaf_included(leaf)).collect();
        let jobs = self.jobs(&leaves)?;
        let bound = |predicate: Predicate| {
            bind_in_file(&predicate.in_file(self.metadata.metadata()), self.metadata.metadata())
        };
        let filters = self.filter.map(RowFilter::into_predicates).unwrap_or_default();
        let filter = StreamFilter {
            predicate: self.predicate.map(bound).transpose()?,
            only_prunes: self.only_prunes,
            filters: filters.into_iter().map(SharedPredicate::new).collect(),
        };
        let scan = StreamScan {
            source: self.source,
            metadata: self.metadata,
            projection: self.projection,
            leaves,
            filter,
            batch_size: self.batch_size,
            cost: self.cost,
            turns: Turns::default(),
            counters: self.counters,
        };
        Ok((scan, jobs))
    }

    /// Returns the schema of batches, and the adapter that makes them, unless they are returned as they are read.
    /// Chooses the columns that are needed.
    fn made(&mut self) -> Result<(SchemaRef, Option<BatchAdapter>)> {
        // Builds a reader of no rows to find out.
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(Bytes::new(), self.metadata.clone())
            .with_row_groups(Vec::new())
            .with_batch_size(self.batch_size);
        let mut reader = match (self.order.take(), self.evolution.take()) {
            (_, Some(evolution)) => reader.with_evolution(evolution),
            (Some(order), None) => reader.with_columns(order)?,
            (None, None) => reader.with_projection(self.projection.clone()),
        };
        let evolved = reader.evolved()?;
        (self.projection, self.metadata) = reader.read_as();
        let reader = reader.build_evolved(evolved)?;
        Ok((reader.schema(), reader.into_adapter()))
    }

    /// Returns the number of rows in the chosen row groups.
    pub(crate) fn chosen_rows(&self) -> Result<u64> {
        let metadata = self.metadata.metadata();
        let rows = self.row_groups()?.into_iter().map(|row_group| metadata.row_group(row_group).num_rows());
        Ok(rows.fold(0, u64::saturating_add))
    }

    /// Returns the row groups to read.
    fn row_groups(&self) -> Result<Vec<usize>> {
        let count = self.metadata.metadata().num_row_groups();
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..count).collect());
        match row_groups.iter().find(|&&row_group| row_group >= count) {
            Some(missing) => Err(Error::argument(format!("no row group {missing}, there are {count}"))),
            None => Ok(row_groups),
        }
    }

    /// Returns the row groups with rows to read, and which rows those are.
    fn jobs(&self, leaves: &[usize]) -> Result<Vec<FetchTask>> {
        let metadata = self.metadata.metadata();
        let row_groups = self.row_groups()?;
        let (offset, limit) = (self.offset as u64, self.limit.map_or(u64::MAX, |limit| limit as u64));
        let (mut offset, mut left) = match self.metadata.options.on_corrupt {
            // Only the filter knows which rows count.
            _ if self.predicate.is_some() || self.filter.is_some() => (0, u64::MAX),
            OnCorrupt::Fail => (offset, limit),
            // Only reading shows which rows are undamaged.
            _ => (offset, u64::MAX),
        };
        let selected = selected_by_row_group(&self.metadata, &row_groups, self.selection.as_ref());
        let mut jobs = Vec::new();
        for (row_group, selected) in row_groups.into_iter().zip(selected) {
            let first = offset.min(selected.selected());
            let last = first.saturating_add(left).min(selected.selected());
            (offset, left) = (offset - first, left - (last - first));
            if first < last {
                let bytes = bytes(&chunk_ranges(metadata, row_group, leaves));
                let turn = jobs.len();
                let may_ask_later = true;
                jobs.push(FetchTask { row_group, selected, rows: first..last, bytes, may_ask_later, turn });
            }
        }
        Ok(jobs)
    }
}

/// About a millisecond of work.
const YIELD_ROWS: usize = 64 << 10;
/// The same as for the blocking reader.
const BATCH_SIZE: usize = 8192;
/// Some hundred milliseconds of a fast connection, and little memory.
pub(crate) const PREFETCH: u64 = 32 << 20;
