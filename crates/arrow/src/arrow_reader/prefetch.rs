//! Prefetching for sources whose requests are expensive.

use super::options::ArrowReaderOptions;
use marquetry_base::{Limits, Result};
use marquetry_core::fetch::{CoalesceOptions, FetchPlanner, bytes, chunk_ranges};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A source whose requests are expensive, and how to plan what to fetch from it.
#[derive(Clone)]
pub(super) struct RemoteSource {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    limits: Arc<Limits>,
    /// Whether page indexes are used.
    pub(super) page_index: bool,
    pub(super) cost: CoalesceOptions,
}

impl RemoteSource {
    /// Returns `None` if the source's requests cost nothing.
    pub(super) fn of(
        source: &Arc<dyn Source>,
        metadata: &Arc<ParquetMetaData>,
        options: &ArrowReaderOptions,
    ) -> Option<RemoteSource> {
        let cost = source.request_cost()?;
        Some(RemoteSource {
            source: source.clone(),
            metadata: metadata.clone(),
            limits: options.limits.clone(),
            page_index: options.page_index,
            cost,
        })
    }

    pub(super) fn planner(&self) -> FetchPlanner<'_> {
        FetchPlanner::new(&*self.source, &self.metadata, &self.limits, self.cost)
            .with_page_index(self.page_index)
    }
}

/// Byte ranges that the next row groups need first. They are prefetched with those of the current one, which saves a
/// round trip for each.
#[derive(Default)]
pub(super) struct RowGroupLookahead {
    /// The planned ranges of each row group, with the number of row groups left after it.
    groups: VecDeque<(usize, Vec<Range<u64>>)>,
}

impl RowGroupLookahead {
    /// Adds to `ahead` the ranges planned for the row group that is opened next, after which `left` remain, and for the
    /// following ones. If nothing is planned yet, `plan` yields for each of them what it needs first, or `None` if it
    /// is not read.
    pub(super) fn add(
        &mut self,
        left: usize,
        ahead: &mut FetchPlanner<'_>,
        plan: impl Iterator<Item = Option<Vec<Range<u64>>>>,
    ) {
        self.groups.retain(|(after, _)| *after <= left);
        if self.groups.is_empty() {
            let mut room = AT_ONCE;
            for (i, ranges) in plan.enumerate() {
                let Some(ranges) = ranges else { continue };
                let Some(rest) = room.checked_sub(bytes(&ranges)) else { break };
                room = rest;
                self.groups.push_back((left - i - 1, ranges));
            }
        }
        self.groups.iter().for_each(|(_, ranges)| ahead.add(ranges.clone()));
    }
}

/// Prefetches some columns of some row groups, which are read from the first row to the last.
pub(super) struct SequentialPrefetch {
    remote: RemoteSource,
    leaves: Vec<usize>,
    /// Each row group, and the range of its rows among all rows.
    groups: Vec<(usize, Range<u64>)>,
    /// The next row to read.
    at: u64,
    /// The end of the prefetched rows.
    said: u64,
    /// The end of the requested rows.
    end: u64,
}

impl SequentialPrefetch {
    /// Plans to read the first `rows` rows of these row groups.
    pub(super) fn new(remote: RemoteSource, leaves: Vec<usize>, row_groups: &[usize], rows: u64) -> Self {
        let mut first = 0u64;
        let groups = row_groups.iter().map(|&index| {
            let rows = first..first.saturating_add(remote.metadata.row_group(index).num_rows());
            first = rows.end;
            (index, rows)
        });
        SequentialPrefetch { groups: groups.collect(), remote, leaves, at: 0, said: 0, end: rows }
    }

    /// Called before `skip` rows are skipped and `rows` are read. Prefetches these rows, and up to [`AT_ONCE`] bytes of
    /// those that follow.
    pub(super) fn before(&mut self, skip: usize, rows: usize) -> Result<()> {
        let first = self.at.saturating_add(skip as u64);
        self.at = first.saturating_add(rows as u64);
        if self.at <= self.said {
            return Ok(());
        }
        let mut ahead = self.remote.planner();
        let mut left = AT_ONCE;
        for (index, group) in self.groups.iter().filter(|(_, group)| first < group.end) {
            let (index, len) = (*index, (group.end - group.start).max(1));
            let whole = bytes(&chunk_ranges(&self.remote.metadata, index, &self.leaves)).max(1);
            // A row group that was prefetched as a whole is planned as a whole again, so that its fetched bytes are kept.
            let start = if whole <= AT_ONCE { group.start } else { group.start.max(first) };
            let fitting = (u128::from(len) * u128::from(left) / u128::from(whole)) as u64;
            let wanted = self.at.min(group.end).max(start.saturating_add(fitting));
            let end = wanted.min(group.end).min(self.end);
            if start >= end || group.start >= self.at && end < group.end.min(self.end) {
                break;
            }
            let inside = std::iter::once(start - group.start..end - group.start).collect::<Vec<_>>();
            let pages = ahead.pages(index, &self.leaves, &inside)?;
            ahead.add(pages);
            self.said = end;
            left = left.saturating_sub(whole);
        }
        ahead.prefetch(Vec::new())
    }
}

/// How many bytes to prefetch at a time, unless a batch needs more.
const AT_ONCE: u64 = 16 << 20;
