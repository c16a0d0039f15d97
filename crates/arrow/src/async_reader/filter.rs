//! Evaluates the filter of a stream on one row group, before the other columns are fetched.
//!
//! ```text
//! statistics ─► indexes ─► pages of the columns that are looked at ─► selection ─► pages of the other columns
//!    footer       fetched       fetched, for rows that may be wanted                   fetched, for rows that are
//! ```
//!
//! Columns that both the filter and the output need are decoded twice. If nearly all pages of the other columns will be
//! needed, these are fetched at once, and the predicate is evaluated while the row group is read. Evaluating it on a
//! few rows shows whether that is so.

use super::range_fetcher::RangeFetcher;
use super::source::AsyncSource;
use super::stream_scan::{Answers, RepeatedPredicate, StreamScan};
use crate::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, RowFilter, RowSelection};
use crate::schema::repair::hides_stored_values;
use marquetry_base::Result;
use marquetry_core::fetch::{RangeCache, bytes, index_ranges};
use marquetry_core::metrics::ReadCounters;
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch};
use marquetry_core::row_mask::RowMask;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// The rows of a row group to read.
pub(super) enum Wanted {
    /// Exactly these rows.
    Rows(RowMask),
    /// The rows among these for which the predicate is true. Everything needed to evaluate it and to read the rows was fetched.
    Asking(RowMask),
}

/// The rows of a row group that may match. What is needed to evaluate the filter on them was fetched.
struct Candidates {
    rows: RowMask,
    asks_predicate: bool,
    /// Whether what is needed to read them was fetched as well.
    all_fetched: bool,
}

/// Chooses the rows of one row group.
pub(super) struct RowGroupFilter<'a> {
    pub(super) scan: &'a StreamScan,
    pub(super) remote: &'a RangeFetcher<'a, dyn AsyncSource>,
    pub(super) row_group: usize,
    pub(super) buffered: &'a Arc<RangeCache>,
    /// The turn in which filters over arrays are evaluated.
    pub(super) turn: usize,
}

