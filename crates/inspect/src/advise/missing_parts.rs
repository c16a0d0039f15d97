//! What the footer lacks: statistics and indexes; and dictionaries that writers gave up.

use super::candidates::Choice;
use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::looked_at::LookedAt;
use super::measure::{encoded_bytes, stored_bytes, windows};
use super::query::{Query, skipped_share};
use super::sample::{Sample, like};
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use marquetry_base::Result;
use marquetry_codec::Codec;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::write::{EnabledStatistics, Encoding};
use marquetry_format::{Encoding as Code, PageType};

/// Finds missing statistics and page indexes, with what they would cost, and what queries would skip by them.
pub(super) fn missing_indexes(
    input: &ColumnSource,
    sample: &Sample,
    queries: &[Query],
    time: TimeLeft,
) -> Result<Option<Finding>> {
    let (mut chunks, mut without_bounds, mut without_index) = (0u64, 0u64, 0u64);
    for group in input.metadata.row_groups() {
        for chunk in group.columns() {
            let chunk = chunk?;
            chunks += 1;
            without_bounds += u64::from(lacks_bounds(chunk));
            without_index += u64::from(lacks_index(chunk));
        }
    }
    let pages_tell = input.metadata.num_rows() > PAGE_ROWS;
    // A single page has the bounds of its chunk.
    if chunks == 0 || (without_bounds == 0 && (without_index == 0 || !pages_tell)) {
        return Ok(None);
    }
    let groups = input.metadata.num_row_groups().clamp(1, MOST_GROUPS) as u64;
    let rows = sample.rows().div_ceil(groups).max(1) as usize;
    let write = |level| {
        let properties = like(&input.metadata)?.set_max_row_group_row_count(Some(rows));
        sample.write(properties.set_statistics_enabled(level).build())
    };
    let (none, all) = (write(EnabledStatistics::None)?, write(EnabledStatistics::Page)?);
    let missing = without_bounds.max(without_index) as f64 / chunks as f64;
    // Indexes of a sample have as many bytes per page as those of the file.
    let costs = sample.in_file(all.bytes().saturating_sub(none.bytes()) as f64) * missing;
    let before = skipped_share(&*input.source, &input.metadata, queries, time)?;
    let after = skipped_share(&*all.source, &all.metadata, queries, time)?;
    let skips = match before.zip(after) {
        Some((before, after)) => {
            format!(
                "; queries would skip {:.0} % of the rows instead of {:.0} %",
                after.max(before) * 100.0,
                before * 100.0
            )
        }
        None => String::new(),
    };
    let what = format!(
        "{without_bounds} of {chunks} column chunks have no bounds, {without_index} no page index: {costs:.0} bytes for both{skips}"
    );
    let size = input.source.len();
    let mut finding = Finding::new(AdviceKind::Indexes, what, Confidence::Certain, Change::Indexes)
        .with_bytes(size, size.saturating_add(costs as u64));
    if let Some((before, after)) = before.zip(after) {
        finding = finding.with_skipped(before, after.max(before));
    }
    Ok(Some(finding))
}

fn lacks_bounds(chunk: ColumnChunk<'_>) -> bool {
    let has = chunk.statistics().is_some_and(|it| {
        it.min_value.is_some() || it.min.is_some() || it.null_count == Some(chunk.num_values())
    });
    // INT96 has no bounds, and neither have bytes without an order.
    !has && chunk.leaf().physical() != marquetry_encoding::PhysicalType::Int96
}

fn lacks_index(chunk: ColumnChunk<'_>) -> bool {
    chunk.column_index_range().is_none_or(|range| range.is_empty())
        || chunk.offset_index_range().is_none_or(|range| range.is_empty())
}

/// Finds columns whose dictionary the writer gave up in the middle of a chunk although a larger one has fewer bytes,
/// the largest first.
pub(super) fn lost_dictionaries(input: &ColumnSource, window_rows: u64, time: TimeLeft) -> Result<LookedAt> {
    let mut mixed = Vec::new();
    for leaf in 0..input.metadata.schema().num_columns() {
        let groups = mixed_groups(input, leaf)?;
        let stored = groups.iter().map(|group| stored_bytes(&input.metadata, *group, leaf));
        let stored = stored.sum::<Result<u64>>()?;
        if !groups.is_empty() {
            mixed.push((stored, leaf, groups));
        }
    }
    mixed.sort_by_key(|(stored, ..)| std::cmp::Reverse(*stored));
    let (mut lost, mut left) = (Vec::new(), Vec::new());
    for (stored, leaf, groups) in mixed {
        match time.is_over() {
            true => left.push(leaf),
            false => lost.extend(lost_dictionary(input, leaf, (stored, &groups), window_rows, time)?),
        }
    }
    Ok(LookedAt { findings: Vec::from_iter(dictionaries(lost)), left })
}

