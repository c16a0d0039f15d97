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

/// Chooses what to read, then builds a stream of record batches. As
/// [`ParquetRecordBatchReaderBuilder`](crate::arrow_reader::ParquetRecordBatchReaderBuilder), for a file whose bytes
/// come late.
///
/// The type parameter is what was opened, and is only there so that its name in ported code stays good.
pub struct ParquetRecordBatchStreamBuilder<T> {
    source: Arc<dyn AsyncSource>,
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
    /// Whether the predicate is not asked about rows.
    only_prunes: bool,
    filter: Option<RowFilter>,
    prefetch: u64,
    cost: CoalesceOptions,
    yield_rows: usize,
    counters: Arc<ReadCounters>,
    opened: PhantomData<fn() -> T>,
}

impl<T: AsyncSource + 'static> ParquetRecordBatchStreamBuilder<T> {
    /// Opens a file with the default options: fetches its footer, as [`ArrowReaderMetadata::load_async`] does.
    ///
    /// Fails if the file is not a Parquet file, if its footer is damaged or encrypted, or if the source fails.
    pub async fn new(input: T) -> Result<Self> {
        Self::new_with_options(input, ArrowReaderOptions::default()).await
    }

    /// Opens a file with options: fetches its footer.
    ///
    /// Fails as [`new`](Self::new) does, and if the schema in the options does not fit the file.
    pub async fn new_with_options(input: T, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load_async(&input, options).await?;
        Ok(Self::new_with_metadata(input, metadata))
    }

    /// Uses metadata that was loaded before, so that the footer is not fetched again. If the metadata knows the
    /// [version of the file](ArrowReaderMetadata::file_version), reading any other version fails. Otherwise the file must be the same; this is
    /// not checked.
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
    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The Arrow schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.parquet_schema()
    }

    /// Sets the maximum number of rows in a batch. Default 8,192. Each batch ends at the end of its row group.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// Selects the columns to read. They keep the order of the file. Default: all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        (self.projection, self.order) = (mask, None);
        self
    }

    /// Selects the columns to read, by dotted path, and returns them in this order. A path selects a column, or all columns of a group; the
    /// fields of structs are returned in the order of the paths as well.
    ///
    /// Fails if a path does not exist. The error names similar paths.
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (mask, _) = choose_columns(self.metadata.metadata(), &names)?;
        (self.projection, self.order) = (mask, Some(names));
        Ok(self)
    }

    /// Reads the file as another schema: see [`Evolution`]. The schema decides which columns are read, so that a projection has no effect.
    /// It is applied after [`ArrowReaderOptions::with_schema`]. Predicates and filters refer to the columns of the file.
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
    /// and filters are evaluated on the selected rows only. If the file has an offset index, pages without selected rows are not fetched.
    /// Default: all.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Returns only the rows for which `predicate` is true. Default: all rows.
    ///
    /// Row groups and pages that statistics and indexes rule out are not fetched. The columns of the predicate are fetched first, and of the
    /// other columns only the pages with matching rows.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), false);
        self
    }

    /// Skips the row groups and pages that statistics, bloom filters, dictionaries or the page index rule out for `predicate`, but does not
    /// evaluate the predicate on the remaining rows. The stream may return rows for which it is false: this is for callers who evaluate the
    /// condition themselves. It replaces a [predicate](Self::with_predicate).
    #[must_use]
    pub fn with_pruning_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), true);
        self
    }

    /// Returns only the rows that `filter` selects. Its columns are fetched first, and of the other columns only the pages with selected
    /// rows. Default: all rows.
    ///
    /// A [predicate](Self::with_predicate) is faster where it can express the condition. With both, the filter is evaluated on the rows for
    /// which the predicate is true. It is evaluated once per row, in the order of the rows, even if a row group has to be decoded again.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Limits the number of rows, counted after selection, predicate and filter. Default: no limit. With a limit and a filter, row groups are
    /// fetched one after the other.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Skips this many rows, counted after selection, predicate and filter. Default 0. Without a filter, row groups and pages of which all rows
    /// are skipped are not fetched; damage in them is not noticed.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// Sets how many bytes are fetched ahead, for row groups after the one that is being decoded; 0 fetches nothing ahead. The selected columns
    /// of the row group that is being decoded are in memory in addition. Default 32 MiB, and at most a quarter of
    /// [`Limits::memory`](marquetry_base::Limits::memory).
    #[must_use]
    pub fn with_prefetch(mut self, bytes: u64) -> Self {
        self.prefetch = bytes;
        self
    }

    /// Sets which byte ranges are fetched in one request. Default [`CoalesceOptions::OBJECT_STORE`].
    #[must_use]
    pub fn with_request_cost(mut self, cost: CoalesceOptions) -> Self {
        self.cost = cost;
        self
    }

    /// Sets after about how many rows the stream yields to other tasks although it could go on: it wakes itself and returns `Pending` once.
    /// Default 65,536; 0 yields after each batch.
    #[must_use]
    pub fn with_yield_rows(mut self, rows: usize) -> Self {
        self.yield_rows = rows;
        self
    }

    /// Counts in `counters`, too, what others count there.
    pub(crate) fn counted_by(mut self, counters: Arc<ReadCounters>) -> Self {
        self.counters = counters;
        self
    }

    /// Builds the stream. Nothing is fetched before it is polled.
    ///
    /// Fails if a row group does not exist or the batch size is 0; if [`Int96Unit::Auto`] is asked for where an INT96
    /// column is read, for which there is [`build_fitting`](Self::build_fitting); if the predicate does not fit the schema,
    /// or the file cannot be read as the wanted one; and if rows are to be chosen from a damaged file: which they are could
    /// not be told any more.
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
        // Where damage is no error, an offset counts rows of the file, and a limit those that are given.
        let rest = if scan.salvages() { (0, rest.1) } else { rest };
        let is_known = !scan.filter.has_filter() && !scan.salvages() || rest == (0, NO_LIMIT);
        // What is fetched ahead must leave room for what is wanted now.
        let room =
            scan.metadata.options.limits.memory.tight_limit().map_or(u64::MAX, |limit| limit as u64 / 4);
        let rest = (!is_known).then_some(rest);
        let stream = ParquetRecordBatchStream::new(schema, adapter, scan, jobs, prefetch.min(room), rest);
        Ok(stream.yielding_after(yield_rows))
    }

    /// The same as [`build`](Self::build), also with [`Int96Unit::Auto`]: it fetches the selected INT96 columns first, to find the finest unit
    /// that holds the values of each. The stream fetches them again.
    ///
    /// Fails as [`build`](Self::build) does, and if reading these columns fails.
    pub async fn build_fitting(mut self) -> Result<ParquetRecordBatchStream<T>> {
        // What evolves has the unit of the wanted schema.
        if self.evolution.is_none() {
            let row_groups = self.row_groups()?;
            let (source, metadata, projection) = (&*self.source, &self.metadata, &self.projection);
            let units = fitting(source, metadata, &row_groups, projection, self.prefetch).await?;
            let options = self.metadata.options.clone().with_int96_units(units);
            self.metadata = self.metadata.with_options(options)?;
        }
        self.build()
    }

    /// Finds the rows that selection, predicate, filter, offset and limit leave, and fetches only what this takes. Reading the same row groups
    /// [with the result](Self::with_row_selection), without predicate and filter, returns the rows that [`build`](Self::build) would.
    ///
    /// Fails as [`build`](Self::build) does, and if reading fails.
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

    /// What all row groups have in common, and the row groups with rows to read.
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

    /// The schema of batches, and what they are made into, unless they are given as they are read. Chooses the columns
    /// that this takes.
    fn made(&mut self) -> Result<(SchemaRef, Option<BatchAdapter>)> {
        // A reader of nothing knows.
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

    /// How many rows the chosen row groups have.
    pub(crate) fn chosen_rows(&self) -> Result<u64> {
        let metadata = self.metadata.metadata();
        let rows = self.row_groups()?.into_iter().map(|row_group| metadata.row_group(row_group).num_rows());
        Ok(rows.fold(0, u64::saturating_add))
    }

    /// The row groups to read.
    fn row_groups(&self) -> Result<Vec<usize>> {
        let count = self.metadata.metadata().num_row_groups();
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..count).collect());
        match row_groups.iter().find(|&&row_group| row_group >= count) {
            Some(missing) => Err(Error::argument(format!("no row group {missing}, there are {count}"))),
            None => Ok(row_groups),
        }
    }

    /// The row groups with rows to read, and which rows.
    fn jobs(&self, leaves: &[usize]) -> Result<Vec<FetchTask>> {
        let metadata = self.metadata.metadata();
        let row_groups = self.row_groups()?;
        let (offset, limit) = (self.offset as u64, self.limit.map_or(u64::MAX, |limit| limit as u64));
        let (mut offset, mut left) = match self.metadata.options.on_corrupt {
            // Only the filter knows which rows count.
            _ if self.predicate.is_some() || self.filter.is_some() => (0, u64::MAX),
            OnCorrupt::Fail => (offset, limit),
            // Only reading tells which rows are whole.
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

/// A millisecond's work, or some.
const YIELD_ROWS: usize = 64 << 10;
/// As that of the reader that does not wait.
const BATCH_SIZE: usize = 8192;
/// Some hundred milliseconds of a fast connection, and little memory.
pub(crate) const PREFETCH: u64 = 32 << 20;
