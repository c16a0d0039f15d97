//! Row groups and pages that are too small or too large.

use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::sample::{Sample, like, limits};
use crate::layout::{PartKind, pages_of_chunk};
use crate::reencode::ColumnSource;
use marquetry_base::Result;
use std::sync::atomic::AtomicUsize;

/// Recommends larger row groups if there are many small ones, and smaller ones if one is too much for a thread.
pub(super) fn row_groups(input: &ColumnSource, sample: &Sample) -> Result<Option<Finding>> {
    let (groups, rows) = (input.metadata.num_row_groups() as u64, input.metadata.num_rows());
    if rows == 0 || groups == 0 {
        return Ok(None);
    }
    let size = input.source.len();
    let row_bytes = (size / rows).max(1);
    let wanted = (GROUP_BYTES / row_bytes).clamp(FEWEST_ROWS, MOST_ROWS);
    let each = rows.div_ceil(groups);
    let confidence = sample.confidence();
    if groups > 1 && each < FEWEST_ROWS && size / groups < GROUP_BYTES / 8 {
        // Some of them are enough to measure.
        let sample = sample.first(each.saturating_mul(MOST_GROUPS));
        let write = |rows: u64| {
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let properties = like(&input.metadata)?.set_max_row_group_row_count(Some(rows));
            sample.write(properties.build())
        };
        let (now, then) = (write(each)?, write(wanted)?);
        let (before, after) = (now.decode_seconds()?, then.decode_seconds()?);
        let ratio = then.bytes() as f64 / now.bytes().max(1) as f64;
        if ratio > 1.0 - LEAST_SAVING && after > before * (1.0 - LEAST_SPEED) {
            return Ok(None);
        }
        let what = format!(
            "row groups of {wanted} rows instead of {each}: {:+.1} % bytes, decoded in {:.0} % of the time",
            (ratio - 1.0) * 100.0,
            after / before * 100.0
        );
        return Ok(Some(
            Finding::new(AdviceKind::RowGroups, what, confidence, Change::RowGroupRows(wanted))
                .with_bytes(size, (size as f64 * ratio) as u64)
                .with_decode(sample.in_file(before), sample.in_file(after)),
        ));
    }
    let largest = input.metadata.row_groups().map(|group| group.num_rows()).max().unwrap_or(0);
    if largest > 4 * MOST_ROWS || (size / groups > 4 * GROUP_BYTES && each > 2 * wanted) {
        let parts = rows.div_ceil(wanted);
        let what = format!(
            "row groups of {wanted} rows instead of up to {largest}: {parts} parts that threads can share instead of {groups}"
        );
        return Ok(Some(Finding::new(
            AdviceKind::RowGroups,
            what,
            Confidence::Certain,
            Change::RowGroupRows(wanted),
        )));
    }
    Ok(None)
}

/// Recommends another page size if the pages of the largest column are tiny or huge.
pub(super) fn pages(input: &ColumnSource, sample: &Sample, leaf: usize) -> Result<Option<Finding>> {
    let groups = input.metadata.num_row_groups();
    if groups == 0 {
        return Ok(None);
    }
    let group = groups / 2;
    let found = pages_of_chunk(
        &input.source,
        &input.metadata,
        (group, leaf),
        &limits(),
        &AtomicUsize::new(MOST_PAGES),
    );
    let data = found.parts.iter().filter(|part| part.kind == PartKind::DataPage);
    let facts: Vec<(u64, u64)> = data
        .filter_map(|part| Some((part.range.end - part.range.start, part.page.as_ref()?.uncompressed_len)))
        .collect();
    if facts.is_empty() || found.is_cut {
        return Ok(None);
    }
    let count = facts.len() as u64;
    let (stored, plain) = facts.iter().fold((0, 0), |sum, page| (sum.0 + page.0, sum.1 + page.1));
    let rows = input.metadata.row_group(group).num_rows();
    let (page_bytes, page_rows) = (plain / count, (rows / count).max(1));
    let is_tiny = count >= 4 && page_bytes < TINY_BYTES && page_rows < PAGE_ROWS as u64 / 4;
    let is_huge = page_bytes > 4 * PAGE_BYTES as u64 || (count < rows.div_ceil(8 * PAGE_ROWS as u64));
    if !is_tiny && !is_huge {
        return Ok(None);
    }
    let sample = sample.first(page_rows.saturating_mul(MOST_WRITTEN));
    let write = |page_rows: u64, page_bytes: usize| {
        let rows = usize::try_from(page_rows).unwrap_or(usize::MAX);
        let properties =
            like(&input.metadata)?.set_data_page_row_count_limit(rows).set_data_page_size_limit(page_bytes);
        sample.write(properties.build())
    };
    // A sample that is smaller than one huge page says nothing about its bytes.
    let now = write(page_rows, (page_bytes as usize).max(1).saturating_mul(2))?;
    let then = write(PAGE_ROWS as u64, PAGE_BYTES)?;
    let ratio = then.bytes() as f64 / now.bytes().max(1) as f64;
    let size = input.source.len();
    let what = match is_tiny {
        true if ratio <= 1.0 - LEAST_SAVING => {
            format!("pages of {PAGE_ROWS} rows instead of {page_rows}: {:+.1} % bytes", (ratio - 1.0) * 100.0)
        }
        true => return Ok(None),
        false => format!(
            "pages of at most {PAGE_ROWS} rows or 1 MiB instead of {page_rows} rows: a row that is looked up takes {} bytes of {} to be read instead of {}",
            (stored / count) * (PAGE_ROWS as u64).min(page_rows) / page_rows,
            input.metadata.schema().column(leaf).dotted(),
            stored / count
        ),
    };
    let change = Change::Pages { bytes: PAGE_BYTES, rows: PAGE_ROWS };
    let confidence = sample.confidence();
    Ok(Some(
        Finding::new(AdviceKind::Pages, what, confidence, change)
            .with_bytes(size, (size as f64 * ratio) as u64)
            .with_decode(sample.in_file(now.decode_seconds()?), sample.in_file(then.decode_seconds()?)),
    ))
}

/// Recommended minimum and maximum number of rows of a row group.
const FEWEST_ROWS: u64 = 1 << 16;
const MOST_ROWS: u64 = 1 << 20;
/// Recommended bytes of a row group.
const GROUP_BYTES: u64 = 128 << 20;
/// The limits of the writer's pages.
const PAGE_ROWS: usize = 20_000;
const PAGE_BYTES: usize = 1 << 20;
const TINY_BYTES: u64 = 16 << 10;
/// Maximum number of pages of a chunk that are counted.
const MOST_PAGES: usize = 100_000;
/// Maximum number of row groups, and of pages of a column, that are written to be measured.
const MOST_GROUPS: u64 = 64;
const MOST_WRITTEN: u64 = 1_000;
/// Minimum savings that are worthwhile.
const LEAST_SAVING: f64 = 0.02;
const LEAST_SPEED: f64 = 0.2;
