//! Builds the reader: one of whole columns, or one of selected rows.

use super::ParquetRecordBatchReaderBuilder;
use crate::arrow_reader::file_predicate::bind_in_file;
use crate::arrow_reader::filtered_reader::{FilteredPlan, FilteredReader};
use crate::arrow_reader::loss::{OnCorrupt, no_choice_of_rows};
use crate::arrow_reader::memory_plan::{ahead_within, memory_of, threads_within};
use crate::arrow_reader::metadata::ArrowReaderMetadata;
use crate::arrow_reader::narrow_types::NarrowTypes;
use crate::arrow_reader::options::ArrowReaderOptions;
use crate::arrow_reader::read_plan::ReadPlan;
use crate::arrow_reader::reader::{FilteredMode, ParquetRecordBatchReader};
use crate::arrow_reader::resolved_schema::ResolvedFields;
use crate::arrow_reader::row_group_parallel::{IN_FLIGHT, RowGroupParallelReader};
use crate::arrow_reader::salvage_array_filter::SalvageArrayFilter;
use crate::arrow_reader::variant_filter::variant_filter;
use crate::arrow_reader::worker_pool::THREAD_NAME;
use crate::arrow_reader::{Int96Unit, ProjectionMask, RowFilter, RowSelection, int96};
use crate::evolution::{BatchAdapter, ordered};
use arrow_array::RecordBatchReader;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::NestedField;
use marquetry_core::predicate::BoundPredicate;
use marquetry_core::source::MeteredSource;
use std::sync::{Arc, OnceLock};

impl<T> ParquetRecordBatchReaderBuilder<T> {
    /// Builds the reader.
    ///
    /// Fails if a row group does not exist, if the batch size is 0, if the predicate does not fit the schema, or if the
    /// file cannot be read as the wanted schema. If damage is not an error, also fails if rows are chosen by anything but a
    /// predicate: nobody could say any more which rows those are.
    pub fn build(mut self) -> Result<ParquetRecordBatchReader> {
        let evolved = self.evolved()?;
        self.build_evolved(evolved)
    }

