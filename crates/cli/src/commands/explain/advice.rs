//! Advice on what would let more be skipped, from metadata and from row counts.

use super::matching::Matching;
use marquetry::file::metadata::ColumnChunk;
use marquetry::predicate::Predicate;
use marquetry::prune::RowGroupMatch;
use marquetry_core::sort_order::SortOrder;
use marquetry_inspect::{AskedColumn, asked_columns};
use std::cmp::Ordering;

/// One sentence for each thing that would help. `counts` are the matching rows of each row group, if they were counted.
pub(super) fn advice(
    matching: &Matching,
    predicate: &Predicate,
    kept: &[RowGroupMatch],
    counts: Option<&[u64]>,
) -> Vec<String> {
    let asked = asked_columns(predicate);
    let left: Vec<usize> = (0..kept.len()).filter(|i| matches!(kept[*i], RowGroupMatch::Some(_))).collect();
    let mut out = Vec::new();
    for leaf in matching.bound.leaves() {
        let name = matching.metadata.schema().column(*leaf).dotted();
        if matching.is_sealed(*leaf) {
            out.push(format!(
                "{name}: encrypted, and no key opens it; with its key there may be more to skip by"
            ));
            continue;
        }
        if asked.get(&**name).is_some_and(|asked| asked.is_in_box) {
            out.extend(of_boxes(matching, predicate, name, &left));
            continue;
        }
        if let Some(asked) = asked.get(&**name).filter(|asked| asked.is_compared) {
            out.extend(of_bounds(matching, *leaf, &left));
            out.extend(of_order(matching, *leaf, &left));
            out.extend(of_filter(matching, *leaf, &left, asked, counts));
        }
        out.extend(of_pages(matching, *leaf, &left));
    }
    out.extend(of_counts(matching, &left, counts));
    out
}

/// The bounds of a chunk, and their order, if readers may use them.
fn bounds<'a>(
    matching: &Matching,
    leaf: usize,
    chunk: ColumnChunk<'a>,
) -> Option<(SortOrder, &'a [u8], &'a [u8])> {
    let (statistics, column) = (chunk.statistics()?, matching.metadata.schema().column(leaf));
    let declared = matching.metadata.column_orders().and_then(|orders| orders.get(leaf));
    let pair = statistics.min_value.zip(statistics.max_value);
    if let (Some(order), Some((min, max))) = (SortOrder::for_reading(column, declared), pair) {
        return Some((order, min, max));
    }
    let (min, max) = statistics.min.zip(statistics.max)?;
    Some((SortOrder::for_deprecated(column)?, min, max))
}

/// Advice for remaining row groups without bounds.
fn of_bounds(matching: &Matching, leaf: usize, left: &[usize]) -> Option<String> {
    let name = matching.metadata.schema().column(leaf).dotted();
    let without = count(matching, leaf, left, |chunk| bounds(matching, leaf, chunk).is_none());
    (without > 0).then(|| {
        format!(
            "{name}: {without} of {} row groups left have no bounds that can be used; write statistics",
            left.len()
        )
    })
}

/// Advice if a value lies within the bounds of many row groups on average.
fn of_order(matching: &Matching, leaf: usize, left: &[usize]) -> Option<String> {
    let name = matching.metadata.schema().column(leaf).dotted();
    let groups = matching.metadata.row_groups().filter_map(|group| group.column(leaf).ok());
    let all: Vec<_> = groups.filter_map(|chunk| bounds(matching, leaf, chunk)).collect();
    if all.len() < 2 || left.len() < 2 {
        return None;
    }
    let is_within = |value: &[u8], (order, min, max): &(SortOrder, &[u8], &[u8])| {
        order.compare(min, value).is_some_and(|ordering| ordering != Ordering::Greater)
            && order.compare(value, max).is_some_and(|ordering| ordering != Ordering::Greater)
    };
    // The least value of each row group stands for all its values; if there are very many row groups, some are sampled.
    let step = all.len().div_ceil(MOST_ASKED);
    let asked: Vec<_> = all.iter().step_by(step).collect();
    let depth: usize =
        asked.iter().map(|(_, min, _)| all.iter().filter(|group| is_within(min, group)).count()).sum();
    let mean = depth as f64 / asked.len() as f64;
    (mean > 2.0).then(|| {
        format!(
            "{name}: a value is within the bounds of {mean:.1} of {} row groups on average; sorted by {name}, \
             bounds would meet at their ends only",
            all.len()
        )
    })
}

/// Advice for row groups that a bloom filter could rule out.
fn of_filter(
    matching: &Matching,
    leaf: usize,
    left: &[usize],
    asked: &AskedColumn,
    counts: Option<&[u64]>,
) -> Option<String> {
    let is_without = |chunk: ColumnChunk<'_>| chunk.bloom_filter_offset().is_none();
    let empty: Vec<usize> = match counts {
        Some(counts) => left.iter().copied().filter(|i| counts[*i] == 0).collect(),
        None => left.to_vec(),
    };
    let without = count(matching, leaf, &empty, is_without);
    if !asked.is_equal || without == 0 {
        return None;
    }
    let name = matching.metadata.schema().column(leaf).dotted();
    let found = if counts.is_some() { " in which no row matches" } else { "" };
    Some(format!("{name}: {without} of {} row groups left{found} have no bloom filter", left.len()))
}

/// Advice for geometries, which have no order for a page index.
fn of_boxes(matching: &Matching, predicate: &Predicate, name: &str, left: &[usize]) -> Option<String> {
    let has_covering = predicate.in_file(&matching.metadata) != *predicate;
    (!has_covering && !left.is_empty()).then(|| {
        format!("{name}: nothing tells its pages apart; `convert --geoparquet 1.1 --covering` adds columns that do")
    })
}

/// Advice for row groups without a page index.
fn of_pages(matching: &Matching, leaf: usize, left: &[usize]) -> Option<String> {
    let is_without =
        |chunk: ColumnChunk<'_>| chunk.column_index_range().is_none() || chunk.offset_index_range().is_none();
    let without = count(matching, leaf, left, is_without);
    let name = matching.metadata.schema().column(leaf).dotted();
    (without > 0).then(|| format!("{name}: {without} of {} row groups left have no page index", left.len()))
}

/// How close the result is to the optimum.
fn of_counts(matching: &Matching, left: &[usize], counts: Option<&[u64]>) -> Option<String> {
    let counts = counts?;
    let empty = left.iter().filter(|i| counts[**i] == 0).count();
    let rows: u64 = left.iter().map(|i| counts[*i]).sum();
    let largest =
        matching.metadata.row_groups().map(|group| group.num_rows()).max().filter(|rows| *rows > 0)?;
    let enough = rows.div_ceil(largest) as usize;
    (empty > 0 || enough < left.len()).then(|| {
        format!(
            "of {} row groups left {empty} have no row that matches; all {rows} rows that match would fit into {enough}",
            left.len()
        )
    })
}

fn count(matching: &Matching, leaf: usize, groups: &[usize], is: impl Fn(ColumnChunk<'_>) -> bool) -> usize {
    let chunk = |i: &usize| matching.metadata.row_group(*i).column(leaf).ok();
    groups.iter().filter_map(chunk).filter(|chunk| is(*chunk)).count()
}

/// The work is quadratic in it.
const MOST_ASKED: usize = 1_000;