/// Returns the effect of whole dictionaries together.
fn dictionaries(mut lost: Vec<LostDictionary>) -> Option<Finding> {
    if lost.is_empty() {
        return None;
    }
    lost.sort_by_key(|it| std::cmp::Reverse(it.before.saturating_sub(it.after)));
    let (before, after) = lost
        .iter()
        .fold((0u64, 0u64), |sum, it| (sum.0.saturating_add(it.before), sum.1.saturating_add(it.after)));
    let mut names = lost.iter().take(TOLD).map(|it| it.column.as_str()).collect::<Vec<_>>().join(", ");
    if lost.len() > TOLD {
        names.push_str(", ..");
    }
    let what = format!(
        "dictionaries of {names} ({} columns) were given up in the middle of row groups: whole ones save {:.1} % of them",
        lost.len(),
        (1.0 - after as f64 / before.max(1) as f64) * 100.0
    );
    let least = lost.iter().map(|it| it.looked_at).fold(1.0, f64::min);
    let confidence = if least >= 1.0 { Confidence::Certain } else { Confidence::Sample(least) };
    let finding = Finding::new(AdviceKind::Dictionary, what, confidence, Change::Dictionaries);
    Some(finding.of_columns(lost.iter().map(|it| &it.column)).with_bytes(before, after))
}

/// A column whose dictionary was given up.
struct LostDictionary {
    column: String,
    /// Bytes of the column's chunks with a partial dictionary, as they are and with whole ones.
    before: u64,
    after: u64,
    /// The share of these chunks that was examined.
    looked_at: f64,
}

/// Returns the row groups in which a column has a partial dictionary.
fn mixed_groups(input: &ColumnSource, leaf: usize) -> Result<Vec<usize>> {
    let mut mixed = Vec::new();
    for group in input.metadata.row_groups() {
        if is_mixed(group.column(leaf)?) {
            mixed.push(group.index());
        }
    }
    Ok(mixed)
}

fn lost_dictionary(
    input: &ColumnSource,
    leaf: usize,
    (before, mixed): (u64, &[usize]),
    window_rows: u64,
    time: TimeLeft,
) -> Result<Option<LostDictionary>> {
    let Some(&middle) = mixed.get(mixed.len() / 2) else { return Ok(None) };
    let group = input.metadata.row_group(middle);
    let compression = match group.column(leaf)?.codec()? {
        Codec::Lzo => Codec::Snappy,
        Codec::Lz4 => Codec::Lz4Raw,
        codec => codec,
    };
    let choice = Choice { encoding: Encoding::Auto, compression: compression.to_string().parse()? };
    let windows = windows(middle, group.num_rows(), window_rows);
    let [window] = windows[..] else { return Ok(None) };
    let stored = stored_bytes(&input.metadata, middle, leaf)?;
    let measured = encoded_bytes(input, leaf, window, choice, (time, u64::MAX))?;
    if measured.rows < window.rows {
        return Ok(None);
    }
    let ratio = measured.bytes as f64 / stored.max(1) as f64;
    if ratio > 1.0 - LEAST_SAVING {
        return Ok(None);
    }
    Ok(Some(LostDictionary {
        column: input.metadata.schema().column(leaf).dotted().to_string(),
        before,
        after: (before as f64 * ratio) as u64,
        looked_at: 1.0 / mixed.len() as f64,
    }))
}

/// Whether some data pages of a chunk use a dictionary, and others do not.
fn is_mixed(chunk: ColumnChunk<'_>) -> bool {
    let is_keys = |code: Code| code == Code::RLE_DICTIONARY || code == Code::PLAIN_DICTIONARY;
    if chunk.dictionary_page_offset().is_none() {
        return false;
    }
    match chunk.encoding_stats() {
        Some(stats) => {
            let data = || {
                stats.into_iter().filter(|it| {
                    it.count > 0 && matches!(it.page_type, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
                })
            };
            data().any(|it| is_keys(it.encoding)) && data().any(|it| !is_keys(it.encoding))
        }
        None => false,
    }
}

/// Maximum number of rows of a file with one page per chunk.
const PAGE_ROWS: u64 = 20_000;
const LEAST_SAVING: f64 = 0.03;
/// Number of columns that are named.
const TOLD: usize = 4;
/// Maximum number of row groups that a sample is written with.
const MOST_GROUPS: usize = 64;
