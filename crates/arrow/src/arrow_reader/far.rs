//! What readers say to a source whose requests are dear, before they read.

use marquetry_base::{Limits, Result};
use marquetry_core::fetch::{CoalesceOptions, FetchPlanner, bytes, chunk_ranges};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A source whose requests are dear.
#[derive(Clone)]
pub(super) struct Far {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    limits: Arc<Limits>,
    pub(super) cost: CoalesceOptions,
}

impl Far {
    /// `None` if requests cost nothing.
    pub(super) fn of(
        source: &Arc<dyn Source>,
        metadata: &Arc<ParquetMetaData>,
        limits: &Arc<Limits>,
    ) -> Option<Far> {
        let cost = source.request_cost()?;
        Some(Far { source: source.clone(), metadata: metadata.clone(), limits: limits.clone(), cost })
    }

    pub(super) fn ahead(&self) -> FetchPlanner<'_> {
        FetchPlanner::new(&*self.source, &self.metadata, &self.limits, self.cost)
    }
}

/// What row groups take first that are read after the one at hand. It is said together with what that one takes, so that
/// not each of them has to wait.
#[derive(Default)]
pub(super) struct Following {
    /// Each by how many row groups are left when it has been taken.
    groups: VecDeque<(usize, Vec<Range<u64>>)>,
}

impl Following {
    /// Before a row group is opened after which `left` are left: says what is planned for it and for those that follow. If
    /// nothing is planned, `plan` says what each of them takes first; none where nothing is wanted of it.
    pub(super) fn expect(
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
        self.groups.iter().for_each(|(_, ranges)| ahead.expect(ranges.clone()));
    }
}

/// Some columns of some row groups, read from the first row to the last.
pub(super) struct Course {
    far: Far,
    leaves: Vec<usize>,
    /// Each row group, and which rows of all it has.
    groups: Vec<(usize, Range<u64>)>,
    /// The next row, the one after those that were said to be read, and the one after the last that is wanted.
    at: u64,
    said: u64,
    end: u64,
}

impl Course {
    /// The first `rows` rows of these row groups.
    pub(super) fn new(far: Far, leaves: Vec<usize>, row_groups: &[usize], rows: u64) -> Self {
        let mut first = 0u64;
        let groups = row_groups.iter().map(|&index| {
            let rows = first..first.saturating_add(far.metadata.row_group(index).num_rows());
            first = rows.end;
            (index, rows)
        });
        Course { groups: groups.collect(), far, leaves, at: 0, said: 0, end: rows }
    }

    /// Before `skip` rows are passed over, and `rows` are read: says what these take, and together with them the rows that
    /// follow, as far as that is not too much.
    pub(super) fn before(&mut self, skip: usize, rows: usize) -> Result<()> {
        let first = self.at.saturating_add(skip as u64);
        self.at = first.saturating_add(rows as u64);
        if self.at <= self.said {
            return Ok(());
        }
        let mut ahead = self.far.ahead();
        let mut left = AT_ONCE;
        for (index, group) in self.groups.iter().filter(|(_, group)| first < group.end) {
            let (index, len) = (*index, (group.end - group.start).max(1));
            let whole = bytes(&chunk_ranges(&self.far.metadata, index, &self.leaves)).max(1);
            // A row group that was said as a whole is so once more: what was fetched of it stays.
            let start = if whole <= AT_ONCE { group.start } else { group.start.max(first) };
            let fitting = (u128::from(len) * u128::from(left) / u128::from(whole)) as u64;
            let wanted = self.at.min(group.end).max(start.saturating_add(fitting));
            let end = wanted.min(group.end).min(self.end);
            if start >= end || group.start >= self.at && end < group.end.min(self.end) {
                break;
            }
            let inside = std::iter::once(start - group.start..end - group.start).collect::<Vec<_>>();
            let pages = ahead.pages(index, &self.leaves, &inside)?;
            ahead.expect(pages);
            self.said = end;
            left = left.saturating_sub(whole);
        }
        ahead.say(Vec::new())
    }
}

/// Bytes that are said to be read at a time, if no batch needs more.
const AT_ONCE: u64 = 16 << 20;
