//! Looking ahead: what a row group is asked for before it is read, so that its bytes come in few requests.
//!
//! ```text
//! footer ─► indexes ─► rows that may match ─► pages of these rows
//!           1 request                         1 request, if they are near each other
//! ```

use super::{CoalesceOptions, chunk_ranges, index_ranges, page_ranges};
use crate::metadata::ParquetMetaData;
use crate::predicate::BoundPredicate;
use crate::prune::{PruneOptions, PruneReport, RowGroupMatch, dictionary_ranges, prune_row_group};
use crate::source::Source;
use marquetry_base::{Limits, Result};
use std::ops::Range;
use std::sync::Arc;

/// Row groups that are going to be read from a source whose requests are dear.
///
/// Whatever a step reads, it [says so](Source::prefetch) before. All that was said is said again each time, so that
/// nothing of it is forgotten. With a [`RangeCache`](super::RangeCache) source a step fails if something is
/// missing, and is to be run again when it is there.
pub struct FetchPlanner<'a> {
    source: &'a dyn Source,
    metadata: &'a ParquetMetaData,
    limits: &'a Arc<Limits>,
    cost: CoalesceOptions,
    page_index: bool,
    said: Vec<Range<u64>>,
}

impl<'a> FetchPlanner<'a> {
    /// Nothing was said yet.
    pub fn new(
        source: &'a dyn Source,
        metadata: &'a ParquetMetaData,
        limits: &'a Arc<Limits>,
        cost: CoalesceOptions,
    ) -> Self {
        FetchPlanner { source, metadata, limits, cost, page_index: true, said: Vec::new() }
    }

    /// Whether pages are read that indexes lead to: otherwise a reader goes over all headers, and chunks are read whole. Default true.
    #[must_use]
    pub fn with_page_index(self, use_page_index: bool) -> Self {
        FetchPlanner { page_index: use_page_index, ..self }
    }

    /// Which rows of a row group may match `predicate`, as [`prune_row_group`] says. `leaves` are the columns that will be
    /// read for it and besides.
    ///
    /// Bloom filters and dictionaries are requests of their own: they are asked only if there is more to be read otherwise
    /// than waiting for them is worth. `report` becomes that of this row group alone.
    pub fn prune(
        &mut self,
        row_group: usize,
        predicate: &BoundPredicate,
        leaves: &[usize],
        options: &PruneOptions,
        report: &mut PruneReport,
    ) -> Result<RowGroupMatch> {
        let (source, metadata) = (self.source, self.metadata);
        let mut prune = |options: &PruneOptions| {
            *report = PruneReport::default();
            prune_row_group(source, metadata, row_group, predicate, options, report)
        };
        let cheap = PruneOptions { bloom_filters: false, dictionaries: false, ..options.clone() };
        let kept = prune(&PruneOptions { page_index: false, ..cheap.clone() })?;
        if !matches!(kept, RowGroupMatch::Some(_)) {
            return Ok(kept);
        }
        if options.page_index {
            self.prefetch(self.indexes(row_group, leaves))?;
        }
        let kept = prune(&cheap)?;
        let RowGroupMatch::Some(rows) = &kept else { return Ok(kept) };
        let left = self.pages(row_group, leaves, rows)?;
        if self.is_cheaper_than_waiting(&left) {
            return Ok(kept);
        }
        if options.dictionaries {
            // Together, and not one after the other as they are asked.
            let small = dictionary_ranges(self.metadata, row_group, predicate.leaves());
            let is_small = |range: &Range<u64>| range.end - range.start <= self.cost.hole_size_limit;
            self.prefetch(small.into_iter().filter(is_small).collect())?;
        }
        prune(options)
    }

    /// Where the page indexes of `leaves` in a row group are, if they are used.
    pub fn indexes(&self, row_group: usize, leaves: &[usize]) -> Vec<Range<u64>> {
        match self.page_index {
            true => index_ranges(self.metadata, row_group, leaves),
            false => Vec::new(),
        }
    }

    /// Where those pages of `leaves` in a row group are that have any of `rows`, which are sorted and disjoint.
    pub fn pages(
        &mut self,
        row_group: usize,
        leaves: &[usize],
        rows: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>> {
        self.pages_of_each(row_group, leaves, rows).map(|pages| pages.concat())
    }

    /// The same for each of `leaves`.
    pub fn pages_of_each(
        &mut self,
        row_group: usize,
        leaves: &[usize],
        rows: &[Range<u64>],
    ) -> Result<Vec<Vec<Range<u64>>>> {
        let num_rows = self.metadata.row_group(row_group).num_rows();
        let is_all = matches!(rows, [all] if all.start == 0 && all.end >= num_rows);
        let whole = |leaf: &usize| chunk_ranges(self.metadata, row_group, &[*leaf]);
        let whole: Vec<_> = leaves.iter().map(whole).collect();
        if is_all || !self.page_index {
            return Ok(whole);
        }
        let indexes = self.indexes(row_group, leaves);
        if whole.iter().map(|ranges| bytes(ranges)).fold(0, u64::saturating_add) <= self.cost.hole_size_limit
        {
            // There is nothing to be won by knowing where the pages are, before they are there.
            self.add(indexes);
            return Ok(whole);
        }
        self.prefetch(indexes)?;
        page_ranges(self.source, self.metadata, row_group, leaves, rows, self.limits)
    }

    /// Whether fetching `ranges` costs less than waiting for an answer first that could spare some of them.
    pub fn is_cheaper_than_waiting(&self, ranges: &[Range<u64>]) -> bool {
        bytes(ranges) <= self.cost.bytes_per_round_trip()
    }

    /// Says that these bytes will be read, too.
    pub fn prefetch(&mut self, ranges: Vec<Range<u64>>) -> Result<()> {
        self.add(ranges);
        self.source.prefetch(&self.said)
    }

    /// These bytes will be read, too: to be said together with what is said next.
    pub fn add(&mut self, ranges: Vec<Range<u64>>) {
        self.said.extend(ranges);
    }
}

/// How many bytes ranges have together.
pub fn bytes(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
}
