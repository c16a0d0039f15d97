//! Plans the reads of a row group before it is read, so that its bytes are fetched in few requests.
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

/// A planner of the reads of row groups from a source with expensive requests.
///
/// It [announces](Source::prefetch) everything that a step reads before it is read. Each announcement repeats all
/// earlier ones, so that nothing is dropped. With a [`RangeCache`](super::RangeCache) as source, a step fails if bytes
/// are missing, and must be run again when they are there.
pub struct FetchPlanner<'a> {
    source: &'a dyn Source,
    metadata: &'a ParquetMetaData,
    limits: &'a Arc<Limits>,
    cost: CoalesceOptions,
    page_index: bool,
    said: Vec<Range<u64>>,
}

impl<'a> FetchPlanner<'a> {
    /// Creates a planner without announcements.
    pub fn new(
        source: &'a dyn Source,
        metadata: &'a ParquetMetaData,
        limits: &'a Arc<Limits>,
        cost: CoalesceOptions,
    ) -> Self {
        FetchPlanner { source, metadata, limits, cost, page_index: true, said: Vec::new() }
    }

    /// Sets whether pages are located by indexes. If not, readers go over all headers, and chunks are read whole.
    /// Default true.
    #[must_use]
    pub fn with_page_index(self, use_page_index: bool) -> Self {
        FetchPlanner { page_index: use_page_index, ..self }
    }

    /// Returns which rows of a row group may match `predicate`, like [`prune_row_group`]. `leaves` are all columns that
    /// will be read, for the predicate and otherwise.
    ///
    /// Bloom filters and dictionaries are requests of their own: they are used only if waiting for them costs less than
    /// reading what they may rule out. `report` becomes that of this row group alone.
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
            // Fetch them together, instead of one after the other as pruning reads them.
            let small = dictionary_ranges(self.metadata, row_group, predicate.leaves());
            let is_small = |range: &Range<u64>| range.end - range.start <= self.cost.hole_size_limit;
            self.prefetch(small.into_iter().filter(is_small).collect())?;
        }
        prune(options)
    }

    /// Returns the byte ranges of the page indexes of `leaves` in a row group, if indexes are used.
    pub fn indexes(&self, row_group: usize, leaves: &[usize]) -> Vec<Range<u64>> {
        match self.page_index {
            true => index_ranges(self.metadata, row_group, leaves),
            false => Vec::new(),
        }
    }

    /// Returns the byte ranges of the pages of `leaves` in a row group with any of `rows`, which must be sorted and
    /// disjoint.
    pub fn pages(
        &mut self,
        row_group: usize,
        leaves: &[usize],
        rows: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>> {
        self.pages_of_each(row_group, leaves, rows).map(|pages| pages.concat())
    }

    /// Like [`pages`](Self::pages), for each of `leaves` separately.
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
            // Nothing is gained by knowing the places of so few bytes before they are fetched.
            self.add(indexes);
            return Ok(whole);
        }
        self.prefetch(indexes)?;
        page_ranges(self.source, self.metadata, row_group, leaves, rows, self.limits)
    }

    /// Whether fetching `ranges` costs less than waiting first for information that could rule out some of them.
    pub fn is_cheaper_than_waiting(&self, ranges: &[Range<u64>]) -> bool {
        bytes(ranges) <= self.cost.bytes_per_round_trip()
    }

    /// Announces these bytes, in addition to earlier ones.
    pub fn prefetch(&mut self, ranges: Vec<Range<u64>>) -> Result<()> {
        self.add(ranges);
        self.source.prefetch(&self.said)
    }

    /// Adds these bytes to the next announcement.
    pub fn add(&mut self, ranges: Vec<Range<u64>>) {
        self.said.extend(ranges);
    }
}

/// Returns the total length of ranges.
pub fn bytes(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
}
