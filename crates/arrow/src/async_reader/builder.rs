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
    /// Reads the footer, see [`ArrowReaderMetadata::load_async`].
    ///
    /// Fails if the file is none, is damaged there, or is encrypted in it, or if the source fails.
    pub async fn new(input: T) -> Result<Self> {
        Self::new_with_options(input, ArrowReaderOptions::default()).await
    }

    /// [`new`](Self::new) with options; fails also if the wanted schema does not fit the file.
    pub async fn new_with_options(input: T, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load_async(&input, options).await?;
        Ok(Self::new_with_metadata(input, metadata))
    }

    /// Takes metadata that was loaded before. If it knows which version of the file it is of, reading fails if there is
    /// another one now; else the file must be the same.
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

    /// Most rows in a batch. Default 8,192. A batch ends where its row group does.
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
        let (mask, _) = choose_columns(self.metadata.metadata(), &names)?;
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
    /// Default all. Pages that have none of them are not fetched, if the file has an offset index.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Only rows for which `predicate` is true. What statistics and indexes rule out is not fetched; then its columns are,
    /// and of all others only the pages with rows that it wants. Default all.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), false);
        self
    }

    /// Leaves out row groups, and rows of pages, for which statistics, bloom filters, dictionaries or the page index say that
    /// `predicate` is not true. Of the rows that are left none is asked, so that some may be given for which it is false: for who
    /// asks them anyway. It takes the place of a [predicate](Self::with_predicate).
    #[must_use]
    pub fn with_pruning_predicate(mut self, predicate: Predicate) -> Self {
        (self.predicate, self.only_prunes) = (Some(predicate), true);
        self
    }

    /// Only rows that `filter` wants: its columns are fetched, and of all others only the pages with rows that it wants. A
    /// [predicate](Self::with_predicate) says the same faster, where it can. With both, the filter is asked about rows that
    /// the predicate wants. Default all.
    ///
    /// A row group that has to be decoded once more, because its footer was wrong about where its bytes are, is asked
    /// about once more.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Most rows to read, of those that are wanted. Default all. With a filter, row groups are fetched one by one then.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows to pass over before the first, of those that are wanted. Default 0. Without a filter, row groups that are passed
    /// over as a whole are not fetched, and neither are pages by the offset index: damage in what is not fetched is not seen,
    /// where a reader that has the file at hand may come upon it.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// How many bytes of the file are fetched at most for row groups after the one that is decoded; 0 fetches none
    /// ahead. The row group that is decoded is in memory besides, as far as its columns are read. Default 32 MiB, and at
    /// most a quarter of [`Limits::memory`](marquetry_base::Limits::memory).
    #[must_use]
    pub fn with_prefetch(mut self, bytes: u64) -> Self {
        self.prefetch = bytes;
        self
    }

    /// Which ranges are fetched together. Default [`CoalesceOptions::OBJECT_STORE`].
    #[must_use]
    pub fn with_request_cost(mut self, cost: CoalesceOptions) -> Self {
        self.cost = cost;
        self
    }

    /// After how many rows, about, the stream gives other tasks a turn, though it could go on: it wakes itself, and is pending
    /// once. Default 65,536; 0 after each batch.
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

    /// The stream. Nothing is fetched before it is polled.
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

    /// [`build`](Self::build) for [`Int96Unit::Auto`]: if INT96 columns are read, all of them is fetched first, to find the
    /// finest unit of each that holds its values; they are fetched once more by the stream. Else it is the same.
    ///
    /// Fails as [`build`](Self::build) does, and as reading these columns does.
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

    /// Which rows of the row groups are wanted, by selection, predicate, filter, offset and limit. Nothing is fetched but
    /// what tells that: a later read [with this selection](Self::with_row_selection) of the same row groups, and without a
    /// filter, gives what [`build`](Self::build) would. Fails as that does, and as reading does.
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