impl RowGroupFilter<'_> {
    /// Returns which of the `selected` rows pass.
    pub(super) async fn select(&self, selected: RowMask) -> Result<RowMask> {
        let candidates = self.candidates(selected).await?;
        self.ask(candidates).await
    }

    /// Like [`select`](Self::select), unless it is better to evaluate the predicate while the row group is read.
    pub(super) async fn select_now_or_later(&self, selected: RowMask) -> Result<Wanted> {
        let candidates = self.candidates(selected).await?;
        // Filters over arrays are evaluated in the order of the row groups, before these are read.
        if candidates.asks_predicate
            && self.scan.filter.filters.is_empty()
            && (candidates.all_fetched || self.needs_most_pages(&candidates.rows).await?)
        {
            if !candidates.all_fetched {
                let pages = self.pages(&self.scan.leaves, &candidates.rows).await?;
                self.remote.fetch(self.buffered, pages.concat()).await?;
            }
            return Ok(Wanted::Asking(candidates.rows));
        }
        self.ask(candidates).await.map(Wanted::Rows)
    }

    /// Returns the byte ranges of each leaf's pages that have any of `rows`.
    async fn pages(&self, leaves: &[usize], rows: &RowMask) -> Result<Vec<Vec<Range<u64>>>> {
        let rows: Vec<_> = rows.runs().collect();
        self.scan.pages(self.remote, self.row_group, leaves, &rows, self.buffered).await
    }

    async fn candidates(&self, selected: RowMask) -> Result<Candidates> {
        let RowGroupFilter { scan, remote, buffered, .. } = self;
        let (kept, asks_predicate) = self.prune().await?;
        let rows = selected.and(&kept);
        let looked_at = scan.filter.leaves(scan.metadata.metadata(), asks_predicate);
        if rows.selected() == 0 || !asks_predicate && scan.filter.filters.is_empty() {
            return Ok(Candidates { rows, asks_predicate: false, all_fetched: false });
        }
        // All columns in one call, so that their indexes are fetched together.
        let leaves = with(&looked_at, &scan.leaves);
        let pages = self.pages(&leaves, &rows).await?;
        let (looked_at, others): (Vec<_>, Vec<_>) =
            leaves.iter().zip(pages).partition(|(leaf, _)| looked_at.binary_search(leaf).is_ok());
        let [mut pages, others] =
            [looked_at, others].map(|each| each.into_iter().flat_map(|(_, pages)| pages).collect::<Vec<_>>());
        let all_fetched = bytes(&buffered.missing_of(others.clone())) <= scan.cost.bytes_per_round_trip();
        if all_fetched {
            pages.extend(others);
        }
        remote.fetch(buffered, pages).await?;
        Ok(Candidates { rows, asks_predicate, all_fetched })
    }

    /// Returns the candidates for which predicate and filters are true.
    async fn ask(&self, candidates: Candidates) -> Result<RowMask> {
        let Candidates { rows, asks_predicate, .. } = candidates;
        let filter = &self.scan.filter;
        if rows.selected() == 0 || !asks_predicate && filter.filters.is_empty() {
            return Ok(rows);
        }
        if !filter.filters.is_empty() {
            self.scan.turns.wait(self.turn).await;
        }
        let said: Vec<Answers> = filter.filters.iter().map(|_| Answers::default()).collect();
        self.remote
            .run(self.buffered, || self.evaluate(&rows, asks_predicate, &said, &self.scan.counters))
            .await
    }

    /// Estimates from a sample whether the matching rows are spread over nearly all pages.
    async fn needs_most_pages(&self, selected: &RowMask) -> Result<bool> {
        let sample = sample_of(selected);
        // Metrics are counted when all rows are evaluated.
        let uncounted = Arc::default();
        let found = self.remote.run(self.buffered, || self.evaluate(&sample, true, &[], &uncounted)).await?;
        let sampled = self.pages(&self.scan.leaves, &sample).await?;
        let needed = self.pages(&self.scan.leaves, &found).await?;
        let [sampled, needed] =
            [sampled, needed].map(|pages| bytes(&self.buffered.missing_of(pages.concat())));
        Ok(needed >= sampled / 8 * 7)
    }

    /// Returns the rows of the row group that footer and indexes do not rule out, and whether the predicate must be
    /// evaluated on them.
    async fn prune(&self) -> Result<(RowMask, bool)> {
        let RowGroupFilter { scan, remote, buffered, row_group, .. } = self;
        let row_group = *row_group;
        let rows = scan.metadata.metadata().row_group(row_group).num_rows();
        let Some(predicate) = &scan.filter.predicate else { return Ok((RowMask::all(rows), false)) };
        let leaves = with(&scan.filter.leaves(scan.metadata.metadata(), true), &scan.leaves);
        let (page_index, limits) = (scan.metadata.options.page_index, scan.metadata.options.limits.clone());
        // Statistics and indexes describe the stored values.
        let schema = scan.metadata.metadata().schema();
        let stages = match hides_stored_values(predicate, schema, &scan.metadata.options.types) {
            true => PruneOptions::none(),
            false => PruneOptions::default().with_page_index(page_index),
        };
        let options = stages.with_limits(limits);
        let mut report = PruneReport::default();
        let prune = || scan.ahead(buffered).prune(row_group, predicate, &leaves, &options, &mut report);
        let kept = remote.run(buffered, prune).await?;
        report.count_in(&scan.counters);
        Ok(match kept {
            RowGroupMatch::None => (RowMask::from_ranges(&[], rows), false),
            RowGroupMatch::All => (RowMask::all(rows), false),
            RowGroupMatch::Some(ranges) => (RowMask::from_ranges(&ranges, rows), !scan.filter.only_prunes),
        })
    }

    /// Evaluates predicate and filters on the selected rows. `said` holds the results of each filter from earlier attempts.
    fn evaluate(
        &self,
        selected: &RowMask,
        asks_predicate: bool,
        said: &[Answers],
        counters: &Arc<ReadCounters>,
    ) -> Result<RowMask> {
        let RowGroupFilter { scan, buffered, .. } = self;
        let source: Arc<dyn Source> = Arc::<RangeCache>::clone(buffered);
        let mut metadata = scan.metadata.clone();
        let looked_at = scan.filter.leaves(metadata.metadata(), asks_predicate);
        // If whole chunks were fetched without their indexes, these must not be requested now.
        let indexes = index_ranges(metadata.metadata(), self.row_group, &looked_at);
        metadata.options.page_index &= buffered.missing_of(indexes).is_empty();
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata)
            .of_fetched(counters.clone())
            .with_row_groups(vec![self.row_group])
            .with_row_selection(RowSelection::from(selected.clone()));
        if let Some(predicate) = scan.filter.predicate.as_ref().filter(|_| asks_predicate) {
            builder = builder.with_bound_predicate(predicate.clone());
        }
        if !scan.filter.filters.is_empty() {
            let filters = scan.filter.filters.iter().zip(said);
            let filters = filters.map(|(filter, said)| RepeatedPredicate::new(filter.clone(), said.clone()));
            let filters = filters.map(|filter| Box::new(filter) as _);
            builder = builder.with_row_filter(RowFilter::new(filters.collect()));
        }
        Ok(builder.selected_rows()?.of(0..selected.rows()))
    }
}

/// Returns a few stretches of the selected rows, spread from the first to the last.
fn sample_of(selected: &RowMask) -> RowMask {
    let each = (selected.selected() / SAMPLED).clamp(1, MOST_SAMPLED);
    let gap = (selected.selected() / STRETCHES).max(1);
    let mut sample = RowMask::from_ranges(&[], selected.rows());
    for i in 0..STRETCHES {
        sample = sample.or(&selected.offset(i * gap).limit(each));
    }
    sample
}

/// Number of stretches in a sample.
const STRETCHES: u64 = 4;
/// Selected rows per row of a stretch. All stretches together evaluate a sixteenth of the rows twice.
const SAMPLED: u64 = 16 * STRETCHES;
/// Maximum number of rows in a stretch: about a page.
const MOST_SAMPLED: u64 = 16 << 10;

/// Returns the part of `selection` that falls into each row group, which are read in this order.
pub(super) fn selected_by_row_group(
    metadata: &ArrowReaderMetadata,
    row_groups: &[usize],
    selection: Option<&RowSelection>,
) -> Vec<RowMask> {
    let mut first = 0u64;
    let each = row_groups.iter().map(|&index| {
        let rows = metadata.metadata().row_group(index).num_rows();
        let range = first..first.saturating_add(rows);
        first = range.end;
        selection.map_or_else(|| RowMask::all(rows), |selection| selection.of(range))
    });
    each.collect()
}

/// Returns the union of both, sorted.
pub(super) fn with(leaves: &[usize], others: &[usize]) -> Vec<usize> {
    let mut leaves = [leaves, others].concat();
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}