    /// Builds the reader after [`evolved`](Self::evolved).
    pub(crate) fn build_evolved(mut self, evolved: Option<BatchAdapter>) -> Result<ParquetRecordBatchReader> {
        self.split_predicate()?;
        if !self.is_fetched {
            self.source = Arc::new(MeteredSource::new(self.source, self.counters.clone()));
        }
        let (order, chosen) = (self.order.take(), self.chosen.take());
        if evolved.is_none() && order.is_none() {
            return self.reader();
        }
        let (metadata, mask) = (self.metadata.clone(), self.projection.clone());
        let reader = self.reader()?;
        let read: Vec<NestedField> =
            metadata.resolve(&mask).projected(&mask).map(|projected| projected.field).collect();
        let chosen = chosen.filter(|_| evolved.is_none());
        let evolved = match chosen {
            Some(chosen) => Some(chosen.adapter(metadata.parquet_schema(), &read, &reader.schema())?),
            None => evolved,
        };
        let ordered = || ordered(&order?, metadata.parquet_schema(), &read, &reader.schema());
        // Virtual columns stay last.
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

    /// Splits a predicate with paths into VARIANT into one over columns and filters over arrays.
    fn split_predicate(&mut self) -> Result<()> {
        let Some(predicate) = &self.predicate else { return Ok(()) };
        let Some(split) = variant_filter(predicate, &self.metadata.metadata)? else { return Ok(()) };
        (self.predicate, self.bound) = (Some(split.weaker), OnceLock::new());
        if self.metadata.options.on_corrupt != OnCorrupt::Fail {
            self.salvage_filters = split.filters;
        } else if !split.filters.is_empty() {
            let given = self.filter.take().map(RowFilter::into_predicates).unwrap_or_default();
            self.filter = Some(RowFilter::new(split.filters.into_iter().chain(given).collect()));
        }
        Ok(())
    }

    /// Chooses the columns that the wanted schema needs and the types to read them as. Returns the adapter that makes
    /// the wanted batches of them; `None` if no schema is wanted.
    pub(crate) fn evolved(&mut self) -> Result<Option<BatchAdapter>> {
        let Some(evolution) = self.evolution.take() else { return Ok(None) };
        let ResolvedFields { fields, schema } = self.metadata.whole();
        let evolved = evolution.of(fields, &self.metadata.metadata, schema)?;
        self.projection = evolved.mask;
        self.metadata = self.metadata.with_schema(evolved.read_as);
        // The wanted schema sets the unit.
        self.metadata.options.int96 = Int96Unit::Nanoseconds;
        Ok(Some(evolved.adapter))
    }

    fn reader(mut self) -> Result<ParquetRecordBatchReader> {
        let filters = std::mem::take(&mut self.salvage_filters);
        let given = self.projection.clone();
        let rows = (self.offset, self.limit.unwrap_or(usize::MAX));
        if !filters.is_empty() {
            // Offset and limit count matching rows.
            (self.offset, self.limit) = (0, None);
            filters.iter().for_each(|filter| self.projection.union(filter.projection()));
        }
        let widened = self.projection.clone();
        let (mut row_groups, options, resolved) = self.resolve()?;
        let narrow = NarrowTypes::of(resolved.projected(&self.projection));
        self.batch_size = self.batch_size.min(narrow.most_rows.unwrap_or(usize::MAX));
        // Where damage is not an error, all rows are read, and the predicate is evaluated on the readable ones.
        let has_predicate = self.has_predicate() && options.on_corrupt == OnCorrupt::Fail;
        let is_whole = self.selection.is_none() && !has_predicate && self.filter.is_none();
        let may_end = is_whole && options.on_corrupt == OnCorrupt::Fail && narrow.has_keys();
        let counted = may_end.then(|| self.counted_rows(&row_groups)).filter(|(row_groups, _)| {
            narrow.may_be_too_narrow(&self.source, &self.metadata.metadata, row_groups, &options)
        });
        let ends_with_row_groups = counted.is_some();
        if let Some((counted, selection)) = counted
            && (self.offset > 0 || self.limit.is_some())
        {
            // With a selection nobody has to count rows, so threads can read row groups in parallel.
            (row_groups, self.selection) = (counted, Some(selection));
            (self.offset, self.limit) = (0, None);
        }
        let is_whole = is_whole && !ends_with_row_groups;
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
            let reader = ParquetRecordBatchReader::new(source, metadata, &resolved, &options, plan)?;
            if filters.is_empty() {
                return Ok(reader);
            }
            let projections = (&given, &widened);
            let filter = SalvageArrayFilter::new(filters, projections, &resolved, &reader.schema(), rows);
            return Ok(reader.filtered_by(filter));
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

    /// Returns the row groups that have rows between the offset and the limit, and the selection of these rows. For
    /// reads without any other choice of rows.
    fn counted_rows(&self, row_groups: &[usize]) -> (Vec<usize>, RowSelection) {
        let limit = self.limit.unwrap_or(usize::MAX);
        let wanted = self.offset as u64..(self.offset as u64).saturating_add(limit as u64);
        let (mut first, mut before, mut total) = (0u64, 0, 0u64);
        let mut counted = Vec::new();
        for row_group in row_groups {
            let rows = self.metadata.metadata.row_group(*row_group).num_rows();
            let next = first.saturating_add(rows);
            if first < wanted.end && next > wanted.start && rows > 0 {
                if counted.is_empty() {
                    before = wanted.start.saturating_sub(first);
                }
                counted.push(*row_group);
                total = total.saturating_add(rows);
            }
            first = next;
        }
        let rows = first.min(wanted.end).saturating_sub(wanted.start);
        let chosen = Some(before as usize..before.saturating_add(rows) as usize).filter(|_| rows > 0);
        (counted, RowSelection::from_consecutive_ranges(chosen.into_iter(), total as usize))
    }

    /// Returns how many threads can read row groups in parallel with the result that one thread would give.
    fn threads_of_filtered(
        &self,
        row_groups: &[usize],
        columns: &ProjectionMask,
        options: &ArrowReaderOptions,
    ) -> usize {
        // Predicates over arrays may remember rows, and an offset or limit depends on how many rows came before.
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

    /// Returns which rows of the row groups pass the selection, predicate, filter, offset and limit. Only the columns
    /// that decide this are read.
    ///
    /// A later read [with this selection](Self::with_row_selection) of the same row groups, and without a filter,
    /// returns the rows that [`build`](Self::build) would. Fails as that does, and if reading fails.
    pub fn selected_rows(mut self) -> Result<RowSelection> {
        self.split_predicate()?;
        self.projection = ProjectionMask::none(self.parquet_schema().num_columns());
        let (row_groups, options, resolved) = self.resolve()?;
        Ok(self.filtered(row_groups, &options, &resolved)?.selected()?.into())
    }

    /// Returns the row groups, and the types that the file is read as.
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
            // Dropping the reader stops its threads, and nothing else that shares these limits.
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

    /// Returns all columns that are needed, including those of predicates.
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

    /// Returns the bound predicate. PERF: binding a list of many values takes time, so it is done once.
    fn bound(&self) -> Result<Option<BoundPredicate>> {
        if let (None, Some(predicate)) = (self.bound.get(), &self.predicate) {
            // Another thread may have been faster, with the same result.
            let _ = self
                .bound
                .set(bind_in_file(&predicate.in_file(self.metadata.metadata()), self.metadata.metadata())?);
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

    /// Creates what [`filtered`](Self::filtered) does, for several threads.
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
}
