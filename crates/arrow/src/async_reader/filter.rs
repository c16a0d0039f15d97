//! Evaluates the filter of a stream on one row group, before the other columns are fetched.
//!
//! ```text
//! statistics ─► indexes ─► pages of the columns that are looked at ─► selection ─► pages of the other columns
//!    footer       fetched       fetched, for rows that may be wanted                   fetched, for rows that are
//! ```

use super::range_fetcher::RangeFetcher;
use super::source::AsyncSource;
use super::stream_scan::StreamScan;
use crate::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, RowFilter, RowSelection};
use crate::schema::repair::hides_stored_values;
use marquetry_base::Result;
use marquetry_core::fetch::{RangeCache, bytes};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch};
use marquetry_core::row_mask::RowMask;
use marquetry_core::source::Source;
use std::sync::Arc;

/// The rows of a row group that are wanted, of those that were `selected`.
pub(super) async fn select(
    scan: &StreamScan,
    remote: &RangeFetcher<'_, dyn AsyncSource>,
    row_group: usize,
    selected: RowMask,
    buffered: &Arc<RangeCache>,
    turn: usize,
) -> Result<RowMask> {
    let (kept, asks_predicate) = prune(scan, remote, row_group, buffered).await?;
    let selected = selected.and(&kept);
    let metadata = scan.metadata.metadata();
    let looked_at = scan.filter.leaves(metadata, asks_predicate);
    if selected.selected() == 0 || !asks_predicate && scan.filter.filters.is_empty() {
        return Ok(selected);
    }
    let rows: Vec<_> = selected.runs().collect();
    let all = scan.pages(remote, row_group, &with(&looked_at, &scan.leaves), &rows, buffered).await?;
    let others = scan.pages(remote, row_group, &scan.leaves, &rows, buffered).await?;
    let ranges = match bytes(&buffered.missing_of(others)) <= scan.cost.bytes_per_round_trip() {
        true => all,
        false => scan.pages(remote, row_group, &looked_at, &rows, buffered).await?,
    };
    remote.fetch(buffered, ranges).await?;
    if !scan.filter.filters.is_empty() {
        scan.turns.wait(turn).await;
    }
    remote.run(buffered, || evaluate(scan, row_group, &selected, asks_predicate, buffered)).await
}

/// The rows of a row group that footer and indexes leave, and whether the predicate has to be asked about them.
async fn prune(
    scan: &StreamScan,
    remote: &RangeFetcher<'_, dyn AsyncSource>,
    row_group: usize,
    buffered: &Arc<RangeCache>,
) -> Result<(RowMask, bool)> {
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

/// Asks predicate and filters about the rows that were selected.
fn evaluate(
    scan: &StreamScan,
    row_group: usize,
    selected: &RowMask,
    asks_predicate: bool,
    buffered: &Arc<RangeCache>,
) -> Result<RowMask> {
    let source: Arc<dyn Source> = buffered.clone();
    let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, scan.metadata.clone())
        .of_fetched(scan.counters.clone())
        .with_row_groups(vec![row_group])
        .with_row_selection(RowSelection::from(selected.clone()));
    if let Some(predicate) = scan.filter.predicate.as_ref().filter(|_| asks_predicate) {
        builder = builder.with_bound_predicate(predicate.clone());
    }
    if !scan.filter.filters.is_empty() {
        let filters = scan.filter.filters.iter().map(|filter| Box::new(filter.clone()) as _);
        builder = builder.with_row_filter(RowFilter::new(filters.collect()));
    }
    Ok(builder.selected_rows()?.rows().clone())
}

/// Of `metadata`, for row groups that are read in this order: what `selection` selects of each.
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
        selection.map_or_else(|| RowMask::all(rows), |selection| selection.rows().slice(range))
    });
    each.collect()
}

/// All of both.
fn with(leaves: &[usize], others: &[usize]) -> Vec<usize> {
    let mut leaves = [leaves, others].concat();
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}
